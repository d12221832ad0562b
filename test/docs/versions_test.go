package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// versionFacts are places that decide a version, and the pattern that finds it there.
var versionFacts = []struct{ what, file, pattern string }{
	{"the PostgreSQL releases of npm", "test/databases/package.json", `linux-x64@(\d+\.\d+)\.`},
	{"the Kubernetes that the chart needs", "charts/mcp-admin-operator/Chart.yaml", `kubeVersion: ">=(\d+\.\d+)`},
	{"the Kubernetes of the local cluster", "hack/kube/go.mod", `k8s.io/kubernetes v(\S+)`},
	{"the client libraries", "go.mod", `k8s.io/client-go (v\d+\.\d+)`},
	{"Go", "go.mod", `(?m)^go (\d+\.\d+)`},
	{"the revisions of MCP", "server/mcp/era.go", `version\d+ += "([\d-]+)"`},
}

func TestThePageOfVersionsNamesTheProjectsVersions(t *testing.T) {
	page := read(t, "docs/versions.md")
	for _, fact := range versionFacts {
		found := regexp.MustCompile(fact.pattern).FindAllStringSubmatch(read(t, fact.file), -1)
		if len(found) == 0 {
			t.Errorf("%s: %s has no %s", fact.what, fact.file, fact.pattern)
		}
		for _, match := range found {
			if !strings.Contains(page, match[1]) {
				t.Errorf("%s: %s has %s, and docs/versions.md does not", fact.what, fact.file, match[1])
			}
		}
	}
}

// A revision that is no longer served must not stay on the page.
func TestThePageOfVersionsNamesNoOtherRevisionOfMCP(t *testing.T) {
	era := read(t, "server/mcp/era.go")
	rows := regexp.MustCompile(`(?m)^\| (\d{4}-\d\d-\d\d) \|`).FindAllStringSubmatch(read(t, "docs/versions.md"), -1)
	if len(rows) == 0 {
		t.Error("no revision was found")
	}
	for _, row := range rows {
		if !slices.Contains(strings.Split(era, `"`), row[1]) {
			t.Errorf("docs/versions.md has %s, which server/mcp/era.go has not", row[1])
		}
	}
}
