package read

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func outputOf(kind database.Kind) []database.Output {
	return []database.Output{{Name: "a", Columns: []*database.Column{{Name: "a", Kind: kind}}}}
}

func TestValuesInCSV(t *testing.T) {
	for _, c := range []struct {
		name string
		kind database.Kind
		json string
		want string
	}{
		{"a null alone in its row", database.Text, `null`, `""`},
		{"an empty text", database.Text, `""`, `""`},
		{"a text", database.Text, `"plain"`, `plain`},
		{"a comma", database.Text, `"a,b"`, `"a,b"`},
		{"blanks at the ends", database.Text, `" a"`, `" a"`},
		{"a formula", database.Text, `"=HYPERLINK(\"x\")"`, `"'=HYPERLINK(""x"")"`},
		{"a text that looks like a number", database.Text, `"-5"`, `'-5`},
		{"a telephone number", database.Text, `"+48 22"`, `'+48 22`},
		{"a negative integer", database.Integer, `-5`, `-5`},
		{"a negative decimal", database.Decimal, `"-5.00"`, `-5.00`},
		{"a text in a column of numbers", database.Decimal, `"-5+cmd|' /C calc'!A0"`, `'-5+cmd|' /C calc'!A0`},
		{"an infinity", database.Float, `"-Infinity"`, `'-Infinity`},
		{"a truth", database.Boolean, `true`, `true`},
		{"an array", database.Array, `["=1","b"]`, `"[""=1"",""b""]"`},
		{"a document that is a text", database.JSON, `"=1"`, `"""=1"""`},
		{"a document", database.JSON, `{"a": -1}`, `"{""a"": -1}"`},
		{"what is not UTF-8", database.Text, "\"a\xffb\"", "a\ufffdb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			f := newRowFile("csv", &out)
			if err := f.row(outputOf(c.kind), []byte("["+c.json+"]")); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); got != c.want+"\r\n" {
				t.Errorf("got %q, want %q", got, c.want+"\r\n")
			}
		})
	}
}

// Null is nothing between commas, so that it is not the empty text; alone in its row it would be a line that readers pass over.
func TestNullsInCSV(t *testing.T) {
	members := append(outputOf(database.Text), outputOf(database.Integer)...)
	var out bytes.Buffer
	f := newRowFile("csv", &out)
	for _, row := range []string{`[null,null]`, `["",null]`, `["a",1]`} {
		if err := f.row(members, []byte(row)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := out.String(), ",\r\n\"\",\r\na,1\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestARowOfNDJSONIsOneLine(t *testing.T) {
	var out bytes.Buffer
	f := newRowFile("ndjson", &out)
	if err := f.row(nil, []byte("{\"a\":{\n\t\"b\": \"c\\nd\"\r\n}}")); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "{\"a\":{ \t\"b\": \"c\\nd\"  }}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzCSV writes any text, and reads it with another reader: it comes back, perhaps with an apostrophe, and is no formula.
func FuzzCSV(f *testing.F) {
	for _, text := range []string{"", "a", "=1", "\"", ",", "\r\n", " ", "ż", "\x00", "'"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		file := newRowFile("csv", &out)
		if err := file.row(outputOf(database.Text), append(append([]byte("["), quoted...), ']')); err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(&out).ReadAll()
		if err != nil || len(records) != 1 || len(records[0]) != 1 {
			t.Fatalf("%q is written as %v, %v", text, records, err)
		}
		got := records[0][0]
		if strings.ContainsAny(got[:min(1, len(got))], "=+-@\t\r") {
			t.Errorf("%q is a formula", got)
		}
		lines := strings.NewReplacer("\r", "") // encoding/csv reads \r\n as \n
		if lines.Replace(strings.TrimPrefix(got, "'")) != lines.Replace(strings.TrimPrefix(text, "'")) {
			t.Errorf("%q comes back as %q", text, got)
		}
	})
}
