package memlimit

import (
	"math"
	"runtime/debug"
	"testing"
)

func TestNineTenthsOfTheContainersMemoryAreTheLimit(t *testing.T) {
	defer debug.SetMemoryLimit(math.MaxInt64)
	for _, row := range []struct {
		container, own string
		want           int64
	}{
		{"268435456", "", 241591905},
		{"", "", 0},
		{"0", "", 0},
		{"much", "", 0},
		{"268435456", "100MiB", 0},
	} {
		got := Set(func(name string) string {
			return map[string]string{Variable: row.container, "GOMEMLIMIT": row.own}[name]
		})
		if got != row.want {
			t.Errorf("%q, GOMEMLIMIT %q: %d, want %d", row.container, row.own, got, row.want)
		}
		if got > 0 && debug.SetMemoryLimit(-1) != got {
			t.Errorf("the limit is %d", debug.SetMemoryLimit(-1))
		}
	}
}
