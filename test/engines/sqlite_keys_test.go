package engines

import (
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// SQLite takes a foreign key that fits no key of the other table, and then refuses to write. Such tables have no tools that
// do, and the status says why.
func TestTablesWhoseForeignKeysDoNotFitAreNotWritten(t *testing.T) {
	engine := harness.Engines[0]
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
