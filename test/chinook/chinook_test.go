// Package chinook serves the Chinook database, which is a third party's, on every engine, and holds each answer of
// every read tool against plain SQL that is run beside the server.
package chinook

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// tables are Chinook's, with their columns in order and their keys, in snake case; the SQLite file has them in camel
// case.
var tables = []struct {
	name, columns string
	keys          int
}{
	{"album", "album_id title artist_id", 1},
	{"artist", "artist_id name", 1},
	{"customer", "customer_id first_name last_name company address city state country postal_code phone fax email support_rep_id", 1},
	{"employee", "employee_id last_name first_name title reports_to birth_date hire_date address city state country postal_code phone fax email", 1},
	{"genre", "genre_id name", 1},
	{"invoice", "invoice_id customer_id invoice_date billing_address billing_city billing_state billing_country billing_postal_code total", 1},
	{"invoice_line", "invoice_line_id invoice_id track_id unit_price quantity", 1},
	{"media_type", "media_type_id name", 1},
	{"playlist", "playlist_id name", 1},
	{"playlist_track", "playlist_id track_id", 2},
	{"track", "track_id name album_id media_type_id genre_id composer milliseconds bytes unit_price", 1},
}

// foreignKeys are the columns that are shown as <relation>_id.
var foreignKeys = map[string]string{
	"album.artist_id": "artist_id", "customer.support_rep_id": "support_rep_id", "employee.reports_to": "reports_to_id",
	"invoice.customer_id": "customer_id", "invoice_line.invoice_id": "invoice_id", "invoice_line.track_id": "track_id",
	"playlist_track.playlist_id": "playlist_id", "playlist_track.track_id": "track_id",
	"track.album_id": "album_id", "track.media_type_id": "media_type_id", "track.genre_id": "genre_id",
}

// engine is Chinook on one engine.
type engine struct {
	name string
	db   *sql.DB
	// quote encloses an identifier, binary stands before a text that is compared byte by byte, length is the function
	// that counts characters.
	quote, binary, length string
	// column is a column's, or a table's, name there.
	column func(snake string) string
	// row is an SQL expression: a JSON object of the columns, whatever their order.
	row      func(columns []string) string
	endpoint *harness.Endpoint
	token    string
}

// field is the name of a column in the API.
func (e engine) field(table, column string) string {
	if name := foreignKeys[table+"."+column]; name != "" {
		return name
	}
	return e.column(column)
}

func (e engine) quoted(name string) string { return e.quote + e.column(name) + e.quote }

func camel(snake string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(snake, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

func onSQLite(t *testing.T) engine {
	file := filepath.Join(t.TempDir(), "chinook.sqlite")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Exec(databasetest.Chinook(t, "Chinook_Sqlite.sql")); err != nil {
		t.Fatal(err)
	}
	e := engine{name: "SQLite", db: db, column: camel, quote: `"`, length: "length"}
	e.row = func(columns []string) string {
		pairs := make([]string, len(columns))
		for i, c := range columns {
			value := e.quoted(c)
			if strings.HasSuffix(c, "_date") {
				value = "replace(" + value + ", ' ', 'T')"
			}
			pairs[i] = fmt.Sprintf("'%s', %s", e.column(c), value)
		}
		return "json_object(" + strings.Join(pairs, ", ") + ")"
	}
	e.serve(t, harness.Database{SQLiteFile: file})
	return e
}

func onPostgreSQL(t *testing.T) engine {
	uri := databasetest.URI(databasetest.PostgreSQL(t))
	databasetest.Execute(t, uri, databasetest.Chinook(t, "Chinook_PostgreSql.sql"))
	db, err := sql.Open("pgx", uri)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	e := engine{name: "PostgreSQL", db: db, quote: `"`, length: "length", column: func(snake string) string { return snake }}
	e.row = func(columns []string) string {
		pairs := make([]string, len(columns))
		for i, c := range columns {
			pairs[i] = fmt.Sprintf("'%s', %s", c, e.quoted(c))
		}
		return "json_build_object(" + strings.Join(pairs, ", ") + ")"
	}
	e.serve(t, harness.Database{Connection: map[string][]byte{"uri": []byte(uri)}})
	return e
}

func onMariaDB(t *testing.T) engine {
	connection := databasetest.MariaDB(t)
	databasetest.ExecuteMySQL(t, connection, databasetest.Chinook(t, "Chinook_MySql.sql"))
	db, err := sql.Open("mysql", databasetest.MySQLName(connection))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	e := engine{name: "MariaDB", db: db, column: camel, quote: "`", binary: "BINARY ", length: "char_length"}
	e.row = func(columns []string) string {
		pairs := make([]string, len(columns))
		for i, c := range columns {
			value := e.quoted(c)
			if strings.HasSuffix(c, "_date") {
				value = "date_format(" + value + ", '%Y-%m-%dT%H:%i:%s')"
			}
			pairs[i] = fmt.Sprintf("'%s', %s", e.column(c), value)
		}
		return "json_object(" + strings.Join(pairs, ", ") + ")"
	}
	e.serve(t, harness.Database{Connection: map[string][]byte{"uri": []byte(databasetest.URI(connection))}})
	return e
}

func (e *engine) serve(t *testing.T, database harness.Database) {
	t.Helper()
	var models []contract.Model
	for _, table := range tables {
		models = append(models, contract.Model{Name: table.name, Table: e.column(table.name), Expose: true})
	}
	e.token = "mcp_rootrootrootroot.0000000000000000000000000000000000000000000"
	root := contract.Token{Namespace: "test", Name: "root", Hashes: []string{contract.HashToken(e.token)},
		Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"*"}, Actions: []string{"*"}}}}
	e.endpoint = harness.Serve(t, database, models, []contract.Token{root}, func(c *contract.Config) {
		c.Endpoint.Audit = &contract.AuditTable{Name: "mcp_admin_log"}
	})
}

func TestChinook(t *testing.T) {
	for name, open := range map[string]func(*testing.T) engine{"SQLite": onSQLite, "PostgreSQL": onPostgreSQL, "MariaDB": onMariaDB} {
		t.Run(name, func(t *testing.T) {
			e := open(t)
			t.Run("tools/list", e.testTools)
			t.Run("find_models", e.testFind)
			for _, table := range tables {
				columns := strings.Fields(table.columns)
				t.Run("list_"+table.name, func(t *testing.T) { e.testList(t, table.name, columns, columns[:table.keys]) })
				t.Run("get_"+table.name, func(t *testing.T) { e.testGet(t, table.name, columns, columns[:table.keys]) })
				t.Run("describe_"+table.name, func(t *testing.T) { e.testDescribe(t, table.name, columns, columns[:table.keys]) })
			}
			t.Run("filters", e.testFilters)
			t.Run("ordering", e.testOrdering)
			for _, table := range tables {
				columns := strings.Fields(table.columns)
				t.Run("related_"+table.name, func(t *testing.T) { e.testRelated(t, table.name, columns[:table.keys]) })
				t.Run("writing "+table.name, func(t *testing.T) { e.testWriting(t, table.name, columns, columns[:table.keys]) })
			}
		})
	}
}

func (e engine) call(t *testing.T, tool, arguments string, into any) {
	t.Helper()
	text, isError := e.endpoint.Call(e.token, tool, arguments)
	if isError {
		t.Fatalf("%s %s: %s", tool, arguments, text)
	}
	decode(t, text, into)
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

// rows runs plain SQL whose one column is a JSON object.
func (e engine) rows(t *testing.T, query string) []map[string]any {
	t.Helper()
	found, err := e.db.Query(query)
	if err != nil {
		t.Fatalf("%v in %s", err, query)
	}
	defer found.Close()
	var all []map[string]any
	for found.Next() {
		var text string
		if err := found.Scan(&text); err != nil {
			t.Fatal(err)
		}
		var row map[string]any
		decode(t, text, &row)
		all = append(all, row)
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// sameRow compares a row of the server with one of plain SQL, member by member; numbers by value, since decimals are
// strings in the server's rows.
func (e engine) sameRow(t *testing.T, table string, columns, keys []string, got, want map[string]any) {
	t.Helper()
	for _, c := range columns {
		g, ok := got[e.field(table, c)]
		w := want[e.column(c)]
		if !ok || !same(g, w) {
			t.Errorf("%s is %v, want %v in %v", e.field(table, c), g, w, got)
		}
	}
	if id := e.id(keys, want); !same(got["id"], id) {
		t.Errorf("id is %v, want %v", got["id"], id)
	}
	if len(got) != len(columns)+1 {
		t.Errorf("a row has %d members, want %d: %v", len(got), len(columns)+1, got)
	}
}

// id is the id that the row must have: the key, or its parts joined by commas.
func (e engine) id(keys []string, row map[string]any) any {
	if len(keys) == 1 {
		return row[e.column(keys[0])]
	}
	var parts []string
	for _, k := range keys {
		parts = append(parts, fmt.Sprint(row[e.column(k)]))
	}
	return strings.Join(parts, ",")
}

func same(a, b any) bool {
	x, isNumber := new(big.Rat).SetString(fmt.Sprint(a))
	y, also := new(big.Rat).SetString(fmt.Sprint(b))
	if isNumber && also {
		return x.Cmp(y) == 0
	}
	return fmt.Sprint(a) == fmt.Sprint(b)
}

// operations are a table's, in the order of the tools: every table of Chinook has all but reports, which somebody declares.
var operations = slices.DeleteFunc(contract.OperationNames(), func(name string) bool { return name == "report" })

func (e engine) testTools(t *testing.T) {
	_, body := e.endpoint.Post(e.token, `{"method":"tools/list"}`)
	var list struct {
		Tools []struct {
			Name, Description string
			InputSchema       struct{ Type string }
		}
	}
	decode(t, body, &list)
	want := []string{"find_models", "transact", "undo"}
	for _, table := range tables {
		for _, operation := range operations {
			want = append(want, operation+"_"+table.name)
		}
	}
	var got []string
	for _, tool := range list.Tools {
		got = append(got, tool.Name)
		if tool.Description == "" || tool.InputSchema.Type != "object" {
			t.Errorf("%s has no description or no schema", tool.Name)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the tools are %q, want %q", got, want)
	}
}

func (e engine) testFind(t *testing.T) {
	for query, want := range map[string]int{"": len(tables), "track": 3, "nothing of that kind": 0} {
		var found struct {
			Count      int
			Operations []string // of each model that names none of its own
			Models     []struct {
				ModelName  string `json:"model_name"`
				Operations []string
			}
		}
		e.call(t, "find_models", fmt.Sprintf(`{"query":%q}`, query), &found)
		if found.Count != want || len(found.Models) != want {
			t.Errorf("%q finds %d models, want %d", query, found.Count, want)
		}
		for _, m := range found.Models {
			got := m.Operations
			if got == nil {
				got = found.Operations
			}
			if want := operations; !slices.Equal(got, want) {
				t.Errorf("%s has operations %q, want %q", m.ModelName, got, want)
			}
		}
	}
}
