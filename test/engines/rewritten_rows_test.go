package engines

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// rewriting are triggers and rules that change a row behind the statement that writes it, or before.
var rewriting = map[string]string{
	contract.EngineSQLite: `
		create trigger after_insert after insert on note begin update note set stamp = 'added ' || new.id where id = new.id; end;
		create trigger after_update after update of body on note begin update note set stamp = 'changed ' || new.id where id = new.id; end;`,
	contract.EnginePostgreSQL: `
		create function stamp() returns trigger language plpgsql as $$ begin
			update note set stamp = case when tg_op = 'INSERT' then 'added ' else 'changed ' end || new.id where id = new.id; return null; end $$;
		create trigger after_insert after insert on note for each row execute function stamp();
		create trigger after_update after update of body on note for each row execute function stamp();`,
	contract.EngineMySQL: `
		create trigger before_insert before insert on note for each row set new.stamp = concat('added ', new.id);
		create trigger before_update before update on note for each row set new.stamp = if(new.body <=> old.body, new.stamp, concat('changed ', new.id));`,
}

// What a write answers and what the journal keeps of it is the row as it is when all that the database makes of the write is done.
func TestWritesTellTheRowAsTheDatabaseLeftIt(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			skipGateway(t, engine, noTriggers)
			database, plain := engine.Open(t, `create table note (id integer primary key, body varchar(300), stamp varchar(300));
				create table plain_note (id integer primary key, body varchar(300), stamp varchar(300) default 'none');
				insert into note values (1, 'old', null);`+rewriting[engine.Name])
			own := contract.RowPolicy{Name: "bodies", Everyone: true, Filters: []contract.Filter{{Field: "body", Lookup: "startswith", Value: "my"}}}
			s := &suite{engine, harness.Serve(t, database, []contract.Model{{Name: "note", Table: "note", Expose: true},
				{Name: "plain_note", Table: "plain_note", Expose: true, RowPolicies: []contract.RowPolicy{own}}}, tokens(), withAudit), plain}
			s.check(t, "of an update", func(t *testing.T) {
				if got := at(t, s.ok(t, "root", "update_note", `{"id":1,"data":{"body":"new"}}`), "object", "stamp"); got != "changed 1" {
					t.Errorf("the stamp is %v", got)
				}
				s.holds(t, "select count(*) from mcp_admin_log where cast(changes as char(2000)) like '%changed 1%'", "1")
			})
			s.check(t, "of a creation", func(t *testing.T) {
				if got := at(t, s.ok(t, "root", "create_note", `{"data":{"id":2,"body":"b"}}`), "object", "stamp"); got != "added 2" {
					t.Errorf("the stamp is %v", got)
				}
				s.holds(t, "select count(*) from mcp_admin_log where cast(changes as char(2000)) like '%added 2%'", "1")
			})
			s.check(t, "and a row out of sight is no row", func(t *testing.T) {
				if got := at(t, s.ok(t, "root", "create_plain_note", `{"data":{"id":1,"body":"my own"}}`), "object", "stamp"); got != "none" {
					t.Errorf("the stamp is %v", got)
				}
				s.fails(t, "root", "create_plain_note", `{"data":{"id":2,"body":"another's"}}`, "validation_error")
				s.fails(t, "root", "update_plain_note", `{"id":1,"data":{"body":"another's"}}`, "validation_error")
				s.fails(t, "root", "update_plain_note", `{"id":1,"data":{"body":null}}`, "validation_error")
				s.holds(t, "select count(*) from plain_note where body = 'my own'", "1")
				s.holds(t, "select count(*) from plain_note", "1")
			})
		})
	}
}
