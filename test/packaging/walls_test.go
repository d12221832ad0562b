package packaging

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The walls between packages are kept by the linter, by patterns of paths that could silently match nothing. Here each
// wall is broken once, in a copy of the project that holds nothing else.
func TestLinterKeepsTheWalls(t *testing.T) {
	linter := tool(t, "golangci-lint")
	if testing.Short() {
		t.Skip("it compiles a copy of some packages")
	}
	const module = "github.com/mcp-admin/mcp-admin-operator/"
	tests := []struct {
		name, file, code string
		// want is part of the finding; "" if there must be none.
		want string
	}{
		{"contract imports the API", "contract/x.go", imports(module + "api/v1alpha1"), "contract-is-neutral"},
		{"contract imports Kubernetes", "contract/y.go", imports("k8s.io/apimachinery/pkg/types"), "contract-is-neutral"},
		{"contract imports a part of itself", "contract/z.go", imports(module + "contract/excerpt"), ""},
		{"the API imports a user", "api/v1alpha1/x.go", imports(module + "server/mcp"), "api-stands-alone"},
		{"controllers import the server", "controllers/x.go", imports(module + "server/mcp"), "controllers-without-server"},
		{"compile has a client", "controllers/compile/x.go", imports("sigs.k8s.io/controller-runtime/pkg/client"), "compile-is-pure"},
		{"compile has a clock", "controllers/compile/y.go", "import \"time\"\n\nvar x = time.Now()", "without a clock"},
		{"controllers have a clock", "controllers/z.go", "import \"time\"\n\nvar z = time.Now()", ""},
		{"the server imports controllers", "server/x.go", imports(module + "controllers/compile"), "server-without-controllers"},
		{"the server imports the API", "server/source/x.go", imports(module + "api/v1alpha1"), "server-without-controllers"},
		{"the server imports Kubernetes", "server/mcp/x.go", imports("k8s.io/client-go/rest"), "kubernetes-only-in-source"},
		{"source imports Kubernetes", "server/source/y.go", imports("k8s.io/client-go/rest"), ""},
		{"tools speaks HTTP", "server/tools/x.go", imports("net/http"), "tools-without-http-or-sql"},
		{"tools speaks SQL", "server/tools/y.go", imports("database/sql"), "tools-without-http-or-sql"},
		{"mcp chooses an engine", "server/mcp/y.go", imports(module + "server/database/sqlite"), "engines-only-where-put-together"},
		{"package server chooses an engine", "server/y.go", imports(module + "server/database/sqlite"), ""},
		{"a command chooses an engine", "cmd/x/main.go", imports(module+"server/database/sqlite") + "\n\nfunc main() {}", ""},
		{"mcp mints a source", "server/mcp/z.go", "import \"" + module + "server/database\"\n\nvar z = database.NewSource", "only access mints"},
		{"access mints a source", "server/access/x.go", "import \"" + module + "server/database\"\n\nvar x = database.NewSource", ""},
	}
	copyOf := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", ".golangci.yml"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(copyOf, name), string(text))
	}
	write(t, filepath.Join(copyOf, "server/database/database.go"), "package database\n\nfunc NewSource() {}\n")
	write(t, filepath.Join(copyOf, "server/database/sqlite/sqlite.go"), "package sqlite\n")
	write(t, filepath.Join(copyOf, "contract/excerpt/excerpt.go"), "package excerpt\n")
	for _, tt := range tests {
		pkg := filepath.Base(filepath.Dir(tt.file))
		if strings.HasPrefix(tt.file, "cmd/") {
			pkg = "main"
		}
		write(t, filepath.Join(copyOf, tt.file), "package "+pkg+"\n\n"+tt.code+"\n")
	}
	command := "cd '" + copyOf + "' && '" + linter + "' run --allow-parallel-runners --enable-only depguard,forbidigo --output.text.print-issued-lines=false"
	_, findings := run("bash", "-c", command)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var found []string
			for line := range strings.Lines(findings) {
				if strings.HasPrefix(line, tt.file+":") {
					found = append(found, line)
				}
			}
			switch {
			case tt.want == "" && len(found) > 0:
				t.Errorf("it must be allowed, and is not: %s", found)
			case tt.want != "" && (len(found) != 1 || !strings.Contains(found[0], tt.want)):
				t.Errorf("the findings are %q, want one about %q; all:\n%s", found, tt.want, findings)
			}
		})
	}
}

func imports(path string) string { return "import _ \"" + path + "\"" }

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
