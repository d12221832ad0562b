package postgres_test

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// Every form of a value in the API is written, read back, and used in a comparison.
func TestValuesAreWritten(t *testing.T) {
	t.Parallel()
	type value = database.Value
	list := func(values ...value) []value { return values }
	cases := []struct {
		name, native string
		write        value
		want         string
	}{
		{"null", "int", nil, `null`},
		{"int2", "int2", int64(-32768), `-32768`},
		{"int8", "int8", int64(9007199254740993), `"9007199254740993"`},
		{"oid", "oid", uint64(4294967295), `4294967295`},
		{"numeric", "numeric(30,4)", "12345678901234567890.5", `"12345678901234567890.5000"`},
		{"numeric NaN", "numeric", "NaN", `"NaN"`},
		{"numeric infinity", "numeric", "-Infinity", `"-Infinity"`},
		{"float8", "float8", 0.1, `0.1`},
		{"float4", "float4", 0.1, `0.1`},
		{"boolean", "boolean", true, `true`},
		{"text", "text", "a 'b' \"c\" \\ \n é 🎉", `"a 'b' \"c\" \\ \n é 🎉"`},
		{"varchar", "varchar(3)", "äöü", `"äöü"`},
		{"padded", "char(4)", "ab", `"ab"`},
		{"date", "date", "2026-02-28", `"2026-02-28"`},
		{"date BC", "date", "0044-03-15 BC", `"0044-03-15 BC"`},
		{"time", "time", "12:34:56.5", `"12:34:56.5"`},
		{"timetz", "timetz", "12:34:56+02", `"12:34:56+02"`},
		{"timestamp", "timestamp", "2026-01-02T03:04:05.123456", `"2026-01-02T03:04:05.123456"`},
		{"timestamptz", "timestamptz", "2026-01-02T03:04:05+02:00", `"2026-01-02T01:04:05Z"`},
		{"timestamptz infinity", "timestamptz", "-infinity", `"-infinity"`},
		{"interval", "interval", "1 year 2 mons 3 days 04:05:06", `"1 year 2 mons 3 days 04:05:06"`},
		{"uuid", "uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", `"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"`},
		{"bytea", "bytea", []byte{0, 255, 16}, `"AP8Q"`},
		{"no bytes", "bytea", []byte{}, `""`},
		{"json", "json", []byte(`{"b": 1.10, "a": [null]}`), `{"b": 1.10, "a": [null]}`},
		{"jsonb", "jsonb", []byte(`"x"`), `"x"`},
		{"enum", "mood", `it's "ok"`, `"it's \"ok\""`},
		{"domain", "percent", "99.5", `"99.50"`},
		{"bits", "bit(3)", "101", `"101"`},
		{"varbit", "varbit", "10101", `"10101"`},
		{"inet", "inet", "10.0.0.1/8", `"10.0.0.1/8"`},
		{"cidr", "cidr", "10.0.0.0/8", `"10.0.0.0/8"`},
		{"macaddr", "macaddr", "08:00:2b:01:02:03", `"08:00:2b:01:02:03"`},
		{"money", "money", "12.34", `"$12.34"`},
		{"xml", "xml", "<a>b</a>", `"<a>b</a>"`},
		{"tsvector", "tsvector", "'a':1 'b':2", `"'a':1 'b':2"`},
		{"range", "tstzrange", `["2026-01-01 00:00:00+00",infinity)`, `"[\"2026-01-01 00:00:00+00\",infinity)"`},
		{"multirange", "int4multirange", "{[1,3),[5,8)}", `"{[1,3),[5,8)}"`},
		{"composite", "pair", `(1,"a ""b""")`, `"(1,\"a \"\"b\"\"\")"`},
		{"point", "point", "(1,2)", `"(1,2)"`},
		{"integers", "int8[]", list(int64(1), nil, int64(9007199254740993)), `[1,null,"9007199254740993"]`},
		{"no elements", "int8[]", list(), `[]`},
		{"texts", "text[]", list("a,b", `"q"`, `back\slash`, "NULL", nil, "", "{}", "\n"), `["a,b","\"q\"","back\\slash","NULL",null,"","{}","\n"]`},
		{"nested", "text[]", list(list("a", nil), list("c", "d e")), `[["a",null],["c","d e"]]`},
		{"deeply nested", "int[]", list(list(list(int64(1)), list(int64(2)))), `[[[1],[2]]]`},
		{"booleans", "boolean[]", list(true, false, nil), `[true,false,null]`},
		{"byteas", "bytea[]", list([]byte{0, 255}, nil), `["AP8=",null]`},
		{"jsons", "jsonb[]", list([]byte(`{"a": "x,\"y"}`), []byte(`1`)), `[{"a": "x,\"y"},1]`},
		{"instants", "timestamptz[]", list("2009-01-01T00:00:00Z", "infinity"), `["2009-01-01T00:00:00Z","infinity"]`},
		{"enums", "mood[]", list("sad", `it's "ok"`), `["sad","it's \"ok\""]`},
		{"ranges", "int4range[]", list("[1,5)", nil), `["[1,5)",null]`},
		{"composites", "pair[]", list(`(1,"a,b")`), `["(1,\"a,b\")"]`},
		{"numerics", "numeric[]", list("1.50", "NaN"), `["1.50","NaN"]`},
		{"domains", "percent[]", list("1", "2.5"), `["1.00","2.50"]`},
	}
	script := `
CREATE TYPE mood AS ENUM ('sad', 'it''s "ok"');
CREATE TYPE pair AS (n int, t text);
CREATE DOMAIN percent AS numeric(5, 2) CHECK (VALUE >= 0);
CREATE TABLE w (name text PRIMARY KEY`
	for _, test := range cases {
		script += `, "` + test.name + `" ` + test.native
	}
	db := open(t, settings(filled(t, script+")"), nil))
	table := databasetest.Table(t, databasetest.Introspect(t, db), "public.w")
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			column := table.Column(test.name)
			row := outputs(column)
			row[0].Name = "v"
			want := `{"v":` + test.want + `}`
			for _, name := range []string{"inserted " + test.name, "again " + test.name, "and again " + test.name} { // unnamed, then prepared
				if e := within(t, db, func(tx database.Tx) error {
					out, err := tx.Insert(t.Context(), &database.Insert{Into: database.NewSource(table, nil),
						Set: set(table, "name", name, test.name, test.write), Returning: row}, nil)
					if err == nil && string(out) != want {
						t.Errorf("the insert returns %s, want %s", out, want)
					}
					return err
				}); e != nil {
					t.Fatalf("%+v", e)
				}
			}
			if e := within(t, db, func(tx database.Tx) error {
				if err := insert(t, tx, table, "name", test.name); err != nil {
					return err
				}
				n, err := tx.Update(t.Context(), &database.Update{In: database.NewSource(table, nil), Set: set(table, test.name, test.write), Where: is(table, "name", test.name)})
				if n != 1 {
					t.Errorf("%d rows changed", n)
				}
				return err
			}); e != nil {
				t.Fatalf("%+v", e)
			}
			plan := &database.Select{From: database.NewSource(table, is(table, "name", test.name)), Limit: 2, Output: row, Cursor: database.Refs(column)}
			out, page, err := db.Select(t.Context(), plan, nil)
			if err != nil || string(out) != want {
				t.Fatalf("it reads %s, %v, want %s", out, err, want)
			}
			// The page's values of its last row can be written again.
			if e := within(t, db, func(tx database.Tx) error {
				return insert(t, tx, table, "name", "last "+test.name, test.name, page.Last[0])
			}); e != nil {
				t.Errorf("%v cannot be bound again: %+v", page.Last[0], e)
			}
			plan.From = database.NewSource(table, is(table, "name", "last "+test.name))
			if out, _, err := db.Select(t.Context(), plan, nil); err != nil || string(out) != want {
				t.Errorf("bound again it reads %s, %v, want %s", out, err, want)
			}
		})
	}
}

func TestRowsWithoutValues(t *testing.T) {
	t.Parallel()
	c := filled(t, `CREATE TABLE defaults (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at date DEFAULT '2026-01-01'); CREATE TABLE nothing ()`)
	db := open(t, settings(c, nil))
	schema := databasetest.Introspect(t, db)
	if e := within(t, db, func(tx database.Tx) error {
		out, err := tx.Insert(t.Context(), &database.Insert{Into: database.NewSource(databasetest.Table(t, schema, "public.defaults"), nil),
			Returning: outputs(databasetest.Table(t, schema, "public.defaults").Columns...)}, nil)
		if string(out) != `{"id":1,"at":"2026-01-01"}` {
			t.Errorf("the row is %s", out)
		}
		if err != nil {
			return err
		}
		out, err = tx.Insert(t.Context(), &database.Insert{Into: database.NewSource(databasetest.Table(t, schema, "public.nothing"), nil)}, nil)
		if string(out) != `{}` {
			t.Errorf("the row without columns is %s", out)
		}
		return err
	}); e != nil {
		t.Fatal(e)
	}
	if got := read(t, db, all(databasetest.Table(t, schema, "public.nothing"))); got != "[{}]" {
		t.Errorf("got %s", got)
	}
}
