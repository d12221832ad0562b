package postgres

import (
	"encoding/json"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/rowtext"
)

func TestTextsThatAreNoArrays(t *testing.T) {
	for _, text := range []string{"", "{", "}", "{1", "{1,}", "{,1}", "{1}x", `{"a}`, `{"a"b}`, "{{1}", "{{{{{{{1}}}}}}}", "[0:1]", "[0:1]=", "1", `{a"b}`} {
		got := string(appendArray([]byte("x"), database.Text, []byte(text)))
		want, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got != "x"+string(want) {
			t.Errorf("%s became %s", text, got)
		}
	}
}

// FuzzArray checks that any input gives valid JSON. JSON elements are left out: the server checks those.
func FuzzArray(f *testing.F) {
	for _, seed := range []string{"{}", "{1,NULL}", `{"a \"b\"",c}`, "{{1,2},{3,4}}", "[0:1]={1,2}", `{"\\x00ff"}`, "{t,f}", `{"2009-01-01 00:00:00+00"}`, "{1.5,NaN}"} {
		for kind := range byte(database.Array) {
			f.Add(seed, kind)
		}
	}
	f.Fuzz(func(t *testing.T, text string, kind byte) {
		element := database.Kind(kind % byte(database.Array))
		if element == database.JSON {
			element = database.Text
		}
		if out := appendArray(nil, element, []byte(text)); !json.Valid(out) {
			t.Errorf("%q of %v became %q", text, element, out)
		}
		if out := appendScalar(nil, element, []byte(text)); !json.Valid(out) {
			t.Errorf("%q as %v became %q", text, element, out)
		}
	})
}

func BenchmarkRow(b *testing.B) {
	column := func(kind database.Kind) []*database.Column {
		return []*database.Column{{Kind: kind, Element: database.Integer}}
	}
	outputs := []database.Output{
		{Name: "id", Columns: column(database.Integer)}, {Name: "title", Columns: column(database.Text)},
		{Name: "price", Columns: column(database.Decimal)}, {Name: "in_stock", Columns: column(database.Boolean)},
		{Name: "created_at", Columns: column(database.TimestampTZ)}, {Name: "cover", Columns: column(database.Bytes)},
		{Name: "ratings", Columns: column(database.Array)},
	}
	values := [][]byte{[]byte("4711"), []byte(`A title with "quotes" in it`), []byte("12.50"), []byte("t"),
		[]byte("2026-01-02 03:04:05.678+00"), []byte(`\x00ff10aabb`), []byte("{1,2,3,NULL}")}
	var w rowtext.Writer[[]byte]
	w.Prepare(&cells{}, outputs, 16<<10, database.RowObjects)
	out := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		out = w.Append(out[:0], values)
	}
}
