package engines

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// exportLinks are about when a link is good, and what it tells if it is not.
func exportLinks(t *testing.T, s *suite, ahead *atomic.Int64) {
	dead := func(t *testing.T, uri, outcome string) {
		t.Helper()
		s.endpoint.Log.Reset()
		got := fetch(t, http.MethodGet, uri)
		if got.status != http.StatusNotFound || !strings.Contains(got.body, "This link is not valid any more") {
			t.Fatalf("got %d %s", got.status, got.body)
		}
		lines := s.endpoint.Log.Lines(`"msg":"audit"`)
		if outcome == "" {
			if len(lines) != 0 {
				t.Errorf("the audit has %v", lines)
			}
		} else if len(lines) != 1 || !strings.Contains(lines[0], `"outcome":"`+outcome+`"`) || !strings.Contains(lines[0], `"operation":"export:list"`) {
			t.Errorf("the audit has %v, want one line with the outcome %s", lines, outcome)
		}
		fetch(t, http.MethodGet, uri)
		if again := s.endpoint.Log.Lines(`"msg":"audit"`); len(again) > len(lines) {
			t.Errorf("the audit has a second line: %v", again)
		}
	}
	s.check(t, "headers, HEAD and other methods", func(t *testing.T) {
		uri, _ := s.asks(t, "exporter", "list_book", `{"export":"csv"}`)
		if got := fetch(t, http.MethodPost, uri); got.status != http.StatusMethodNotAllowed {
			t.Errorf("POST is answered by %d", got.status)
		}
		if got := overHTTP10(t, uri); !strings.HasPrefix(got, "HTTP/1.0 505") {
			t.Errorf("HTTP/1.0 is answered by %.80q", got)
		}
		for range 2 {
			if got := fetch(t, http.MethodHead, uri); got.status != http.StatusOK || got.header.Get("Content-Type") != "text/csv; charset=utf-8" {
				t.Errorf("HEAD is answered by %d %v", got.status, got.header)
			}
		}
		got := fetch(t, http.MethodGet, uri)
		for name, want := range map[string]string{
			"Content-Type": "text/csv; charset=utf-8", "Content-Disposition": `attachment; filename="book-list.csv"`, "X-Content-Type-Options": "nosniff",
			"Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
		} {
			if got.header.Get(name) != want {
				t.Errorf("%s is %q, want %q", name, got.header.Get(name), want)
			}
		}
		if got.status != http.StatusOK || got.trailer.Get("Export-Rows") != "5" {
			t.Errorf("got %d with the trailers %v", got.status, got.trailer)
		}
	})
	s.check(t, "the audit has the rows and no link", func(t *testing.T) {
		s.endpoint.Log.Reset()
		uri, _ := s.asks(t, "exporter", "list_book", `{"export":"csv","filters":{"region":"emea"}}`)
		fetch(t, http.MethodGet, uri)
		lines := s.endpoint.Log.Lines(`"operation":"export:list"`)
		if len(lines) != 2 || !strings.Contains(lines[0], `"outcome":"intent"`) || !strings.Contains(lines[1], `"outcome":"ok"`) ||
			!strings.Contains(lines[0], `"rows":3`) || !strings.Contains(lines[1], `"rows":3`) || !strings.Contains(lines[1], `"token":"test/exporter"`) || !strings.Contains(lines[1], `"tool":"list_book"`) {
			t.Errorf("the audit has %v", lines)
		}
		if link := uri[strings.LastIndexByte(uri, '/')+1:]; strings.Contains(s.endpoint.Log.String(), link[:40]) {
			t.Errorf("the log has the link")
		}
	})
	s.check(t, "the audit says which rows left", func(t *testing.T) {
		set := func(level string) { s.endpoint.Apply(func(c *contract.Config) { c.Endpoint.AuditLines.Reads = level }) }
		defer set("")
		for _, tc := range []struct{ reads, tool, arguments, fields, ids, asked string }{
			{contract.AuditRows, "list_book", `{"export":"csv","fields":["title"],"filters":{"region":"emea"},"order_by":["id"]}`, `["id","title"]`, `["1","2","5"]`, `{\"export\":\"csv\",\"fields\":[\"title\"],\"filters\":{\"region\":\"?\"},\"order_by\":[\"id\"]}`},
			{contract.AuditRows, "list_book", `{"export":"ndjson","fields":["title"],"filters":{"id__in":[2,1]},"order_by":["-id"]}`, `["id","title"]`, `["2","1"]`, `{\"export\":\"ndjson\",\"fields\":[\"title\"],\"filters\":{\"id__in\":[\"?\"]},\"order_by\":[\"-id\"]}`},
			{contract.AuditRows, "list_book", `{"export":"csv","filters":{"id":987654},"fields":["title"]}`, `["id","title"]`, `[]`, `{\"export\":\"csv\",\"fields\":[\"title\"],\"filters\":{\"id\":\"?\"}}`},
			{contract.AuditSummary, "list_book", `{"export":"csv","fields":["title"],"filters":{"id":1}}`, `["id","title"]`, `[]`, `{\"export\":\"csv\",\"fields\":[\"title\"],\"filters\":{\"id\":\"?\"}}`},
		} {
			set(tc.reads)
			s.endpoint.Log.Reset()
			uri, _ := s.asks(t, "exporter", tc.tool, tc.arguments)
			fetch(t, http.MethodGet, uri)
			lines := s.endpoint.Log.Lines(`"outcome":"ok"`)
			if len(lines) != 1 {
				t.Fatalf("the audit has %v", lines)
			}
			for _, want := range []string{`"fields":` + tc.fields, `"ids":` + tc.ids, `"asked":"{`} {
				if !strings.Contains(lines[0], want) {
					t.Errorf("%s: %s is not in %s", tc.arguments, want, lines[0])
				}
			}
			if asked := s.endpoint.Log.Lines(`"asked":"` + tc.asked + `"`); len(asked) == 0 {
				t.Errorf("%s is not in %v", tc.asked, s.endpoint.Log.Lines(`"audit"`))
			}
		}
	})
	s.check(t, "a second fetch", func(t *testing.T) {
		uri, _ := s.asks(t, "exporter", "list_book", `{"export":"csv"}`)
		if got := fetch(t, http.MethodGet, uri); got.status != http.StatusOK {
			t.Fatalf("got %d", got.status)
		}
		dead(t, uri, "used")
	})
	s.check(t, "20 fetches at the same instant", func(t *testing.T) {
		uri, rows := s.asks(t, "exporter", "list_book", `{"export":"csv"}`)
		s.endpoint.Log.Reset()
		const at = 20
		instant, files := make(chan struct{}), make(chan file, at)
		for range at {
			go func() {
				<-instant
				files <- fetch(t, http.MethodGet, uri)
			}()
		}
		close(instant)
		whole := 0
		for range at {
			switch got := <-files; {
			case got.status == http.StatusOK && got.err == nil && got.trailer.Get("Export-Rows") == rows:
				whole++
			case got.status != http.StatusNotFound && got.status != http.StatusServiceUnavailable: // 503: no place in time
				t.Errorf("a fetch is answered by %d %v %q", got.status, got.err, got.body)
			}
		}
		if whole != 1 {
			t.Errorf("%d of %d fetches have the file, want one", whole, at)
		}
		if lines := s.endpoint.Log.Lines(`"outcome":"ok"`); len(lines) != 1 {
			t.Errorf("the audit has %v, want one export", lines)
		}
	})
	s.check(t, "no link, and a changed one", func(t *testing.T) {
		uri, _ := s.asks(t, "exporter", "list_book", `{"export":"csv"}`)
		dead(t, s.endpoint.URL+"exports/", "")
		dead(t, s.endpoint.URL+"exports/nothing", "")
		at, other := len(uri)-10, "A"
		if uri[at] == 'A' {
			other = "B"
		}
		dead(t, uri[:at]+other+uri[at+1:], "")
		dead(t, uri+"/", "")
		if got := fetch(t, http.MethodGet, uri); got.status != http.StatusOK {
			t.Errorf("the link itself is answered by %d", got.status)
		}
	})
	s.check(t, "after five minutes", func(t *testing.T) {
		uri, _ := s.asks(t, "exporter", "list_book", `{"export":"csv"}`)
		late, _ := s.asks(t, "exporter", "list_book", `{"export":"csv"}`)
		ahead.Add(int64(5*time.Minute - time.Second))
		if got := fetch(t, http.MethodGet, late); got.status != http.StatusOK {
			t.Errorf("after 4:59 it is answered by %d", got.status)
		}
		ahead.Add(int64(time.Second))
		dead(t, uri, "expired")
	})
	s.check(t, "the call's own moment is now", func(t *testing.T) {
		s.ok(t, "root", "update_author", fmt.Sprintf(`{"id":4,"data":{"born":%q}}`, time.Unix(0, 0).Add(time.Duration(ahead.Load())).Format(time.DateOnly)))
		uri, rows := s.asks(t, "exporter", "list_author", `{"export":"csv","fields":["id"],"filters":{"born__gte":{"_now":"-30d"}}}`)
		if got := fetch(t, http.MethodGet, uri); got.trailer.Get("Export-Rows") != rows {
			t.Errorf("%s rows, and %s were said", got.trailer.Get("Export-Rows"), rows)
		}
	})
	change := func(name, outcome string, change func(*contract.Config)) {
		s.check(t, name, func(t *testing.T) {
			before := s.endpoint.Config()
			uri, _ := s.asks(t, "exporter", "list_book", `{"export":"csv","fields":["title"]}`)
			s.endpoint.Apply(change)
			dead(t, uri, outcome)
			s.endpoint.Apply(func(c *contract.Config) {
				c.Models, c.Tokens, c.Endpoint = before.Models, before.Tokens, before.Endpoint
			})
		})
	}
	token := func(c *contract.Config) *contract.Token {
		return &c.Tokens[slices.IndexFunc(c.Tokens, func(t contract.Token) bool { return t.Name == "exporter" })]
	}
	change("a revoked token", "token_refused", func(c *contract.Config) { token(c).Hashes = nil })
	change("another text of the token", "token_refused", func(c *contract.Config) { token(c).Hashes = []string{contract.HashToken(secret("other"))} })
	change("a token without the verb", "permission_denied", func(c *contract.Config) { token(c).Rules = token(c).Rules[:1] })
	change("a withdrawn model", "not_found", func(c *contract.Config) {
		c.Models = slices.DeleteFunc(c.Models, func(m contract.Model) bool { return m.Name == "book" })
		for i := range c.Models {
			c.Models[i].Inlines = nil
		}
	})
	change("a field that is hidden now", "invalid_argument", func(c *contract.Config) {
		m := &c.Models[slices.IndexFunc(c.Models, func(m contract.Model) bool { return m.Name == "book" })]
		m.Exclude, m.DisplayField, m.SearchFields = []string{"title"}, "", nil
	})
	change("another key", "", func(c *contract.Config) { c.Endpoint.SealKey = contract.NewSealKey() })
	s.check(t, "rights of the moment", func(t *testing.T) {
		uri, _ := s.asks(t, "exporter", "list_book", `{"export":"csv","fields":["region"]}`)
		s.endpoint.Apply(func(c *contract.Config) {
			token(c).Groups, token(c).Attributes = []string{"clerks"}, map[string]string{"region": "apac"}
		})
		if got := fetch(t, http.MethodGet, uri); got.body != "id,region\r\n3,apac\r\n" {
			t.Errorf("got %q", got.body)
		}
		s.endpoint.Apply(func(c *contract.Config) { token(c).Groups, token(c).Attributes = []string{"staff"}, nil })
	})
	s.check(t, "more rows than were counted", func(t *testing.T) {
		s.endpoint.Apply(func(c *contract.Config) { c.Endpoint.Limits.MaxExportRows = 5 })
		uri, _ := s.asks(t, "exporter", "list_book", `{"export":"csv"}`)
		s.ok(t, "root", "create_book", `{"data":{"title":"One more","author_id":1}}`)
		s.endpoint.Log.Reset()
		got := fetch(t, http.MethodGet, uri)
		if got.err == nil || got.trailer.Get("Export-Rows") != "" || strings.Count(got.body, "\r\n") != 6 {
			t.Fatalf("the file looks whole: %d %q %v", got.status, got.body, got.trailer)
		}
		if lines := s.endpoint.Log.Lines(`"outcome":"too_large"`); len(lines) != 1 || !strings.Contains(lines[0], `"rows":5`) {
			t.Errorf("the audit has %v", lines)
		}
	})
}

// overHTTP10 is the answer to a client that could not tell a part of a file from all of it.
func overHTTP10(t *testing.T, uri string) string {
	t.Helper()
	at, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", at.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.0\r\nHost: %s\r\n\r\n", at.Path, at.Host); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

func TestLinksOfExports(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			for _, kept := range []bool{false, true} {
				t.Run(fmt.Sprintf("with a table of keys %v", kept), func(t *testing.T) {
					ahead, began := &atomic.Int64{}, time.Now()
					s := startAs(t, engine, func(s *server.Server) {
						s.Now = func() time.Time { return began.Add(time.Duration(ahead.Load())) }
					}, exporters, func(c *contract.Config) {
						if kept {
							c.Endpoint.Idempotency = &contract.AuditTable{Name: "mcp_admin_keys"}
						}
					})
					exportLinks(t, s, ahead)
				})
			}
		})
	}
}

// TestALinkIsGoodOnceForAllPods fetches a link from two servers of one endpoint.
func TestALinkIsGoodOnceForAllPods(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			skipOnlyRead(t, engine)
			withKeys := func(c *contract.Config) { c.Endpoint.Idempotency = &contract.AuditTable{Name: "mcp_admin_keys"} }
			database, plain := engine.Open(t, library(engine))
			one := &suite{engine, harness.Serve(t, database, modelsOn(engine), tokens(), exporters, withKeys), plain}
			other := harness.Serve(t, database, modelsOn(engine), tokens(), exporters, withKeys)
			uri, _ := one.asks(t, "exporter", "list_book", `{"export":"csv"}`)
			there := strings.Replace(uri, one.endpoint.URL, other.URL, 1)
			if got := fetch(t, http.MethodGet, there); got.status != http.StatusOK {
				t.Fatalf("the other server answers %d %s", got.status, got.body)
			}
			if got := fetch(t, http.MethodGet, uri); got.status != http.StatusNotFound {
				t.Errorf("the second fetch is answered by %d", got.status)
			}
		})
	}
}
