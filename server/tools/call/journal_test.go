package call

import (
	"encoding/json"
	"testing"
)

// A change has the bytes of encoding/json, as the journal's readers are made for them.
func TestChangesAreWrittenAsEncodingJSONWritesThem(t *testing.T) {
	values := []json.RawMessage{nil, json.RawMessage(`null`), json.RawMessage(`"a <b> & \"c\""`), json.RawMessage(`{"a": [1, "x y"]}`)}
	for _, before := range values {
		for _, after := range values {
			for _, stored := range values {
				change := FieldChange{Before: before, After: after, Stored: stored}
				want, err := json.Marshal(change)
				if err != nil {
					t.Fatal(err)
				}
				if got := change.AppendTo(nil); string(got) != string(want) {
					t.Errorf("got %s, want %s", got, want)
				}
			}
		}
	}
}
