package engines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// Masked columns that a new row needs, one that callers never write, and one that may be null.
const maskedPeople = `
create table person (id varchar(10) primary key, name varchar(40) not null, born date not null, email varchar(80), badge varchar(20) default 'none');
insert into person values ('1', 'Ann', '1990-02-28', 'ann@example.com', 'b-1')`

func TestMaskedFieldsAreGivenToNewRowsAndNeverChange(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			database, plain := engine.Open(t, maskedPeople)
			person := contract.Model{Name: "person", Table: "person", Expose: true, ReadOnly: []string{"badge"},
				Masked: []contract.MaskedField{{Name: "born"}, {Name: "email", KeepLast: 4}, {Name: "badge"}}}
			s := &suite{engine, harness.Serve(t, database, []contract.Model{person}, tokens(), withAudit), plain}
			s.check(t, "describe, schema and tool agree", func(t *testing.T) {
				described := s.ok(t, "root", "describe_person", `{}`)
				want(t, described, `["id","name","born"]`, "data", "create", "required")
				want(t, described, `["email"]`, "data", "create", "optional")
				if got := fmt.Sprint(at(t, described, "data", "update")); strings.Contains(got, "born") || strings.Contains(got, "email") || !strings.Contains(got, "name") {
					t.Errorf("update takes %s", got)
				}
				want(t, described, `["badge"]`, "admin_config", "readonly_fields")
				if got, want := helpOf(t, described, "id"), "The database gives none: choose one that is free."; !strings.Contains(got, want) {
					t.Errorf("got the help %q of the key, want %q in it", got, want)
				}
			})
			s.check(t, "find_models and the instructions tell of them", func(t *testing.T) {
				found := at(t, s.ok(t, "root", "find_models", `{"detail":"fields"}`), "models").([]any)[0].(object)
				want(t, found, `["id text","name text","born date (masked)","email text (masked)","badge text (masked)"]`, "fields")
				r := callerTexts{suite: s, token: "root"}
				r.take(t)
				if got, want := r.told["the instructions"], "**** is a value that is masked for you."; !strings.Contains(got, want) {
					t.Errorf("got the instructions %q, want %q in them", got, want)
				}
			})
			s.check(t, "who only reads is told nothing of writing", func(t *testing.T) {
				described := s.ok(t, "viewer", "describe_person", `{}`)
				if got := helpOf(t, described, "id") + helpOf(t, described, "born"); strings.Contains(got, "create") || !strings.Contains(got, "Masked") {
					t.Errorf("got the help %q, want what is masked alone", got)
				}
			})
			s.check(t, "a new row takes them, and shows them masked", func(t *testing.T) {
				row := s.ok(t, "root", "create_person", `{"data":{"id":"2","name":"Bo","born":"1980-01-01","email":"bo@example.com"}}`)
				want(t, row, `"****"`, "object", "born")
				want(t, row, `"****.com"`, "object", "email")
				s.holds(t, "select email from person where id = '2'", "bo@example.com")
				s.failsOn(t, "root", "create_person", `{"data":{"id":"3","name":"Cy"}}`, "born")
				s.failsOn(t, "root", "create_person", `{"data":{"id":"3","name":"Cy","born":"1980-01-01","badge":"b"}}`, "badge")
				kept := fmt.Sprint(s.ok(t, "root", "history_person", `{"id":"2"}`))
				if strings.Contains(kept, "1980-01") || strings.Contains(kept, "example") {
					t.Errorf("the journal has them: %s", kept)
				}
			})
			s.check(t, "a row that is there keeps them, and the advice says so", func(t *testing.T) {
				s.failsOn(t, "root", "update_person", `{"id":"1","data":{"name":"Abe","born":"1970-01-01"}}`, "born")
				payload, _ := s.call(t, "root", "update_person", `{"id":"1","data":{"born":"1970-01-01"}}`)
				if text := fmt.Sprint(payload); !strings.Contains(text, "tell the user if it has to change") {
					t.Errorf("%s", text)
				}
				s.holds(t, "select name from person where id = '1'", "Ann")
			})
			s.check(t, "what was created can be undone", func(t *testing.T) {
				row := s.ok(t, "root", "create_person", `{"data":{"id":"4","name":"Di","born":"1980-01-01"}}`)
				s.ok(t, "root", "undo", fmt.Sprintf(`{"call":%q}`, at(t, row, "call")))
				s.holds(t, "select count(*) from person where id = '4'", "0")
			})
		})
	}
}

// helpOf is a field's help in a description; "" if it has none.
func helpOf(t *testing.T, described object, name string) string {
	t.Helper()
	for _, each := range at(t, described, "fields").([]any) {
		if field := each.(object); field["name"] == name {
			help, _ := field["help_text"].(string)
			return help
		}
	}
	t.Fatalf("no field %s is described", name)
	return ""
}
