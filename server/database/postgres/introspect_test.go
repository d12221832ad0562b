package postgres_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

const shopScript = `
CREATE SCHEMA sales; CREATE SCHEMA elsewhere;
CREATE TYPE state AS ENUM ('open', 'paid');
CREATE DOMAIN short AS varchar(10) DEFAULT 'none' NOT NULL;
CREATE DOMAIN shorter AS short CHECK (length(VALUE) < 5);
CREATE TABLE customer (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, email varchar(60) NOT NULL, a int, b int, UNIQUE (email), UNIQUE (b, a));
COMMENT ON TABLE customer IS 'Who buys.';
COMMENT ON COLUMN customer.email IS 'Where the invoice goes.';
CREATE UNIQUE INDEX customer_partial ON customer (a) WHERE b > 0;
CREATE UNIQUE INDEX customer_expression ON customer (lower(email));
CREATE UNIQUE INDEX customer_including ON customer (a) INCLUDE (b);
CREATE INDEX customer_plain ON customer (b);
CREATE TABLE sales.orders (id serial PRIMARY KEY, customer_id bigint NOT NULL REFERENCES customer, state state NOT NULL DEFAULT 'open',
  total numeric(10,2), net numeric, twice numeric GENERATED ALWAYS AS (total * 2) STORED, note short, code shorter COLLATE "C", tags text[], gone int,
  placed timestamptz(3) DEFAULT now(), "Odd ""Name""" char(3));
ALTER TABLE sales.orders DROP COLUMN gone;
CREATE TABLE sales.line (order_id int REFERENCES sales.orders ON DELETE CASCADE, no int, PRIMARY KEY (order_id, no));
CREATE TABLE sales.note (order_id int, line_no int, FOREIGN KEY (order_id, line_no) REFERENCES sales.line (order_id, no));
CREATE TABLE elsewhere.thing (id int PRIMARY KEY, customer_id bigint REFERENCES customer);
CREATE TABLE outward (id int PRIMARY KEY, thing_id int REFERENCES elsewhere.thing);
CREATE VIEW open_orders AS SELECT id, total FROM sales.orders WHERE state = 'open';
CREATE MATERIALIZED VIEW totals AS SELECT customer_id, sum(total) AS total FROM sales.orders GROUP BY 1;
CREATE UNIQUE INDEX ON totals (customer_id);
CREATE TABLE measured (id int NOT NULL, at date NOT NULL, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
CREATE TABLE measured_2026 PARTITION OF measured FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
CREATE TABLE remark (id int PRIMARY KEY, measured_id int, at date, FOREIGN KEY (measured_id, at) REFERENCES measured);
CREATE SEQUENCE loose; CREATE INDEX ON measured (at);`

func TestIntrospect(t *testing.T) {
	t.Parallel()
	c := filled(t, shopScript)
	schema := databasetest.Introspect(t, open(t, settings(c, func(s *database.Settings) { s.Schemas = []string{"sales", "public"} })))
	if schema.Engine != "PostgreSQL" || schema.Version == "" || strings.Contains(schema.Version, " ") || schema.Database != c.Database || !schema.HasSchemas {
		t.Errorf("%+v", schema)
	}
	if !slices.Equal(schema.SearchPath, []string{"sales", "public"}) {
		t.Errorf("the search path is %v", schema.SearchPath)
	}
	var tables []string
	for _, table := range schema.Tables {
		tables = append(tables, table.String()+" "+string(table.Kind))
	}
	want := []string{"public.customer table", "public.measured table", "public.measured_2026 table", "public.open_orders view", "public.outward table",
		"public.remark table", "public.totals materialized view", "sales.line table", "sales.note table", "sales.orders table"}
	if !slices.Equal(tables, want) {
		t.Errorf("found %v\nwant %v", tables, want)
	}

	customer, orders := databasetest.Table(t, schema, "public.customer"), databasetest.Table(t, schema, "sales.orders")
	if customer.Comment != "Who buys." || customer.Column("email").Comment != "Where the invoice goes." || orders.Comment != "" {
		t.Error("comments are lost")
	}
	for _, test := range []struct {
		table *database.Table
		keys  string
	}{
		{customer, "key id; unique b,a; unique email; unique a"},
		{orders, "key id; customer_id>public.customer.id"},
		{databasetest.Table(t, schema, "sales.line"), "key order_id,no; order_id>sales.orders.id"},
		{databasetest.Table(t, schema, "sales.note"), "order_id,line_no>sales.line.order_id,no"},
		{databasetest.Table(t, schema, "public.outward"), "key id; thing_id>elsewhere.thing.id"},
		{databasetest.Table(t, schema, "public.open_orders"), ""},
		{databasetest.Table(t, schema, "public.totals"), "unique customer_id"},
		{databasetest.Table(t, schema, "public.measured"), "key id,at"},
		{databasetest.Table(t, schema, "public.remark"), "key id; measured_id,at>public.measured.id,at"},
	} {
		want := strings.Split(test.keys, "; ")
		got := strings.Split(databasetest.Keys(test.table), "; ")
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s has %v, want %v", test.table, got, want)
		}
	}
	const usual = `pg_catalog."default"`
	collations := map[string]string{"note": usual, "code": `pg_catalog."C"`, "tags": usual, `Odd "Name"`: usual}
	defaults := map[string]string{"state": "open", "note": "none", "code": "none"}
	for _, want := range []database.Column{
		{Name: "id", Kind: database.Integer, Bits: 32, NativeType: "integer", HasDefault: true, Scale: -1},
		{Name: "customer_id", Kind: database.Integer, Bits: 64, NativeType: "bigint", Scale: -1},
		{Name: "state", Kind: database.Enum, NativeType: "state", HasDefault: true, Scale: -1, Choices: []string{"open", "paid"}},
		{Name: "total", Kind: database.Decimal, NativeType: "numeric(10,2)", Nullable: true, Scale: 2, Precision: 10},
		{Name: "net", Kind: database.Decimal, NativeType: "numeric", Nullable: true, Scale: -1},
		{Name: "twice", Kind: database.Decimal, NativeType: "numeric", Nullable: true, HasDefault: true, Generated: true, Scale: -1},
		{Name: "note", Kind: database.Text, NativeType: "short", HasDefault: true, MaxLength: 10, Scale: -1},
		{Name: "code", Kind: database.Text, NativeType: "shorter", HasDefault: true, MaxLength: 10, Scale: -1},
		{Name: "tags", Kind: database.Array, Element: database.Text, NativeType: "text[]", Contains: true, Nullable: true, Scale: -1},
		{Name: "placed", Kind: database.TimestampTZ, NativeType: "timestamp(3) with time zone", Nullable: true, HasDefault: true, Scale: -1, FractionDigits: 3},
		{Name: `Odd "Name"`, Kind: database.Text, NativeType: "character(3)", Nullable: true, Padded: true, MaxLength: 3, Scale: -1},
	} {
		got := orders.Column(want.Name)
		if got == nil {
			t.Errorf("there is no column %s", want.Name)
			continue
		}
		if !slices.Equal(got.Choices, want.Choices) {
			t.Errorf("%s has the choices %v", got.Name, got.Choices)
		}
		plain := *got
		plain.Choices, want.Choices = nil, nil
		want.Privileges = database.MaySelect | database.MayInsert | database.MayUpdate
		if plain.Default != nil && *plain.Default != defaults[want.Name] || plain.Default == nil && defaults[want.Name] != "" {
			t.Errorf("%s has another default value than %q", want.Name, defaults[want.Name])
		}
		if collation := collations[want.Name]; plain.Collation != collation {
			t.Errorf("%s has the collation %q, want %q", want.Name, plain.Collation, collation)
		}
		plain.Default, plain.Collation = nil, ""
		if want.Precision == 0 {
			want.Precision = -1
		}
		if want.FractionDigits == 0 {
			want.FractionDigits = -1
		}
		if got, want := describe(plain), describe(want); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if len(orders.Columns) != 11 || orders.Columns[0].Name != "id" {
		t.Errorf("orders has %d columns", len(orders.Columns))
	}
	if id := customer.Column("id"); !id.Generated || !id.HasDefault || id.Nullable {
		t.Errorf("an identity column is %+v", *id)
	}

	t.Run("everything that was found can be read", func(t *testing.T) {
		db := open(t, settings(c, nil))
		for _, table := range schema.Tables {
			read(t, db, all(table))
		}
	})
}

func TestIntrospectFollowsTheSearchPath(t *testing.T) {
	t.Parallel()
	c := filled(t, shopScript)
	databasetest.Execute(t, databasetest.URI(c), "ALTER DATABASE "+c.Database+" SET search_path = elsewhere, pg_catalog, missing")
	schema := databasetest.Introspect(t, open(t, settings(c, nil)))
	if len(schema.Tables) != 1 || schema.Tables[0].String() != "elsewhere.thing" || !slices.Equal(schema.SearchPath, []string{"elsewhere"}) {
		t.Errorf("found %d tables, search path %v", len(schema.Tables), schema.SearchPath)
	}
	named := databasetest.Introspect(t, open(t, settings(c, func(s *database.Settings) { s.Schemas = []string{"information_schema"} })))
	if databasetest.Table(t, named, "information_schema.tables").Kind != database.View {
		t.Error("a schema that is named is not shown")
	}
	misspelled := databasetest.Introspect(t, open(t, settings(c, func(s *database.Settings) { s.Schemas = []string{"typo", "elsewhere", "pg_temp_none"} })))
	if !slices.Equal(misspelled.MissingSchemas, []string{"typo", "pg_temp_none"}) || len(misspelled.Tables) != 1 || len(named.MissingSchemas) != 0 {
		t.Errorf("missing are %q", misspelled.MissingSchemas)
	}
}

func describe(c database.Column) string { return fmt.Sprintf("%+v", c) }
