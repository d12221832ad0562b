package sqlite_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

func TestTablesThatAreFound(t *testing.T) {
	o := openFilled(t, `
CREATE TABLE strict (id INTEGER PRIMARY KEY, v ANY) STRICT;
CREATE TABLE "select" (id INTEGER PRIMARY KEY); CREATE TABLE "Mixed Case é" (id INTEGER PRIMARY KEY); CREATE TABLE sqlitelike (id INT);
CREATE VIEW v AS SELECT id FROM strict; CREATE VIEW w AS SELECT id FROM strict;
CREATE TRIGGER w_insert INSTEAD OF INSERT ON W BEGIN SELECT 1; END;
CREATE VIRTUAL TABLE words USING fts5(word);
CREATE VIRTUAL TABLE boxes USING rtree(id, minx, maxx);
CREATE TABLE other (id INTEGER PRIMARY KEY); CREATE TRIGGER other_insert AFTER INSERT ON other BEGIN SELECT 1; END;
PRAGMA writable_schema = ON;
INSERT INTO sqlite_schema VALUES ('table', 'lost', 'lost', 0, 'CREATE VIRTUAL TABLE lost USING nowhere(x)');
PRAGMA writable_schema = OFF`, nil)
	var got []string
	for _, table := range o.schema.Tables {
		got = append(got, fmt.Sprintf("%s %s %v", table.Name, table.Kind, table.Writable))
	}
	want := []string{"Mixed Case é table true", "boxes table false", "other table true", "select table true", "sqlitelike table true",
		"strict table true", "v view false", "w view true", "words table false"}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%v, want\n%v", got, want)
	}
	for _, table := range o.schema.Tables {
		read(t, o, all(table))
	}
}

func TestColumnsThatHoldValuesOfAnyType(t *testing.T) {
	o := openFilled(t, `CREATE TABLE loose (n INT, t TEXT); CREATE TABLE strict (n INT, t TEXT, v ANY) STRICT`, nil)
	var got []string
	for _, table := range o.schema.Tables {
		for _, c := range table.Columns {
			got = append(got, fmt.Sprintf("%s.%s %t", table.Name, c.Name, c.Loose))
		}
	}
	if want := []string{"loose.n true", "loose.t true", "strict.n false", "strict.t false", "strict.v true"}; !slices.Equal(got, want) {
		t.Errorf("loose are\n%v, want\n%v", got, want)
	}
}

func TestKeysAndConstraints(t *testing.T) {
	o := openFilled(t, `
CREATE TABLE none (a INT, b INT);
CREATE TABLE node (id INTEGER PRIMARY KEY, parent_id INT REFERENCES node ON DELETE CASCADE, twin_id INT REFERENCES node (id) ON DELETE SET NULL,
  first_id INT DEFAULT 1 REFERENCES node (id) ON DELETE SET DEFAULT, last_id INT REFERENCES node (id) ON DELETE RESTRICT, any_id INT REFERENCES node (id));
CREATE TABLE pair (a TEXT, b BLOB, c INT NOT NULL, PRIMARY KEY (b, a)) WITHOUT ROWID;
CREATE TABLE child (id TEXT PRIMARY KEY, a TEXT, b BLOB, FOREIGN KEY (b, a) REFERENCES pair ON DELETE CASCADE);
CREATE TABLE checked (id INTEGER PRIMARY KEY, "check" INT CHECK ("check" > 0), -- CHECK (comment)
  b INT CONSTRAINT [b is 'good'] CHECK (b IN (1, (2))), c TEXT CHECK(c <> 'CHECK (id)'), UNIQUE (b, c), CHECK (true));
CREATE UNIQUE INDEX some ON checked (c) WHERE b > 1;
CREATE UNIQUE INDEX lowered ON checked (lower(c) COLLATE NOCASE, b + 1);
CREATE INDEX plain ON checked (c)`, nil)
	constraints := func(table *database.Table) string {
		var all []string
		for _, c := range table.Constraints {
			all = append(all, c.Name+": "+databasetest.Names(c.Columns))
		}
		return strings.Join(all, "; ")
	}
	for _, test := range []struct{ table, keys, constraints string }{
		{"none", "", ""},
		{"node", "key id; parent_id>node.id; twin_id>node.id; first_id>node.id; last_id>node.id; any_id>node.id", ""},
		{"pair", "key b,a", ""},
		{"child", "key id; b,a>pair.b,a", ""},
		{"checked", "key id; unique b,c", `lowered: b,c; some: c; "check" > 0: check; b is 'good': b; c <> 'CHECK (id)': c; true: `},
	} {
		table := databasetest.Table(t, o.schema, test.table)
		if got := databasetest.Keys(table); got != test.keys {
			t.Errorf("%s has %s, want %s", test.table, got, test.keys)
		}
		if got := constraints(table); got != test.constraints {
			t.Errorf("%s has the constraints\n%s, want\n%s", test.table, got, test.constraints)
		}
	}
	for column, want := range map[string]database.ReferentialAction{
		"parent_id": database.Cascade, "twin_id": database.SetNull, "first_id": database.SetDefault, "last_id": database.Restrict, "any_id": database.Restrict,
	} {
		for _, key := range databasetest.Table(t, o.schema, "node").ForeignKeys {
			if key.Columns[0].Name == column && key.OnDelete != want {
				t.Errorf("%s does %v, want %v", column, key.OnDelete, want)
			}
		}
	}
}

func TestColumns(t *testing.T) {
	o := openFilled(t, `CREATE TABLE t (id INTEGER PRIMARY KEY, name NVARCHAR(160) NOT NULL, price DECIMAL(10,2) DEFAULT 1.5, rate NUMERIC(5), small TINYINT,
  at TIMESTAMP, said DATETIME DEFAULT CURRENT_TIMESTAMP, on_day DATE, doubled INT AS (small * 2) STORED, tripled INT AS (small * 3), "Odd ""Name""" BLOB);
CREATE TABLE text_key (id TEXT PRIMARY KEY); CREATE TABLE number_key (id INT PRIMARY KEY)`, nil)
	plain := database.Column{Loose: true, Nullable: true, Scale: -1, Precision: -1, FractionDigits: -1, Privileges: 7}
	column := func(name, native string, kind database.Kind, change func(*database.Column)) database.Column {
		c := plain
		c.Name, c.NativeType, c.Kind = name, native, kind
		if kind == database.Integer {
			c.Bits = 64
		}
		if change != nil {
			change(&c)
		}
		return c
	}
	price := "1.50"
	clock := func(c *database.Column) { c.FractionDigits = 3 }
	want := map[string][]database.Column{
		"t": {
			column("id", "INTEGER", database.Integer, func(c *database.Column) { c.Nullable, c.HasDefault, c.Loose = false, true, false }),
			column("name", "NVARCHAR(160)", database.Text, func(c *database.Column) { c.Nullable, c.MaxLength = false, 160 }),
			column("price", "DECIMAL(10,2)", database.Decimal, func(c *database.Column) {
				c.Precision, c.Scale, c.HasDefault = 10, 2, true
				c.Default = &price
			}),
			column("rate", "NUMERIC(5)", database.Decimal, func(c *database.Column) { c.Precision = 5 }),
			column("small", "TINYINT", database.Integer, nil),
			column("at", "TIMESTAMP", database.Timestamp, clock),
			column("said", "DATETIME", database.Timestamp, func(c *database.Column) { c.FractionDigits, c.HasDefault = 3, true }),
			column("on_day", "DATE", database.Date, nil),
			column("doubled", "INT", database.Integer, func(c *database.Column) { c.Generated = true }),
			column("tripled", "INT", database.Integer, func(c *database.Column) { c.Generated = true }),
			column(`Odd "Name"`, "BLOB", database.Bytes, nil),
		},
		"text_key":   {column("id", "TEXT", database.Text, func(c *database.Column) { c.Nullable, c.HoldsNull = false, true })},
		"number_key": {column("id", "INT", database.Integer, func(c *database.Column) { c.Nullable, c.HoldsNull = false, true })},
	}
	for name, columns := range want {
		got := databasetest.Table(t, o.schema, name).Columns
		if len(got) != len(columns) {
			t.Fatalf("%s has %s", name, databasetest.Names(got))
		}
		for i := range got {
			if !reflect.DeepEqual(*got[i], columns[i]) {
				t.Errorf("%s has\n%+v, want\n%+v", name, *got[i], columns[i])
			}
		}
	}
}

func TestAuditTable(t *testing.T) {
	named := func(s *database.Settings) { s.Audit = &contract.AuditTable{Name: "mcp_audit"} }
	readOnly := func(s *database.Settings) { named(s); s.ReadOnly = true }
	const table = "CREATE TABLE t (id INTEGER PRIMARY KEY);"
	for _, test := range []struct {
		name, script string
		change       func(*database.Settings)
		there        bool
		problem      string
	}{
		{"none is named", table, nil, false, ""},
		{"it is made", table, named, true, ""},
		{"it is not made where only reading is allowed", table, readOnly, false, "does not exist"},
		{"another table has its name", table + "CREATE TABLE MCP_audit (id INTEGER PRIMARY KEY)", named, false, "is missing"},
		{"a view has its name", table + "CREATE VIEW mcp_audit AS SELECT id FROM t", named, false, "cannot be written"},
		{"an index has its name", table + "CREATE TABLE u (x INT); CREATE INDEX mcp_audit ON u (x)", named, false, "cannot be made"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := openFilled(t, test.script, test.change)
			for range 2 { // and when it is read again
				if (o.schema.Audit != nil) != test.there || !strings.Contains(o.schema.AuditProblem, test.problem) || (test.problem == "") != (o.schema.AuditProblem == "") {
					t.Fatalf("got %+v and %q", o.schema.Audit, o.schema.AuditProblem)
				}
				o.schema = databasetest.Introspect(t, o)
			}
			if !test.there {
				return
			}
			if o.schema.Audit != databasetest.Table(t, o.schema, "mcp_audit") {
				t.Error("it is none of the schema's tables")
			}
			entry := map[string]database.Value{}
			for _, column := range o.schema.Audit.Columns {
				if !column.HasDefault {
					entry[column.Name] = "{}"
				}
			}
			insert := o.insert(t, "mcp_audit", entry)
			insert.Returning = []database.Output{{Name: "id", Columns: o.schema.Audit.PrimaryKey}}
			err := o.Transact(t.Context(), func(tx database.Tx) error {
				out, err := tx.Insert(t.Context(), insert, nil)
				if string(out) != `{"id":1}` {
					t.Errorf("got %s", out)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}
