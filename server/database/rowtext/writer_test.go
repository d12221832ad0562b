package rowtext_test

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/rowtext"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// engine is one whose driver hands out texts, nil if they are NULL.
type engine struct{}

func (engine) IsNull(v *string) bool { return v == nil }

func (engine) AppendJSON(dst []byte, c *database.Column, v *string) []byte {
	switch c.Kind {
	case database.Integer:
		return append(dst, *v...)
	case database.JSON:
		return append(dst, *v...)
	case database.Bytes:
		dst = base64.StdEncoding.AppendEncode(append(dst, '"'), []byte(*v))
		return append(dst, '"')
	}
	return jsontext.AppendString(dst, *v)
}

func (engine) AppendPlain(dst []byte, c *database.Column, v *string) []byte {
	if c.Kind == database.Bytes {
		return base64.StdEncoding.AppendEncode(dst, []byte(*v))
	}
	return append(dst, *v...)
}

func (engine) Size(_ *database.Column, v *string) int { return len(*v) }

func (engine) Value(c *database.Column, v *string) database.Value {
	if c.Kind == database.Integer {
		n, _ := strconv.ParseInt(*v, 10, 64)
		return n
	}
	return strings.Clone(*v)
}

func some(texts ...string) []*string {
	all := make([]*string, len(texts))
	for i := range texts {
		if texts[i] != "NULL" {
			all[i] = &texts[i]
		}
	}
	return all
}

func column(kind database.Kind) *database.Column { return &database.Column{Name: "c", Kind: kind} }

func TestAppend(t *testing.T) {
	text, number, document, blob := column(database.Text), column(database.Integer), column(database.JSON), column(database.Bytes)
	one := func(c *database.Column) database.Output {
		return database.Output{Name: "v", Columns: []*database.Column{c}}
	}
	masked := func(c *database.Column, keep int) database.Output {
		o := one(c)
		o.Mask, o.KeepLast = true, keep
		return o
	}
	key := database.Output{Name: "id", Columns: []*database.Column{number, text}, Composite: true}
	hidden := key
	hidden.Mask, hidden.KeepLast = true, 2
	for _, test := range []struct {
		name      string
		outputs   []database.Output
		values    []*string
		maxValue  int
		want      string
		shortened bool
	}{
		{"no members", nil, some("not asked for"), 0, `{}`, false},
		{"null", []database.Output{one(text)}, some("NULL"), 0, `{"v":null}`, false},
		{"members in order", []database.Output{one(number), {Name: `a "b"`, Columns: []*database.Column{text}}}, some("7", "x\n"), 0, `{"v":7,"a \"b\"":"x\n"}`, false},
		{"values behind the members", []database.Output{one(number)}, some("7", "8"), 0, `{"v":7}`, false},

		{"a key of two columns", []database.Output{key, one(text)}, some("7", "a,b/é", "x"), 0, `{"id":"7,a%2Cb%2F%C3%A9","v":"x"}`, false},
		{"a key with a part that is null", []database.Output{key}, some("7", "NULL"), 0, `{"id":null}`, false},
		{"a key is not cut", []database.Output{key}, some("7", "abcdef"), 3, `{"id":"7,abcdef"}`, false},

		{"masked", []database.Output{masked(text, 0)}, some("secret"), 0, `{"v":"****"}`, false},
		{"masked but for its end", []database.Output{masked(text, 4)}, some("4000123456781234"), 0, `{"v":"****1234"}`, false},
		{"just long enough to keep an end", []database.Output{masked(text, 4)}, some("123456789012"), 0, `{"v":"****9012"}`, false},
		{"too short to keep an end", []database.Output{masked(text, 4)}, some("12345678901"), 0, `{"v":"****"}`, false},
		{"masked, counted in characters", []database.Output{masked(text, 2)}, some("ééééééé\""), 0, `{"v":"****é\""}`, false},
		{"masked, too few characters", []database.Output{masked(text, 2)}, some("ééééééé"), 0, `{"v":"****"}`, false},
		{"masked number", []database.Output{masked(number, 1)}, some("1234567"), 0, `{"v":"****7"}`, false},
		{"masked document", []database.Output{masked(document, 2)}, some(`{"a":"secret"}`), 0, `{"v":"****\"}"}`, false},
		{"masked null", []database.Output{masked(text, 2)}, some("NULL"), 0, `{"v":null}`, false},
		{"masked and long", []database.Output{masked(text, 2)}, some("0123456789"), 4, `{"v":"****89"}`, false},
		{"masked, no UTF-8", []database.Output{masked(text, 1)}, some("\xff\xff\xff\xff\xff\xff"), 0, "{\"v\":\"****\uFFFD\"}", false},
		{"a masked key shows no end", []database.Output{hidden}, some("1234567", "1234567"), 0, `{"id":"****"}`, false},

		{"as long as it may be", []database.Output{one(text)}, some("abcd"), 4, `{"v":"abcd"}`, false},
		{"longer", []database.Output{one(text)}, some("abcde"), 4, `{"v":"abcd...[cut: 5 bytes in all]"}`, true},
		{"cut before a character", []database.Output{one(text)}, some("abcé!"), 4, `{"v":"abc...[cut: 6 bytes in all]"}`, true},
		{"cut before a long character", []database.Output{one(text)}, some("😀😀"), 7, `{"v":"😀...[cut: 8 bytes in all]"}`, true},
		{"cut in what is no UTF-8", []database.Output{one(text)}, some("abc\xbf\xbf\xbf\xbf\xbf\xbf"), 8, "{\"v\":\"abc\uFFFD\uFFFD...[cut: 9 bytes in all]\"}", true},
		{"a quote at the cut", []database.Output{one(text)}, some(`ab"de`), 3, `{"v":"ab\"...[cut: 5 bytes in all]"}`, true},
		{"a large one", []database.Output{one(text)}, some(strings.Repeat("x", 1<<20)), 2, `{"v":"xx...[cut: 1,048,576 bytes in all]"}`, true},
		{"a thousand", []database.Output{one(text)}, some(strings.Repeat("x", 1000)), 1, `{"v":"x...[cut: 1,000 bytes in all]"}`, true},
		{"document", []database.Output{one(document)}, some(`{"a":"b"}`), 5, `{"v":"{\"a\":...[cut: 9 bytes in all]"}`, true},
		{"bytes can be decoded", []database.Output{one(blob)}, some("0123456789"), 7, `{"v":"MDEy...[cut: 10 bytes in all]"}`, true},
		{"bytes that fit", []database.Output{one(blob)}, some("012345"), 6, `{"v":"MDEyMzQ1"}`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var w rowtext.Writer[*string]
			for range 2 { // a writer that is used again
				w.Prepare(engine{}, test.outputs, test.maxValue, database.RowObjects)
				got := string(w.Append([]byte("before "), test.values))
				if got != "before "+test.want {
					t.Errorf("got %s, want %s", got, test.want)
				}
				if !json.Valid([]byte(got[len("before "):])) {
					t.Errorf("no JSON: %s", got)
				}
				if w.Shortened() != test.shortened {
					t.Errorf("shortened is %v", w.Shortened())
				}
				w.Reset()
				if w.Shortened() {
					t.Error("it is still shortened after Reset")
				}
			}
		})
	}
}

func TestQuotientsAreTrimmed(t *testing.T) {
	groups := (&database.Grouping{Measures: []database.Measure{{}, {Func: database.Sum, Ref: database.Ref{Column: &database.Column{Kind: database.Decimal, Scale: 8}}},
		{Func: database.Ratio, Dividend: 1}}}).Source()
	sum, ratio := groups.Table().Columns[1], groups.Table().Columns[2]
	var w rowtext.Writer[*string]
	w.Prepare(engine{}, []database.Output{{Name: "s", Columns: []*database.Column{sum}}, {Name: "r", Columns: []*database.Column{ratio}}}, 0, database.RowObjects)
	for text, want := range map[string]string{
		"34.500000000000": "34.500000", "3.333333333333": "3.333333333333", "-0.123456700000": "-0.1234567", "0.000000000000": "0.000000", "100.000000000000": "100.000000", "NaN": "NaN", "Infinity": "Infinity",
	} {
		if got := string(w.Append(nil, some("1.50000000", text))); got != `{"s":"1.50000000","r":"`+want+`"}` {
			t.Errorf("%s is %s", text, got)
		}
	}
}

func TestValues(t *testing.T) {
	var w rowtext.Writer[*string]
	w.Prepare(engine{}, nil, 1, database.RowObjects)
	columns := []*database.Column{column(database.Integer), column(database.Text), column(database.Text)}
	got := w.Values(database.Refs(columns...), some("7", "long", "NULL"))
	if want := []database.Value{int64(7), "long", nil}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
}

func row() ([]database.Output, []*string) {
	outputs := []database.Output{
		{Name: "id", Columns: []*database.Column{column(database.Integer), column(database.Text)}, Composite: true},
		{Name: "title", Columns: []*database.Column{column(database.Text)}},
		{Name: "year", Columns: []*database.Column{column(database.Integer)}},
		{Name: "card", Columns: []*database.Column{column(database.Text)}, Mask: true, KeepLast: 4},
		{Name: "notes", Columns: []*database.Column{column(database.Text)}},
	}
	return outputs, some("1", "a b", `The "Title"`, "1987", "4000123412341234", strings.Repeat("é", 100))
}

// An array has the values of the object, in its order.
func TestArrays(t *testing.T) {
	outputs, values := row()
	var w rowtext.Writer[*string]
	for range 2 { // a writer that is used again
		w.Prepare(engine{}, outputs, 64, database.RowArrays)
		const want = `["1,a%20b","The \"Title\"",1987,"****1234","éééééééééééééééééééééééééééééééé...[cut: 200 bytes in all]"]`
		if got := string(w.Append(nil, values)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		w.Reset()
		w.Prepare(engine{}, outputs[2:3], 64, database.RowObjects)
		if got := string(w.Append(nil, values[3:])); got != `{"year":1987}` {
			t.Errorf("an object after arrays is %s", got)
		}
		w.Reset()
	}
	w.Prepare(engine{}, nil, 0, database.RowArrays)
	if got := string(w.Append(nil, values)); got != "[]" {
		t.Errorf("a row without members is %s", got)
	}
}

// forms are the ways to write a row.
var forms = []struct {
	name string
	form database.RowForm
}{{"objects", database.RowObjects}, {"arrays", database.RowArrays}}

func TestRowsAllocateNothing(t *testing.T) {
	outputs, values := row()
	for _, f := range forms {
		var w rowtext.Writer[*string]
		var out []byte
		write := func() {
			w.Prepare(engine{}, outputs, 64, f.form)
			out = w.Append(out[:0], values)
			w.Reset()
		}
		write()
		if n := testing.AllocsPerRun(100, write); n != 0 {
			t.Errorf("%s: %v allocations for each row, want none", f.name, n)
		}
	}
}

func TestARowWithoutMemoryDoesNotGrowStepByStep(t *testing.T) {
	outputs, values := row()
	var w rowtext.Writer[*string]
	w.Prepare(engine{}, outputs, 1<<20, database.RowObjects)
	if n := testing.AllocsPerRun(100, func() { w.Append(nil, values) }); n > 2 { // one of the row's values is long
		t.Errorf("%v allocations, want at most 2", n)
	}
}

func BenchmarkAppend(b *testing.B) {
	outputs, values := row()
	for _, f := range forms {
		b.Run(f.name, func(b *testing.B) {
			var w rowtext.Writer[*string]
			w.Prepare(engine{}, outputs, 1<<20, f.form)
			var out []byte
			b.ReportAllocs()
			for b.Loop() {
				out = w.Append(out[:0], values)
			}
			b.SetBytes(int64(len(out)))
		})
	}
}
