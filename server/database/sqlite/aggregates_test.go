package sqlite_test

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

func TestAggregatesOfLooseValues(t *testing.T) {
	o := openFilled(t, `
CREATE TABLE t (id INTEGER PRIMARY KEY, n DECIMAL(8,2), whole INTEGER, f REAL, mixed, at TIMESTAMPTZ, title TEXT COLLATE NOCASE);
INSERT INTO t VALUES (1, 0.1, 9223372036854775807, 1e308, 1, '2020-01-01', 'b'), (2, 0.2, 9223372036854775807, -1e308, '1', '2020-01-01T00:00:00Z', 'B'),
  (3, 'about 5', 'many', 'none', x'31', '2020-01-01 00:00', 'A'), (4, x'35', 0.5, 2, 1.0, 1577836800, 'c'), (5, 9e999, 9e999, NULL, NULL, 'soon', NULL);`, nil)
	table := databasetest.Table(t, o.schema, "t")
	of := func(function database.MeasureFunc, column string) database.Measure {
		return database.Measure{Func: function, Ref: database.Ref{Column: table.Column(column)}}
	}
	fold := database.Match{Column: table.Column("title"), Text: "B", FoldCase: true}
	for _, test := range []struct {
		name    string
		measure database.Measure
		want    string
	}{
		{"a sum passes over what is not a number", of(database.Sum, "n"), `"0.30"`},
		{"an average too", of(database.Avg, "n"), `"0.150000"`},
		{"a sum of integers beyond 64 bits, with a fraction", of(database.Sum, "whole"), `"18446744073709551614.5"`},
		{"a sum of floats passes over texts", of(database.Sum, "f"), `2`},
		{"a count counts them", of(database.Count, "n"), `5`},
		{"one and 1.0 are one value, a text and bytes are others", of(database.CountDistinct, "mixed"), `3`},
		{"timestamps are what rows show", of(database.CountDistinct, "at"), `4`},
		{"texts are counted by their bytes", of(database.CountDistinct, "title"), `4`},
		{"even if the condition folds case", database.Measure{Func: database.CountDistinct, Ref: database.Ref{Column: table.Column("title")}, Where: fold}, `2`},
		{"the least text by the column's own order", of(database.Min, "title"), `"A"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			source := (&database.Grouping{From: database.NewSource(table, nil), Measures: []database.Measure{test.measure}}).Source()
			plan := all(source.Table())
			plan.From = source
			out, _, err := o.Select(t.Context(), plan, nil)
			if want := `{"m0":` + test.want + `}`; err != nil || string(out) != want {
				t.Errorf("got %s, %v, want %s", out, err, want)
			}
		})
	}
}
