package mysql

import "testing"

func TestIncludes(t *testing.T) {
	for _, row := range []struct {
		has, wanted string
		want        bool
	}{
		{"0-1-100", "0-1-100", true}, {"0-1-100", "0-2-99", true}, {"0-1-99", "0-1-100", false},
		{"0-1-100,1-1-5", "0-1-100,1-1-5", true}, {"0-1-100", "0-1-100,1-1-5", false}, {"0-1-100, 1-3-7", "1-1-7", true},
		{"", "0-1-1", false},
	} {
		if got := includes(row.has, row.wanted); got != row.want {
			t.Errorf("%q includes %q: %v", row.has, row.wanted, got)
		}
	}
}
