package v1alpha1_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// These are the rules of the Kubernetes API linter (kube-api-linter) that this API follows, over the CRDs as they are
// generated: what an API server will enforce. comments_test.go has the rules about the Go source.

// schemaRule looks at one node of a schema and says what is wrong with it; "" if nothing is.
type schemaRule func(n node) string

// node is a schema with the place it stands in.
type node struct {
	// path is the kind's plural and the fields that lead here; "[]" is a list's items, "{}" a map's values.
	path   string
	schema *apiextensions.JSONSchemaProps
}

// name is the field's name; "[]" or "{}" for items and values.
func (n node) name() string { return n.path[strings.LastIndex(n.path, ".")+1:] }

var schemaRules = map[string]schemaRule{
	"no default": func(n node) string {
		return complain(n.schema.Default != nil, "the schema writes a default; effective.go says what absent means")
	},
	"described": func(n node) string {
		isField := !strings.HasSuffix(n.path, "[]") && !strings.HasSuffix(n.path, "{}")
		return complain(isField && n.schema.Description == "", "no description")
	},
	"bounded string": func(n node) string {
		bounded := n.schema.MaxLength != nil || n.schema.Enum != nil || n.schema.Format != ""
		return complain(n.schema.Type == "string" && !bounded, "a string without maxLength, enum or format")
	},
	"bounded list": func(n node) string {
		return complain(n.schema.Type == "array" && n.schema.MaxItems == nil, "a list without maxItems")
	},
	"list type": func(n node) string {
		if n.schema.Type != "array" {
			return ""
		}
		if n.schema.XListType == nil {
			return "a list without x-kubernetes-list-type"
		}
		_, named := n.schema.Items.Schema.Properties["name"]
		byName := *n.schema.XListType == "map" && slices.Equal(n.schema.XListMapKeys, []string{"name"})
		return complain(named && !byName, "its items have names, so it must be a map list with the key name")
	},
	"no free-form map": func(n node) string {
		if n.schema.XPreserveUnknownFields != nil {
			return "any content is accepted"
		}
		if n.schema.AdditionalProperties == nil {
			return ""
		}
		if !mapName.MatchString(n.name()) {
			return "a free-form map"
		}
		return complain(n.schema.MaxProperties == nil, "a map without maxProperties")
	},
	"no boolean": func(n node) string {
		field := n.path[strings.Index(n.path, ".")+1:]
		return complain(n.schema.Type == "boolean" && field != "spec.active" && field != "spec.expose",
			"a boolean; an enum says what it means and can grow")
	},
	"exact number": func(n node) string {
		if n.schema.Type == "number" {
			return "a floating-point number"
		}
		return complain(n.schema.Type == "integer" && n.schema.Minimum == nil, "an integer without minimum")
	},
	"enum in PascalCase": func(n node) string {
		for _, value := range n.schema.Enum {
			if !pascalCase.Match(value.Raw) {
				return fmt.Sprintf("enum value %s", value.Raw)
			}
		}
		return ""
	},
	"room for each choice": func(n node) string {
		if n.schema.MaxItems == nil || n.schema.Items == nil || n.schema.Items.Schema == nil {
			return ""
		}
		choices := int64(len(n.schema.Items.Schema.Enum))
		return complain(*n.schema.MaxItems < choices, fmt.Sprintf("a list of at most %d that may have %d values", *n.schema.MaxItems, choices))
	},
	"duration is a string": func(n node) string {
		return complain(durationName.MatchString(n.name()) && n.schema.Type != "string", "a duration that is no string")
	},
	"reference": func(n node) string {
		isReference := n.schema.Type == "object" && len(n.schema.Properties) > 0
		for property := range n.schema.Properties {
			isReference = isReference && (property == "name" || property == "key" || property == "namespace")
		}
		if strings.HasSuffix(n.name(), "Ref") {
			return complain(!isReference || !slices.Contains(n.schema.Required, "name"), "a reference is an object with a required name, and key")
		}
		return complain(isReference, "it refers to something, so its name must end with Ref")
	},
	"rule with a message": func(n node) string {
		for _, rule := range n.schema.XValidations {
			if rule.Message == "" && rule.MessageExpression == "" {
				return "a rule without a message: " + rule.Rule
			}
		}
		return ""
	},
	"conditions": func(n node) string {
		byType := n.schema.XListType != nil && *n.schema.XListType == "map" && slices.Equal(n.schema.XListMapKeys, []string{"type"})
		return complain(n.name() == "conditions" && !byType, "conditions are a map list with the key type")
	},
}

var (
	pascalCase   = regexp.MustCompile(`^"[A-Z][A-Za-z0-9]*"$`)
	mapName      = regexp.MustCompile(`(?i)(labels|annotations|^attributes|^claims|matchLabels$|^nodeSelector)$`)
	durationName = regexp.MustCompile(`(?i)(timeout|interval|overlap|duration|period|every|ttl|staleness|skew|warning|expiresAfter|keepFor)$`)
)

// exception lets one rule pass at the paths that match.
type exception struct {
	rule, path string // path is a regular expression, matched whole
	reason     string
}

// ofKubernetes matches what is below a field with the type of a pod's field. Its rules are Kubernetes's own.
var ofKubernetes = regexp.MustCompile(`^mcpendpoints\.spec\.server\.(` +
	`(affinity|podSecurityContext|securityContext)\.` +
	`|(env|tolerations|topologySpreadConstraints|volumeMounts)\.\[\]` +
	`|volumes\.\[\]\.(configMap|csi|emptyDir|persistentVolumeClaim|projected|secret)\.)`)

var schemaExceptions = []exception{
	{"no default", `mcp[a-z]+\.status`, "an object that nobody has seen yet is not Current for kstatus"},
	{"no free-form map", `mcpendpoints\.spec\.server\.resources\.(requests|limits)`, "a container's resources, as pods have them"},
	{"no free-form map", `mcpendpoints\.spec\.server\.podTemplate`, "a PodTemplateSpec, which the controllers check; its schema would be larger than all else"},
	{"no free-form map", `mcpmodelexposures\.spec\.(measures\.\[\]\.measure|segments\.\[\]\.filters|questions\.\[\]\.call\.arguments)`, "what agents send to tools, which the server reads in the same way"},
	{"no free-form map", `mcpendpoints\.spec\.approvals\.\[\]\.match\.when\.(before|after)`, "what agents send to tools, which the server reads in the same way"},
	{"list type", `mcpendpoints\.spec\.server\.volumeMounts`, "a container's mounts, whose key is mountPath"},
	{"enum in PascalCase", `.*\.(verbs|requires)\.\[\]`, "the verbs are the specification's words (view, add, change, delete) and the wildcard"},
	{"enum in PascalCase", `mcpmodelexposures\.spec\.(operations\.\[\]|questions\.\[\]\.call\.tool)`, "the operations are what the tools' names begin with"},
	{"enum in PascalCase", `mcpmodelexposures\.spec\..*\.lookup`, "the lookups are those that agents write in filters"},
	{"no boolean", `mcpmodelexposures\.spec\.rowPolicies\.\[\]\.allRows`, "a policy without filters must say that it means every row; there is no third thing to mean"},
	{"no boolean", `mcpmodelexposures\.spec\.pinned`, "it goes with expose, and is read beside it"},
	{"bounded string", `mcpendpoints\.spec\.network\.networkPolicy\..*Selector\..*`, "metav1.LabelSelector, as NetworkPolicies have it"},
	{"bounded list", `mcpendpoints\.spec\.network\.networkPolicy\..*Selector\..*`, "metav1.LabelSelector, as NetworkPolicies have it"},
	{"no free-form map", `mcpendpoints\.spec\.network\.networkPolicy\..*Selector\.matchLabels`, "metav1.LabelSelector, as NetworkPolicies have it"},
	{"list type", `mcpendpoints\.spec\.network\.httpRoute\.parentRefs`, "a route may belong to several listeners of one Gateway"},
	{"reference", `mcpendpoints\.spec\.database\.(sqlite|duckdb)\.claim`, "one kind of volume, as a pod's volumes have them"},
	{"reference", `mcpendpoints\.spec\.server\.imagePullSecrets\.\[\]`, "named as those of a pod, and of every chart"},
}

func TestSchemasFollowTheAPIRules(t *testing.T) {
	used := make([]bool, len(schemaExceptions))
	for _, crd := range generatedCRDs(t) {
		for _, n := range nodesOf(crd) {
			if ofKubernetes.MatchString(n.path) {
				continue
			}
			for _, rule := range slices.Sorted(maps.Keys(schemaRules)) {
				complaint := schemaRules[rule](n)
				if complaint == "" {
					continue
				}
				i := slices.IndexFunc(schemaExceptions, func(e exception) bool {
					return e.rule == rule && regexp.MustCompile("^("+e.path+")$").MatchString(n.path)
				})
				if i >= 0 {
					used[i] = true
					continue
				}
				t.Errorf("%s: %s: %s", n.path, rule, complaint)
			}
		}
	}
	for i, e := range schemaExceptions {
		if !used[i] {
			t.Errorf("nothing needs the exception from %q at %s (%s) any more", e.rule, e.path, e.reason)
		}
	}
}

func TestKindsFollowTheAPIRules(t *testing.T) {
	shortNames := map[string]string{"MCPEndpoint": "mcpe", "MCPModelExposure": "mcpm", "MCPToken": "mcpt", "MCPApproval": "mcpa"}
	crds := generatedCRDs(t)
	if len(crds) != len(shortNames) {
		t.Fatalf("%d CRDs, want %d", len(crds), len(shortNames))
	}
	for _, crd := range crds {
		t.Run(crd.Spec.Names.Kind, func(t *testing.T) {
			if got, want := crd.Spec.Names.ShortNames, []string{shortNames[crd.Spec.Names.Kind]}; !slices.Equal(got, want) {
				t.Errorf("short names are %v, want %v", got, want)
			}
			if got := crd.Spec.Names.Categories; !slices.Equal(got, []string{"mcp"}) {
				t.Errorf("categories are %v, want [mcp]", got)
			}
			if crd.Spec.Scope != apiextensions.NamespaceScoped {
				t.Errorf("scope is %s, want Namespaced", crd.Spec.Scope)
			}
			version := crd.Spec.Versions[0]
			if version.Subresources == nil || version.Subresources.Status == nil {
				t.Error("there is no status subresource")
			}
			status := version.Schema.OpenAPIV3Schema.Properties["status"]
			for _, field := range []string{"conditions", "observedGeneration"} {
				if _, ok := status.Properties[field]; !ok {
					t.Errorf("status has no %s", field)
				}
			}
			columns := map[string]bool{}
			for _, column := range version.AdditionalPrinterColumns {
				columns[column.Name] = true
				if !leadsSomewhere(version.Schema.OpenAPIV3Schema, column.JSONPath) {
					t.Errorf("column %s shows %s, which no object has", column.Name, column.JSONPath)
				}
			}
			wanted := []string{"Ready", "Status", "Age"}
			if crd.Spec.Names.Kind == "MCPApproval" { // it asks for nothing that could be ready
				wanted = []string{"State", "Expires", "Age"}
			}
			for _, name := range wanted {
				if !columns[name] {
					t.Errorf("there is no column %s", name)
				}
			}
		})
	}
}

// Each rule must notice what it is there for: a schema that breaks it, and nothing else.
func TestSchemaRulesNotice(t *testing.T) {
	tests := map[string]struct{ name, schema string }{
		"no default":           {"f", `{type: integer, minimum: 0, description: x, default: 3}`},
		"described":            {"f", `{type: integer, minimum: 0}`},
		"bounded string":       {"f", `{type: string, description: x}`},
		"bounded list":         {"f", `{type: array, description: x, x-kubernetes-list-type: set, items: {type: string, maxLength: 1}}`},
		"list type":            {"f", `{type: array, description: x, maxItems: 1, x-kubernetes-list-type: atomic, items: {type: object, properties: {name: {type: string}}}}`},
		"no free-form map":     {"f", `{type: object, description: x, maxProperties: 5, additionalProperties: {type: string, maxLength: 1}}`},
		"no boolean":           {"f", `{type: boolean, description: x}`},
		"exact number":         {"f", `{type: number, description: x}`},
		"enum in PascalCase":   {"f", `{type: string, description: x, enum: [Good, bad-one]}`},
		"room for each choice": {"f", `{type: array, description: x, maxItems: 1, x-kubernetes-list-type: set, items: {type: string, enum: [Good, Bad]}}`},
		"duration is a string": {"statementTimeout", `{type: integer, minimum: 0, description: x}`},
		"reference":            {"f", `{type: object, description: x, required: [name], properties: {name: {}, key: {}}}`},
		"rule with a message":  {"f", `{type: integer, minimum: 0, description: x, x-kubernetes-validations: [{rule: "true"}]}`},
		"conditions":           {"conditions", `{type: array, description: x, maxItems: 1, x-kubernetes-list-type: atomic, items: {type: object}}`},
	}
	for rule := range schemaRules {
		if _, ok := tests[rule]; !ok {
			t.Errorf("no schema breaks the rule %q", rule)
		}
	}
	for broken, tt := range tests {
		t.Run(broken, func(t *testing.T) {
			n := node{path: "things.spec." + tt.name, schema: &apiextensions.JSONSchemaProps{}}
			if err := yaml.Unmarshal([]byte(tt.schema), n.schema); err != nil {
				t.Fatal(err)
			}
			for name, rule := range schemaRules {
				if complaint := rule(n); (complaint != "") != (name == broken) {
					t.Errorf("rule %q says %q", name, complaint)
				}
			}
		})
	}
}

func generatedCRDs(t *testing.T) []*apiextensions.CustomResourceDefinition {
	t.Helper()
	paths, err := filepath.Glob("../../config/crd/bases/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no generated CRDs: %v", err)
	}
	var crds []*apiextensions.CustomResourceDefinition
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensions.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, crd); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		crds = append(crds, crd)
	}
	return crds
}

// nodesOf lists every node below spec and status, of every version.
func nodesOf(crd *apiextensions.CustomResourceDefinition) []node {
	var nodes []node
	var walk func(n node)
	walk = func(n node) {
		nodes = append(nodes, n)
		for _, name := range slices.Sorted(maps.Keys(n.schema.Properties)) {
			property := n.schema.Properties[name]
			walk(node{n.path + "." + name, &property})
		}
		if n.schema.Items != nil {
			walk(node{n.path + ".[]", n.schema.Items.Schema})
		}
		if n.schema.AdditionalProperties != nil {
			walk(node{n.path + ".{}", n.schema.AdditionalProperties.Schema})
		}
	}
	for _, version := range crd.Spec.Versions {
		for _, part := range []string{"spec", "status"} {
			property := version.Schema.OpenAPIV3Schema.Properties[part]
			walk(node{crd.Spec.Names.Plural + "." + part, &property})
		}
	}
	return nodes
}

// leadsSomewhere says whether a printer column's JSONPath (fields, and filters on a list) names something in the schema.
func leadsSomewhere(schema *apiextensions.JSONSchemaProps, jsonPath string) bool {
	withoutFilters := regexp.MustCompile(`\[[^\]]*\]`).ReplaceAllString(jsonPath, ".[]")
	for _, step := range strings.Split(strings.TrimPrefix(withoutFilters, "."), ".") {
		switch {
		case step == "[]" && schema.Items != nil:
			schema = schema.Items.Schema
		case step == "creationTimestamp":
			return true
		default:
			property, ok := schema.Properties[step]
			if !ok {
				return false
			}
			schema = &property
		}
	}
	return true
}

func complain(wrong bool, complaint string) string {
	if wrong {
		return complaint
	}
	return ""
}
