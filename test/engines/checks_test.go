package engines

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// The usual forms in which programs say which values a column may have.
const checkedTables = `
create table parcel (id integer primary key,
	a varchar(20) check (a is null or a = 'cancelled'),
	b varchar(20) check (b = 'small' or b = 'large' or b is null),
	c varchar(20) check (c in ('red', 'blue') or c is null),
	d integer check (d is null or d in (1, 2, 3)),
	e integer check (e is null or (e >= 1 and e <= 5)),
	f varchar(20) check (f is not null and f in ('x', 'y')),
	g varchar(20), h varchar(20), check (g is null or h = 'open'));
insert into parcel (id, f) values (1, 'x')`

func TestValuesThatChecksAllowAreChoices(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			database, plain := engine.Open(t, checkedTables)
			s := &suite{engine, harness.Serve(t, database, []contract.Model{{Name: "parcel", Table: "parcel", Expose: true}}, tokens(), withAudit), plain}
			described := s.ok(t, "root", "describe_parcel", `{}`)
			fields := map[string]object{}
			for _, f := range described["fields"].([]any) {
				fields[f.(object)["name"].(string)] = f.(object)
			}
			if engine.Title == harness.PostgreSQL+" with other defaults" {
				t.Skip("texts that differ are equal there, so that a check does not say which are allowed")
			}
			for name, choices := range map[string]string{
				"a": `[{"value":"cancelled","label":"cancelled"}]`,
				"b": `[{"value":"small","label":"small"},{"value":"large","label":"large"}]`,
				"c": `[{"value":"red","label":"red"},{"value":"blue","label":"blue"}]`,
				"d": `[{"value":"1","label":"1"},{"value":"2","label":"2"},{"value":"3","label":"3"}]`,
				"f": `[{"value":"x","label":"x"},{"value":"y","label":"y"}]`,
			} {
				s.check(t, name+" has choices", func(t *testing.T) { want(t, fields[name], choices, "choices") })
			}
			s.check(t, "others have none", func(t *testing.T) {
				for _, name := range []string{"e", "g", "h"} {
					if fields[name]["choices"] != nil {
						t.Errorf("%s has %v", name, fields[name]["choices"])
					}
				}
				want(t, fields["e"], `1`, "minimum")
				want(t, fields["e"], `5`, "maximum")
			})
			s.check(t, "null is still taken, and another value is not", func(t *testing.T) {
				s.ok(t, "root", "update_parcel", `{"id":1,"data":{"a":"cancelled","c":"red","d":2,"e":5}}`)
				s.ok(t, "root", "update_parcel", `{"id":1,"data":{"a":null,"b":null,"c":null,"d":null,"e":null}}`)
				s.failsOn(t, "root", "update_parcel", `{"id":1,"data":{"a":"closed"}}`, "a")
			})
		})
	}
}
