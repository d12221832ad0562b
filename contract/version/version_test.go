package version

import "testing"

func TestTheVersionIsTheBuildsElseGos(t *testing.T) {
	for _, row := range []struct{ build, recorded, want string }{
		{"v1.2.3", "v1.0.0", "v1.2.3"},
		{"", "v1.0.0", "v1.0.0"},
		{"", "(devel)", "unknown"},
		{"", "", "unknown"},
	} {
		if got := first(row.build, row.recorded); got != row.want {
			t.Errorf("built as %q, recorded as %q: %q, want %q", row.build, row.recorded, got, row.want)
		}
	}
}
