package catalogue

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// The budgets, in bytes, of lists with full rights: of an ordinary table's own tools, and of a generic list whatever the number
// of tables, with the tools for work of several steps.
const (
	perTableBudget = 5_200
	genericBudget  = 12_000
)

const rootText = "mcp_rootrootrootroot.0000000000000000000000000000000000000000000"

// serve serves the tables of a script, with history, to a token that may do everything.
func serve(t *testing.T, script string, models []contract.Model) *harness.Endpoint {
	t.Helper()
	database, _ := harness.OnFile(t, filepath.Join(t.TempDir(), "data.sqlite"), script)
	root := contract.Token{Namespace: "test", Name: "root", Hashes: []string{contract.HashToken(rootText)},
		Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"*"}}}}
	return harness.Serve(t, database, models, []contract.Token{root}, func(c *contract.Config) {
		c.Endpoint.Audit, c.Endpoint.Idempotency = &contract.AuditTable{Name: "mcp_admin_log"}, &contract.AuditTable{Name: "mcp_admin_kept"}
		c.Endpoint.Catalogue = contract.Catalogue{Style: contract.StyleAuto, MaxTools: 100}
	})
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// list is one answer of tools/list, as it was sent.
type list struct {
	tools []tool
	// steps are the bytes of the tools for work of several steps, own the bytes of models' own tools.
	bytes, compressed, steps, own int
	duration, forCompressed       time.Duration
}

// ask asks for tools/list in JSON-RPC, with the URL's query.
func ask(t *testing.T, e *harness.Endpoint, query string) list {
	t.Helper()
	const rounds = 5
	var l list
	for range rounds { // the fastest of some: others work on this machine, too
		body, took := post(t, e, query, false)
		if l.duration == 0 || took < l.duration {
			l.duration = took
		}
		packed, took := post(t, e, query, true)
		if l.forCompressed == 0 || took < l.forCompressed {
			l.forCompressed = took
		}
		l.bytes, l.compressed = len(body), len(packed)
		if l.tools == nil {
			l.tools, l.steps, l.own = read(t, body)
			reader, err := gzip.NewReader(bytes.NewReader(packed))
			if err != nil {
				t.Fatal(err)
			}
			if whole, err := io.ReadAll(reader); err != nil || !bytes.Equal(whole, body) {
				t.Fatalf("the compressed list is another: %v", err)
			}
		}
	}
	return l
}

// read returns the tools of an answer, and how many bytes of it those for work of several steps are, and models' own.
func read(t *testing.T, body []byte) (tools []tool, steps, own int) {
	t.Helper()
	var answer struct {
		Result struct{ Tools []json.RawMessage }
	}
	if err := json.Unmarshal(body, &answer); err != nil || len(answer.Result.Tools) == 0 {
		t.Fatalf("%v: %.300s", err, body)
	}
	for _, sent := range answer.Result.Tools {
		var one tool
		if err := json.Unmarshal(sent, &one); err != nil {
			t.Fatalf("%v: %.300s", err, sent)
		}
		switch {
		case one.Name == "transact" || one.Name == "undo":
			steps += len(",") + len(sent)
		case strings.Contains(one.Name, "_") && one.Name != "find_models":
			own += len(",") + len(sent)
		}
		tools = append(tools, one)
	}
	return tools, steps, own
}

// plain is a client that unpacks nothing by itself.
var plain = &http.Client{Transport: &http.Transport{DisableCompression: true}}

func post(t *testing.T, e *harness.Endpoint, query string, compressed bool) ([]byte, time.Duration) {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, e.URL+query, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+rootText)
	request.Header.Set("Content-Type", "application/json")
	if compressed {
		request.Header.Set("Accept-Encoding", "gzip")
	}
	start := time.Now()
	response, err := plain.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%d %v: %.300s", response.StatusCode, err, body)
	}
	if packed := response.Header.Get("Content-Encoding") == "gzip"; packed != compressed {
		t.Fatalf("compressed is %t", packed)
	}
	return body, time.Since(start)
}

// ordinaryTools returns a list with the tools of an ordinary table, and how many bytes these have, without the tools of
// the whole endpoint.
func ordinaryTools(t *testing.T) (list, int) {
	t.Helper()
	e := serve(t, ordinary, []contract.Model{{Name: "author", Table: "author"}, {Name: "book", Table: "book", Expose: true, Description: "What the shop sells."}})
	l := ask(t, e, "?tools=per-model")
	return l, l.own
}

func TestAnOrdinaryTablesToolsAreWithinTheirBudget(t *testing.T) {
	l, bytes := ordinaryTools(t)
	if bytes > perTableBudget || len(l.tools) < 13 || l.tools[0].Name != "find_models" {
		t.Errorf("the %d tools of a table have %d bytes, want at most %d", len(l.tools)-3, bytes, perTableBudget)
	}
	if l.steps == 0 {
		t.Error("the list has neither transact nor undo")
	}
	for _, tool := range l.tools {
		if tool.Description == "" || len(tool.Description) > 1024 {
			t.Errorf("%s has a description of %d bytes", tool.Name, len(tool.Description))
		}
	}
}

func TestTheGenericToolsAreWithinTheirBudget(t *testing.T) {
	var before list
	for _, tables := range []int{1, 40} {
		e := serve(t, script(tables), models(tables))
		l := ask(t, e, "?tools=generic")
		if l.bytes > genericBudget || len(l.tools) < 15 {
			t.Errorf("%d tables: the %d tools have %d bytes, want at most %d", tables, len(l.tools), l.bytes, genericBudget)
		}
		t.Logf("%d tables: %d bytes, of which transact and undo have %d", tables, l.bytes, l.steps)
		if before.bytes != 0 && before.bytes != l.bytes {
			t.Errorf("%d bytes of generic tools became %d with %d tables", before.bytes, l.bytes, tables)
		}
		before = l
		own := ask(t, e, "")
		if generic := slices.ContainsFunc(own.tools, func(o tool) bool { return o.Name == "describe" }); generic != (tables > 7) {
			t.Errorf("%d tables: the list of style Auto is generic: %t", tables, generic)
		}
	}
}

// TestMeasure prints what lists of many tables cost.
func TestMeasure(t *testing.T) {
	if os.Getenv("MCP_TEST_CATALOGUE") == "" {
		t.Skip("MCP_TEST_CATALOGUE is not set")
	}
	const row = "%-7s %-10s %6s %10s %11s %9s %10s %12s\n"
	fmt.Printf(row, "tables", "style", "tools", "bytes", "compressed", "tokens", "time", "compressed")
	var last [2]list
	for _, tables := range []int{10, 100, 650} {
		e := serve(t, script(tables), models(tables))
		for i, style := range []string{"per-model", "generic"} {
			l := ask(t, e, "?tools="+style)
			fmt.Printf(row, fmt.Sprint(tables), style, fmt.Sprint(len(l.tools)), fmt.Sprint(l.bytes), fmt.Sprint(l.compressed), fmt.Sprint(l.bytes/4), inMilliseconds(l.duration), inMilliseconds(l.forCompressed))
			last[i] = l
		}
	}
	l, bytes := ordinaryTools(t)
	fmt.Printf("catalogue: of 650 tables, %d tools in %d tokens model by model, %d in %d generic; the %d tools of a table book of eight columns have %d bytes\n",
		len(last[0].tools), last[0].bytes/4, len(last[1].tools), last[1].bytes/4, len(l.tools)-3, bytes)
}

func inMilliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}
