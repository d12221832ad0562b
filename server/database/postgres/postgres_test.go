package postgres_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/server/database/postgres"
)

func settings(c contract.Connection, change func(*database.Settings)) database.Settings {
	s := database.Settings{
		Database:   contract.Database{MaxConnections: 4, StatementTimeout: contract.Duration(2 * time.Minute)},
		Connection: func() (contract.Connection, error) { return c, nil },
	}
	if change != nil {
		change(&s)
	}
	return s
}

// filled returns a new database that a script has filled.
func filled(t testing.TB, script string) contract.Connection {
	t.Helper()
	c := databasetest.PostgreSQL(t)
	databasetest.Execute(t, databasetest.URI(c), script)
	return c
}

func open(t testing.TB, s database.Settings) database.DB {
	t.Helper()
	db := postgres.Open(s)
	t.Cleanup(db.Close)
	return db
}

// all returns a plan that reads every column of a table.
func all(table *database.Table) *database.Select {
	plan := &database.Select{From: database.NewSource(table, nil), Limit: 1000}
	for _, column := range table.Columns {
		plan.Output = append(plan.Output, database.Output{Name: column.Name, Columns: []*database.Column{column}})
	}
	for _, column := range table.PrimaryKey {
		plan.Order = append(plan.Order, database.Order{Column: column})
	}
	return plan
}

func read(t testing.TB, db database.DB, plan *database.Select) string {
	t.Helper()
	out, _, err := db.Select(t.Context(), plan, []byte("["))
	if err != nil {
		t.Fatal(err)
	}
	out = append(out, ']')
	if !json.Valid(out) {
		t.Fatalf("no JSON: %s", out)
	}
	return string(out)
}

func TestValues(t *testing.T) {
	t.Parallel()
	c := filled(t, `
CREATE TYPE mood AS ENUM ('sad', 'it''s "ok"');
CREATE DOMAIN percent AS numeric(5, 2) CHECK (VALUE >= 0); CREATE DOMAIN fixed AS char(4);
CREATE TABLE v (name text PRIMARY KEY`+columnsOf(valueCases)+`)`)
	for _, test := range valueCases {
		databasetest.Execute(t, databasetest.URI(c), "INSERT INTO v (name, "+test.column+") VALUES ("+quote(test.name)+", "+test.sql+")")
	}
	for _, mode := range []struct {
		name   string
		change func(*database.Settings)
	}{{"read and write", nil}, {"read only", func(s *database.Settings) { s.ReadOnly = true }}} {
		db := open(t, settings(c, mode.change))
		table := databasetest.Table(t, databasetest.Introspect(t, db), "public.v")
		for _, test := range valueCases {
			t.Run(mode.name+"/"+test.name, func(t *testing.T) {
				column := table.Column(test.column)
				if column.Kind != test.kind {
					t.Errorf("kind is %v, want %v", column.Kind, test.kind)
				}
				got := read(t, db, &database.Select{
					From: database.NewSource(table, nil), Limit: 2, Output: []database.Output{{Name: "v", Columns: []*database.Column{column}}},
					Where: database.Compare{Column: table.Column("name"), Op: database.Equal, Value: test.name},
				})
				if want := `[{"v":` + test.want + `}]`; got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			})
		}
	}
}

type valueCase struct {
	name, column, native, sql string
	kind                      database.Kind
	want                      string
}

var valueCases = []valueCase{
	{"null", "c_text", "text", "NULL", database.Text, "null"},
	{"text", "c_text", "text", `E'a "b" \\ \n \u00e9 \U0001F389'`, database.Text, `"a \"b\" \\ \n é 🎉"`},
	{"smallint", "c_int2", "smallint", "-32768", database.Integer, "-32768"},
	{"bigint that is exact", "c_int8", "bigint", "9007199254740991", database.Integer, "9007199254740991"},
	{"bigint beyond exactness", "c_int8", "bigint", "9007199254740993", database.Integer, `"9007199254740993"`},
	{"the least bigint", "c_int8", "bigint", "-9223372036854775808", database.Integer, `"-9223372036854775808"`},
	{"numeric", "c_numeric", "numeric(10,2)", "12.5", database.Decimal, `"12.50"`},
	{"numeric NaN", "c_numeric0", "numeric", "'NaN'", database.Decimal, `"NaN"`},
	{"domain", "c_percent", "percent", "99.5", database.Decimal, `"99.50"`},
	{"real", "c_float4", "real", "0.1", database.Float, "0.1"},
	{"double", "c_float8", "double precision", "1.0 / 3", database.Float, "0.3333333333333333"},
	{"huge double", "c_float8", "double precision", "1e300", database.Float, "1e+300"},
	{"infinity", "c_float8", "double precision", "'-Infinity'", database.Float, `"-Infinity"`},
	{"true", "c_bool", "boolean", "true", database.Boolean, "true"},
	{"false", "c_bool", "boolean", "false", database.Boolean, "false"},
	{"date", "c_date", "date", "'2026-02-28'", database.Date, `"2026-02-28"`},
	{"date before Christ", "c_date", "date", "'0044-03-15 BC'", database.Date, `"0044-03-15 BC"`},
	{"time", "c_time", "time", "'12:34:56.5'", database.Time, `"12:34:56.5"`},
	{"time with zone", "c_timetz", "time with time zone", "'12:34:56+02'", database.Other, `"12:34:56+02"`},
	{"timestamp", "c_timestamp", "timestamp", "'2009-01-01 00:00:00'", database.Timestamp, `"2009-01-01T00:00:00"`},
	{"timestamp with a fraction", "c_timestamp", "timestamp", "'2009-01-01 12:00:00.120'", database.Timestamp, `"2009-01-01T12:00:00.12"`},
	{"timestamp infinity", "c_timestamp", "timestamp", "'infinity'", database.Timestamp, `"infinity"`},
	{"instant", "c_timestamptz", "timestamptz", "'2009-01-01 01:30:00.25+01:30'", database.TimestampTZ, `"2009-01-01T00:00:00.25Z"`},
	{"instant before Christ", "c_timestamptz", "timestamptz", "'0044-03-15 00:00:00Z BC'", database.TimestampTZ, `"0044-03-15 00:00:00+00 BC"`},
	{"interval", "c_interval", "interval", "'1 day 02:03:04'", database.Interval, `"1 day 02:03:04"`},
	{"uuid", "c_uuid", "uuid", "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", database.UUID, `"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"`},
	{"bytes", "c_bytea", "bytea", `'\x00ff10'`, database.Bytes, `"AP8Q"`},
	{"no bytes", "c_bytea", "bytea", `''`, database.Bytes, `""`},
	{"json", "c_json", "json", `'{"b": 1.10,  "a": [null]}'`, database.JSON, `{"b": 1.10,  "a": [null]}`},
	{"jsonb", "c_jsonb", "jsonb", `'{"b":1.10,"a":"\u00e9"}'`, database.JSON, `{"a": "é", "b": 1.10}`},
	{"enum", "c_mood", "mood", `'it''s "ok"'`, database.Enum, `"it's \"ok\""`},
	{"inet", "c_inet", "inet", `'10.0.0.1/8'`, database.Other, `"10.0.0.1/8"`},
	{"range", "c_range", "int4range", `'[1,5)'`, database.Other, `"[1,5)"`},
	{"bits", "c_bits", "bit(3)", `'101'`, database.Other, `"101"`},
	{"point", "c_point", "point", `'(1,2)'`, database.Other, `"(1,2)"`},
	{"padded", "c_char", "char(4)", `'ab'`, database.Text, `"ab"`},
	{"a padded domain", "c_fixed", "fixed", `'ab'`, database.Text, `"ab"`},
	{"integers", "a_int8", "bigint[]", `'{1,NULL,9007199254740993}'`, database.Array, `[1,null,"9007199254740993"]`},
	{"no elements", "a_int8", "bigint[]", `'{}'`, database.Array, `[]`},
	{"own bounds", "a_int8", "bigint[]", `'[0:1]={7,8}'`, database.Array, `[7,8]`},
	{"texts", "a_text", "text[]", `ARRAY['a,b', '"q"', 'back\slash', 'NULL', NULL, '', '{}', E'\n']`, database.Array, `["a,b","\"q\"","back\\slash","NULL",null,"","{}","\n"]`},
	{"nested", "a_text", "text[]", `ARRAY[['a', NULL], ['c', 'd e']]`, database.Array, `[["a",null],["c","d e"]]`},
	{"booleans", "a_bool", "boolean[]", `'{t,f,NULL}'`, database.Array, `[true,false,null]`},
	{"decimals", "a_numeric", "numeric[]", `'{1.50,NaN}'`, database.Array, `["1.50","NaN"]`},
	{"instants", "a_timestamptz", "timestamptz[]", `ARRAY['2009-01-01 00:00Z'::timestamptz, 'infinity']`, database.Array, `["2009-01-01T00:00:00Z","infinity"]`},
	{"bytes in an array", "a_bytea", "bytea[]", `ARRAY['\x00ff'::bytea, NULL]`, database.Array, `["AP8=",null]`},
	{"json in an array", "a_jsonb", "jsonb[]", `ARRAY['{"a": "x,\"y"}'::jsonb, '1']`, database.Array, `[{"a": "x,\"y"},1]`},
	{"enums in an array", "a_mood", "mood[]", `ARRAY['it''s "ok"', 'sad']::mood[]`, database.Array, `["it's \"ok\"","sad"]`},
	{"domains in an array", "a_percent", "percent[]", `'{1,2.5}'`, database.Array, `["1.00","2.50"]`},
	{"boxes in an array", "a_box", "box[]", `'{(1,1),(0,0);(2,2),(1,1)}'`, database.Other, `"{(1,1),(0,0);(2,2),(1,1)}"`},
}

func columnsOf(cases []valueCase) string {
	var columns strings.Builder
	seen := map[string]bool{}
	for _, c := range cases {
		if !seen[c.column] {
			columns.WriteString(", " + c.column + " " + c.native)
		}
		seen[c.column] = true
	}
	return columns.String()
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func TestValuesAreComparedAsTheirColumnsType(t *testing.T) {
	t.Parallel()
	c := filled(t, `
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE DOMAIN code AS varchar(10); CREATE DOMAIN fixed AS char(6);
CREATE COLLATION folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE t (id int PRIMARY KEY, mood mood, code code, padded char(6), fixed fixed, address inet, stamp timestamptz, span interval, small int2,
  ratio real, loose text COLLATE folding, data bytea, uid uuid, oid oid);
INSERT INTO t VALUES (1, 'sad', 'x_1', 'ab', 'ab', '10.0.0.1', '2026-01-01 00:00Z', '1 hour', 7, 0.1, 'Hello', '\x0001', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 7),
  (2, 'happy', 'y', 'cd', 'cd', '10.0.0.2', '2026-01-02 23:00Z', '2 hours', 8, 0.2, 'other', '\x02', NULL, 8)`)
	db := open(t, settings(c, nil))
	table := databasetest.Table(t, databasetest.Introspect(t, db), "public.t")
	equal := func(name string, value database.Value) database.Condition {
		return database.Compare{Column: table.Column(name), Op: database.Equal, Value: value}
	}
	in := func(name string, values ...database.Value) database.Condition {
		return database.In{Column: table.Column(name), Values: values}
	}
	for _, test := range []struct {
		name      string
		condition database.Condition
	}{
		{"enum", equal("mood", "sad")},
		{"enums", in("mood", "sad")},
		{"part of an enum", database.Match{Column: table.Column("mood"), Op: database.TextContains, Text: "SA", FoldCase: true}},
		{"domain", equal("code", "x_1")},
		{"domains", in("code", "x_1", "z")},
		{"part of a domain", database.Match{Column: table.Column("code"), Op: database.TextContains, Text: "_"}},
		{"padded", equal("padded", "ab")},
		{"padded ones", in("padded", "ab")},
		{"end of a padded text", database.Match{Column: table.Column("padded"), Op: database.TextEndsWith, Text: "b"}},
		{"padded, folded", database.Match{Column: table.Column("padded"), Op: database.TextEquals, Text: "AB", FoldCase: true}},
		{"a padded domain, folded", database.Match{Column: table.Column("fixed"), Op: database.TextEquals, Text: "AB", FoldCase: true}},
		{"end of a padded domain", database.Match{Column: table.Column("fixed"), Op: database.TextEndsWith, Text: "b"}},
		{"address", equal("address", "10.0.0.1/32")},
		{"instant in another zone", equal("stamp", "2026-01-01T02:00:00+02:00")},
		{"interval", equal("span", "60 minutes")},
		{"smallint", database.Compare{Column: table.Column("small"), Op: database.Less, Value: int64(8)}},
		{"smallint far out of range", database.Not{Condition: database.Or{equal("small", int64(1)<<50), equal("small", int64(8))}}},
		{"real", equal("ratio", 0.1)},
		{"loose collation by its own rules", equal("loose", "HELLO")},
		{"loose collation, exactly", database.Match{Column: table.Column("loose"), Op: database.TextContains, Text: "Hell"}},
		{"loose collation, folded", database.Match{Column: table.Column("loose"), Op: database.TextStartsWith, Text: "HELL", FoldCase: true}},
		{"bytes", equal("data", []byte{0, 1})},
		{"bytes of several", in("data", []byte{0, 1}, []byte{9})},
		{"uuid", equal("uid", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11")},
		{"oid", equal("oid", int64(7))},
		{"day", database.PartEquals{Column: table.Column("stamp"), Part: database.WholeDate, Value: "2026-01-01"}},
		{"day of the month", database.PartEquals{Column: table.Column("stamp"), Part: database.Day, Value: int64(1)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := all(table)
			plan.Output, plan.Where = plan.Output[:1], test.condition
			for range 3 { // unnamed, then prepared, then prepared before
				if got := read(t, db, plan); got != `[{"id":1}]` {
					t.Errorf("got %s", got)
				}
			}
		})
	}
	exact := database.Match{Column: table.Column("loose"), Text: "hello"}
	if got := read(t, db, &database.Select{From: database.NewSource(table, exact), Limit: 9}); got != "[]" {
		t.Errorf("a loose collation folded case where it should not: %s", got)
	}
}

func TestCancelledCallsEndOnTheServer(t *testing.T) {
	t.Parallel()
	c := filled(t, `CREATE VIEW slow AS SELECT n AS id, pg_sleep(600)::text AS v FROM generate_series(1, 3) n`)
	db := open(t, settings(c, nil))
	slow := databasetest.Table(t, databasetest.Introspect(t, db), "public.slow")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	start := time.Now()
	_, _, err := db.Select(ctx, all(slow), nil)
	if e := databasetest.Failure(t, err); e.Code != database.Cancelled {
		t.Errorf("got %v", e)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	plain := databasetest.Connect(t, databasetest.URI(c))
	deadline := time.Now().Add(10 * time.Minute)
	for {
		var active int
		if err := plain.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND query LIKE '%slow%' AND pid <> pg_backend_pid()").Scan(&active); err != nil {
			t.Fatal(err)
		}
		if active == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the server goes on with it")
		}
		time.Sleep(20 * time.Millisecond)
	}
}
