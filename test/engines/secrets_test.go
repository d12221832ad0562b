package engines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// The tables' names decide with the columns': what is a secret in one is none in another.
const secretsOfPrograms = `
create table user_sessions (id integer primary key, session_id varchar(128) not null unique, user_agent varchar(200));
create table pings (id integer primary key, session_id integer references user_sessions (id), note varchar(40));
create table api_keys (id integer primary key, name varchar(40), "key" varchar(80), scopes varchar(80));
create table settings (id integer primary key, "key" varchar(80), "value" varchar(80));
create table ci_variables (id integer primary key, name varchar(80), encrypted_value varchar(200));
insert into user_sessions values (1, 'sess-4711', 'Firefox');
insert into pings values (1, 1, 'first');
insert into api_keys values (1, 'deploy', 'key-4711', 'read');
insert into settings values (1, 'theme', 'dark');
insert into ci_variables values (1, 'PASSWORD', 'cipher-4711')`

func TestSecretsAreHiddenByTheirTablesNamesToo(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			script := secretsOfPrograms
			if engine.Name == contract.EngineMySQL {
				script = strings.ReplaceAll(script, `"`, "`")
			}
			database, plain := engine.Open(t, script)
			var models []contract.Model
			for _, name := range []string{"user_sessions", "pings", "api_keys", "settings", "ci_variables"} {
				models = append(models, contract.Model{Name: name, Table: name, Expose: true})
			}
			models = append(models, contract.Model{Name: "journal", Table: "mcp_admin_log", Expose: true})
			models[2].Include = []string{"name", "key"} // somebody said that this one may be seen
			s := &suite{engine, harness.Serve(t, database, models, tokens(), withAudit), plain}
			s.check(t, "what is hidden can be neither read, asked, searched nor ordered by", func(t *testing.T) {
				for model, column := range map[string]string{"user_sessions": "session_id", "ci_variables": "encrypted_value"} {
					row := s.ok(t, "root", "get_"+model, `{"id":1}`)
					if _, shown := row[column]; shown {
						t.Errorf("%s.%s is shown: %v", model, column, row)
					}
					if text, isError := s.call(t, "root", "list_"+model, `{"filters":{"`+column+`__contains":"4711"}}`); !isError {
						t.Errorf("filtered by %s: %v", column, text)
					}
					want(t, s.ok(t, "root", "list_"+model, `{"search":"4711"}`), `0`, "count")
					if text, isError := s.call(t, "root", "list_"+model, `{"ordering":"`+column+`"}`); !isError {
						t.Errorf("ordered by %s: %v", column, text)
					}
				}
			})
			s.check(t, "a name like a secret's is shown if its table says otherwise", func(t *testing.T) {
				want(t, s.ok(t, "root", "get_settings", `{"id":1}`), `"theme"`, "key")
				want(t, s.ok(t, "root", "list_settings", `{"search":"theme"}`), `1`, "count")
				want(t, s.ok(t, "root", "get_pings", `{"id":1}`), `1`, "session_id")
			})
			s.check(t, "a secret that the exposure includes is shown, and never searched or kept in the journal", func(t *testing.T) {
				want(t, s.ok(t, "root", "get_api_keys", `{"id":1}`), `"key-4711"`, "key")
				want(t, s.ok(t, "root", "list_api_keys", `{"search":"4711"}`), `0`, "count")
				s.ok(t, "root", "update_api_keys", `{"id":1,"data":{"name":"deploying","key":"key-4712"}}`)
				kept := fmt.Sprint(s.ok(t, "root", "history_api_keys", `{"id":1}`), s.ok(t, "root", "list_journal", `{}`))
				if strings.Contains(kept, "key-471") || !strings.Contains(kept, "deploying") {
					t.Errorf("kept is %s", kept)
				}
			})
		})
	}
}
