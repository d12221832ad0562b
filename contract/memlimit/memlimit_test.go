package memlimit

import (
	"math"
	"runtime/debug"
	"testing"
)

func TestFourFifthsOfTheContainersMemoryAreTheLimit(t *testing.T) {
	defer debug.SetMemoryLimit(math.MaxInt64)
	for _, row := range []struct {
		container, own string
		want           int64
	}{
		{"268435456", "", 214748364},
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

func TestGarbageIsCollectedSeldomIfMemoryHasRoom(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	const usual = 100
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	for _, row := range []struct {
		name, own string
		soft      int64
		want      int
	}{
		{"the usual limit of a pod", "", 205 << 20, 250},
		{"no limit", "", math.MaxInt64, usual},
		{"little memory", "", 57 << 20, usual},
		{"a goal of the administrator's", "50", 205 << 20, usual},
	} {
		debug.SetGCPercent(usual)
		debug.SetMemoryLimit(row.soft)
		set := PreferSpeed(func(name string) string { return map[string]string{"GOGC": row.own}[name] })
		if got := debug.SetGCPercent(usual); got != row.want || set != (got != usual) {
			t.Errorf("%s: the goal is %d, want %d; set: %t", row.name, got, row.want, set)
		}
	}
}
