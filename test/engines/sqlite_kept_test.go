package engines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// keptColumns are columns of every kind on SQLite, each with a value that a caller may give it.
var keptColumns = []struct{ name, declared, another string }{
	{"whole", "integer", "7"}, {"floating", "real", "1.25"}, {"words", "text", `"new"`}, {"code", "varchar(3)", `"new"`}, {"loose_words", "string", `"new"`},
	{"amount", "decimal(10,2)", `"1.50"`}, {"number", "numeric", `"1.5"`}, {"truth", "boolean", "true"}, {"day", "date", `"2031-01-01"`}, {"clock", "time", `"08:09:10"`},
	{"at", "timestamp", `"2031-01-01T08:09:10"`}, {"zoned", "timestamptz", `"2031-01-01T08:09:10Z"`}, {"uid", "uuid", `"12345678-1234-1234-1234-123456789abc"`},
	{"document", "json", `{"new":[1]}`}, {"content", "blob", `"bmV3"`}, {"anything", "", `"new"`}, {"shape", "geometry", `"new"`}, {"bits", "bit(4)", `"101"`},
}

// keptValues are values that programs leave in such columns, whatever these declare.
var keptValues = []string{
	"null", "'soon'", "''", "5", "-3", "2", "0", "0.5", "-0.0", "1e300", "9e999", "-9e999", "9007199254740993", "9223372036854775807", "'12345678901234567890'", "1.005",
	"x''", "x'00ff'", "x'68656c6c6f'", "'a' || char(0) || 'b'", "cast(x'c328' as text)", "'007'", "'7'", "'1.50'", "'long text of some words'",
	"'2024-01-01 00:00:00'", "'2024-01-01'", "'2024-01-01T10:00:00+02:00'", "'2024-01-01T10:00:00.000Z'", "'2024-1-1'", "2460000.5", "1700000000", "'12:30'", "'12:30:00.5'",
	"'true'", "'yes'", `'{"a": 1,  "a": "<b>&"}'`, "'[1, 2]'", `'"x"'`, "'null'", "'ABCDEF01-2345-6789-abcd-ef0123456789'", "'abcdef0123456789abcdef0123456789'",
}

// Undo brings back what SQLite kept: the same class, the same bytes.
func TestUndoRestoresTheStoredValuesOfSQLite(t *testing.T) {
	var declared, names, stored, nulls, others []string
	for _, c := range keptColumns {
		declared = append(declared, c.name+" "+c.declared)
		names = append(names, c.name)
		stored = append(stored, fmt.Sprintf("typeof(%[1]s) || ' ' || quote(%[1]s) || ' ' || hex(cast(coalesce(%[1]s, '') as blob))", c.name))
		nulls = append(nulls, fmt.Sprintf("%q:null", c.name))
		others = append(others, fmt.Sprintf("%q:%s", c.name, c.another))
	}
	script := "create table odd (id integer primary key, " + strings.Join(declared, ", ") + ");\n"
	for i, value := range keptValues {
		script += fmt.Sprintf("insert into odd (id, %s) values (%d%s);\n", strings.Join(names, ", "), i+1, strings.Repeat(", "+value, len(names)))
	}
	engine := onSQLite(t)
	database, plain := engine.Open(t, script)
	s := &suite{engine, harness.Serve(t, database, []contract.Model{{Name: "odd", Table: "odd", Expose: true}}, tokens(), withAudit), plain}
	kept := func(t *testing.T, id int) []string {
		t.Helper()
		found, into := make([]string, len(stored)), make([]any, len(stored))
		for i := range found {
			into[i] = &found[i]
		}
		if err := plain.QueryRow(fmt.Sprintf("select %s from odd where id = %d", strings.Join(stored, ", "), id)).Scan(into...); err != nil {
			t.Fatal(err)
		}
		return found
	}
	for i, value := range keptValues {
		for _, change := range []struct{ what, tool, arguments string }{
			{"a deletion", "delete_odd", `{"id":%d}`},
			{"a change to null", "update_odd", `{"id":%d,"data":{` + strings.Join(nulls, ",") + `}}`},
			{"a change", "update_odd", `{"id":%d,"data":{` + strings.Join(others, ",") + `}}`},
			{"a change and a deletion", "transact", `{"steps":[{"tool":"update_odd","arguments":{"id":%[1]d,"data":{` + strings.Join(others, ",") + `}}},{"tool":"delete_odd","arguments":{"id":%[1]d}}]}`},
		} {
			s.check(t, value+" after "+change.what, func(t *testing.T) {
				before := kept(t, i+1)
				done := s.ok(t, "root", change.tool, fmt.Sprintf(change.arguments, i+1))
				s.ok(t, "root", "undo", fmt.Sprintf(`{"call":%q}`, at(t, done, "call")))
				for c, now := range kept(t, i+1) {
					if now != before[c] {
						t.Errorf("%s: %s, before %s", names[c], now, before[c])
					}
				}
			})
		}
	}
}

// A value that gives way to another text of the same moment, and a key that is no plain date, are as they were, too.
func TestUndoRestoresValuesThatLookAlike(t *testing.T) {
	const script = `create table day (on_day date primary key, at timestamp, note text);
		create table visit (id integer primary key, on_day date references day (on_day) on delete set null);
		insert into day values ('2024-01-01 00:00:00', '2024-01-02T03:04:05Z', 'a'), ('soon', 'soon', 'b'), (x'ff', 5, 'c');
		insert into visit values (1, '2024-01-01 00:00:00'), (2, 'soon'), (3, x'ff')`
	engine := onSQLite(t)
	database, plain := engine.Open(t, script)
	s := &suite{engine, harness.Serve(t, database, []contract.Model{{Name: "day", Table: "day", Expose: true}, {Name: "visit", Table: "visit", Expose: true}}, tokens(), withAudit), plain}
	const stored = "select group_concat(quote(d.on_day) || quote(d.at) || quote(d.note) || quote(v.on_day), '|' order by v.id) from visit v left join day d on d.on_day = v.on_day"
	var before string
	if err := plain.QueryRow(stored).Scan(&before); err != nil {
		t.Fatal(err)
	}
	s.check(t, "a moment that comes back by itself", func(t *testing.T) {
		done := s.ok(t, "root", "transact", `{"steps":[{"tool":"update_day","arguments":{"id":"2024-01-01 00:00:00","data":{"at":null}}},{"tool":"update_day","arguments":{"id":"2024-01-01 00:00:00","data":{"at":"2024-01-02T03:04:05"}}}]}`)
		s.ok(t, "root", "undo", fmt.Sprintf(`{"call":%q}`, at(t, done, "call")))
		s.holds(t, stored, before)
	})
	for _, id := range []string{"2024-01-01 00:00:00", "soon", "/w=="} {
		s.check(t, "a row with the key "+id, func(t *testing.T) {
			done := s.ok(t, "root", "delete_day", fmt.Sprintf(`{"id":%q}`, id))
			s.ok(t, "root", "undo", fmt.Sprintf(`{"call":%q}`, at(t, done, "call")))
			s.holds(t, stored, before)
		})
	}
}

// What the journal keeps for undo is of fields that callers see: of a hidden, masked or secret one it has neither form.
func TestTheJournalKeepsNoStoredFormOfHiddenFields(t *testing.T) {
	const moment = "2024-01-02T03:04:05+02:00"
	const script = `create table visit (id integer primary key, at timestamp, hidden timestamp, masked timestamp, password text);
		insert into visit values (1, '` + moment + `', '` + moment + `', '` + moment + `', '` + moment + `'), (2, x'ff', x'ff', x'ff', x'ff')`
	engine := onSQLite(t)
	database, plain := engine.Open(t, script)
	visit := contract.Model{Name: "visit", Table: "visit", Expose: true, Exclude: []string{"hidden"}, Masked: []contract.MaskedField{{Name: "masked"}}}
	s := &suite{engine, harness.Serve(t, database, []contract.Model{visit}, tokens(), withAudit), plain}
	for id, stored := range map[int]string{1: `"` + moment + `"`, 2: `{"bytes":"/w=="}`} {
		s.check(t, "a row with "+stored, func(t *testing.T) {
			s.ok(t, "root", "update_visit", fmt.Sprintf(`{"id":%d,"data":{"at":null}}`, id))
			s.ok(t, "root", "delete_visit", fmt.Sprintf(`{"id":%d}`, id))
			for _, action := range []string{"update", "delete"} {
				changes := s.sql(t, fmt.Sprintf("select changes from mcp_admin_log where object_id = '%d' and action = '%s'", id, action))
				if action == "update" && !strings.Contains(changes, `"stored":`+stored) {
					t.Errorf("got %s, want the stored form of the visible field", changes)
				}
				for _, name := range []string{"hidden", "masked", "password"} {
					if strings.Contains(changes, name) {
						t.Errorf("got %s, want nothing of %s", changes, name)
					}
				}
			}
		})
	}
}
