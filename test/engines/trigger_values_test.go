package engines

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// readByTrigger is a table whose trigger reads a column of texts as JSON, and divides by another column.
var readByTrigger = map[string]string{
	contract.EngineSQLite: `create trigger read_note after update on note begin insert into seen (what) select json_extract(new.doc, '$.a'); end;
		create trigger read_new_note after insert on note begin insert into seen (what) select json_extract(new.doc, '$.a'); end;`,
	contract.EnginePostgreSQL: `create function read_note() returns trigger language plpgsql as $$ begin
			insert into seen (what) values (new.doc::json ->> 'a'), (cast(100 / new.parts as text)); return null; end $$;
		create trigger read_note after insert or update on note for each row execute function read_note();`,
	contract.EngineMySQL: `create trigger read_note after update on note for each row insert into seen (what) values (json_unquote(json_extract(new.doc, '$.a'))), (100 / new.parts);
		create trigger read_new_note after insert on note for each row insert into seen (what) values (json_unquote(json_extract(new.doc, '$.a'))), (100 / new.parts);`,
}

func quoted(text string) string {
	raw, _ := json.Marshal(text) // a string: it cannot fail
	return string(raw)
}

// A value that a trigger of the database cannot work with is the caller's to correct: it is no failure of the server.
func TestValuesThatATriggerCannotReadAreRefused(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			skipGateway(t, engine, noTriggers)
			database, plain := engine.Open(t, `create table note (id integer primary key, doc varchar(300), parts integer);
				create table seen (what varchar(300));
				insert into note values (1, null, 1);`+readByTrigger[engine.Name])
			s := &suite{engine, harness.Serve(t, database, []contract.Model{{Name: "note", Table: "note", Expose: true}}, tokens(), withAudit), plain}
			refused := func(t *testing.T, data string) {
				t.Helper()
				s.fails(t, "root", "update_note", `{"id":1,"data":`+data+`,"dry_run":true}`, "invalid_argument")
				s.fails(t, "root", "update_note", `{"id":1,"data":`+data+`}`, "invalid_argument")
				s.fails(t, "root", "create_note", `{"data":{"id":2,`+strings.TrimPrefix(data, "{")+`}`, "invalid_argument")
			}
			for _, doc := range []string{"x", "{", "[1 2]", "\"\x01\""} {
				s.check(t, fmt.Sprintf("a text that is no JSON: %q", doc), func(t *testing.T) {
					if engine.Name == contract.EngineSQLite && doc == "\"\x01\"" {
						t.Skip("it takes control characters")
					}
					refused(t, fmt.Sprintf(`{"doc":%s}`, quoted(doc)))
				})
			}
			s.check(t, "a divisor of zero", func(t *testing.T) {
				if engine.Name == contract.EngineSQLite {
					t.Skip("it is NULL there")
				}
				refused(t, `{"parts":0}`)
			})
			s.check(t, "what it can read is taken", func(t *testing.T) {
				s.ok(t, "root", "update_note", `{"id":1,"data":{"doc":"{\"a\":\"b\"}","parts":2}}`)
				s.holds(t, "select count(*) from seen where what = 'b'", "1")
			})
		})
	}
}
