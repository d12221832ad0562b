package database_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// documentsScript makes a table of JSON documents.
func documentsScript(backslash string) string {
	return strings.ReplaceAll(`
CREATE TABLE item (id INTEGER PRIMARY KEY, doc JSON);
INSERT INTO item VALUES
  (1, '{"color": "red", "size": 1, "tags": ["a", "b"]}'),
  (2, '{"color": "Red", "size": 1.0, "deep": {"color": "red", "on": true, "none": null}}'),
  (3, '["a", 1, true, null, [2], {"k": 1, "l": 2}]'),
  (4, '["a", "b"]'),
  (5, '"a"'),
  (6, 'null'),
  (7, NULL),
  (8, '{"we\"ird": 1, "back\\slash": 2, "é": 3, "a.b": 4, "$": 5, "on": 1, "it''s": 6, "<b>": 7}'),
  (9, '[]'),
  (10, '{}'),
  (11, '[["a"], [1]]'),
  (12, '{"color": ["red"], "tags": "a"}');`, `\`, backslash)
}

func TestHolds(t *testing.T) {
	scripts := map[string]string{
		contract.EnginePostgreSQL: strings.Replace(documentsScript(`\`), "doc JSON", "doc JSONB", 1),
		contract.EngineMySQL:      documentsScript(`\\`),
		contract.EngineSQLite:     documentsScript(`\`) + `INSERT INTO item VALUES (13, '{"color": "red"'), (14, x'00ff')`,
	}
	onAllEngines(t, scripts, func(t *testing.T, f fixture) {
		item := f.table(t, "item")
		doc := item.Column("doc")
		if !doc.Contains {
			t.Fatal("the engine does not look into documents")
		}
		in := func(op database.HoldsOp, document string) database.Condition {
			return database.Holds{Column: doc, Op: op, Value: []byte(document)}
		}
		key := func(name string) database.Condition {
			return database.Holds{Column: doc, Op: database.HasKey, Value: name}
		}
		many := "[" + strings.Repeat(`"x",`, 90) + `"b"]`
		for _, test := range []struct {
			name      string
			condition database.Condition
			want      string
		}{
			{"a member", in(database.HoldsAll, `{"color":"red"}`), "1"},
			{"numbers by their value", in(database.HoldsAll, `{"size":1}`), "1 2"},
			{"several members", in(database.HoldsAll, `{"size":1,"color":"Red"}`), "2"},
			{"a member's member", in(database.HoldsAll, `{"deep":{"color":"red","on":true}}`), "2"},
			{"true is no number", in(database.HoldsAll, `{"on":true}`), ""},
			{"a member that is null", in(database.HoldsAll, `{"deep":{"none":null}}`), "2"},
			{"a member that is missing", in(database.HoldsAll, `{"none":null}`), ""},
			{"a member's elements", in(database.HoldsAll, `{"tags":["b"]}`), "1"},
			{"no member, but an object", in(database.HoldsAll, `{}`), "1 2 8 10 12"},
			{"no element, but an array", in(database.HoldsAll, `[]`), "3 4 9 11"},
			{"an element", in(database.HoldsAll, `["a"]`), "3 4"},
			{"elements", in(database.HoldsAll, `["b","a"]`), "4"},
			{"a number", in(database.HoldsAll, `[1]`), "3"},
			{"a number with a fraction", in(database.HoldsAll, `[1.5]`), ""},
			{"a truth", in(database.HoldsAll, `[true]`), "3"},
			{"an untruth", in(database.HoldsAll, `[false]`), ""},
			{"a null", in(database.HoldsAll, `[null]`), "3"},
			{"an array in an array", in(database.HoldsAll, `[["a"]]`), "11"},
			{"an object in an array", in(database.HoldsAll, `[{"k":1}]`), "3"},
			{"names that need quotes", in(database.HoldsAll, `{"we\"ird":1,"back\\slash":2,"é":3,"a.b":4,"$":5,"it's":6,"<b>":7}`), "8"},
			{"any", in(database.HoldsAny, `["b", 2, {"l":2}]`), "3 4"},
			{"any of many", in(database.HoldsAny, many), "4"},
			{"all of many", in(database.HoldsAll, many), ""},
			{"any of none", in(database.HoldsAny, `[]`), ""},
			{"only", in(database.HoldsOnly, `["a","b","c"]`), "4 9"},
			{"only of many", in(database.HoldsOnly, many), "9"},
			{"not any", database.Not{Condition: in(database.HoldsAny, `["a"]`)}, "1 2 5 6 7 8 9 10 11 12"},
			{"a key", key("color"), "1 2 12"},
			{"a key with a quote", key(`we"ird`), "8"},
			{"a key with a backslash", key(`back\slash`), "8"},
			{"a key beyond ASCII", key("é"), "8"},
			{"a key with a point", key("a.b"), "8"},
			{"a key that looks like a path", key("$"), "8"},
			{"no key in an array", key("a"), ""},
			{"no key", key(`" or "`), ""},
		} {
			t.Run(test.name, func(t *testing.T) {
				want := test.want
				if f.engine == contract.EngineSQLite && strings.HasPrefix(test.name, "not ") {
					want += " 13 14"
				}
				if got := f.ids(t, item, test.condition); got != want {
					t.Errorf("rows %s, want %s", got, want)
				}
			})
		}
	})
}

func TestArraysHold(t *testing.T) {
	f := engines[contract.EnginePostgreSQL](t, `CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN tags AS text[];
CREATE TABLE item (id INTEGER PRIMARY KEY, words text[], numbers smallint[], moods mood[], codes varchar(3)[], named tags, documents json[], plain json);
INSERT INTO item VALUES (1, '{a,b}', '{1,2}', '{ok}', '{x}', '{a}', NULL, '{"a":1,"b":"\u0000"}'), (2, '{{a,c},{d,NULL}}', '{}', '{sad,ok}', '{}', '{b}', NULL, '{"a":1}'),
  (3, '{}', NULL, NULL, NULL, NULL, NULL, NULL), (4, NULL, NULL, NULL, NULL, NULL, NULL, '["a"]');`)
	item := f.table(t, "item")
	in := func(name string, op database.HoldsOp, values ...database.Value) database.Condition {
		return database.Holds{Column: item.Column(name), Op: op, Value: values}
	}
	for _, test := range []struct {
		name      string
		condition database.Condition
		want      string
	}{
		{"an element", in("words", database.HoldsAll, "a"), "1 2"},
		{"elements", in("words", database.HoldsAll, "a", "b"), "1"},
		{"none", in("words", database.HoldsAll, []database.Value{}...), "1 2 3"},
		{"any", in("words", database.HoldsAny, "b", "d"), "1 2"},
		{"only", in("words", database.HoldsOnly, "a", "b", "x"), "1 3"},
		{"a number", in("numbers", database.HoldsAll, int64(2)), "1"},
		{"an enum", in("moods", database.HoldsAny, "sad"), "2"},
		{"a varchar", in("codes", database.HoldsAll, "x"), "1"},
		{"a domain", in("named", database.HoldsAll, "b"), "2"},
	} {
		if got := f.ids(t, item, test.condition); got != test.want {
			t.Errorf("%s: rows %s, want %s", test.name, got, test.want)
		}
	}
	if item.Column("documents").Contains {
		t.Error("json[] has no equality")
	}
	if plain := item.Column("plain"); plain.Contains {
		got := f.ids(t, item, database.Holds{Column: plain, Op: database.HoldsAll, Value: []byte(`{"a":1}`)})
		if got != "2" {
			t.Errorf("rows %s, want 2", got)
		}
	}
}

// The most that one call may ask for is answered: 64 conditions of 32 names and values each, 5 levels deep.
func TestTheMostThatACallLooksForInDocuments(t *testing.T) {
	script := func(kind string) string {
		return `CREATE TABLE item (id INTEGER PRIMARY KEY, doc ` + kind + `);
INSERT INTO item VALUES (1, '["x", [[[["y"]]]]]'), (2, '{"a": {"a": {"a": {"a": {"k": 1}}}}}'), (3, '[]');`
	}
	scripts := map[string]string{contract.EnginePostgreSQL: script("JSONB"), contract.EngineMySQL: script("JSON"), contract.EngineSQLite: script("JSON")}
	members, elements := make([]string, 13), make([]string, 31)
	for i := range members {
		members[i] = fmt.Sprintf(`"k%d":%d`, i, i)
	}
	for i := range elements {
		elements[i] = fmt.Sprintf(`"e%d"`, i)
	}
	list := "[" + strings.Join(elements, ",") + "]"
	onAllEngines(t, scripts, func(t *testing.T, f fixture) {
		item := f.table(t, "item")
		for name, condition := range map[string]database.Holds{
			"elements":        {Op: database.HoldsAll, Value: []byte(list)},
			"any element":     {Op: database.HoldsAny, Value: []byte(list)},
			"only elements":   {Op: database.HoldsOnly, Value: []byte(list)},
			"nested elements": {Op: database.HoldsAny, Value: []byte("[" + strings.Repeat(`[[[["z"]]]],`, 6) + `"z"]`)},
			"members":         {Op: database.HoldsAll, Value: []byte(`{"a":{"a":{"a":{"a":{` + strings.Join(members, ",") + `}}}}}`)},
		} {
			condition.Column = item.Column("doc")
			all := database.And{}
			for range 64 {
				all = append(all, condition)
			}
			begun := time.Now()
			f.ids(t, item, all)
			f.ids(t, item, database.Or(all))
			if took := time.Since(begun); took > 2*time.Minute {
				t.Errorf("%s take %v", name, took)
			}
			t.Log(name, time.Since(begun))
		}
	})
}
