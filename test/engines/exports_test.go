package engines

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
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
		t.Error(err)
		return file{err: err}
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Error(err)
		return file{err: err}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return file{response.StatusCode, string(body), response.Header, response.Trailer, err}
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
	s.check(t, "values of each type", func(t *testing.T) {
		s.ok(t, "root", "update_sample", `{"id":1,"data":{"doc":{"n":12345678901234567890},"raw":"+/8=","uid":"5f0c2a7e-6f0e-4b5e-9a51-0d8f3c2b1a00"}}`)
		shown, _ := s.ok(t, "exporter", "list_sample", `{"filters":{"id":1}}`)["results"].([]any)
		records, err := csv.NewReader(strings.NewReader(s.exports(t, "exporter", "list_sample", `{"export":"csv","filters":{"id":1}}`))).ReadAll()
		if err != nil || len(records) != 2 || len(shown) != 1 {
			t.Fatalf("%v in %v", err, records)
		}
		row := shown[0].(object)
		if len(records[0]) != len(row) {
			t.Errorf("the columns are %v, and the row has %v", records[0], row)
		}
		for i, name := range records[0] {
			want := fmt.Sprint(row[name]) // numbers as they were written
			switch value := row[name].(type) {
			case nil:
				want = ""
			case object, []any:
				text, _ := json.Marshal(value)
				want = string(text)
			case string:
				if name == "raw" && strings.HasPrefix(value, "+") {
					want = "'" + value
				}
			}
			if got := strings.ReplaceAll(records[1][i], `": `, `":`); got != want {
				t.Errorf("%s is %q, and the row has %q", name, records[1][i], want)
			}
		}
	})
	s.check(t, "negative numbers that are computed", func(t *testing.T) {
		got := s.exports(t, "exporter", "aggregate_sample", `{"export":"csv","measures":{"s":{"sum":"exact"},"m":{"min":"exact"},"a":{"avg":"big"},"r":{"ratio":["m","s"]}},"filters":{"id":2}}`)
		records, err := csv.NewReader(strings.NewReader(got)).ReadAll()
		if err != nil || len(records) != 2 {
			t.Fatalf("%v in %q", err, got)
		}
		for i, name := range records[0] {
			if text := records[1][i]; strings.HasPrefix(text, "'") || name != "r" && !strings.HasPrefix(text, "-") {
				t.Errorf("%s is %q, want a number", name, text)
			}
		}
		if got := s.exports(t, "exporter", "list_book", `{"export":"csv","fields":[{"as":"less","sub":["pages","price"]},{"as":"minus","sub":["price","pages"]}],"filters":{"id":1}}`); got != "id,less,minus\r\n1,328.50,-328.50\r\n" {
			t.Errorf("arithmetic is %q", got)
		}
	})
	s.check(t, "a value of 15 MiB is whole", func(t *testing.T) {
		s.writes(t)
		const size = 15 << 20
		repeated := map[string]string{contract.EngineSQLite: "printf('%%.*c', %d, 'x')"}[s.Name]
		if repeated == "" {
			repeated = "repeat('x', %d)"
		}
		if s.Name == contract.EngineMySQL { // whose text has 64 KiB
			if _, err := s.plain.Exec("alter table review modify body longtext"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.plain.Exec("update review set body = " + fmt.Sprintf(repeated, size) + " where id = 1"); err != nil {
			t.Fatal(err)
		}
		s.holds(t, "select length(body) from review where id = 1", fmt.Sprint(size))
		if got := s.exports(t, "exporter", "list_review", `{"export":"csv","fields":["body"],"filters":{"id":1}}`); got != "id,body\r\n1,"+strings.Repeat("x", size)+"\r\n" {
			t.Errorf("the file has %d bytes: %.40q", len(got), got)
		}
		if s.Name == contract.EngineMySQL {
			return // whose usual max_allowed_packet makes no longer value
		}
		if _, err := s.plain.Exec("update review set body = " + fmt.Sprintf(repeated, 17<<20) + " where id = 1"); err != nil {
			t.Fatal(err)
		}
		uri, _ := s.asks(t, "exporter", "list_review", `{"export":"csv","fields":["body"],"filters":{"id":1}}`)
		s.endpoint.Log.Reset()
		if got := fetch(t, http.MethodGet, uri); got.err == nil || got.trailer.Get("Export-Rows") != "" {
			t.Errorf("the file with a value that was cut looks whole: %d", got.status)
		}
		if lines := s.endpoint.Log.Lines(`"outcome":"too_large"`); len(lines) != 1 {
			t.Errorf("the audit has %v", s.endpoint.Log.Lines(`"audit"`))
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
