package dev

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
	m, err := ReadManifests([]string{write(t, map[string]string{
		"a.yaml":             "# only a comment\n---\n" + endpointYAML + "---\n",
		"sub/b.json":         `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"ns"},"data":{"a":"aGk="},"stringData":{"b":"there"}}`,
		"sub/c.yml":          "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sql}\ndata: {x.sql: CREATE}\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: ns}\n",
		"kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n",
		".git/x.yaml":        "not: [read",
		"README.md":          "not read",
	})})
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

func TestManifestsAreReadAsStrictlyAsTheAPIServerDoes(t *testing.T) {
	for name, tc := range map[string]struct{ yaml, want string }{
		"an unknown field":            {strings.Replace(endpointYAML, "emptyDir: {}", "emptyDir: {}, claims: {}", 1), `MCPEndpoint default/notes: unknown field "spec.database.sqlite.claims"`},
		"a field in other letters":    {strings.Replace(endpointYAML, "database:", "Database:", 1), `unknown field "spec.Database"`},
		"a field given twice":         {endpointYAML + "spec: {}\n", `key "spec" already set`},
		"an object given twice":       {endpointYAML + "---\n" + endpointYAML, "MCPEndpoint default/notes is in"},
		"a kind that does not exist":  {"apiVersion: mcpadmin.dev/v1alpha1\nkind: MCPToke\nmetadata: {name: x}\n", "MCPToke is no kind of mcpadmin.dev/v1alpha1"},
		"another version":             {"apiVersion: mcpadmin.dev/v1\nkind: MCPToken\nmetadata: {name: x}\n", "is no kind of mcpadmin.dev/v1alpha1"},
		"no name":                     {"apiVersion: mcpadmin.dev/v1alpha1\nkind: MCPToken\nmetadata: {}\n", "metadata.name is missing"},
		"no kind":                     {"metadata: {name: x}\n", "an object without apiVersion and kind"},
		"a namespace that is a path":  {strings.Replace(endpointYAML, "{name: notes}", "{name: notes, namespace: ../../../x}", 1), "metadata.namespace: a lowercase RFC 1123 label"},
		"a name that is a path":       {strings.Replace(endpointYAML, "{name: notes}", "{name: ../x}", 1), "metadata.name: a lowercase RFC 1123 subdomain"},
		"a ConfigMap's key is a path": {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {../x: text}\n", `data: key "../x": a valid config key`},
		"a Secret's key is a path":    {"apiVersion: v1\nkind: Secret\nmetadata: {name: x}\nstringData: {a/b: text}\n", `data: key "a/b": a valid config key`},
		"no YAML":                     {"a: [", "x.yaml"},
		"a wrong type":                {strings.Replace(endpointYAML, "emptyDir: {}", "emptyDir: 1", 1), "emptyDir"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadManifests([]string{write(t, map[string]string{"x.yaml": tc.yaml})})
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "x.yaml") {
				t.Errorf("error %v, want one with %q that names the file", err, tc.want)
			}
		})
	}
	if _, err := ReadManifests([]string{filepath.Join(t.TempDir(), "none.yaml")}); err == nil {
		t.Error("a file that does not exist is no error")
	}
	if _, err := ReadManifests([]string{t.TempDir()}); err == nil || !strings.Contains(err.Error(), "holds no .yaml") {
		t.Errorf("an empty folder: %v", err)
	}
}
