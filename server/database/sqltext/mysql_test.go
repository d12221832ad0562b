package sqltext_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

func TestMySQLConditions(t *testing.T) {
	mood := &database.Column{Name: "mood", Kind: database.Enum, NativeType: "enum('sad','ok')", Choices: []string{"sad", "ok"}}
	small := &database.Column{Name: "f", Kind: database.Float, NativeType: "float"}
	flags := &database.Column{Name: "flags", Kind: database.Other, NativeType: "bit(4)", MaxLength: 4}
	place := &database.Column{Name: "place", Kind: database.Other, NativeType: "point"}
	doc := &database.Column{Name: "doc", Kind: database.JSON, NativeType: "json"}
	wide := &database.Column{Name: "wide", Kind: database.Decimal, NativeType: "decimal(65,0)", Precision: 65}
	equal := func(c *database.Column, value database.Value) database.Condition {
		return database.Compare{Column: c, Op: database.Equal, Value: value}
	}
	for _, test := range []struct {
		name      string
		condition database.Condition
		want      string
	}{
		{"integer", equal(id, int64(5)), "t0.`id` = ? | 5"},
		{"decimal", equal(price, "9.95"), "t0.`price` = CAST(? AS DECIMAL(65,30)) | 9.95"},
		{"decimal without a fraction", equal(wide, "9"), "t0.`wide` = CAST(? AS DECIMAL(65,0)) | 9"},
		{"date", equal(published, "2026-01-02"), "t0.`published` = CAST(? AS DATE) | 2026-01-02"},
		{"timestamp", equal(changed, "2026-01-02T03:04:05Z"), "t0.`changed` = CAST(? AS DATETIME(6)) | 2026-01-02T03:04:05Z"},
		{"a float of four bytes", equal(small, 0.1), "t0.`f` = ? | 0.10000000149011612"},
		{"an enum's order", database.Compare{Column: mood, Op: database.Greater, Value: "sad"}, "t0.`mood` > ? | 1"},
		{"bits", equal(flags, "0101"), "t0.`flags` = ? | 5"},
		{"a point", equal(place, "POINT(1 2)"), "t0.`place` = ST_GeomFromText(?, ?) | POINT(1 2) | 0"},
		{"JSON", equal(doc, []byte("{}")), "t0.`doc` = CAST(? AS JSON) | {}"},
		{"in", database.In{Column: id, Values: []database.Value{int64(1), int64(2)}}, "t0.`id` IN (?, ?) | 1 | 2"},
		{"exactly", database.Match{Column: title, Text: "a_"},
			"(t0.`title` = ? AND CAST(CONVERT(t0.`title` USING utf8mb4) AS BINARY) = CAST(? AS BINARY)) | a_ | a_"},
		{"contains", database.Match{Column: title, Op: database.TextContains, Text: "a_"},
			"CAST(CONVERT(t0.`title` USING utf8mb4) AS BINARY) LIKE CAST(? AS BINARY) | %a\\_%"},
		{"starts with, folded", database.Match{Column: title, Op: database.TextStartsWith, Text: "A", FoldCase: true},
			"CAST(LOWER(CONVERT(t0.`title` USING utf8mb4)) AS BINARY) LIKE CAST(LOWER(?) AS BINARY) | A%"},
		{"a day", database.PartEquals{Column: sold, Part: database.WholeDate, Value: "2026-02-28"},
			"(t0.`sold` >= CAST(? AS DATETIME(6)) AND t0.`sold` < CAST(? AS DATETIME(6))) | 2026-02-28 | 2026-03-01"},
		{"the last year", database.PartEquals{Column: published, Part: database.Year, Value: int64(9999)}, "(t0.`published` >= CAST(? AS DATE)) | 9999-01-01"},
		{"hostile names", database.Compare{Column: evilID, Op: database.Equal, Value: int64(1)}, "t0.`i``d` = ? | 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var s sqltext.Statement
			plan := &database.Select{From: database.NewSource(book, nil), Output: []database.Output{{Columns: []*database.Column{id}}}, Where: test.condition, Limit: 1}
			if err := s.Build(sqltext.MySQL, plan); err != nil {
				t.Fatal(err)
			}
			const before, after = "SELECT t0.`id` FROM `shop`.`book` AS t0 WHERE ", " LIMIT 1"
			got := shown(s.Select[len(before):len(s.Select)-len(after)], s.Args)
			if got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
	for name, condition := range map[string]database.Condition{
		"no number": equal(price, "NaN"), "infinite": equal(small, math.Inf(1)), "no moment": equal(sold, "infinity"), "no bits": equal(flags, "012"),
		"too many bits": equal(flags, "00000"),
	} {
		var s sqltext.Statement
		var e *database.Error
		err := s.Build(sqltext.MySQL, &database.Select{From: database.NewSource(book, nil), Where: condition})
		if !errors.As(err, &e) || e.Code != database.Invalid {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestMySQLInserted(t *testing.T) {
	keyed := &database.Table{Schema: "shop", Name: "book", Columns: []*database.Column{id, title}, PrimaryKey: []*database.Column{id}}
	pair := &database.Table{Schema: "shop", Name: "book", Columns: []*database.Column{id, title}, PrimaryKey: []*database.Column{id, title}}
	given := []database.Assignment{{Column: id, Value: int64(7)}}
	policy := database.Compare{Column: stock, Op: database.Equal, Value: true}
	for _, test := range []struct {
		name    string
		table   *database.Table
		set     []database.Assignment
		counted int64
		want    string
	}{
		{"the key is given", keyed, given, 0, "SELECT t0.`id` FROM `shop`.`book` AS t0 WHERE t0.`id` = ? | 7"},
		{"the key is counted", keyed, nil, 8, "SELECT t0.`id` FROM `shop`.`book` AS t0 WHERE t0.`id` = ? | 8"},
		{"a part of it is not known", pair, given, 8, ""},
		{"a part of it is computed", pair, []database.Assignment{given[0], {Column: title, How: database.AssignNow}}, 8, ""},
		{"there is no key", book, given, 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var s sqltext.Statement
			plan := &database.Insert{Into: database.NewSource(test.table, policy), Set: test.set, Returning: []database.Output{{Columns: []*database.Column{id}}}}
			known, err := s.BuildInserted(sqltext.MySQL, plan, test.counted)
			if err != nil || known != (test.want != "") {
				t.Fatalf("known %t, %v", known, err)
			}
			if got := shown(s.Text, s.Args); known && got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// A decimal is cast to a type that has room for it: the server would take the greatest number of a type that has not.
func TestDecimalsHaveRoomInTheTypeThatTheyAreCastTo(t *testing.T) {
	total := &database.Column{Name: "total", Kind: database.Decimal, Precision: -1, Scale: -1}
	for value, want := range map[string]string{
		"1.5": "DECIMAL(65,30)", "-85070591730234615755163187415684743204.0": "DECIMAL(65,27)", "1e40": "DECIMAL(65,24)",
		"+1.5E-3": "DECIMAL(65,30)", strings.Repeat("9", 70): "DECIMAL(65,0)",
	} {
		var s sqltext.Statement
		plan := &database.Select{From: database.NewSource(&database.Table{Name: "t"}, nil), Where: database.Compare{Column: total, Op: database.Equal, Value: value}}
		if err := s.Build(sqltext.MySQL, plan); err != nil {
			t.Fatal(err)
		}
		if got := string(s.Select); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", value, got, want)
		}
	}
}
