package sqlite_test

import (
	"fmt"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

func TestSimpleChecks(t *testing.T) {
	for _, test := range []struct{ check, want string }{
		{"CHECK (t IN ('a', 'it''s'))", "[t [a it's]]"},
		{"CONSTRAINT \"of two\" CHECK (t IS NULL OR t IN ('a','b'))", "[of two: t [a b]]"},
		{"CHECK (t IS NULL OR t = 'cancelled')", "[t [cancelled]]"},
		{"CHECK (t = 'a' OR (t = 'b') OR t IN ('c') OR (t IS NULL))", "[t [a b c]]"},
		{"CHECK (t IN ('a', 'b') OR t IS NULL)", "[t [a b]]"},
		{"CHECK (n = 1 OR n == 2)", "[n [1 2]]"},
		{"CHECK (t IS NOT NULL AND t = 'a')", "[t [a]]"},
		{"CHECK ((n IS NULL) OR (n >= 1 AND n <= 5))", "[n >=1 <=5]"},
		{"CHECK ((n >= 1) AND (n <= 5))", "[n >=1 <=5]"},
		{"CHECK (t = 'a' AND length(t) = 1 OR t = 'bb')", "[]"},
		{"CHECK (t IS NULL OR n = 1)", "[]"},
		{"CHECK (t IS NULL OR i IS NULL OR t = 'a')", "[]"},
		{"CHECK (t = 'a' OR t > 'b')", "[]"},
		{"CHECK (t = 'a' AND t = 'b')", "[]"},
		{"CHECK (t IS NULL)", "[]"},
		{"CHECK (t IN ('a') AND (t = 'b' OR t = 'c'))", "[]"},
		{"CHECK (n >= 1 AND n < 10)", "[n >=1 <10]"},
		{"CHECK ((n BETWEEN -1 AND +10))", "[n >=-1 <=10]"},
		{"CHECK (n IS NULL OR (n > 0))", "[n >0]"},
		{"CHECK (p > 0.5 AND n > 2)", "[p >0.50 n >2]"},
		{"CHECK (d >= '2020-01-01')", "[d >=2020-01-01]"},
		{"CHECK (length(t) <= 5)", "[t length 0 to 5]"},
		{"CHECK (length(t) BETWEEN 2 AND 4 AND t IN ('ab'))", "[t [ab] length 2 to 4]"},
		{"CHECK (length(t) > 0)", "[t length 1 to 0]"}, {"CHECK (length(t) = 0)", "[]"},
		{"CHECK (n IS NULL OR n > 0 AND p > 1)", "[]"},
		{"CHECK (p > 1 AND n IS NULL OR n > 0)", "[]"},
		{"CHECK (n > 0 OR p > 0)", "[]"},
		{"CHECK (NOT n > 0)", "[]"},
		{"CHECK (n > 1 + p)", "[]"},
		{"CHECK (n > 1.5)", "[]"},
		{"CHECK (t > 'a')", "[]"},
		{"CHECK (t IN ('a') OR TRUE)", "[]"},
		{"CHECK (t COLLATE NOCASE IN ('a'))", "[]"},
		{"CHECK (t IN ('a')), u TEXT COLLATE NOCASE CHECK (u IN ('b'))", "[]"},
		{"CHECK (t NOT IN ('a'))", "[]"},
		{"CHECK (n <> 5)", "[]"},
		{"CHECK (abs(n) > 5)", "[]"},
	} {
		t.Run(test.check, func(t *testing.T) {
			column := "i INT, t TEXT, n INT, p NUMERIC(5,2), d DATE"
			o := openFilled(t, "CREATE TABLE c ("+column+", x INT "+test.check+")", nil)
			if got := fmt.Sprint(toldChecks(databasetest.Table(t, o.schema, "c"))); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func toldChecks(table *database.Table) []string {
	var all []string
	for _, c := range table.Checks {
		told := c.Column.Name
		if c.Name != "" {
			told = c.Name + ": " + told
		}
		if c.Choices != nil {
			told += fmt.Sprint(" ", c.Choices)
		}
		bound := func(sign, text string, exclusive bool) {
			if text != "" {
				told += " " + sign
				if !exclusive {
					told += "="
				}
				told += text
			}
		}
		bound(">", c.Minimum, c.ExclusiveMinimum)
		bound("<", c.Maximum, c.ExclusiveMaximum)
		if c.MinLength > 0 || c.MaxLength > 0 {
			told += fmt.Sprintf(" length %d to %d", c.MinLength, c.MaxLength)
		}
		all = append(all, told)
	}
	return all
}

func TestDefaultValues(t *testing.T) {
	for _, test := range []struct{ column, want string }{
		{"TEXT DEFAULT 'draft'", "draft"}, {"TEXT DEFAULT 'it''s'", "it's"}, {"TEXT DEFAULT ''", ""}, {"INT DEFAULT -5", "-5"}, {"INT DEFAULT (7)", "7"},
		{"NUMERIC(5,2) DEFAULT 1.5", "1.50"}, {"BOOLEAN DEFAULT TRUE", "true"}, {"BOOLEAN DEFAULT 0", "false"}, {"REAL DEFAULT 1e3", "1000"},
		{"TEXT DEFAULT NULL", "computed"}, {"TEXT DEFAULT CURRENT_TIMESTAMP", "computed"}, {"INT DEFAULT (1 + 1)", "computed"}, {"TEXT DEFAULT (lower('X'))", "computed"},
		{"TEXT", "computed"},
	} {
		t.Run(test.column, func(t *testing.T) {
			o := openFilled(t, "CREATE TABLE c (v "+test.column+")", nil)
			got := "computed"
			if told := databasetest.Table(t, o.schema, "c").Columns[0].Default; told != nil {
				got = *told
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestWhatForeignKeysDoWhenTheirRowChanges(t *testing.T) {
	o := openFilled(t, `CREATE TABLE a (id INTEGER PRIMARY KEY);
CREATE TABLE b (c INT REFERENCES a ON UPDATE CASCADE, n INT REFERENCES a ON UPDATE SET NULL, d INT REFERENCES a ON UPDATE SET DEFAULT, r INT REFERENCES a ON DELETE CASCADE)`, nil)
	want := map[string]database.ReferentialAction{"c": database.Cascade, "n": database.SetNull, "d": database.SetDefault, "r": database.Restrict}
	for _, key := range databasetest.Table(t, o.schema, "b").ForeignKeys {
		if key.OnUpdate != want[key.Columns[0].Name] {
			t.Errorf("%s does %v", key.Columns[0].Name, key.OnUpdate)
		}
	}
}

func TestNumbersOfRows(t *testing.T) {
	o := openFilled(t, `CREATE TABLE keyed (id INTEGER PRIMARY KEY); CREATE TABLE plain (a INT); CREATE TABLE taken (rowid TEXT, _rowid_ INT);
CREATE TABLE without (id TEXT PRIMARY KEY) WITHOUT ROWID; CREATE TABLE all_taken (rowid, oid, _rowid_); CREATE VIEW v AS SELECT 1 AS a`, nil)
	for name, want := range map[string]string{"keyed": "rowid", "plain": "rowid", "taken": "oid", "without": "", "all_taken": "", "v": ""} {
		table, got := databasetest.Table(t, o.schema, name), ""
		if table.RowID != nil {
			got = table.RowID.Name
			plan := all(table)
			plan.Output, plan.Order = []database.Output{{Name: "n", Columns: []*database.Column{table.RowID}}}, []database.Order{{Column: table.RowID}}
			read(t, o, plan)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
