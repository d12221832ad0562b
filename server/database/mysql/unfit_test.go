package mysql_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// TestUnfitValues writes values that their columns cannot hold, and looks for them. Some servers would store NULL, zero
// or a part of the value, or find rows by those; here the value must be refused.
func TestUnfitValues(t *testing.T) {
	for _, test := range []struct {
		declared, present string
		values            []database.Value
	}{
		{"date", "'2001-02-03'", []database.Value{"2001-02-30", "2001-13-01", "never", "", "2001-02-03x", "10000-01-01", "2001-02-03T99:00:00"}},
		{"time", "'00:00:00'", []database.Value{"25:61:00", "09:00:99", "noon", "", "09:00:00x", "900:00:00"}},
		{"datetime", "'2001-02-03 00:00:00'", []database.Value{"2001-02-30T01:02:03", "2001-02-03T25:00:00", "soon", "", "2001-02-03x", "10000-01-01T00:00:00"}},
		{"timestamp null", "'2001-02-03 00:00:00'", []database.Value{"2001-02-30T01:02:03Z", "soon", "", "2107-01-01T00:00:00Z"}},
		{"year", "0", []database.Value{int64(1800), int64(99999), int64(-1)}},
		{"decimal(4,1)", "0", []database.Value{"12345", "x", "", "1x", "1e-400x"}},
		{"float", "0", []database.Value{1e300}},
		{"tinyint", "0", []database.Value{int64(300)}},
		{"bit(4)", "b'0'", []database.Value{"11111"}},
		{"enum('a','b')", "'a'", []database.Value{"c", "", "1"}},
		{"set('a','b')", "'a'", []database.Value{"c", "a,c", "1"}},
		{"json", "'{}'", []database.Value{[]byte(`{`), []byte(``)}},
		{"point", "ST_GeomFromText('POINT(0 0)')", []database.Value{"POINT(1)", "nowhere", "", "POINT(1 2", "LINESTRING(0 0,1 1)", "POINT(1 2)x"}},
		{"geometry", "ST_GeomFromText('POINT(0 0)')", []database.Value{"POINT(1)", "", "CIRCLE(1 1)", "POLYGON((0 0,1 1))"}},
		{"polygon", "ST_GeomFromText('POLYGON((0 0,1 0,1 1,0 0))')", []database.Value{"POINT(1 1)", "POLYGON((0 0,1 0,1 1))"}},
		{"varchar(3)", "''", []database.Value{"long"}},
		{"varchar(9) character set latin1", "''", []database.Value{"文"}},
		{"binary(2)", "x'0000'", []database.Value{[]byte("abc")}},
		{"uuid", "'123e4567-e89b-12d3-a456-426655440000'", []database.Value{"x", "", "123e4567"}},
		{"inet6", "'::1'", []database.Value{"x", "", "1.2.3.400"}},
		{"inet4", "'0.0.0.0'", []database.Value{"x", "", "1.2.3.400"}},
	} {
		t.Run(test.declared, func(t *testing.T) {
			f := open(t, "", nil)
			if _, err := f.plain.Exec("CREATE TABLE item (id integer PRIMARY KEY AUTO_INCREMENT, v " + test.declared + ")"); err != nil {
				t.Skip(err) // a type of the other server
			}
			if _, err := f.plain.Exec("SET sql_mode = ''; INSERT INTO item (v) VALUES (NULL), (" + test.present + ")"); err != nil {
				t.Fatal(err)
			}
			item := f.table(t, "item")
			v := item.Column("v")
			before := f.rows(t, all(item))
			for _, value := range test.values {
				shown := strings.ReplaceAll(fmt.Sprintf("%v", value), "\n", " ")
				err := f.Transact(t.Context(), func(tx database.Tx) error {
					_, err := tx.Insert(t.Context(), &database.Insert{Into: database.NewSource(item, nil), Set: []database.Assignment{{Column: v, Value: value}}}, nil)
					return err
				})
				if err == nil {
					t.Errorf("%q was stored: %s", shown, f.rows(t, all(item)))
					if _, err := f.plain.Exec("DELETE FROM item WHERE id > 2"); err != nil {
						t.Fatal(err)
					}
				} else if e := database.AsError(err); !isAbout(e, v) {
					t.Errorf("written, %q gives %s %v about %v", shown, e.Code, e, e.Column)
				}
				err = f.Transact(t.Context(), func(tx database.Tx) error {
					_, err := tx.Update(t.Context(), &database.Update{In: database.NewSource(item, nil), Set: []database.Assignment{{Column: v, Value: value}},
						Where: equal(item.Column("id"), int64(2))})
					return err
				})
				if err == nil || f.rows(t, all(item)) != before {
					t.Errorf("%q was stored in a row: %s", shown, f.rows(t, all(item)))
				}
				for _, condition := range []database.Condition{equal(v, value), database.In{Column: v, Values: []database.Value{value}}} {
					plan := all(item)
					plan.Where = condition
					out, _, err := f.Select(t.Context(), plan, nil)
					switch {
					case err != nil && database.AsError(err).Code != database.Invalid:
						t.Errorf("looked for, %q gives %v", shown, err)
					case err == nil && len(out) > 0:
						t.Errorf("%q finds %s", shown, out)
					}
					if v.Kind == database.JSON {
						continue
					}
					plan.Where = database.Not{Condition: condition}
					out, _, err = f.Select(t.Context(), plan, nil)
					if err == nil && "["+string(out)+"]" != before {
						t.Errorf("all but %q finds %s", shown, out)
					}
				}
			}
		})
	}
}

// isAbout reports whether an error says that the value for a column does not fit.
func isAbout(e *database.Error, c *database.Column) bool {
	if e.Code == database.Violated { // MariaDB's JSON is a text with a check
		return c.Kind == database.JSON && databasetest.Names(e.Violation.Columns) == c.Name
	}
	if c.Kind == database.Text && e.Column == nil { // MySQL does not say which text has characters that the column's character set lacks
		return e.Code == database.Invalid
	}
	return e.Code == database.Invalid && e.Column == c && strings.Contains(e.Message, "value for "+c.Name)
}
