package write

import (
	"encoding/json"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// rowsOfAnswers are rows as answers show them.
var rowsOfAnswers = []json.RawMessage{
	nil, json.RawMessage(`null`), json.RawMessage(`{}`),
	json.RawMessage(`{"id":7,"title":"A <b>bold</b> \"title\" & more","price":"12.50","extra":{"a": [1, 2 ], "b":"x y"},"text":"` + "\u2028 é" + `"}`),
}

// An answer has the bytes of encoding/json.
func TestAnswersAreWrittenAsEncodingJSONWritesThem(t *testing.T) {
	changes := &inlineChanges{Created: []inlineRow{{Model: "loan", ID: json.RawMessage(`3`), Notice: "a <notice>"}}}
	for _, row := range rowsOfAnswers {
		for _, inlines := range []*inlineChanges{nil, changes} {
			for _, id := range []json.RawMessage{nil, json.RawMessage(`7`), json.RawMessage(`"a<b"`)} {
				a := created{Success: true, ID: id, Object: row, Inlines: inlines, DryRun: id == nil, Call: string(id), Notice: string(row)}
				isAsMarshaled(t, a.text, a)
			}
			u := updated{Success: true, Object: row, Inlines: inlines, DryRun: inlines == nil, Call: "K7", Notice: string(row)}
			isAsMarshaled(t, u.text, u)
		}
	}
}

func isAsMarshaled(t *testing.T, write func(*call.Room) ([]byte, error), answer any) {
	t.Helper()
	want, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := write(&call.Room{}); err != nil || string(got) != string(want) {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}
