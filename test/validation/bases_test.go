package validation

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// bases are objects that everybody takes. Together they have all that excludes each other.
const bases = `
kind: MCPEndpoint
spec: {database: {sqlite: {emptyDir: {}}}, audit: {table: {name: log}}, idempotency: {table: {name: kept}}}
---
kind: MCPEndpoint
spec:
  database:
    connectionSecretRef: {name: db}
    tls: {mode: VerifyFull}
    replicas: {connectionSecretRef: {name: replica}}
    sessionSettings: [{name: app.token, source: Token}]
    comment: Trace
  network:
    service: {type: LoadBalancer, ipFamilyPolicy: PreferDualStack}
    networkPolicy: {from: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.1.2.0/24]}}], metricsFrom: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.1.2.0/24]}}]}
  server: {autoscaling: {minReplicas: 1, maxReplicas: 3}, podDisruptionBudget: {minAvailable: 1}, volumes: [{name: ca, configMap: {name: ca}}]}
  allowedTokens: {namespaces: {from: Selector, selector: {matchLabels: {team: a}}}}
---
kind: MCPEndpoint
spec:
  database: {sqlite: {claim: {name: files}}}
  server: {podDisruptionBudget: {maxUnavailable: 1}}
  network: {networkPolicy: {from: [{podSelector: {}, namespaceSelector: {}}], metricsFrom: [{podSelector: {}}]}}
  allowedTokens: {namespaces: {from: Selector, selector: {matchExpressions: [{key: team, operator: In, values: [a]}]}}}
---
kind: MCPEndpoint
spec:
  database: {connectionSecretRef: {name: db}, sessionSettings: [{name: app.team, source: Attribute, attribute: team}]}
  authentication: {oidc: [{name: a, url: "https://a.example", discoveryURL: "https://a.example/x"}]}
  server: {volumes: [{name: x, projected: {}}]}
---
kind: MCPEndpoint
spec:
  database: {sqlite: {emptyDir: {}}}
  authentication: {oidc: [{name: a, url: "https://a.example", keysURL: "https://a.example/keys"}]}
  server: {volumes: [{name: x, emptyDir: {}}]}
  allowedTokens: {namespaces: {from: All}}
---
kind: MCPEndpoint
spec:
  database: {duckdb: {claim: {name: files}, path: orders/2026}, access: ReadOnly}
  server: {autoscaling: {maxReplicas: 3}}
---
kind: MCPModelExposure
spec:
  endpointRef: {name: shop}
  table: {name: orders}
  expose: true
  pinned: true
  fields: {overrides: [{name: a, rename: b}]}
  limits: {defaultPageSize: 10, maxPageSize: 10}
  actions: [{name: act, requires: [change], confirm: {message: "Sure?"}, parameters: [{name: reason, type: String}], update: {set: [{field: a, source: Value, value: x}], where: [{field: a, value: x}]}}]
  rowPolicies: [{name: mine, groups: [a], filters: [{field: a, value: x}]}]
---
kind: MCPModelExposure
spec:
  endpointRef: {name: shop}
  table: {name: orders}
  fields: {overrides: [{name: a, relation: b}]}
  actions: [{name: act, sql: {statement: "update orders set a = 1 where id in (:ids)"}}]
  rowPolicies: [{name: mine, appliesTo: Everyone, filters: [{any: [{field: a, value: x}]}]}]
---
kind: MCPModelExposure
spec:
  endpointRef: {name: shop}
  table: {name: orders}
  actions: [{name: act, sql: {statements: ["update orders set a = 1 where id in (:ids)"]}}]
  rowPolicies: [{name: mine, groups: [a], filters: [{field: a, lookup: in, values: [x]}]}]
---
kind: MCPModelExposure
spec:
  endpointRef: {name: shop}
  table: {name: orders}
  actions: [{name: act, webhook: {url: "https://a.example"}}]
  rowPolicies: [{name: mine, groups: [a], filters: [{field: a, tokenAttribute: x}]}]
---
kind: MCPModelExposure
spec:
  endpointRef: {name: shop}
  table: {name: orders}
  actions: [{name: act, parameters: [{name: reason, type: String}], report: {statement: "select 1 as n", policies: Ignored}}]
  rowPolicies: [{name: mine, groups: [a], filters: [{any: [{field: a, lookup: in, values: [x]}]}]}]
---
kind: MCPModelExposure
spec:
  endpointRef: {name: shop}
  table: {name: orders}
  actions: [{name: act, parameters: [{name: a, type: String}], update: {set: [{field: a, source: Parameter, parameter: a}], where: [{any: [{field: a, lookup: in, values: [x]}]}]}}]
  rowPolicies: [{name: mine, groups: [a], filters: [{any: [{field: a, tokenAttribute: x}]}]}]
---
kind: MCPModelExposure
spec:
  endpointRef: {name: shop}
  table: {name: orders}
  actions: [{name: act, update: {set: [{field: a, source: "Null"}], where: [{any: [{field: a, value: x}]}]}}]
  rowPolicies: [{name: mine, groups: [a], allRows: true}]
---
kind: MCPModelExposure
spec:
  endpointRef: {name: shop}
  table: {name: orders}
  actions: [{name: act, update: {set: [{field: a, source: "Null"}], where: [{field: a, lookup: in, values: [x]}]}}]
---
kind: MCPToken
spec:
  endpointRef: {name: shop}
  groups: [a]
  attributes: {team: x}
  permissions: [{models: [order], verbs: [view]}]
  expiry: "2036-01-01T00:00:00Z"
  rotation: {every: 87600h, overlap: 1h}
  secret: {name: text, keys: [{key: t, format: Token}]}
---
kind: MCPToken
spec: {endpointRef: {name: shop}, ttl: 720h, expiryWarning: 168h, tokenSecretRef: {name: text, key: t}}
---
kind: MCPToken
spec: {endpointRef: {name: shop, namespace: other}, tokenHashSecretRef: {name: text, key: t}}
---
kind: MCPToken
spec: {endpointRef: {name: shop}, serviceAccountRef: {name: agent}}
---
kind: MCPToken
spec: {endpointRef: {name: shop}, oidc: {issuer: a, subject: x, attributes: {team: claims.team}, groups: {expression: claims.groups, among: [a]}}}
---
kind: MCPToken
spec: {endpointRef: {name: shop}, oidc: {issuer: a, claims: {team: x}}}
---
kind: MCPEndpoint
spec:
  database: {sqlite: {emptyDir: {}}}
  observability:
    tracing: {endpoint: "http://collector:4317", protocol: GRPC, samplingRatePerMillion: 0, headersSecretRef: {name: t}, recordArguments: Names, recordStatements: Text}
    audit: {otlp: {endpoint: "https://collector:4318/otlp", protocol: HTTP, headersSecretRef: {name: t}}}
---
kind: MCPEndpoint
spec:
  database: {sqlite: {emptyDir: {}}}
  idempotency: {table: {name: kept}}
  approvals: [{name: large, match: {models: [refund], operations: [create, "action:pay"], tokens: [agent, other/agent], groups: [a], when: {rows: 10, before: {status: paid}, after: {amount__gt: "500"}, changes: [amount]}}, approvers: {groups: [leads]}, minApprovals: 2, expiresAfter: 24h, keepFor: 1h, show: Values, fourEyes: Strict, notify: {url: "https://chat.example:8443/hook", headersSecretRef: {name: hook}, timeout: 5s, states: [Waiting, Denied], pageURL: "https://mcp.example"}}]
---
kind: MCPApproval
metadata: {name: shop-aaaaaaaaaaaaaaaaaaaa}
spec:
  endpointRef: {name: shop}
  request:
    tokenRef: {name: agent, namespace: default}
    tokenUID: x
    caller: default/agent
    tool: create_refund
    operation: create
    policies: [{name: large, sum: x, minApprovals: 1}]
    digest: "0000000000000000000000000000000000000000000000000000000000000000"
    askTime: "2036-01-01T00:00:00Z"
    expiryTime: "2036-01-01T01:00:00Z"
    changes: [{change: Create, rows: 1, fields: [{name: amount, after: "700"}]}]
`

// more are objects that rules refuse which hold several members against each other.
const more = `
kind: MCPEndpoint
metadata: {name: a.b}
spec: {database: {sqlite: {emptyDir: {}}}}
---
kind: MCPEndpoint
spec: {database: {sqlite: {emptyDir: {}}}, server: {autoscaling: {maxReplicas: 2}}}
---
kind: MCPEndpoint
spec: {database: {sqlite: {emptyDir: {}}}, audit: {table: {name: log}}, idempotency: {table: {name: log}}}
---
kind: MCPEndpoint
spec: {database: {duckdb: {claim: {name: files}}, sqlite: {emptyDir: {}}}}
---
kind: MCPEndpoint
spec: {database: {duckdb: {claim: {name: files}}, access: ReadWrite}}
---
kind: MCPEndpoint
spec: {database: {duckdb: {claim: {name: files}}, schemas: [main], sessionSettings: [{name: app.token, source: Token}], comment: Trace}}
---
kind: MCPEndpoint
spec: {database: {duckdb: {claim: {name: files}}}, audit: {table: {name: log}}}
---
kind: MCPEndpoint
spec: {database: {duckdb: {claim: {name: files}}}, idempotency: {table: {name: kept}}}
---
kind: MCPEndpoint
spec: {database: {duckdb: {claim: {name: files}, path: ../sales.duckdb}}}
---
kind: MCPEndpoint
spec: {database: {connectionSecretRef: {name: db}}, server: {autoscaling: {minReplicas: 3, maxReplicas: 2}}}
---
kind: MCPEndpoint
spec: {database: {connectionSecretRef: {name: db}, tls: {mode: Disable, clientCertificateSecretRef: {name: c}}}}
---
kind: MCPEndpoint
spec: {database: {sqlite: {emptyDir: {}}}, authentication: {oidc: [{name: a, url: "https://a.example"}, {name: b, url: "https://a.example"}]}}
---
kind: MCPEndpoint
spec: {database: {sqlite: {emptyDir: {}}}, network: {service: {ipFamilies: [IPv4, IPv6]}}}
---
kind: MCPEndpoint
spec: {database: {sqlite: {emptyDir: {}}}, network: {service: {loadBalancerClass: a, externalTrafficPolicy: Local}}}
---
kind: MCPEndpoint
spec: {database: {sqlite: {emptyDir: {}}}, observability: {podMonitor: {}, audit: {files: {claimRef: {name: logs}, maxFileBytes: 1048576, maxTotalBytes: 2097152, retentionPeriod: 2160h}}}, network: {networkPolicy: {from: [{podSelector: {}}]}}}
---
kind: MCPEndpoint
spec: {database: {sqlite: {emptyDir: {}}}, observability: {tracing: {endpoint: "http://user@collector:4317"}}}
---
kind: MCPEndpoint
spec: {database: {sqlite: {emptyDir: {}}}, observability: {tracing: {endpoint: "http://collector:99999"}, audit: {otlp: {endpoint: "http://collector:99999999999999999999"}}}}
---
kind: MCPEndpoint
spec: {database: {sqlite: {emptyDir: {}}}, observability: {audit: {files: {claimRef: {name: logs}, maxFileBytes: 4194304, maxTotalBytes: 2097152}}}}
---
kind: MCPEndpoint
spec: {database: {sqlite: {emptyDir: {}}}, observability: {audit: {otlp: {endpoint: "ftp://collector:4317"}}}}
---
kind: MCPEndpoint
spec: {database: {sqlite: {emptyDir: {}}}, network: {networkPolicy: {from: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.0.0.0/8]}}], metricsFrom: [{ipBlock: {cidr: 10.0.0.0/8, except: [11.0.0.0/16]}}]}}}
---
kind: MCPEndpoint
spec: {database: {sqlite: {emptyDir: {}}}, approvals: [{name: large}]}
---
kind: MCPApproval
metadata: {name: other-aaaaaaaaaaaaaaaaaaaa}
spec: {endpointRef: {name: shop}, request: {tokenRef: {name: agent, namespace: default}, tokenUID: x, caller: x, tool: x, operation: x, policies: [{name: a, sum: x, minApprovals: 1}], digest: "0000000000000000000000000000000000000000000000000000000000000000", askTime: "2036-01-01T00:00:00Z", expiryTime: "2036-01-01T01:00:00Z"}}
---
kind: MCPApproval
metadata: {name: shop-aaaaaaaaaaaaaaaaaaaa}
spec: {endpointRef: {name: shop}, decisions: [{decidedBy: ann, decision: Override}], request: {tokenRef: {name: agent, namespace: default}, tokenUID: x, caller: x, tool: x, operation: x, policies: [{name: a, sum: x, minApprovals: 1}], digest: "0000000000000000000000000000000000000000000000000000000000000000", askTime: "2036-01-01T00:00:00Z", expiryTime: "2036-01-01T01:00:00Z"}}
---
kind: MCPModelExposure
metadata: {name: 1a}
spec: {endpointRef: {name: shop}, table: {name: orders}}
---
kind: MCPModelExposure
spec: {endpointRef: {name: shop}, table: {name: orders}, pinned: true, key: [a, a], limits: {defaultPageSize: 20, maxPageSize: 10}}
---
kind: MCPModelExposure
spec: {endpointRef: {name: shop}, table: {name: orders}, relations: [{name: a, columns: [a, b], model: customer, references: [c]}]}
---
kind: MCPModelExposure
spec: {endpointRef: {name: shop}, table: {name: orders}, fields: {masked: [{name: a}], overrides: [{name: a, examples: Shown}]}}
---
kind: MCPModelExposure
spec: {endpointRef: {name: shop}, table: {name: orders}, fields: {exclude: [a], overrides: [{name: a, examples: Shown}]}}
---
kind: MCPModelExposure
spec: {endpointRef: {name: shop}, table: {name: orders}, actions: [{name: act, report: {statement: "select 1 as n"}}], rowPolicies: [{name: mine, groups: [a], allRows: true}]}
---
kind: MCPModelExposure
spec: {endpointRef: {name: shop}, table: {name: orders}, actions: [{name: act, confirm: {}, report: {statement: "select 1 as n"}}]}
---
kind: MCPModelExposure
spec:
  endpointRef: {name: shop}
  table: {name: orders}
  actions: [{name: act, update: {set: [{field: a, source: Parameter, parameter: b}], where: [{field: a, tokenAttribute: b}, {any: [{field: a, value: x}], lookup: exact}, {field: a, lookup: range, values: [x]}, {field: a, lookup: isnull, value: x}, {any: [{field: a, lookup: range, values: [x]}, {field: a, lookup: isnull, value: x}]}]}}]
  rowPolicies: [{name: mine, groups: [a], filters: [{any: [{field: a, value: x}], lookup: exact}, {field: a, lookup: range, values: [x]}, {field: a, lookup: isnull, value: x}, {any: [{field: a, lookup: range, values: [x]}, {field: a, lookup: isnull, value: x}]}]}]
---
kind: MCPModelExposure
spec: {endpointRef: {name: shop}, table: {name: orders}, actions: [{name: act, parameters: [{name: token, type: String}], report: {statement: "select 1 as n"}}]}
---
kind: MCPToken
metadata: {name: shop-mcp-config}
spec: {endpointRef: {name: shop}}
---
kind: MCPToken
spec: {endpointRef: {name: shop}, expiry: "2036-01-01T00:00:00Z", ttl: 1h}
---
kind: MCPToken
spec: {endpointRef: {name: shop}, rotation: {every: 1h}, tokenSecretRef: {name: text, key: t}}
---
kind: MCPToken
spec: {endpointRef: {name: shop}, rotation: {every: 1h, overlap: 2h}, secret: {mutability: Immutable, keys: [{key: t, format: URL}]}}
---
kind: MCPToken
spec: {endpointRef: {name: shop, namespace: other}, attributes: {team: x}}
---
kind: MCPToken
spec: {endpointRef: {name: shop}, attributes: {team: x}, oidc: {issuer: a, subject: x, attributes: {team: claims.team}}}
`

// tooMuch are tokens whose names are too long together.
func tooMuch() []object {
	long := func(n, length int) []any {
		var names []any
		for i := range n {
			names = append(names, fmt.Sprintf("a%03d%s", i, strings.Repeat("a", length-4)))
		}
		return names
	}
	token := func(member string, value any) object {
		return object{"apiVersion": "mcpadmin.dev/v1alpha1", "kind": "MCPToken", "metadata": object{"name": "shop"}, "spec": object{"endpointRef": object{"name": "shop"}, member: value}}
	}
	return []object{
		token("groups", long(100, 63)),
		token("permissions", []any{object{"models": long(200, 40)}}),
		token("oidc", object{"issuer": "a", "subject": "x", "groups": object{"expression": "claims.groups", "among": long(100, 63)}}),
	}
}

// objectsOf are the objects of a text, completed, by kind.
func objectsOf(t *testing.T, text string) map[string][]object {
	t.Helper()
	all := map[string][]object{}
	for document := range strings.SplitSeq(text, "\n---\n") {
		var o object
		if err := yaml.UnmarshalStrict([]byte(document), &o); err != nil {
			t.Fatal(err)
		}
		o["apiVersion"] = "mcpadmin.dev/v1alpha1"
		if o["metadata"] == nil {
			o["metadata"] = object{"name": "shop"}
		}
		kind := o["kind"].(string)
		all[kind] = append(all[kind], o)
	}
	return all
}
