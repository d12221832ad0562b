package schemas

import (
	"database/sql"
	"embed"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

//go:embed testdata/handmade-*.sql
var handmade embed.FS

// handmadeEndpoint is the hand-made schema on one engine, served with every table and view.
func handmadeEndpoint(t *testing.T, engine harness.Engine, configure ...func(*contract.Config)) (*harness.Endpoint, *sql.DB) {
	t.Helper()
	script, err := handmade.ReadFile("testdata/handmade-" + strings.ToLower(engine.Name) + ".sql")
	if err != nil {
		t.Fatal(err)
	}
	database, plain := engine.Open(t, string(script))
	var models []contract.Model
	for name, table := range tablesOf(t, engine.Name, plain) {
		models = append(models, contract.Model{Name: name, Table: table, Expose: true})
	}
	if engine.Name == postgres {
		models = append(models,
			contract.Model{Name: "marchive_document", Schema: "archive", Table: "document", Expose: true},
			contract.Model{Name: "mreading_year", Table: "reading_year", Expose: true},
			contract.Model{Name: "mnever_filled", Table: "never_filled", Expose: true})
		configure = append(configure, func(c *contract.Config) { c.Endpoint.Database.Schemas = []string{"public", "archive"} })
	}
	everything := contract.Token{Namespace: "test", Name: "root", Hashes: []string{contract.HashToken(root)},
		Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"*"}, Actions: []string{"*"}}}}
	return harness.Serve(t, database, models, []contract.Token{everything}, configure...), plain
}

// Every tool that reads answers on every table and view, rows are found by what they show, and a walk over the pages in any
// order meets every row exactly once.
func TestHandmadeSchemasAreRead(t *testing.T) {
	for _, engine := range harness.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			endpoint, plain := handmadeEndpoint(t, engine)
			for _, m := range endpoint.Status().Models {
				if m.Name == "mnever_filled" {
					continue
				}
				t.Run(m.Name, func(t *testing.T) {
					if !m.Served() {
						t.Fatalf("it is not served: %s %s", m.Reason, m.Message)
					}
					tt := table{t, endpoint, m}
					tt.test()
					tt.walk(plain, engine.Name)
				})
			}
		})
	}
}

// walk reads the table in pages, in its own order and by each of its fields in both directions.
func (t table) walk(plain *sql.DB, engine string) {
	t.Helper()
	var count int
	if err := plain.QueryRow("SELECT count(*) FROM " + t.quoted(engine)).Scan(&count); err != nil {
		t.Fatal(err)
	}
	all := t.rows(t.ok("list", `{"limit":1000}`))
	if len(all) != count {
		t.Errorf("%d rows are listed, and the table has %d", len(all), count)
	}
	orders := []string{""}
	for _, f := range t.ok("describe", `{}`)["fields"].([]any) {
		name := f.(object)["name"].(string)
		orders = append(orders, name, "-"+name)
	}
	for _, order := range orders {
		if walked := t.pages(order); !slices.Equal(walked, all) {
			lost, twice := difference(all, walked), difference(walked, all)
			t.Errorf("in pages ordered by %q there are %d rows of the table's %d: %d are lost, and %d come more often, such as %.300q and %.300q",
				order, len(walked), len(all), len(lost), len(twice), lost[:min(1, len(lost))], twice[:min(1, len(twice))])
		}
	}
}

// difference returns the items that a has more often than b.
func difference(a, b []string) []string {
	times := map[string]int{}
	for _, row := range b {
		times[row]++
	}
	var more []string
	for _, row := range a {
		if times[row]--; times[row] < 0 {
			more = append(more, row)
		}
	}
	return more
}

// pages walks over pages of 7 rows, by cursor if there is one, and returns all rows, sorted.
func (t table) pages(order string) []string {
	t.Helper()
	const size = 7
	arguments := object{"limit": size}
	if order != "" {
		arguments["order_by"] = []string{order}
	}
	var rows []string
	for {
		text, isError := t.endpoint.Call(root, "list_"+t.model.Name, encoded(arguments))
		if isError && strings.Contains(text, "cannot order by") {
			return t.rows(t.ok("list", `{"limit":1000}`)) // its type has no order
		}
		page := t.ok("list", encoded(arguments))
		got := t.rows(page)
		rows = append(rows, got...)
		if len(got) < size {
			slices.Sort(rows)
			return rows
		}
		if cursor, ok := page["next_cursor"]; ok {
			arguments["cursor"] = cursor
		} else {
			arguments["offset"] = len(rows)
		}
		if len(rows) > 1000 {
			t.Fatalf("ordered by %q the pages do not end", order)
		}
	}
}

// rows are a page's rows as sorted texts.
func (t table) rows(page object) []string {
	var rows []string
	for _, row := range page["results"].([]any) {
		rows = append(rows, encoded(row))
	}
	slices.Sort(rows)
	return rows
}

// quoted is the table's name in plain SQL.
func (t table) quoted(engine string) string {
	quote := `"`
	if engine == mysql {
		quote = "`"
	}
	schema, name, found := strings.Cut(t.model.Table, ".")
	if !found {
		schema, name = "", schema
	}
	name = quote + strings.ReplaceAll(name, quote, quote+quote) + quote
	if schema == "" {
		return name
	}
	return quote + schema + quote + "." + name
}

// writing is a call that writes, with what it must answer and what the database must hold then.
type writing struct {
	name string
	// engines are those whose schema has the table; empty is all.
	engines []string
	tool    string
	arguments,
	// want are pieces of the answer, isError whether it is an error.
	want string
	isError bool
	// query and holds are plain SQL and its one value afterwards, as text.
	query, holds string
}

// An answer says truly what a trigger, a rule or a constraint makes of a write.
var writings = []writing{
	{name: "a rule keeps the row", engines: []string{postgres}, tool: "delete_mdocument", arguments: `{"id":1}`,
		want: `"success":true … "deleted":true`, query: "SELECT deleted FROM document WHERE id = 1", holds: "true"},
	{name: "a rule keeps the rows of a bulk", engines: []string{postgres}, tool: "bulk_mdocument", arguments: `{"operation":"delete","items":[2,3]}`,
		want: `"success_count":2`, query: "SELECT count(*) FROM document WHERE deleted AND id IN (2, 3)", holds: "2"},
	{name: "a trigger keeps the row", engines: []string{postgres, sqlite}, tool: "delete_mfolder", arguments: `{"id":1}`,
		want: `"success":true … "name":"inbox"`, query: "SELECT count(*) FROM folder", holds: "2"},
	{name: "a trigger keeps what was there", engines: []string{postgres, sqlite}, tool: "update_mfrozen", arguments: `{"id":1,"data":{"note":"new"}}`,
		want: `"success":true … "note":"as it is"`, query: "SELECT note FROM frozen", holds: "as it is"},
	{name: "a trigger refuses", tool: "update_mguarded", arguments: `{"id":1,"data":{"amount":-1}}`, isError: true,
		want: `"code":"validation_error"`, query: "SELECT amount FROM guarded WHERE id = 1", holds: "5"},
	{name: "a trigger refuses one item of a bulk", tool: "bulk_mguarded", arguments: `{"operation":"create","items":[{"data":{"id":2,"amount":2}},{"data":{"id":3,"amount":-3}},{"data":{"id":4,"amount":4}}]}`,
		want: `"success_count":2,"error_count":1 … "index":1`, query: "SELECT count(*) FROM guarded", holds: "3"},
	{name: "a trigger changes what is written", tool: "create_mstamped", arguments: `{"data":{"name":"  Big Name ","slug":"x"}}`,
		want: `"success":true … "name":"Big Name","slug":"big name"`, query: "SELECT slug FROM stamped", holds: "big name"},
	{name: "a trigger puts the row elsewhere", engines: []string{postgres}, tool: "create_mreading", arguments: `{"data":{"year":2025,"value":1000}}`,
		want: `"success":true`, query: "SELECT count(*) FROM ONLY reading_2025 WHERE value = 1000", holds: "1"},
	{name: "a trigger puts a row elsewhere whose key is known", engines: []string{postgres}, tool: "create_mreading", arguments: `{"data":{"id":5000,"year":2026,"value":1001}}`,
		want: `"success":true,"id":5000 … "value":1001`, query: "SELECT count(*) FROM ONLY reading_2026 WHERE id = 5000", holds: "1"},
	{name: "a row of a partition", engines: []string{postgres}, tool: "update_msale", arguments: `{"id":"1,apac","data":{"total":"99.00"}}`,
		want: `"success":true … "total":"99.00"`, query: "SELECT total FROM sale_apac WHERE id = 1", holds: "99.00"},
	{name: "no partition", engines: []string{postgres}, tool: "create_msale", arguments: `{"data":{"id":1,"region":"latam","total":"1.00"}}`, isError: true,
		want: `"code":"validation_error" … "field":"region"`, query: "SELECT count(*) FROM sale", holds: "25"},
	{name: "no partition", engines: []string{mysql}, tool: "create_msale", arguments: `{"data":{"id":1,"region":7,"total":"1.00"}}`, isError: true,
		want: `"code":"validation_error"`, query: "SELECT count(*) FROM sale", holds: "25"},
	{name: "a check that lists values", tool: "update_mrated", arguments: `{"id":1,"data":{"state":"dead"}}`, isError: true,
		want: `"code":"validation_error" … "field":"state" … draft, live, gone`, query: "SELECT state FROM rated WHERE id = 1", holds: "draft"},
	{name: "a check that cannot be read", tool: "update_mrated", arguments: `{"id":1,"data":{"share":51}}`, isError: true,
		want: `"code":"validation_error" … "field":"share" … even_only`, query: "SELECT share FROM rated WHERE id = 1", holds: "50"},
	{name: "a domain's check", engines: []string{postgres}, tool: "update_mrated", arguments: `{"id":1,"data":{"share":200}}`, isError: true,
		want: `"code":"validation_error" … "field":"share"`, query: "SELECT share FROM rated WHERE id = 1", holds: "50"},
	{name: "an exclusion constraint", engines: []string{postgres}, tool: "create_mbooking", arguments: `{"data":{"id":2,"room":"red","during":"[2,3)"}}`, isError: true,
		want: `"code":"validation_error" … "field":"during"`, query: "SELECT count(*) FROM booking", holds: "1"},
	{name: "a deferred foreign key", engines: []string{postgres, sqlite}, tool: "update_mchain", arguments: `{"id":2,"data":{"next_id":77}}`, isError: true,
		want: `"code":"validation_error" … "field":"next_id"`, query: "SELECT count(*) FROM chain WHERE next_id = 77", holds: "0"},
	{name: "a deferred foreign key in a dry run", engines: []string{postgres, sqlite}, tool: "update_mchain", arguments: `{"id":2,"dry_run":true,"data":{"next_id":77}}`, isError: true,
		want: `"code":"validation_error"`, query: "SELECT count(*) FROM chain WHERE next_id = 77", holds: "0"},
	{name: "a key that nobody declared", tool: "update_mseat", arguments: `{"id":"h1,1","data":{"holder":"me"}}`,
		want: `"success":true`, query: "SELECT holder FROM seat WHERE number = 1", holds: "me"},
	{name: "a row of a table without a key", tool: "create_mvisit", arguments: `{"data":{"page":"p0","amount":"1.00","day":"2026-01-01"}}`,
		want: `"success":true`, query: "SELECT count(*) FROM visit", holds: "61"},
	{name: "odd names", tool: "update_modd_table_", arguments: `{"id":1,"data":{"unit_price":"7.50","select":"z","a__b":"w"}}`,
		want: `"unit_price":"7.50"`, query: `SELECT "select" FROM "Odd ""Table"""`, holds: "z"},
	{name: "a computed column", tool: "update_mpriced", arguments: `{"id":1,"data":{"gross":"1.00"}}`, isError: true,
		want: `"code":"validation_error" … "field":"gross"`, query: "SELECT net FROM priced", holds: "10"},
	{name: "a view", tool: "create_mvisit_total", arguments: `{"data":{"page":"x"}}`, isError: true,
		want: `create is not offered … "code":"permission_denied"`, query: "SELECT count(*) FROM visit WHERE page = 'x'", holds: "0"},
	{name: "a materialised view that was never filled", engines: []string{postgres}, tool: "list_mnever_filled", arguments: `{}`, isError: true,
		want: `REFRESH MATERIALIZED VIEW … "code":"unavailable"`},
	{name: "a referenced row goes", tool: "delete_mcurrency", arguments: `{"id":"USD"}`,
		want: `"success":true`, query: "SELECT count(*) FROM price_list WHERE currency_code IS NULL", holds: "1"},
}

func TestHandmadeSchemasAreWritten(t *testing.T) {
	for _, engine := range harness.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			endpoint, plain := handmadeEndpoint(t, engine, func(c *contract.Config) { c.Endpoint.Audit = &contract.AuditTable{Name: "mcp_admin_log"} })
			for _, w := range writings {
				if len(w.engines) > 0 && !slices.Contains(w.engines, engine.Name) {
					continue
				}
				t.Run(w.name, func(t *testing.T) { w.test(t, endpoint, plain, engine.Name) })
			}
		})
	}
}

func (w writing) test(t *testing.T, endpoint *harness.Endpoint, plain *sql.DB, engine string) {
	text, isError := endpoint.Call(root, w.tool, w.arguments)
	if isError != w.isError {
		t.Errorf("%s %s: error %v, want %v: %s", w.tool, w.arguments, isError, w.isError, text)
	}
	rest := text
	for piece := range strings.SplitSeq(w.want, " … ") {
		_, after, found := strings.Cut(rest, piece)
		if !found {
			t.Errorf("%s %s: no %s in %s", w.tool, w.arguments, piece, text)
			break
		}
		rest = after
	}
	if w.query == "" {
		return
	}
	query := w.query
	if engine == mysql {
		query = strings.NewReplacer(`"Odd ""Table"""`, "`Odd \"Table\"`", `"select"`, "`select`").Replace(query)
	}
	var got any
	if err := plain.QueryRow(query).Scan(&got); err != nil {
		t.Fatal(err)
	}
	if bytes, ok := got.([]byte); ok {
		got = string(bytes)
	}
	if holds := strings.TrimSuffix(fmt.Sprint(got), ".00"); holds != strings.TrimSuffix(w.holds, ".00") {
		t.Errorf("%s is %s afterwards, want %s", w.query, holds, w.holds)
	}
}

// A trigger's own words are shown only if the exposure says so.
func TestTriggersMessagesAreShownIfTheExposureAllowsIt(t *testing.T) {
	for _, engine := range harness.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			endpoint, _ := handmadeEndpoint(t, engine)
			const words = "amounts are not negative here"
			call := func() string {
				text, _ := endpoint.Call(root, "update_mguarded", `{"id":1,"data":{"amount":-1}}`)
				return text
			}
			if text := call(); strings.Contains(text, words) {
				t.Errorf("it is told without leave: %s", text)
			}
			endpoint.Apply(func(c *contract.Config) {
				c.Models = slices.Clone(c.Models)
				for i := range c.Models {
					c.Models[i].DatabaseMessages = true
				}
			})
			if text := call(); !strings.Contains(text, words) {
				t.Errorf("it is not told: %s", text)
			}
		})
	}
}
