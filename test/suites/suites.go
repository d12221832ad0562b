package main

import (
	"fmt"
	"strings"
)

// suite is one line of the report: packages that are tested together, or a program that judges by its exit code.
type suite struct {
	name string
	// about says what it tries.
	about string
	// packages are patterns of Go packages; the suite "units" has all that no other suite has.
	packages []string
	// closed are the packages among them that depend on nothing outside their process; run takes them out of packages.
	closed []string
	// args are further arguments of "go test".
	args []string
	// program is run instead, with its arguments.
	program []string
	// environment are variables of its tests; most of them ask for one, and are skipped without.
	environment []string
	// rest is set if "make test" leaves the suite out: -rest, or its name, runs it. more is set if it has more to do with
	// -rest: other releases and engines, and tests that are whole.
	rest, more bool
	// whole is set if its tests are to try all that they can.
	whole bool
	// alone is set if nothing else runs at the same time, as it measures memory or fills the machine.
	alone bool
}

// aboutTokens are the files of the controllers' cases that run in the suite "tokens": about half of the time. These cases mostly
// wait, so that two halves side by side, each with its API server, end sooner.
const aboutTokens = "token|layout|removals|callers|rollouts|reports"

// cacheGuard has client-go end a test in which somebody changed an object of the manager's cache. Equal parts of all objects there
// are one (package intern), so a change would be one of thousands.
var cacheGuard = []string{"KUBE_CACHE_MUTATION_DETECTOR=true"}

// everything are the suites, the longest first: nothing then waits for a long one in the end.
var everything = []suite{
	{name: "controllers", about: "the controllers, against a real API server", packages: []string{"./controllers"}, args: []string{"-ginkgo.skip-file=" + aboutTokens}, environment: cacheGuard},
	{name: "tokens", about: "the same, of tokens and who has been let in by them", packages: []string{"./controllers"}, args: []string{"-ginkgo.focus-file=" + aboutTokens}, environment: cacheGuard},
	{name: "commands", about: "the program for people, against a server and a cluster", packages: []string{"./cmd/...", "./test/apiserver/..."}},
	{name: "server", about: "the server and its engines", packages: []string{"./server/..."}},
	{name: "engines", about: "one suite of behaviour on every engine", packages: []string{"./test/engines", "./test/selftests"}, more: true},
	{name: "validation", about: "every rule of the kinds, in every way in", packages: []string{"./test/validation"}, more: true},
	{name: "permissions", about: "random calls in random worlds against an oracle; twin worlds", packages: []string{"./test/permissions"}, more: true},
	{name: "oracle", about: "random schemas and calls against plain SQL", packages: []string{"./test/oracle"}, more: true},
	{name: "work", about: "transactions and undo on every engine", packages: []string{"./test/work"}},
	{name: "approvals", about: "agents ask for what other people must allow, on two pods", packages: []string{"./test/approvals"}, more: true},
	{name: "units", about: "all other packages"},
	{name: "documents", about: "every block of the documents that can be run", packages: []string{"./test/docs/..."}, environment: []string{"MCP_TEST_DOCS=1"}},

	{name: "duckdb", about: "DuckDB, which needs C: the reading part of the engines' suite", program: []string{"make", "test-duckdb"}, rest: true},
	{name: "faults", about: "what happens to databases", packages: []string{"./test/faults"}, environment: []string{"MCP_TEST_FAULTS=1"}, rest: true},
	{name: "schemas", about: "third-party databases, as Debian packages", packages: []string{"./test/schemas"}, environment: []string{"MCP_TEST_SCHEMAS=1"}, rest: true},
	{name: "packaging", about: "images, chart, manifests and the release", packages: []string{"./test/packaging"}, rest: true},
	{name: "monitoring", about: "alerts, dashboards, runbooks and Sigma rules, with a Prometheus that watches real servers", packages: []string{"./test/monitoring"}, environment: []string{"MCP_TEST_MONITORING=1"}, rest: true},
	{name: "attacks", about: "one token that takes all it can; the memory of a server", packages: []string{"./test/attacks"}, environment: []string{"MCP_TEST_ATTACKS=1"}, rest: true, alone: true},
	{name: "flood", about: "requests that no client sends", packages: []string{"./server/mcp"}, args: []string{"-run", "TestAttack"}, environment: []string{"MCP_TEST_ATTACKS=1"}, rest: true, alone: true},
	{name: "end-to-end", about: "the product's story on the local cluster", packages: []string{"./test/e2e"}, args: []string{"-ginkgo.no-color"}, environment: []string{"MCP_TEST_E2E=1"}, rest: true},
	{name: "tools", about: "what the project is made with: the local cluster, the release, the recordings", packages: []string{"./hack/localcluster", "./hack/release", "./hack/recording"}, rest: true},
	{name: "identity", about: "who is let in by a token that somebody else issued", program: []string{"go", "run", "./test/identity"}, rest: true},
	{name: "conformance", about: "the official MCP conformance suite", program: []string{"go", "run", "./test/conformance"}, rest: true},
	{name: "clients", about: "the public MCP clients", program: []string{"go", "run", "./test/clients"}, rest: true},
	{name: "browser", about: "an MCP client in a real browser", packages: []string{"./test/browser"}, environment: []string{"MCP_TEST_BROWSER=1"}, rest: true},
	{name: "page", about: "the page for people in a real browser", packages: []string{"./test/page"}, args: []string{"-run", "InChromium"}, environment: []string{"MCP_TEST_PAGE=1"}, rest: true},
}

// chosen returns the suites to run: the named ones, else the suites of "make test", or of its rest.
func chosen(names []string, rest bool) ([]*suite, error) {
	var picked []*suite
	for i := range everything {
		s := &everything[i]
		if len(names) == 0 && (s.rest == rest || s.more) {
			picked = append(picked, s)
		}
		for _, name := range names {
			if s.name == name {
				picked = append(picked, s)
			}
		}
	}
	if len(names) > 0 && len(picked) != len(names) {
		return nil, fmt.Errorf("%s: -list tells the names of the suites", strings.Join(names, " "))
	}
	return picked, nil
}

// claimed are the packages of all suites but "units".
func claimed() []string {
	var patterns []string
	for _, s := range everything {
		patterns = append(patterns, s.packages...)
	}
	return patterns
}
