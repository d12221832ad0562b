package manifests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// write puts files into a new folder and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

const endpointYAML = `apiVersion: mcpadmin.dev/v1alpha1
kind: MCPEndpoint
metadata: {name: notes}
spec: {database: {sqlite: {emptyDir: {}, initConfigMapRef: {name: sql}}}}
`

func TestManifestsOfAFolderAreReadWithItsSubfolders(t *testing.T) {
	m, err := Read(t.Context(), []string{write(t, map[string]string{
		"a.yaml":             "# only a comment\n---\n" + endpointYAML + "---\n",
		"sub/b.json":         `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"ns"},"data":{"a":"aGk="},"stringData":{"b":"there"}}`,
		"sub/c.yml":          "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sql}\ndata: {x.sql: CREATE}\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: ns}\n",
		"kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n",
		".git/x.yaml":        "not: [read",
		"README.md":          "not read",
	})}, "default")
	if err == nil {
		err = m.Err()
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Endpoints) != 1 || m.Endpoints[0].Namespace != "default" {
		t.Errorf("endpoints: %+v", m.Endpoints)
	}
	if s := m.Secrets[types.NamespacedName{Namespace: "ns", Name: "s"}]; string(s["a"]) != "hi" || string(s["b"]) != "there" {
		t.Errorf("the Secret is %q", s)
	}
	if c := m.ConfigMaps[types.NamespacedName{Namespace: "default", Name: "sql"}]; string(c["x.sql"]) != "CREATE" {
		t.Errorf("the ConfigMap is %q", c)
	}
	if got := strings.Join(m.Ignored, ", "); got != "ServiceAccount ns" {
		t.Errorf("ignored: %s", got)
	}
}

func TestARefusalOfTheAPIServerIsAFindingWithItsLine(t *testing.T) {
	replaced := func(old, now string) string { return strings.Replace(endpointYAML, old, now, 1) }
	token := "apiVersion: mcpadmin.dev/v1alpha1\nkind: MCPToken\nmetadata: {name: x}\nspec:\n  endpointRef: {name: notes}\n"
	for name, tc := range map[string]struct{ yaml, want string }{
		"an unknown field":            {replaced("emptyDir: {}", "emptyDir: {}, claims: {}"), "x.yaml:4: MCPEndpoint default/notes: spec.database.sqlite.claims: Forbidden: there is no such field"},
		"a field in other letters":    {replaced("database:", "Database:"), "spec.Database: Forbidden: there is no such field"},
		"a field given twice":         {token + "---\n# here\n" + endpointYAML + "spec: {}\n", `x.yaml:12: it cannot be read: key "spec" already set`},
		"an object given twice":       {endpointYAML + "---\n" + endpointYAML, "x.yaml:8: MCPEndpoint default/notes: it is in "},
		"a kind that does not exist":  {"apiVersion: mcpadmin.dev/v1alpha1\nkind: MCPToke\nmetadata: {name: x}\n", "x.yaml:2: MCPToke default/x: kind: mcpadmin.dev/v1alpha1 has no kind MCPToke"},
		"another version":             {"apiVersion: mcpadmin.dev/v1\nkind: MCPToken\nmetadata: {name: x}\n", "mcpadmin.dev/v1 has no kind MCPToken"},
		"no name":                     {"apiVersion: mcpadmin.dev/v1alpha1\nkind: MCPToken\nmetadata: {}\n", "x.yaml:3: MCPToken: metadata.name: it is missing"},
		"no kind":                     {"metadata: {name: x}\n", "x.yaml:1: it is no object of Kubernetes"},
		"a namespace that is a path":  {replaced("{name: notes}", "{name: notes, namespace: ../../../x}"), "metadata.namespace: Invalid value: \"../../../x\": a lowercase RFC 1123 label"},
		"a name that is a path":       {replaced("{name: notes}", "{name: ../x}"), "metadata.name: Invalid value: \"../x\": a lowercase RFC 1123 subdomain"},
		"an unknown field of all":     {replaced("{name: notes}", "{name: notes, label: {}}"), `metadata: Invalid value: unknown field "label"`},
		"a label that is none":        {replaced("{name: notes}", "{name: notes, labels: {a b: c}}"), "metadata.labels: Invalid value: \"a b\""},
		"a ConfigMap's key is a path": {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {../x: text}\n", `data: key "../x": a valid config key`},
		"a Secret's key is a path":    {"apiVersion: v1\nkind: Secret\nmetadata: {name: x}\nstringData: {a/b: text}\n", `data: key "a/b": a valid config key`},
		"a Secret's name is a path":   {"apiVersion: v1\nkind: Secret\nmetadata: {name: ../x}\n", "metadata.name: a lowercase RFC 1123 subdomain"},
		"no YAML":                     {endpointYAML + "---\na: [", "x.yaml:6: it cannot be read: did not find expected node content"},
		"a wrong type":                {replaced("emptyDir: {}", "emptyDir: 1"), "spec.database.sqlite.emptyDir: Invalid value: must be of type object, and is of type integer"},
		"a number without quotes":     {token + "  attributes:\n    customer: 17\n", "x.yaml:7: MCPToken default/x: spec.attributes.customer: Invalid value: must be of type string, and is of type integer: put it in quotes"},
		"a duration in days":          {token + "  ttl: 30d\n", "x.yaml:6: MCPToken default/x: spec.ttl: Invalid value: \"30d\": must be a duration such as 90s, 36h or 720h (30 days), between 1m and 87600h (ten years)"},
		"a number below its bound": {"apiVersion: mcpadmin.dev/v1alpha1\nkind: MCPModelExposure\nmetadata: {name: x}\nspec:\n  endpointRef: {name: notes}\n  table: {name: x}\n  aggregate: {minGroupSize: -5}\n",
			"x.yaml:7: MCPModelExposure default/x: spec.aggregate.minGroupSize: Invalid value: -5: should be greater than or equal to 2"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Read(t.Context(), []string{write(t, map[string]string{"x.yaml": tc.yaml})}, "default")
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Err(); err == nil || !strings.Contains(err.Error(), tc.want) || len(m.Endpoints) > 1 {
				t.Errorf("got the error %v, want one with\n%s", err, tc.want)
			}
		})
	}
	if _, err := Read(t.Context(), []string{filepath.Join(t.TempDir(), "none.yaml")}, "default"); err == nil {
		t.Error("a file that does not exist is no error")
	}
	if _, err := Read(t.Context(), []string{t.TempDir()}, "default"); err == nil || !strings.Contains(err.Error(), "holds no .yaml") {
		t.Errorf("got the error %v for an empty folder, want one that says so", err)
	}
}
