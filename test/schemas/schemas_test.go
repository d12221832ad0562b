package schemas

import (
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

const root = "mcp_rootrootrootroot.0000000000000000000000000000000000000000000"

// tally counts the results of all tables.
var tally struct{ schemas, tables, whole, fewer, rows int }

// fewer are the reasons for which tables got fewer tools than there are, with the tables.
var fewer = map[string][]string{}

// guarded are models whose tables have triggers that refuse changes: Kea takes changes about its first server from
// nobody, and about others only from a session that it prepared.
var guarded = []string{"mdhcp4_server", "mdhcp6_server"}

// everyTool is the number of a model's tools if its table allows all; related_ needs a relation.
const everyTool = 13

func TestThirdPartySchemas(t *testing.T) {
	if os.Getenv("MCP_TEST_SCHEMAS") == "" {
		t.Skip("MCP_TEST_SCHEMAS is not set: the schemas are fetched from Debian packages")
	}
	for _, a := range applications {
		t.Run(a.name+" on "+a.engine, func(t *testing.T) { a.test(t) })
	}
	for _, why := range slices.Sorted(maps.Keys(fewer)) {
		fmt.Printf("fewer tools, as %s: %d tables, among them %s\n", why, len(fewer[why]), strings.Join(fewer[why][:min(3, len(fewer[why]))], ", "))
	}
	fmt.Printf("schemas: %d schemas with %d tables and views, %d with every tool, %d with fewer; %d rows read, filtered by each of their values, and written back\n",
		tally.schemas, tally.tables, tally.whole, tally.fewer, tally.rows)
}

func (a application) test(t *testing.T) {
	engine := harness.Engines[slices.IndexFunc(harness.Engines, func(e harness.Engine) bool { return e.Name == a.engine })]
	database, plain := engine.Open(t, a.script(t))
	tables := tablesOf(t, a.engine, plain)
	var models []contract.Model
	for name, table := range tables {
		models = append(models, contract.Model{Name: name, Table: table, Expose: true})
	}
	if len(models) == 0 {
		t.Fatal("the scripts made no tables")
	}
	everything := contract.Token{Namespace: "test", Name: "root", Hashes: []string{contract.HashToken(root)},
		Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"*"}, Actions: []string{"*"}}}}
	endpoint := harness.Serve(t, database, models, []contract.Token{everything}, func(c *contract.Config) {
		c.Endpoint.Audit = &contract.AuditTable{Name: "mcp_admin_log"}
		c.Endpoint.Database.StatementTimeout = contract.Duration(10 * time.Minute) // zabbix's items are searched for one on a quiet machine
	})
	tally.schemas++
	for _, m := range endpoint.Status().Models {
		tally.tables++
		if !m.Served() {
			// A key that is named like a secret is the one thing that an administrator must decide on.
			if m.Reason == contract.ReasonFieldNotAllowed && strings.Contains(m.Message, "named like a secret") {
				tally.fewer++
				const why = "its key is named like a secret, so it is withheld until the exposure includes it"
				fewer[why] = append(fewer[why], a.called(m))
				continue
			}
			t.Errorf("%s is not served: %s %s", m.Name, m.Reason, m.Message)
			continue
		}
		why := missing(m)
		if why == "" {
			tally.whole++
		} else {
			tally.fewer++
			fewer[why] = append(fewer[why], a.called(m))
		}
		t.Run(m.Name, func(t *testing.T) { table{t, endpoint, m}.test() })
	}
}

// called returns a table's name for people: without its schema or database, which is the test's own.
func (a application) called(m contract.ModelStatus) string {
	return fmt.Sprintf("%s of %s on %s", m.Table[strings.LastIndex(m.Table, ".")+1:], a.name, a.engine)
}

// missing says why a model has not every tool; "" if it has.
func missing(m contract.ModelStatus) string {
	has := func(operation string) bool { return slices.Contains(m.Tools, operation+"_"+m.Name) }
	switch {
	case len(m.Tools) == everyTool || len(m.Tools) == everyTool-1 && !has("related"):
		return ""
	case len(m.Key) == 0:
		return "it has no primary key (no get, update, delete, history, autocomplete and related)"
	case has("get") && has("create") && !has("update"):
		return "its only unique index may be null (rows can be read by it, but not updated or deleted)"
	case has("update") && !has("create"):
		return "a column that a new row needs is named like a secret, and hidden (no create)"
	case !has("create"):
		return "it cannot be written in a transaction, or not at all (only what reads)"
	}
	return fmt.Sprintf("something else is amiss (%s)", strings.Join(m.Tools, " "))
}

var noName = regexp.MustCompile(`[^a-z0-9_]+`)

// tablesOf are the tables and views that plain SQL finds, by a model's name.
func tablesOf(t *testing.T, engine string, plain *sql.DB) map[string]string {
	t.Helper()
	query := map[string]string{
		postgres: `select table_name from information_schema.tables where table_schema = 'public'`,
		mysql:    `select table_name from information_schema.tables where table_schema = database()`,
		sqlite:   `select name from sqlite_schema where type in ('table', 'view') and name not like 'sqlite\_%' escape '\'`,
	}[engine]
	rows, err := plain.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	tables := map[string]string{}
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			t.Fatal(err)
		}
		name := noName.ReplaceAllString(strings.ToLower(table), "_")
		name = "m" + strings.TrimLeft(name[:min(len(name), 36)], "_")
		for tables[name] != "" {
			name += "x"
		}
		tables[name] = table
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return tables
}

// table is one model under test.
type table struct {
	*testing.T
	endpoint *harness.Endpoint
	model    contract.ModelStatus
}

type object = map[string]any

// ok calls one of the model's tools, which must succeed.
func (t table) ok(operation, arguments string) object {
	t.Helper()
	text, isError := t.endpoint.Call(root, operation+"_"+t.model.Name, arguments)
	if isError {
		t.Fatalf("%s %s: %s", operation, arguments, text)
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var payload object
	if err := decoder.Decode(&payload); err != nil {
		t.Fatalf("%s %s: %v in %s", operation, arguments, err, text)
	}
	return payload
}

func (t table) has(operation string) bool {
	return slices.Contains(t.model.Tools, operation+"_"+t.model.Name)
}

// test asks for everything that a model of any table must answer.
func (t table) test() {
	described := t.ok("describe", `{}`)
	page := t.ok("list", `{"limit":5}`)
	if len(described["admin_config"].(object)["search_fields"].([]any)) > 0 {
		t.ok("list", `{"limit":2,"offset":1,"search":"a"}`)
	}
	for _, f := range described["fields"].([]any) {
		name := f.(object)["name"].(string)
		t.ok("list", `{"limit":1,"filters":{`+encoded(name+"__isnull")+`:false}}`)
	}
	if t.has("autocomplete") {
		t.ok("autocomplete", `{"term":"a"}`)
	}
	for _, row := range page["results"].([]any) {
		tally.rows++
		t.testRow(described, row.(object))
	}
}

// testRow reads one row alone, finds it by each of its values, and writes all of them back.
func (t table) testRow(described, row object) {
	t.Helper()
	if !t.has("get") {
		return
	}
	key := "id"
	if _, there := row["pk"]; there && len(t.model.Key) > 1 {
		key = "pk"
	}
	id, ok := row[key]
	if !ok {
		t.Fatalf("the row has no id: %v", row)
	}
	if id == nil {
		return // a unique index may be the key that lets rows have none
	}
	identity := encoded(id)
	arguments := `{"id":` + identity
	if len(described["relationships"].([]any)) > 0 {
		arguments += `,"include_related":true`
	}
	whole := t.ok("get", arguments+`}`)
	data := object{}
	for _, f := range described["fields"].([]any) {
		field := f.(object)
		name, kind := field["name"].(string), field["type"].(string)
		value := whole[name]
		text, isText := value.(string)
		switch _, err := base64.StdEncoding.DecodeString(text); {
		case isText && strings.Contains(text, "[cut: "):
			continue
		case kind == "bytes" && isText && err != nil:
			continue // SQLite keeps texts in columns of bytes, and they are shown as they are
		}
		if field["editable"] == nil && field["primary_key"] == nil && t.has("update") {
			data[name] = value
		}
		if name == key || kind == "json" || kind == "array" || kind == "float" { // no exact lookup, or none that finds what was read
			continue
		}
		found := t.ok("list", `{"limit":1,"fields":["id"],"filters":{"`+key+`":`+identity+`,`+encoded(name)+`:`+encoded(value)+`}}`)
		if fmt.Sprint(found["total_count"]) != "1" {
			t.Errorf("the row %s is not found by %s = %s", identity, name, encoded(value))
		}
	}
	for _, r := range described["relationships"].([]any) {
		t.ok("related", `{"id":`+identity+`,"limit":1,"relation":`+encoded(r.(object)["name"].(string))+`}`)
	}
	if t.has("history") {
		t.ok("history", `{"id":`+identity+`}`)
	}
	if len(data) > 0 && !slices.Contains(guarded, t.model.Name) {
		written := t.ok("update", `{"id":`+identity+`,"dry_run":true,"data":`+encoded(data)+`}`)["object"].(object)
		for name := range data {
			if encoded(written[name]) != encoded(whole[name]) {
				t.Errorf("%s was %s and is %s once it was written back", name, encoded(whole[name]), encoded(written[name]))
			}
		}
	}
}

func encoded(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // it was decoded from JSON
	}
	return string(text)
}
