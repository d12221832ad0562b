package database

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
)

// A kept value is read back with its class and its bytes, also out of a document that was written again.
func TestKeptValuesAreReadBack(t *testing.T) {
	for _, value := range []Value{int64(0), int64(-5), int64(math.MaxInt64), 5.0, 0.1, math.Copysign(0, -1), 1e300, 5e-324, math.Inf(1), math.Inf(-1),
		"", "5", "<b>&\u2028", "a\x00b", "\xc3\x28", []byte{}, []byte{0, 255}} {
		raw := AppendKept(nil, value)
		again, err := json.Marshal(map[string]json.RawMessage{"stored": raw})
		if err != nil {
			t.Fatalf("%#v: %s: %v", value, raw, err)
		}
		var document map[string]json.RawMessage
		if err := json.Unmarshal(again, &document); err != nil {
			t.Fatal(err)
		}
		got, err := ParseKept(document["stored"])
		if zero, ok := value.(float64); ok && zero == 0 && err == nil {
			got, value = math.Signbit(got.(float64)), math.Signbit(zero)
		}
		if err != nil || !reflect.DeepEqual(got, value) {
			t.Errorf("%s: %#v %v, want %#v", raw, got, err, value)
		}
	}
	for _, raw := range []string{"", "{}", "null", "true", "[]", `{"bytes":"?"}`, `{"other":"x"}`, `{"bytes":5}`} {
		if value, err := ParseKept(json.RawMessage(raw)); err == nil {
			t.Errorf("%s: %#v", raw, value)
		}
	}
}
