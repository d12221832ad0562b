package mysql

import "testing"

func TestNamesInStatements(t *testing.T) {
	for sql, want := range map[string]bool{
		"SELECT 1 FROM `shop`.`item` AS `t0`": true,
		"select * from item":                  true,
		"select * from items, my_item":        false,
		"select * from items, item i":         true,
		"select naïtem from itemé":            false,
		"":                                    false,
	} {
		if got := namesWord(sql, "item"); got != want {
			t.Errorf("%q: got %t, want %t", sql, got, want)
		}
	}
}
