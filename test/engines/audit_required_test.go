package engines

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// requiredLines has calls fail whose audit line cannot be written.
func requiredLines(s *suite, t *testing.T) {
	set := func(lines contract.AuditLines) {
		s.endpoint.Apply(func(c *contract.Config) { c.Endpoint.AuditLines = lines })
	}
	s.endpoint.Apply(exporters)
	full := s.endpoint.Log.Full
	t.Cleanup(func() {
		full(false)
		set(contract.AuditLines{})
	})
	pages := func(t *testing.T) string {
		return fmt.Sprint(s.ok(t, "root", "get_book", `{"id":1,"fields":["pages"]}`)["pages"])
	}
	refused := func(t *testing.T, token, tool, arguments string) {
		t.Helper()
		message, _ := s.fails(t, token, tool, arguments, "unavailable")["error"].(string)
		if !strings.Contains(message, "audit line") || strings.Contains(message, "space") {
			t.Errorf("got %q, want one about the audit line, without its cause", message)
		}
	}
	// outcomes are those of the lines since the log was forgotten.
	outcomes := func(t *testing.T) (found []string) {
		for _, text := range s.endpoint.Log.Lines(`"msg":"audit"`) {
			var line struct{ Outcome string }
			if err := json.Unmarshal([]byte(text), &line); err != nil {
				t.Fatal(err)
			}
			found = append(found, line.Outcome)
		}
		return found
	}

	s.check(t, "lines that nobody requires are lost", func(t *testing.T) {
		set(contract.AuditLines{Reads: contract.AuditSummary})
		full(true)
		s.ok(t, "root", "update_book", `{"id":1,"data":{"pages":41}}`)
		s.ok(t, "viewer", "get_book", `{"id":1}`)
		full(false)
		if got := pages(t); got != "41" {
			t.Errorf("the book has %s pages, want 41", got)
		}
		if len(s.endpoint.Log.Lines("An audit line could not be written")) == 0 {
			t.Error("the log tells of no line that was lost")
		}
	})
	set(contract.AuditLines{Reads: contract.AuditRows, Required: true})
	s.check(t, "a change has a line before it", func(t *testing.T) {
		s.endpoint.Log.Reset()
		s.ok(t, "root", "update_book", `{"id":1,"data":{"pages":42}}`)
		if got := strings.Join(outcomes(t), " "); got != "intent ok" {
			t.Errorf("got %s, want intent ok", got)
		}
	})
	s.check(t, "nothing is changed without a line", func(t *testing.T) {
		full(true)
		refused(t, "root", "update_book", `{"id":1,"data":{"pages":43}}`)
		refused(t, "root", "delete_book", `{"id":1}`)
		refused(t, "root", "bulk_book", `{"operation":"update","items":[{"id":1,"data":{"pages":43}}]}`)
		refused(t, "root", "transact", `{"steps":[{"tool":"update_book","arguments":{"id":1,"data":{"pages":43}}}]}`)
		full(false)
		if got := pages(t); got != "42" {
			t.Errorf("the book has %s pages, want 42", got)
		}
	})
	s.check(t, "nothing is shown without a line", func(t *testing.T) {
		full(true)
		for tool, arguments := range map[string]string{"get_book": `{"id":1}`, "list_book": `{}`, "aggregate_book": `{"measures":{"n":{"count":"*"}}}`, "find_models": `{}`, "list": `{"model":"book"}`} {
			refused(t, "root", tool, arguments)
		}
		status, answer := s.endpoint.Post(secret("root"), `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"data://book/1"}}`)
		full(false)
		if status != http.StatusOK || !strings.Contains(answer, "audit line") || strings.Contains(answer, "pages") {
			t.Errorf("a resource: %d %s", status, answer)
		}
	})
	s.check(t, "a refusal stays one", func(t *testing.T) {
		full(true)
		s.fails(t, "viewer", "update_book", `{"id":1,"data":{"pages":43}}`, "permission_denied")
		full(false)
	})
	s.check(t, "an export", func(t *testing.T) {
		full(true)
		refused(t, "exporter", "list_book", `{"export":"csv"}`)
		full(false)
		uri, rows := s.asks(t, "exporter", "list_book", `{"export":"csv","fields":["id"]}`)
		full(true)
		got := fetch(t, http.MethodGet, uri)
		full(false)
		if got.status != http.StatusServiceUnavailable || strings.Contains(got.body, "1\r\n") {
			t.Errorf("got %d %q, want 503", got.status, got.body)
		}
		s.endpoint.Log.Reset()
		if got := fetch(t, http.MethodGet, uri); got.status != http.StatusOK || got.trailer.Get("Export-Rows") != rows {
			t.Errorf("then got %d with %s rows, want %s: the link was not used", got.status, got.trailer.Get("Export-Rows"), rows)
		}
		if got := strings.Join(outcomes(t), " "); got != "intent ok" {
			t.Errorf("the lines are %s, want intent ok", got)
		}
	})
	s.check(t, "events of OCSF", func(t *testing.T) {
		set(contract.AuditLines{Reads: contract.AuditSummary, OCSF: true})
		s.endpoint.Log.Reset()
		s.ok(t, "viewer", "list_book", `{"filters":{"title":"a-secret-word"}}`)
		lines := s.endpoint.Log.Lines(`"class_uid":6005`)
		if len(lines) != 1 || !strings.Contains(lines[0], `"src_endpoint":{"ip":"127.0.0.1"}`) || !strings.Contains(lines[0], `"uid":"test/viewer"`) || strings.Contains(lines[0], "a-secret-word") {
			t.Errorf("got %v", lines)
		}
	})
}
