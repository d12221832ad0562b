package fiveminutes

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-admin/mcp-admin-operator/test/docs/pages"
)

// page is where a reader without a cluster begins.
const page = "docs/start/laptop.md"

// laptop serves a database by one command, and asks over HTTP.
func laptop(t *testing.T) *way {
	if taken := pages.Taken(); taken != "" {
		t.Skipf("%s is taken by another program of this machine, and the page uses it", taken)
	}
	r := read(t, page)
	r.Given = map[string]string{"MCP_ADMIN_DSN": shop(t)}
	r.install(t)
	begun := time.Now()
	r.does(t, r.block(t, "gives the database", func(b pages.Block) bool { return b.Given }))
	r.does(t, r.block(t, "serves", func(b pages.Block) bool { return b.Until != "" }))
	tokens, err := filepath.Glob(filepath.Join(r.Folder, ".mcp-admin-dev/tokens/default/*"))
	if err != nil || len(tokens) != 1 {
		t.Fatalf("the tokens are %v, %v", tokens, err)
	}
	text, err := os.ReadFile(tokens[0])
	if err != nil {
		t.Fatal(err)
	}
	ask(t, &mcp.StreamableClientTransport{
		Endpoint: "http://127.0.0.1:8080/mcp/", HTTPClient: &http.Client{Transport: bearer(strings.TrimSpace(string(text)))},
	}, "list_customer", map[string]any{"limit": 1}, "Austria")
	r.way.answer = time.Since(begun)
	return r.way
}

// ask connects the official Go SDK, calls a tool, and wants a text in the answer.
func ask(t *testing.T, transport mcp.Transport, tool string, arguments map[string]any, wanted string) {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "five-minutes", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if tools, err := session.ListTools(t.Context(), nil); err != nil || len(tools.Tools) == 0 {
		t.Fatalf("there are no tools: %v", err)
	}
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(result.Content)
	if err != nil || result.IsError || !strings.Contains(string(text), wanted) {
		t.Fatalf("%s answered %s, %v", tool, text, err)
	}
}

// bearer adds a token to each request.
type bearer string

func (b bearer) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(request)
}
