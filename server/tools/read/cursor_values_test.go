package read

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func TestCursorValuesComeBackExactly(t *testing.T) {
	for _, value := range []database.Value{
		nil, false, true, int64(0), int64(-1), int64(math.MinInt64), int64(math.MaxInt64), uint64(math.MaxUint64), 0.1, math.Inf(-1),
		math.Copysign(0, -1), "", "ü \x00 \xff", []byte{}, []byte{0, 255},
	} {
		values := []database.Value{value, "behind", nil}
		got, ok := parseValues(encodeValues(values), len(values))
		if !ok || !reflect.DeepEqual(got, values) {
			t.Errorf("%#v came back as %#v, %v", values, got, ok)
		}
	}
	nan, ok := parseValues(encodeValues([]database.Value{math.NaN()}), 1)
	if f, isFloat := nan[0].(float64); !ok || !isFloat || !math.IsNaN(f) {
		t.Errorf("NaN came back as %v", nan)
	}
}

func TestCursorValuesOfAnotherFormAreRefused(t *testing.T) {
	whole := encodeValues([]database.Value{"text", int64(300), 1.5})
	for i := range whole {
		if got, ok := parseValues(whole[:i], 3); ok {
			t.Errorf("the first %d bytes are taken as %v", i, got)
		}
	}
	if got, ok := parseValues(append(whole, valueNull), 3); ok {
		t.Errorf("one too many is taken as %v", got)
	}
	if got, ok := parseValues([]byte{99}, 1); ok {
		t.Errorf("an unknown kind is taken as %v", got)
	}
}

func FuzzCursorValues(f *testing.F) {
	f.Add(encodeValues([]database.Value{"text", int64(300), 1.5, nil, true, []byte("x"), uint64(7)}), 7)
	f.Fuzz(func(t *testing.T, plain []byte, count int) {
		values, ok := parseValues(plain, max(0, min(count, 100)))
		if !ok {
			return
		}
		again, ok := parseValues(encodeValues(values), len(values))
		if a, b := fmt.Sprintf("%#v", again), fmt.Sprintf("%#v", values); !ok || a != b {
			t.Errorf("%s came back as %s", b, a)
		}
	})
}
