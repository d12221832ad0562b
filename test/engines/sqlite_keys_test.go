package engines

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// SQLite takes a foreign key that fits no key of the other table, and then refuses to write. Such tables have no tools that
// do, and the status says why.
func TestTablesWhoseForeignKeysDoNotFitAreNotWritten(t *testing.T) {
	engine := onSQLite(t)
	database, plain := engine.Open(t, `create table parent (id integer primary key, code text, name text);
		create table child (id integer primary key, code text references parent (code), note text);
		create table orphan (id integer primary key, gone_id integer references gone (id), note text);
		create table sound (id integer primary key, parent_id integer references parent (id), note text);
		insert into parent values (1, 'a', 'A'); insert into sound values (1, 1, 'x')`)
	var models []contract.Model
	for _, name := range []string{"parent", "child", "orphan", "sound"} {
		models = append(models, contract.Model{Name: name, Table: name, Expose: true})
	}
	s := &suite{engine, harness.Serve(t, database, models, tokens(), withAudit), plain}
	s.check(t, "what SQLite refuses is not offered", func(t *testing.T) {
		for _, m := range s.endpoint.Status().Models {
			tools, notes := strings.Join(m.Tools, " "), strings.Join(m.Notes, " ")
			creates, updates, deletes := strings.Contains(tools, "create_"), strings.Contains(tools, "update_"), strings.Contains(tools, "delete_")
			if creates != (m.Name == "sound") || deletes != (m.Name == "sound") || updates != (m.Name == "sound" || m.Name == "parent") {
				t.Errorf("%s has %s", m.Name, tools)
			}
			if (m.Name != "sound") != strings.Contains(notes, "SQLite refuses") {
				t.Errorf("%s: %s", m.Name, notes)
			}
		}
	})
	s.check(t, "the rest is written", func(t *testing.T) {
		s.ok(t, "root", "update_parent", `{"id":1,"data":{"name":"B"}}`)
		s.ok(t, "root", "create_sound", `{"data":{"id":2,"parent_id":1}}`)
		s.ok(t, "root", "delete_sound", `{"id":2}`)
		s.ok(t, "root", "list_child", `{}`)
	})
}

// SQLite keeps keys of any class and form in a column, and rows show several of them alike. The :ids of a statement are the
// keys of the very rows that were selected.
func TestStatementsOfActionsFindKeysOfEveryForm(t *testing.T) {
	engine := onSQLite(t)
	keys := []string{"'2024-01-01'", "'2024-01-02 00:00:00'", "'2024-01-03T03:04:05Z'", "'2024-01-04T03:04:05+02:00'", "'soon'", "''", "x'ff'", "5", "0.5", "1700000000", "9e999", "'12:30'", "'ABCDEF01-2345-6789-abcd-ef0123456789'"}
	declared := []string{"int", "text", "varchar(9)", "blob", "date", "time", "timestamp", "timestamptz", "decimal(9,2)", "numeric", "real", "boolean", "uuid", ""}
	var script strings.Builder
	var models []contract.Model
	for i, kind := range declared {
		name := fmt.Sprintf("keyed%d", i)
		fmt.Fprintf(&script, "create table %s (id %s primary key not null, note text);\n", name, kind)
		for _, key := range keys {
			fmt.Fprintf(&script, "insert or ignore into %s (id) values (%s);\n", name, key)
		}
		models = append(models, contract.Model{Name: name, Table: name, Key: []string{"id"}, Expose: true, Actions: []contract.Action{{
			Name: "mark", SQL: &contract.SQLAction{Statement: "update " + name + " set note = coalesce(note, '') || 'x' where id in (:ids)"},
		}}})
	}
	database, plain := engine.Open(t, script.String())
	s := &suite{engine, harness.Serve(t, database, models, tokens(), withAudit), plain}
	for i, kind := range declared {
		s.check(t, "a key declared as "+kind, func(t *testing.T) {
			name := fmt.Sprintf("keyed%d", i)
			for _, row := range s.ok(t, "root", "list_"+name, `{"limit":100}`)["results"].([]any) {
				id, _ := json.Marshal(row.(object)["id"])
				answer, failed := s.call(t, "root", "action_"+name, `{"action":"mark","ids":[`+string(id)+`]}`)
				if failed || answer["affected_count"] != json.Number("1") {
					t.Errorf("%s: %v", id, answer)
				}
			}
			s.holds(t, "select group_concat(quote(id) || note, ' ') from "+name+" where note <> 'x'", "NULL")
		})
	}
}
