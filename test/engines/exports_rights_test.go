package engines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

func exportRights(s *suite, t *testing.T) {
	s.endpoint.Apply(exporters)
	for _, c := range []struct{ name, token, tool, arguments, code, says string }{
		{"everything but export", "root", "list_book", `{"export":"csv"}`, "permission_denied", "cannot export book"},
		{"by the generic tool", "root", "list", `{"model":"book","export":"csv"}`, "permission_denied", "cannot export book"},
		{"groups", "root", "aggregate_book", `{"export":"csv","measures":{"n":{"count":"*"}}}`, "permission_denied", "cannot export book"},
		{"a report", "root", "report_book", `{"export":"csv","report":"prices","parameters":{"least":"1"}}`, "permission_denied", "cannot export book"},
		{"related rows of a model without the verb", "booker", "related_book", `{"export":"csv","id":1,"relation":"review_by_book"}`, "permission_denied", "cannot export review"},
		{"fields of a model without the verb", "booker", "list_book", `{"export":"csv","fields":["author__name"]}`, "permission_denied", "cannot export author"},
		{"values of rows of one", "booker", "list_book", `{"export":"csv","fields":["review_by_book__count"]}`, "permission_denied", "cannot export review"},
		{"computed of one", "booker", "list_book", `{"export":"csv","fields":[{"as":"x","add":["id","author__id"]}]}`, "permission_denied", "cannot export author"},
		{"groups of one", "booker", "aggregate_book", `{"export":"csv","group_by":["author__name"]}`, "permission_denied", "cannot export author"},
		{"measures of one", "booker", "aggregate_book", `{"export":"csv","measures":{"m":{"max":"author__name"}}}`, "permission_denied", "cannot export author"},
		{"ranks of groups of one", "booker", "aggregate_book", `{"export":"csv","group_by":["author__name"],"measures":{"n":{"count":"*"},"r":{"rank":"n"}}}`, "permission_denied", "cannot export author"},
		{"export without view", "blind", "list_book", `{"export":"csv"}`, "permission_denied", "cannot view book"},
		{"format", "exporter", "list_book", `{"export":"csv","format":"columns"}`, "invalid_argument", "format do not go together"},
		{"max_bytes", "exporter", "list_book", `{"export":"csv","max_bytes":1000}`, "invalid_argument", "max_bytes do not go together"},
		{"cursor", "exporter", "list_book", `{"export":"csv","cursor":"x"}`, "invalid_argument", "cursor do not go together"},
		{"another format", "exporter", "list_book", `{"export":"xlsx"}`, "invalid_argument", `export must be "csv" or "ndjson"`},
		{"a step", "root", "transact", `{"steps":[{"tool":"create_category","arguments":{"data":{"name":"lost"}}},{"tool":"list_book","arguments":{"export":"csv"}}]}`, "invalid_argument", "export is not for steps"},
		{"a long call", "exporter", "list_book", `{"export":"csv","filters":{"title__in":["` + strings.Join(noise(600), `","`) + `"]}}`, "invalid_argument", "too long for a link"},
	} {
		s.check(t, c.name, func(t *testing.T) {
			if message := fmt.Sprint(s.fails(t, c.token, c.tool, c.arguments, c.code)["error"]); !strings.Contains(message, c.says) {
				t.Errorf("says %q, want %q", message, c.says)
			}
		})
	}
	s.check(t, "a filter by a model without the verb", func(t *testing.T) {
		got := s.exports(t, "booker", "list_book", `{"export":"csv","fields":["title"],"filters":{"author__name__startswith":"Iain"},"order_by":["author__name"]}`)
		if got != "id,title\r\n4,Excession\r\n" {
			t.Errorf("got %q", got)
		}
	})
	s.check(t, "too many rows", func(t *testing.T) {
		s.endpoint.Apply(func(c *contract.Config) { c.Endpoint.Limits.MaxExportRows = 4 })
		s.fails(t, "exporter", "list_book", `{"export":"csv"}`, "too_large")
		s.fails(t, "exporter", "list_book", `{"export":"csv","limit":5}`, "too_large")
		s.fails(t, "exporter", "report_book", `{"export":"csv","report":"prices","parameters":{"least":"1"}}`, "too_large")
		for _, arguments := range []string{`{"export":"csv","limit":4}`, `{"export":"csv","offset":1}`, `{"export":"csv","limit":100,"filters":{"region":"emea"}}`} {
			s.exports(t, "exporter", "list_book", arguments)
		}
	})
	s.check(t, "a pool of one connection", func(t *testing.T) {
		s.endpoint.Apply(func(c *contract.Config) { c.Endpoint.Database.MaxConnections = 1 })
		s.fails(t, "exporter", "list_book", `{"export":"csv"}`, "unavailable")
	})
}

// noise are texts that cannot be compressed.
func noise(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = contract.HashToken(fmt.Sprint(i))[:24]
	}
	return all
}
