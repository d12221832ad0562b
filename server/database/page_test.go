package database_test

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func TestPageEnds(t *testing.T) {
	plan := &database.Select{Limit: 2, MaxBytes: 10}
	for _, test := range []struct {
		name            string
		written, size   int
		ends, more, cut bool
	}{
		{"there is room", 1, 9, false, false, false},
		{"the first row is always written", 0, 10, false, false, false},
		{"rows are left out for their size", 1, 10, true, true, true},
		{"the limit is reached", 2, 9, true, true, false},
		{"the limit and the size are reached together", 2, 10, true, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			page := database.Page{Count: test.written}
			if page.Ends(plan, test.size) != test.ends || page.More != test.more || page.Cut != test.cut {
				t.Errorf("got %+v", page)
			}
		})
	}
}

func TestPageShows(t *testing.T) {
	for _, test := range []struct {
		name  string
		page  database.Page
		plan  database.Select
		total int64
		ok    bool
	}{
		{"a page that is not full", database.Page{Count: 2}, database.Select{Limit: 3}, 2, true},
		{"one that may be full", database.Page{Count: 3}, database.Select{Limit: 3}, -1, false},
		{"a full one that is known to be the last", database.Page{Count: 3}, database.Select{Limit: 3, More: true}, 3, true},
		{"one with more behind it", database.Page{Count: 3, More: true}, database.Select{Limit: 3, More: true}, -1, false},
		{"nothing at all", database.Page{}, database.Select{Limit: 3}, 0, true},
		{"rows behind an offset", database.Page{Count: 2}, database.Select{Limit: 3, Offset: 5}, 7, true},
		{"nothing behind an offset", database.Page{}, database.Select{Limit: 3, Offset: 5}, -1, false},
		{"behind a cursor", database.Page{Count: 2}, database.Select{Limit: 3, After: []database.Value{int64(1)}}, -1, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if total, ok := test.page.Shows(&test.plan); total != test.total || ok != test.ok {
				t.Errorf("got %d, %t", total, ok)
			}
		})
	}
}
