package engines

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// exporters adds tokens with the verb export to the library's: exporter for all models, booker for books alone, and regional for
// the books of one region.
func exporters(c *contract.Config) {
	token := func(name, group string, attributes map[string]string, rules ...contract.Rule) {
		c.Tokens = append(c.Tokens, contract.Token{Namespace: "test", Name: name, Hashes: []string{contract.HashToken(secret(name))},
			Groups: []string{group}, Attributes: attributes, Rules: rules})
	}
	view := contract.Rule{Models: []string{"*"}, Verbs: []string{"view"}, Actions: []string{"*"}}
	token("exporter", "staff", nil, view, contract.Rule{Models: []string{"*"}, Verbs: []string{"export"}})
	token("booker", "staff", nil, view, contract.Rule{Models: []string{"book"}, Verbs: []string{"export"}})
	token("regional", "clerks", map[string]string{"region": "emea"}, view, contract.Rule{Models: []string{"*"}, Verbs: []string{"export"}})
	token("blind", "staff", nil, contract.Rule{Models: []string{"book"}, Verbs: []string{"export"}})
	book := &c.Models[slices.IndexFunc(c.Models, func(m contract.Model) bool { return m.Name == "book" })]
	book.Reports = append(book.Reports, contract.Report{Name: "prices", IgnoresPolicies: true, Statement: "select id, title, price from book where price >= :least order by id",
		Parameters: []contract.Parameter{{Name: "least", Type: contract.TypeDecimal, Required: true}}})
}

// file is what came of a link.
type file struct {
	status  int
	body    string
	header  http.Header
	trailer http.Header
	err     error
}

func fetch(t *testing.T, method, uri string) file {
	t.Helper()
	request, err := http.NewRequest(method, uri, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return file{response.StatusCode, string(body), response.Header, response.Trailer, err}
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

// asks asks for an export and returns its link and the number of rows that it says.
func (s *suite) asks(t *testing.T, token, tool, arguments string) (uri, rows string) {
	t.Helper()
	answer := s.ok(t, token, tool, arguments)
	uri, _ = at(t, answer, "export", "uri").(string)
	if !strings.HasPrefix(uri, s.endpoint.URL+"exports/") {
		t.Fatalf("the link is %q, want one below %sexports/", uri, s.endpoint.URL)
	}
	return uri, fmt.Sprint(at(t, answer, "export", "rows"))
}

// exports asks for an export, fetches it, and returns the file, which must be whole.
func (s *suite) exports(t *testing.T, token, tool, arguments string) string {
	t.Helper()
	uri, rows := s.asks(t, token, tool, arguments)
	got := fetch(t, http.MethodGet, uri)
	if got.err != nil || got.status != http.StatusOK || got.trailer.Get("Export-Rows") != rows {
		t.Fatalf("%s %s: %d %v, %s rows of %s: %.300s", tool, arguments, got.status, got.err, got.trailer.Get("Export-Rows"), rows, got.body)
	}
	return got.body
}

func exportFiles(s *suite, t *testing.T) {
	s.endpoint.Apply(exporters)
	for _, c := range []struct{ name, tool, arguments, want string }{
		{"list", "list_book", `{"export":"csv","fields":["title","price","pages","author__name"],"filters":{"region":"emea"}}`,
			"id,title,price,pages,author__name\r\n1,The Dispossessed,12.50,341,Ursula K. Le Guin\r\n2,Solaris,8.00,204,Stanisław Lem\r\n5,solaris again,8.00,,Stanisław Lem\r\n"},
		{"list by the generic tool", "list", `{"model":"book","export":"ndjson","fields":["title"],"order_by":["-id"],"limit":2,"offset":1}`,
			"{\"id\":4,\"title\":\"Excession\"}\n{\"id\":3,\"title\":\"The Left Hand of Darkness\"}\n"},
		{"the first of each", "list_book", `{"export":"csv","fields":["title"],"top":{"per":["author_id"]},"order_by":["price"]}`,
			"id,title\r\n2,Solaris\r\n3,The Left Hand of Darkness\r\n4,Excession\r\n"},
		{"aggregate", "aggregate_book", `{"export":"csv","group_by":["region"],"measures":{"n":{"count":"*"},"a":{"avg":"pages"}},"order_by":["region"],"having":{"n__gte":1}}`,
			"region,n,a\r\namer,1,451.000000\r\napac,1,286.000000\r\nemea,3,272.500000\r\n"},
		{"related", "related_book", `{"export":"ndjson","id":1,"relation":"review_by_book","fields":["stars"],"order_by":["stars"]}`,
			"{\"id\":2,\"stars\":4}\n{\"id\":1,\"stars\":5}\n"},
		{"the one related row", "related_book", `{"export":"csv","id":1,"relation":"author","fields":["name"]}`, "id,name\r\n1,Ursula K. Le Guin\r\n"},
		{"report", "report_book", `{"export":"csv","report":"prices","parameters":{"least":"12"}}`, "id,title,price\r\n1,The Dispossessed,12.50\r\n4,Excession,15.00\r\n"},
		{"a report without rows", "report_book", `{"export":"csv","report":"prices","parameters":{"least":"1000"}}`, "id,title,price\r\n"},
		{"a report without rows, as ndjson", "report_book", `{"export":"ndjson","report":"prices","parameters":{"least":"1000"}}`, ""},
		{"no rows", "list_book", `{"export":"csv","fields":["title"],"filters":{"id":99}}`, "id,title\r\n"},
	} {
		s.check(t, c.name, func(t *testing.T) {
			if got := s.exports(t, "exporter", c.tool, c.arguments); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
	s.check(t, "formulas, quotes, nulls and documents", func(t *testing.T) {
		for i, name := range []string{`=1+1`, `+48 123`, `-5`, `@SUM(A1)`, "\ttab", "\rreturn", `say "hi", all`, "two\r\nlines", "", "ż 漢 🙂", "plain"} {
			quoted, _ := json.Marshal(name)
			s.ok(t, "root", "create_author", fmt.Sprintf(`{"data":{"id":%d,"name":%s}}`, 100+i, quoted))
		}
		got := s.exports(t, "exporter", "list_author", `{"export":"csv","fields":["name","bio"],"filters":{"id__gte":100},"order_by":["id"]}`)
		const wanted = "id,name,bio\r\n100,'=1+1,\r\n101,'+48 123,\r\n102,'-5,\r\n103,'@SUM(A1),\r\n104,'\ttab,\r\n105,\"'\rreturn\",\r\n" +
			"106,\"say \"\"hi\"\", all\",\r\n107,\"two\r\nlines\",\r\n108,\"\",\r\n109,ż 漢 🙂,\r\n110,plain,\r\n"
		if got != wanted {
			t.Errorf("got  %q\nwant %q", got, wanted)
		}
		if got := s.exports(t, "exporter", "list_sample", `{"export":"csv","fields":["big","exact"],"filters":{"id":2}}`); got != "id,big,exact\r\n2,-9223372036854775808,-0.000001\r\n" {
			t.Errorf("numbers are %q", got)
		}
		got = s.exports(t, "exporter", "list_book", `{"export":"csv","fields":["tags"],"filters":{"id__in":[1,2,3]}}`)
		records, err := csv.NewReader(strings.NewReader(got)).ReadAll()
		if err != nil || len(records) != 4 || records[2][1] != "" {
			t.Fatalf("%v in %q", err, got)
		}
		var document []any
		if json.Unmarshal([]byte(records[1][1]), &document) != nil || len(document) != 2 {
			t.Errorf("the document is %q", records[1][1])
		}
	})
	s.check(t, "rows are those that list shows", func(t *testing.T) {
		for _, token := range []string{"exporter", "regional"} {
			var rows []string
			for line := range strings.Lines(s.exports(t, token, "list_book", `{"export":"ndjson","order_by":["id"]}`)) {
				rows = append(rows, strings.TrimSpace(line))
			}
			var listed struct{ Results []json.RawMessage }
			text, _ := s.endpoint.Call(secret(token), "list_book", `{"order_by":["id"]}`)
			if err := json.Unmarshal([]byte(text), &listed); err != nil {
				t.Fatal(err)
			}
			if want := strings.ReplaceAll(text[strings.Index(text, `"results":[`)+len(`"results":[`):], "},{", "}\n{"); strings.Join(rows, "\n")+"]}" != want {
				t.Errorf("as %s\ngot  %s\nwant %s", token, strings.Join(rows, "\n"), want)
			}
		}
	})
}

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
	s.check(t, "a second fetch", func(t *testing.T) {
		uri, _ := s.asks(t, "exporter", "list_book", `{"export":"csv"}`)
		if got := fetch(t, http.MethodGet, uri); got.status != http.StatusOK {
			t.Fatalf("got %d", got.status)
		}
		dead(t, uri, "used")
	})
	s.check(t, "no link, and a changed one", func(t *testing.T) {
		uri, _ := s.asks(t, "exporter", "list_book", `{"export":"csv"}`)
		dead(t, s.endpoint.URL+"exports/", "")
		dead(t, s.endpoint.URL+"exports/nothing", "")
		dead(t, uri[:len(uri)-2]+"AA", "")
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
			withKeys := func(c *contract.Config) { c.Endpoint.Idempotency = &contract.AuditTable{Name: "mcp_admin_keys"} }
			database, plain := engine.Open(t, library(engine))
			one := &suite{engine, harness.Serve(t, database, models(), tokens(), exporters, withKeys), plain}
			other := harness.Serve(t, database, models(), tokens(), exporters, withKeys)
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

// TestAnExportOfManyRowsNeedsLittleMemory fetches 50,000 rows of a kilobyte, and looks at the memory meanwhile.
func TestAnExportOfManyRowsNeedsLittleMemory(t *testing.T) {
	const rows, size, most = 50_000, 1000, 16 << 20
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			s := start(t, engine, exporters)
			s.fill(t, rows, size)
			uri, said := s.asks(t, "exporter", "list_review", `{"export":"csv","order_by":["id"]}`)
			if said != fmt.Sprint(rows+5) {
				t.Fatalf("the answer says %s rows, want %d", said, rows+5)
			}
			before := inUse()
			response, err := http.Get(uri)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			var peak uint64
			read, piece := 0, make([]byte, 1<<20)
			for {
				n, err := io.ReadFull(response.Body, piece)
				if read += n; read%(8<<20) < 1<<20 {
					peak = max(peak, inUse())
				}
				if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if read < rows*size || response.Trailer.Get("Export-Rows") != said {
				t.Errorf("%d bytes, %s rows", read, response.Trailer.Get("Export-Rows"))
			}
			if peak > before+most {
				t.Errorf("%d MiB in use while %d MiB were read, and %d before", peak>>20, read>>20, before>>20)
			}
		})
	}
}

// inUse is the memory that cannot be collected.
func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// fill adds reviews of so many bytes.
func (s *suite) fill(t *testing.T, rows, size int) {
	t.Helper()
	const piece = 1000
	for from := 0; from < rows; from += piece {
		var values []string
		for i := from; i < from+piece; i++ {
			values = append(values, fmt.Sprintf("(1, 'R%d', 1, '%0*d')", i, size, i))
		}
		if _, err := s.plain.Exec("insert into review (book_id, reader, stars, body) values " + strings.Join(values, ",")); err != nil {
			t.Fatal(err)
		}
	}
}
