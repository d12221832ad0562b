package engines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// SQLite keeps moments as texts in the form of whoever wrote them, and numbers beyond what a column's type says.
func TestSQLiteKeepsTheFormsOfValues(t *testing.T) {
	const script = `create table event (id integer primary key, at timestamp, zoned timestamptz, amount decimal(20,10), code varchar(3));
		insert into event values (1, '2024-01-02T03:04:05Z', '2024-01-02 03:04:05+02:00', 10000000000.0, 'longer'),
			(2, '2024-01-02 03:04:05', '2024-01-02T03:04:05.000Z', 1234567890.0123458, 'abc')`
	engine := onSQLite(t)
	database, plain := engine.Open(t, script)
	s := &suite{engine, harness.Serve(t, database, []contract.Model{{Name: "event", Table: "event", Expose: true}}, tokens(), withAudit), plain}
	stored := func(id int) string {
		return fmt.Sprintf("select at || '|' || zoned || '|' || amount || '|' || code from event where id = %d", id)
	}
	s.check(t, "a moment that is changed keeps the form that it had", func(t *testing.T) {
		s.ok(t, "root", "update_event", `{"id":1,"data":{"at":"2025-05-06T07:08:09","zoned":"2025-05-06T07:08:09Z"}}`)
		s.holds(t, "select at || '' from event where id = 1", "2025-05-06T07:08:09Z")
		s.holds(t, "select zoned || '' from event where id = 1", "2025-05-06 09:08:09+02:00")
		s.ok(t, "root", "update_event", `{"id":2,"data":{"at":"2025-05-06T07:08:09.25","zoned":"2025-05-06T07:08:09Z"}}`)
		s.holds(t, "select at || '' from event where id = 2", "2025-05-06 07:08:09.25")
		s.holds(t, "select zoned || '' from event where id = 2", "2025-05-06T07:08:09.000Z")
	})
	s.check(t, "what is undone is stored as it was, whatever the column's type says", func(t *testing.T) {
		for id := 1; id <= 2; id++ {
			var before string
			if err := plain.QueryRow(stored(id)).Scan(&before); err != nil {
				t.Fatal(err)
			}
			done := s.ok(t, "root", "update_event", fmt.Sprintf(`{"id":%d,"data":{"at":"2026-01-01T00:00:00","zoned":"2026-01-01T00:00:00Z","amount":"1.5","code":"x"}}`, id))
			s.ok(t, "root", "undo", fmt.Sprintf(`{"call":%q}`, at(t, done, "call")))
			s.holds(t, stored(id), before)
		}
		done := s.ok(t, "root", "delete_event", `{"id":1}`)
		s.ok(t, "root", "undo", fmt.Sprintf(`{"call":%q}`, at(t, done, "call")))
		want(t, s.ok(t, "root", "get_event", `{"id":1}`), `"10000000000.0000000000"`, "amount")
		want(t, s.ok(t, "root", "get_event", `{"id":1}`), `"longer"`, "code")
	})
	s.check(t, "new values still fit their types", func(t *testing.T) {
		s.failsOn(t, "root", "update_event", `{"id":2,"data":{"amount":"10000000000"}}`, "amount")
		s.failsOn(t, "root", "update_event", `{"id":2,"data":{"code":"abcd"}}`, "code")
	})
	s.check(t, "a decimal has one face, in a row and in sums", func(t *testing.T) {
		const digits = `"1234567890.0123458000"`
		want(t, s.ok(t, "root", "get_event", `{"id":2}`), digits, "amount")
		for _, measure := range []string{"sum", "min", "max"} {
			groups := s.ok(t, "root", "aggregate_event", `{"filters":{"id":2},"measures":{"of":{"`+measure+`":"amount"}}}`)
			want(t, groups, digits, "results", 0, "of")
		}
		groups := s.ok(t, "root", "aggregate_event", `{"filters":{"id":2},"group_by":["amount"],"measures":{"n":{"count":"*"}}}`)
		want(t, groups, digits, "results", 0, "amount")
	})
}

// Undo brings back the text of a moment, in whatever form it was: of rows that go, values that give way to null, and values
// that give way to others.
func TestUndoBringsBackTheTextsOfMoments(t *testing.T) {
	forms := []string{"2024-01-02T03:04:05Z", "2024-01-02 03:04:05", "2024-01-02T03:04:05", "2024-01-02 03:04:05.500", "2024-01-02T03:04:05.123456+02:00", "2024-01-02 03:04", "2024-01-02"}
	script := "create table day (id integer primary key, at timestamp, zoned timestamptz);\n" +
		"create table visit (id integer primary key, day_id integer not null references day (id) on delete cascade, at timestamp);\n"
	for i, form := range forms {
		script += fmt.Sprintf("insert into day values (%[1]d, '%[2]s', '%[2]s'); insert into visit values (%[1]d, %[1]d, '%[2]s');\n", i+1, form)
	}
	engine := onSQLite(t)
	database, plain := engine.Open(t, script)
	day := contract.Model{Name: "day", Table: "day", Expose: true, Actions: []contract.Action{{Name: "move", Requires: []string{"change"},
		Update: &contract.UpdateAction{Set: []contract.ActionAssignment{{Field: "at", Source: contract.SourceValue, Value: "2030-01-01T00:00:00.25"}}}}}}
	s := &suite{engine, harness.Serve(t, database, []contract.Model{day, {Name: "visit", Table: "visit", Expose: true}}, tokens(), withAudit), plain}
	stored := func(id int) string {
		return fmt.Sprintf("select d.at || '|' || d.zoned || '|' || v.at from day d join visit v on v.day_id = d.id where d.id = %d", id)
	}
	for i, form := range forms {
		for _, change := range []struct{ tool, arguments string }{
			{"delete_day", `{"id":%d}`},
			{"update_day", `{"id":%d,"data":{"at":null,"zoned":null}}`},
			{"update_day", `{"id":%d,"data":{"at":"2030-01-01T00:00:00.25","zoned":"2030-01-01T00:00:00Z"}}`},
			{"action_day", `{"action":"move","ids":[%d]}`},
			{"transact", `{"steps":[{"tool":"update_day","arguments":{"id":%[1]d,"data":{"at":null}}},{"tool":"update_day","arguments":{"id":%[1]d,"data":{"at":"2031-01-01T00:00:00"}}},{"tool":"delete_day","arguments":{"id":%[1]d}}]}`},
		} {
			s.check(t, form+" after "+change.tool, func(t *testing.T) {
				done := s.ok(t, "root", change.tool, fmt.Sprintf(change.arguments, i+1))
				s.ok(t, "root", "undo", fmt.Sprintf(`{"call":%q}`, at(t, done, "call")))
				s.holds(t, stored(i+1), form+"|"+form+"|"+form)
			})
		}
	}
	s.check(t, "history tells values, and not how they are kept", func(t *testing.T) {
		if text, _ := s.endpoint.Call(secret("root"), "history_day", `{"id":1}`); strings.Contains(text, `"stored"`) || !strings.Contains(text, `"before":"2024-01-02T03:04:05Z"`) {
			t.Errorf("got %s", text)
		}
	})
}
