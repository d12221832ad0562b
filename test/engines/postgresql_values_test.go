package engines

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// The = of regclass reads numbers, and the one of composite types reads nothing: values of both are found by what rows show.
func TestPostgreSQLFindsValuesWithoutAnEqualityOfTheirOwn(t *testing.T) {
	const script = `create type spot as (x int, "the y" text);
		create table kept (name regclass primary key, place spot, n int);
		insert into kept values ('pg_class', row(1, 'a b'), 1), ('pg_type', row(2, null), 2), ('pg_index', null, 3);
		create table placed (place spot primary key, name regclass references kept (name));
		insert into placed values (row(1, 'a'), 'pg_class'), (row(1, 'b'), 'pg_type'), (row(2, 'a'), null)`
	for _, engine := range allEngines() {
		if engine.Name != contract.EnginePostgreSQL {
			continue
		}
		t.Run(engine.Title, func(t *testing.T) {
			database, plain := engine.Open(t, script)
			models := []contract.Model{{Name: "kept", Table: "kept", Expose: true}, {Name: "placed", Table: "placed", Expose: true}}
			s := &suite{engine, harness.Serve(t, database, models, tokens(), withAudit), plain}
			// Sessions may put all names in quotes.
			name := func(n int) string {
				row := at(t, s.ok(t, "root", "list_kept", fmt.Sprintf(`{"filters":{"n":%d}}`, n)), "results", 0)
				shown, _ := json.Marshal(at(t, row, "name")) // a string: it cannot fail
				return string(shown)
			}
			s.check(t, "filters", func(t *testing.T) {
				for arguments, found := range map[string]string{
					`{"name":` + name(2) + `}`: "2", `{"name__in":[` + name(2) + `,` + name(1) + `]}`: "1 2", `{"name__ne":` + name(2) + `}`: "1 3", `{"name":"pg_nothing"}`: "",
					`{"place":"(1,\"a b\")"}`: "1", `{"place__in":["(2,)","(3,)"]}`: "2", `{"place__ne":"(2,)"}`: "1 3", `{"place__isnull":true}`: "3",
				} {
					if got := column(t, s.ok(t, "root", "list_kept", `{"order_by":["n"],"filters":`+arguments+`}`), "n"); got != found {
						t.Errorf("%s finds %q, want %q", arguments, got, found)
					}
				}
				want(t, s.ok(t, "root", "list_placed", `{"filters":{"name__n":2},"fields":["place"]}`), `"(1,b)"`, "results", 0, "place")
			})
			s.check(t, "keys and pages", func(t *testing.T) {
				want(t, s.ok(t, "root", "get_kept", `{"id":`+name(3)+`}`), `3`, "n")
				s.ok(t, "root", "update_kept", `{"id":`+name(3)+`,"data":{"place":"(5,x)"}}`)
				s.holds(t, "select place from kept where n = 3", "(5,x)")
				for _, model := range []string{"kept", "placed"} {
					seen, arguments := 0, `{"limit":1}`
					for arguments != "" {
						page := s.ok(t, "root", "list_"+model, arguments)
						seen, arguments = seen+len(at(t, page, "results").([]any)), ""
						if page["next_cursor"] != nil && seen < 10 {
							arguments = fmt.Sprintf(`{"limit":1,"cursor":%q}`, page["next_cursor"])
						}
					}
					if seen != 3 {
						t.Errorf("the pages of %s have %d rows", model, seen)
					}
				}
			})
			s.check(t, "what is added is taken back, and must be of the type", func(t *testing.T) {
				done := s.ok(t, "root", "create_placed", `{"data":{"place":"(9,z)","name_id":`+name(3)+`}}`)
				s.ok(t, "root", "undo", fmt.Sprintf(`{"call":%q}`, at(t, done, "call")))
				s.holds(t, "select count(*) from placed", "3")
				s.failsOn(t, "root", "create_kept", `{"data":{"name":"pg_nothing"}}`, "name")
				s.failsOn(t, "root", "create_placed", `{"data":{"place":"(1"}}`, "place")
			})
		})
	}
}
