package call

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// answerOf is an answer that links to an export, at an address that only the endpoint's own network reaches.
func answerOf(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: `{"export":{"uri":"http://shop.internal/mcp/exports/` + text + `","rows":2}}`}}}
}

func TestAnExportIsSavedWholeOrNotAtAll(t *testing.T) {
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the token was sent along")
		}
		switch r.URL.Path {
		case "/mcp/exports/whole":
			w.Header().Set("Trailer", rowsTrailer)
			_, _ = w.Write([]byte("id\r\n1\r\n2\r\n"))
			w.Header().Set(rowsTrailer, "2")
		case "/mcp/exports/broken":
			w.Header().Set("Trailer", rowsTrailer)
			_, _ = w.Write([]byte("id\r\n1\r\n"))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		default:
			http.NotFound(w, r)
		}
	}))
	defer served.Close()
	c := &Callee{url: served.URL + "/mcp/?style=Generic", transport: http.DefaultTransport.(*http.Transport).Clone()}
	folder := t.TempDir()
	file := filepath.Join(folder, "rows.csv")
	if rows, err := c.save(context.Background(), answerOf("whole"), file); err != nil || rows != 2 {
		t.Fatalf("%d rows, %v", rows, err)
	}
	for link, says := range map[string]string{"broken": "broke off after 7 bytes", "used": "answers 404"} {
		_, err := c.save(context.Background(), answerOf(link), file)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "/exports/") {
			t.Errorf("%s: %v, want %q without the link", link, err, says)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "id\r\n1\r\n2\r\n" {
		t.Errorf("the file has %q, %v", text, err)
	}
	if entries, _ := os.ReadDir(folder); len(entries) != 1 {
		t.Errorf("the folder has %v", entries)
	}
}

func TestTheFormatOfAnExport(t *testing.T) {
	for _, c := range []struct {
		file      string
		arguments map[string]any
		want      any
	}{
		{"a.csv", nil, "csv"}, {"b/c.ndjson", nil, "ndjson"}, {"a.jsonl", nil, "ndjson"}, {"a.txt", map[string]any{"export": "csv"}, "csv"}, {"a.txt", nil, nil},
	} {
		if got, err := formatOf(c.file, c.arguments); got != c.want || (err == nil) != (c.want != nil) {
			t.Errorf("%s with %v: %v, %v, want %v", c.file, c.arguments, got, err, c.want)
		}
	}
}
