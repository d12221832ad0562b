// Package attacks asks for what is dear, of a server in a process of its own: each question ends in an answer or in the
// statement timeout, the process keeps its memory, and other tokens are answered meanwhile.
package attacks

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/memlimit"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// podMemory is a pod's memory limit.
const podMemory = 256 << 20

// statementTimeout is the endpoint's, unless the test asks for another.
const statementTimeout = 2 * time.Second

// timeoutVariable tells the server another one.
const timeoutVariable = "MCP_TEST_ATTACKED_TIMEOUT"

// answersTable is where the answers of calls with a key are kept.
const answersTable = "mcp_answers"

// databaseVariable tells the test's own program to be the server of a database.
const databaseVariable = "MCP_TEST_ATTACKED"

// The tokens: one takes all it can, one wants a row, one sees rows of a policy, and one may write.
var tokens = map[string]string{
	"greedy":  "mcp_greedygreedygree.0000000000000000000000000000000000000000000",
	"modest":  "mcp_modestmodestmode.0000000000000000000000000000000000000000000",
	"limited": "mcp_limitedlimitedli.0000000000000000000000000000000000000000000",
	"writing": "mcp_writingwritingwr.0000000000000000000000000000000000000000000",
}

// TestServe is the server that the other tests attack: it serves until its input ends.
func TestServe(t *testing.T) {
	var database harness.Database
	text := os.Getenv(databaseVariable)
	if text == "" {
		t.Skip("this is what the attacks run")
	}
	memlimit.Set(os.Getenv) // as the program does
	memlimit.PreferSpeed(os.Getenv)
	if err := json.Unmarshal([]byte(text), &database); err != nil {
		t.Fatal(err)
	}
	var models []contract.Model
	for _, name := range []string{"firm", "writer", "book", "chapter", "page", "wide", "event", "node"} {
		models = append(models, contract.Model{Name: name, Table: name, RowPolicies: []contract.RowPolicy{
			{Name: "all", Groups: []string{"all"}, AllRows: true},
			{Name: "even", Groups: []string{"limited"}, Filters: []contract.Filter{{Field: "even", Lookup: "gte", Value: "0"}}},
		}})
	}
	var all []contract.Token
	for name, secret := range tokens {
		token := contract.Token{Namespace: "test", Name: name, Hashes: []string{contract.HashToken(secret)}, Groups: []string{"all"},
			Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}}
		switch name {
		case "limited":
			token.Groups = []string{"limited"}
		case "writing":
			token.Rules[0].Verbs = []string{"*"}
		}
		all = append(all, token)
	}
	timeout := statementTimeout
	if text := os.Getenv(timeoutVariable); text != "" {
		var err error
		if timeout, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	endpoint := harness.Serve(t, database, models, all, func(c *contract.Config) {
		c.Endpoint.Database.StatementTimeout = contract.Duration(timeout)
		c.Endpoint.Idempotency = &contract.AuditTable{Name: answersTable}
	})
	_, _ = fmt.Fprintln(os.Stdout, "\nserving", endpoint.URL) // the parent process reads it
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// attacked is a server in a process of its own.
type attacked struct {
	*testing.T
	url string
	pid int
}

// start serves a database in another process, which gets the variables, too.
func start(t *testing.T, database harness.Database, variables ...string) *attacked {
	t.Helper()
	text, err := json.Marshal(database)
	if err != nil {
		t.Fatal(err)
	}
	variables = append(variables, databaseVariable+"="+string(text), memlimit.Variable+"="+strconv.Itoa(podMemory))
	process, url := harness.Apart(t, variables, "-test.run", "^TestServe$")
	return &attacked{t, url, process.Process.Pid}
}

// call calls a tool, and returns the answer's text and how long it took.
func (s *attacked) call(token, tool, arguments string) (text string, took time.Duration) {
	began := time.Now()
	request, err := http.NewRequest(http.MethodPost, s.url, strings.NewReader(`{"method":"tools/call","name":"`+tool+`","arguments":`+arguments+`}`))
	if err != nil {
		return err.Error(), 0
	}
	request.Header.Set("Authorization", "Bearer "+tokens[token])
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error(), time.Since(began)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error(), time.Since(began)
	}
	var answer struct{ Content []struct{ Text string } }
	if json.Unmarshal(body, &answer) != nil || len(answer.Content) != 1 {
		return string(body), time.Since(began)
	}
	return answer.Content[0].Text, time.Since(began)
}

// peak is the most memory, in bytes, that the process has had.
func (s *attacked) peak() int64 {
	s.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if err != nil {
		s.Fatalf("the server has died: %v", err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes int64
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		s.Fatalf("the server has died: %v", err)
	}
	return kilobytes << 10
}
