package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/mcp"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

const (
	getLem       = `{"method":"tools/call","name":"get_author","arguments":{"id":2}}`
	getLemRPC    = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_author","arguments":{"id":2}}}`
	lem          = `{"content":[{"type":"text","text":"{\"id\":2,\"author_id\":2,\"name\":\"Stanisław Lem\"}"}]`
	lemAsJSON    = `,"structuredContent":{"id":2,"author_id":2,"name":"Stanisław Lem"}`
	getNobodyRPC = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_author","arguments":{"id":9}}}`
)

func TestStructuredContent(t *testing.T) {
	c := config()
	e := newEndpoint(t, c)
	for _, call := range []struct{ name, body, before, after string }{
		{"simple form", getLem, lem, `}`},
		{"JSON-RPC", getLemRPC, `{"jsonrpc":"2.0","id":1,"result":` + lem, `}}`},
	} {
		c.Endpoint.Catalogue.StructuredContent = false
		e.change(c)
		if _, got := e.post(call.body); got != call.before+call.after {
			t.Errorf("%s: %s", call.name, got)
		}
		c.Endpoint.Catalogue.StructuredContent = true
		e.change(c)
		if _, got := e.post(call.body); got != call.before+lemAsJSON+call.after {
			t.Errorf("%s, structured: %s", call.name, got)
		}
	}
	if _, got := e.post(getNobodyRPC); strings.Contains(got, "structuredContent") || !strings.Contains(got, `"isError":true`) {
		t.Errorf("an error: %s", got)
	}
}

// odd is an endpoint whose rows hold what is not UTF-8.
type odd struct{ mcp.Endpoint }

func (odd) Call(context.Context, access.Token, string, []byte) call.Result {
	return call.Result{Text: []byte("{\"a\":\"\xff\"}"), Structured: true}
}

func TestStructuredContentIsUTF8(t *testing.T) {
	e := newEndpoint(t, config())
	options := e.options
	options.Endpoint = func() (mcp.Endpoint, bool) {
		whole, open := e.options.Endpoint()
		return odd{whole}, open
	}
	e.Handler = mcp.NewHandler(options)
	_, got := e.post(getLem)
	var answer struct {
		Content           []struct{ Text string }
		StructuredContent json.RawMessage
	}
	if err := json.Unmarshal([]byte(got), &answer); err != nil || string(answer.StructuredContent) != answer.Content[0].Text || !strings.Contains(answer.Content[0].Text, "\ufffd") {
		t.Errorf("%v in %q", err, got)
	}
}

// An endpoint without structuredContent pays nothing for it.
func TestStructuredContentCostsNothingWhenItIsOff(t *testing.T) {
	allocations := func(structured bool) float64 {
		c := config()
		c.Endpoint.Catalogue.StructuredContent = structured
		e := newEndpoint(t, c)
		return testing.AllocsPerRun(200, func() {
			if response := e.do(request{body: getLemRPC}); response.StatusCode != http.StatusOK {
				t.Fatalf("got the status %s, want %d", response.Status, http.StatusOK)
			}
		})
	}
	if off, on := allocations(false), allocations(true); on > off+2 {
		t.Errorf("%v allocations with structuredContent, %v without", on, off)
	}
}
