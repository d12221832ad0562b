package packaging

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// chartValues are the chart's own values.
func chartValues(t *testing.T) map[string]any {
	t.Helper()
	text, err := os.ReadFile(chart + "/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]any{}
	if err := yaml.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	return values
}

func TestChartRefusesWrongValues(t *testing.T) {
	helm := tool(t, "helm")
	tests := []struct{ name, value, want string }{
		{"a wrong type", "replicas=many", "replicas"},
		{"a namespace that cannot be one", "watchNamespaces={Shop}", "watchNamespaces"},
		{"an unknown pull policy", "image.pullPolicy=Sometimes", "pullPolicy"},
		{"a digest that is none", "image.digest=sha256:12", "digest"},
		{"an unknown log level", "logLevel=loud", "logLevel"},
		{"an interval without a unit", "metrics.podMonitor.interval=30", "interval"},
		{"a variable without a name", "extraEnv[0].value=x", "name"},
		{"no ServiceAccount at all", "serviceAccount.create=false", "serviceAccount.name"},
		{"a page without a host", "page.enabled=true,page.oidc.issuerURL=https://i.example.com,page.oidc.clientID=x", "page.host is needed"},
		{"a page without an identity provider", "page.enabled=true,page.host=mcp.example.com,page.oidc.clientID=x", "page.oidc.issuerURL is needed"},
		{"a page without a client", "page.enabled=true,page.host=mcp.example.com,page.oidc.issuerURL=https://i.example.com", "page.oidc.clientID is needed"},
		{"an identity provider without TLS", "page.oidc.issuerURL=http://i.example.com", "issuerURL"},
		{"a host that is a URL", "page.host=https://mcp.example.com", "host"},
		{"a prefix of Kubernetes' own names", "page.oidc.groupsPrefix=system:", "groupsPrefix"},
		{"an algorithm with a shared key", "page.oidc.signingAlgs={HS256}", "signingAlgs"},
		{"scopes without openid", "page.oidc.scopes={email}", "scopes"},
		{"a ServiceMonitor without a Service", "metrics.service=false,metrics.serviceMonitor.enabled=true", "metrics.podMonitor"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, failure := run(helm, "template", "x", chart, "--set", tt.value)
			if failure == "" {
				t.Fatalf("it was rendered:\n%s", out)
			}
			if !strings.Contains(failure, tt.want) {
				t.Errorf("the message does not name %s: %s", tt.want, failure)
			}
		})
	}
}

// A value with a typo is refused, wherever the chart names its values itself.
func TestChartRefusesTypos(t *testing.T) {
	helm := tool(t, "helm")
	free := []string{"podAnnotations", "podLabels", "nodeSelector", "serviceAccount.annotations", "metrics.podMonitor.labels",
		"metrics.serviceMonitor.labels", "monitoring.rules.labels", "monitoring.dashboards.labels", "resources.requests", "resources.limits",
		"page.resources.requests", "page.resources.limits"}
	var check func(path string, values map[string]any)
	check = func(path string, values map[string]any) {
		for _, name := range free {
			if path == name {
				return
			}
		}
		typo := strings.TrimPrefix(path+".typo", ".")
		if _, failure := run(helm, "template", "x", chart, "--set", typo+"=1"); !strings.Contains(failure, "typo") {
			t.Errorf("%s: %q does not name it", typo, failure)
		}
		for name, value := range values {
			if children, ok := value.(map[string]any); ok {
				check(strings.TrimPrefix(path+"."+name, "."), children)
			}
		}
	}
	check("", chartValues(t))
}

// The schema and values.yaml name the same values. Helm has its own "global".
func TestChartSchemaNamesEveryValue(t *testing.T) {
	text, err := os.ReadFile(chart + "/values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	schema := map[string]any{}
	if err := yaml.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	resolve := func(part map[string]any) map[string]any {
		if reference, ok := part["$ref"].(string); ok {
			part, _, _ = unstructured.NestedMap(schema, strings.Split(strings.TrimPrefix(reference, "#/"), "/")...)
		}
		return part
	}
	var check func(path string, part, values map[string]any)
	check = func(path string, part, values map[string]any) {
		properties, closed := part["properties"].(map[string]any)
		if !closed {
			return
		}
		names := func(of map[string]any) map[string]bool {
			set := map[string]bool{}
			for name := range of {
				set[name] = name != "global" && (!strings.HasSuffix(path, "resources") || name != "claims")
			}
			delete(set, "global")
			return set
		}
		if path == "affinity" || strings.HasSuffix(path, "resources") {
			return // Kubernetes names these
		}
		if diff := cmp.Diff(names(properties), names(values)); diff != "" {
			t.Errorf("%q (-schema +values.yaml):\n%s", path, diff)
		}
		for name, value := range values {
			if children, ok := value.(map[string]any); ok {
				check(strings.TrimPrefix(path+"."+name, "."), resolve(properties[name].(map[string]any)), children)
			}
		}
	}
	check("", schema, chartValues(t))
}
