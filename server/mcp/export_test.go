package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// exporting is the fixture's Config with the verb export for its reader.
func exporting() *contract.Config {
	c := config()
	c.Endpoint.Database.MaxConnections, c.Endpoint.Limits.MaxExportRows = 4, 1000
	reader := &c.Tokens[len(c.Tokens)-1]
	reader.Rules = append(reader.Rules, contract.Rule{Models: []string{"*"}, Verbs: []string{contract.VerbExport}})
	return c
}

// A link is content of its own since 2025-06-18: ResourceLink of the specification's schema, whose members are type, uri and name, and
// may be title, description, mimeType, size, annotations and _meta. Clients of older versions know no such content.
func TestTheLinkOfAnExportIsAResourceLink(t *testing.T) {
	e := newEndpoint(t, exporting())
	const ask = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_book","arguments":{"export":%q}}}`
	for _, c := range []struct {
		version, format, name, mimeType string
		hasLink                         bool
	}{
		{"2025-06-18", "csv", "book-list.csv", "text/csv", true},
		{"2025-11-25", "ndjson", "book-list.ndjson", "application/x-ndjson", true},
		{"2025-03-26", "csv", "", "", false},
		{"2024-11-05", "csv", "", "", false},
		{"", "csv", "", "", false}, // a client that names none has 2025-03-26
	} {
		header := http.Header{}
		if c.version != "" {
			header.Set("MCP-Protocol-Version", c.version)
		}
		answer := text(e.do(request{body: fmt.Sprintf(ask, c.format), header: header}))
		var got struct {
			Result struct{ Content []map[string]any }
		}
		if err := json.Unmarshal([]byte(answer), &got); err != nil || len(got.Result.Content) == 0 {
			t.Fatalf("%s: %v in %s", c.version, err, answer)
		}
		if !c.hasLink {
			if len(got.Result.Content) != 1 {
				t.Errorf("%s: got the contents %v, want the text alone", c.version, got.Result.Content)
			}
			continue
		}
		if len(got.Result.Content) != 2 || got.Result.Content[0]["type"] != "text" {
			t.Fatalf("%s: got the contents %v, want a text and a link", c.version, got.Result.Content)
		}
		var told struct {
			Export struct{ URI, Expires string }
		}
		if err := json.Unmarshal([]byte(got.Result.Content[0]["text"].(string)), &told); err != nil || !strings.HasPrefix(told.Export.URI, "https://books.example.com/mcp/exports/") {
			t.Fatalf("%s: %v in %v", c.version, err, got.Result.Content[0])
		}
		want := map[string]any{
			"type": "resource_link", "uri": told.Export.URI, "name": c.name, "mimeType": c.mimeType,
			"description": "3 rows of book, to GET once and before " + told.Export.Expires,
		}
		if link := got.Result.Content[1]; fmt.Sprint(link) != fmt.Sprint(want) {
			t.Errorf("%s: got the link  %v\nwant %v", c.version, link, want)
		}
	}
}

// What is no answer with a link has none.
func TestNoLinkWithoutAnExport(t *testing.T) {
	e := newEndpoint(t, exporting())
	for _, arguments := range []string{`{}`, `{"export":"xlsx"}`, `{"export":"csv","format":"columns"}`} {
		answer := text(e.do(request{header: http.Header{"Mcp-Protocol-Version": {"2025-06-18"}}, body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_book","arguments":` + arguments + `}}`}))
		if strings.Contains(answer, "resource_link") || !strings.Contains(answer, `"type":"text"`) {
			t.Errorf("%s: got %s", arguments, answer)
		}
	}
}
