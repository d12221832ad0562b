package mysql_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// TestValues writes each value as the database's own client would, reads it, and finds the row by the value that was
// read.
func TestValues(t *testing.T) {
	for _, test := range []struct {
		declared, literal string
		kind              database.Kind
		want              string
		// value is the value that finds the row; nil if values of the kind are not compared.
		value database.Value
	}{
		{"tinyint(1)", "1", database.Boolean, "true", true},
		{"tinyint(1)", "0", database.Boolean, "false", false},
		{"tinyint(1)", "7", database.Boolean, "7", nil},
		{"boolean", "true", database.Boolean, "true", true},
		{"bit(1)", "b'1'", database.Boolean, "true", true},
		{"bit(1)", "b'0'", database.Boolean, "false", false},
		{"bit(12)", "b'101'", database.Other, `"000000000101"`, "000000000101"},
		{"bit(64)", "b'1'", database.Other, `"` + strings.Repeat("0", 63) + `1"`, "1"},
		{"tinyint", "-128", database.Integer, "-128", int64(-128)},
		{"tinyint unsigned", "255", database.Integer, "255", int64(255)},
		{"mediumint", "-8388608", database.Integer, "-8388608", int64(-8388608)},
		{"int", "0", database.Integer, "0", int64(0)},
		{"bigint", "-9223372036854775808", database.Integer, `"-9223372036854775808"`, int64(-9223372036854775808)},
		{"bigint unsigned", "18446744073709551615", database.Integer, `"18446744073709551615"`, uint64(18446744073709551615)},
		{"year", "2026", database.Integer, "2026", int64(2026)},
		{"decimal(65,30)", "12345678901234567890123456789012345.012345678901234567890123456789", database.Decimal,
			`"12345678901234567890123456789012345.012345678901234567890123456789"`, "12345678901234567890123456789012345.012345678901234567890123456789"},
		{"decimal(65,0)", strings.Repeat("9", 65), database.Decimal, `"` + strings.Repeat("9", 65) + `"`, strings.Repeat("9", 65)},
		{"decimal(8,2)", "-0.5", database.Decimal, `"-0.50"`, "-0.5"},
		{"float", "0.1", database.Float, "0.1", 0.1},
		{"double", "0.1", database.Float, "0.1", 0.1},
		{"double", "1e300", database.Float, "1e+300", 1e300},
		{"date", "'2001-02-03'", database.Date, `"2001-02-03"`, "2001-02-03"},
		{"date", "'0000-00-00'", database.Date, `"0000-00-00"`, nil},
		{"datetime", "'2001-02-03 04:05:06'", database.Timestamp, `"2001-02-03T04:05:06"`, "2001-02-03T04:05:06"},
		{"datetime", "'0000-00-00 00:00:00'", database.Timestamp, `"0000-00-00 00:00:00"`, nil},
		{"datetime(6)", "'2001-02-03 04:05:06.500000'", database.Timestamp, `"2001-02-03T04:05:06.5"`, "2001-02-03T04:05:06.5"},
		{"datetime(3)", "'9999-12-31 23:59:59'", database.Timestamp, `"9999-12-31T23:59:59"`, "9999-12-31T23:59:59"},
		{"timestamp(3) null", "'2001-02-03 04:05:06.789'", database.TimestampTZ, `"2001-02-03T04:05:06.789Z"`, "2001-02-03T04:05:06.789Z"},
		{"time", "'04:05:06'", database.Time, `"04:05:06"`, "04:05:06"},
		{"time(2)", "'-838:59:58.50'", database.Time, `"-838:59:58.5"`, "-838:59:58.5"},
		{"char(8)", "'ab '", database.Text, `"ab"`, "ab"},
		{"varchar(20)", `'naïve 文 🎉 "x" \\'`, database.Text, `"naïve 文 🎉 \"x\" \\"`, `naïve 文 🎉 "x" \`},
		{"varchar(20) character set latin1", "'é'", database.Text, `"é"`, "é"},
		{"longtext", "''", database.Text, `""`, ""},
		{"binary(4)", "x'00ff10'", database.Bytes, `"AP8QAA=="`, []byte{0, 255, 16, 0}},
		{"varbinary(9)", "x'00ff'", database.Bytes, `"AP8="`, []byte{0, 255}},
		{"blob", "x'27'", database.Bytes, `"Jw=="`, []byte("'")},
		{"enum('z','it''s','a,b')", "'it''s'", database.Enum, `"it's"`, "it's"},
		{"set('a','b')", "'b,a'", database.Other, `"a,b"`, "a,b"},
		{"json", `'{"a":1.10,"b":[null,"é"]}'`, database.JSON, `{"a":1.10,"b":[null,"é"]}`, nil},
		{"uuid", "'123e4567-e89b-12d3-a456-426655440000'", database.UUID, `"123e4567-e89b-12d3-a456-426655440000"`, "123e4567-e89b-12d3-a456-426655440000"},
		{"inet6", "'2001:db8::1'", database.Other, `"2001:db8::1"`, "2001:db8::1"},
		{"point", "ST_GeomFromText('POINT(1 2)')", database.Other, `"POINT(1 2)"`, "POINT(1 2)"},
		{"int", "NULL", database.Integer, "null", nil},
	} {
		t.Run(test.declared+" "+test.literal[:min(len(test.literal), 20)], func(t *testing.T) {
			f := open(t, "", nil)
			if _, err := f.plain.Exec("CREATE TABLE item (id integer PRIMARY KEY, v " + test.declared + ")"); err != nil {
				t.Skip(err) // a type of the other server
			}
			databasetest.ExecuteMySQL(t, f.connection, "SET sql_mode = ''; INSERT INTO item VALUES (1, "+test.literal+")")
			item := f.table(t, "item")
			v := item.Column("v")
			if v.Kind != test.kind {
				t.Errorf("the kind is %s, want %s", v.Kind, test.kind)
			}
			plan := all(item)
			plan.Cursor = database.Refs(v)
			out, page, err := f.Select(t.Context(), plan, nil)
			if v.NativeType == "json" { // MySQL's is not the text that was written
				test.want = `{"a": 1.1, "b": [null, "é"]}`
			}
			if want := `{"id":1,"v":` + test.want + "}"; err != nil || string(out) != want {
				t.Fatalf("got %s, %v, want %s", out, err, want)
			}
			if page.Last[0] != nil {
				plan.Where = equal(v, page.Last[0])
				if v.Kind != database.JSON && f.rows(t, plan) == "[]" {
					t.Errorf("%v does not find the row that it was read of", page.Last[0])
				}
			}
			if test.value == nil {
				return
			}
			plan.Where = equal(v, test.value)
			if f.rows(t, plan) == "[]" {
				t.Errorf("%v does not find the row", test.value)
			}
			plan.Where = database.In{Column: v, Values: []database.Value{test.value}}
			if f.rows(t, plan) == "[]" {
				t.Errorf("%v in a list does not find the row", test.value)
			}
			// The value is written to another row, and read as the same.
			err = f.Transact(t.Context(), func(tx database.Tx) error {
				_, err := tx.Insert(t.Context(), &database.Insert{Into: database.NewSource(item, nil), Set: []database.Assignment{
					{Column: item.Column("id"), Value: int64(2)}, {Column: v, Value: test.value},
				}}, nil)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			var same bool
			if err := f.plain.QueryRow("SELECT count(DISTINCT HEX(v)) = 1 AND count(*) = 2 FROM item").Scan(&same); err != nil || !same {
				t.Errorf("what was written is not what was there, %v: %s", err, f.rows(t, all(item)))
			}
		})
	}
}

func TestLongValuesAndMasks(t *testing.T) {
	f := open(t, "CREATE TABLE item (id integer PRIMARY KEY, v longtext, b longblob, card varchar(20)); INSERT INTO item VALUES (1, repeat('é', 1000), repeat(x'ff', 300), '4111111111111111')", nil)
	item := f.table(t, "item")
	plan := &database.Select{From: database.NewSource(item, nil), Limit: 1, MaxValue: 101, Output: []database.Output{
		{Name: "v", Columns: []*database.Column{item.Column("v")}},
		{Name: "b", Columns: []*database.Column{item.Column("b")}},
		{Name: "card", Columns: []*database.Column{item.Column("card")}, Mask: true, KeepLast: 4},
	}}
	out, page, err := f.Select(t.Context(), plan, nil)
	if err != nil || !page.Shortened {
		t.Fatalf("got %+v, %v; want shortened values", page, err)
	}
	want := `{"v":"` + strings.Repeat("é", 50) + `...[cut: 2,000 bytes in all]","b":"` +
		base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\xff", 75))) + `...[cut: 300 bytes in all]","card":"****1111"}`
	if string(out) != want {
		t.Errorf("got  %s\nwant %s", out, want)
	}
}

func TestPages(t *testing.T) {
	f := open(t, `SET sql_mode = ''; CREATE TABLE item (id integer PRIMARY KEY, mood enum('sad','ok','happy'), price decimal(6,2), name varchar(9), seen datetime(3));
INSERT INTO item VALUES (1,'happy',9.50,'b','2001-01-01 00:00:00.250'), (2,'sad',NULL,'B',NULL), (3,NULL,10,'a','0000-00-00 00:00:00'),
  (4,'ok',9.5,NULL,'2001-01-01 00:00:00.250'), (5,'sad',100,'ä','2001-01-01')`, nil)
	item := f.table(t, "item")
	id := item.Column("id")
	for _, column := range item.Columns {
		for _, descending := range []bool{false, true} {
			plan := &database.Select{
				From: database.NewSource(item, nil), Output: outputs(id), Limit: 1000,
				Order: []database.Order{{Column: column, Descending: descending}, {Column: id, Descending: descending}},
			}
			want := f.rows(t, plan)
			plan.Limit, plan.More, plan.Cursor, plan.Total = 2, true, database.Refs(column, id), database.TotalExact
			got := []byte("[")
			for pages := 0; pages < 3; pages++ {
				if len(got) > 1 {
					got = append(got, ',')
				}
				out, page, err := f.Select(t.Context(), plan, got)
				if err != nil {
					t.Fatal(err)
				}
				if page.Total != 5 || page.More != (pages < 2) {
					t.Errorf("%s: page %d has total %d, more %t", column.Name, pages, page.Total, page.More)
				}
				got, plan.After = out, page.Last
			}
			if string(got)+"]" != want {
				t.Errorf("by %s, descending %t: the pages are\n%s]\nall is\n%s", column.Name, descending, got, want)
			}
		}
	}
	plan := all(item)
	plan.MaxBytes, plan.Cursor = 60, database.Refs(id)
	out, page, err := f.Select(t.Context(), plan, nil)
	if err != nil || !page.Cut || !page.More || page.Count == 5 || page.Last[0] != int64(page.Count) {
		t.Errorf("cut: %+v, %v: %s", page, err, out)
	}
}
