package read

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
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
		{"a formula behind blanks", database.Text, `"  =1+1"`, `'  =1+1`},
		{"a formula behind a byte order mark", database.Text, `"\ufeff=1+1"`, "'\ufeff=1+1"},
		{"a formula behind a NUL", database.Text, `"\u0000=1+1"`, "'\ufffd=1+1"},
		{"a formula on the next line", database.Text, `"\n=1+1"`, "\"'\n=1+1\""},
		{"an at sign", database.Text, `"@SUM(A1)"`, `'@SUM(A1)`},
		{"a tab", database.Text, `"\ta"`, "'\ta"},
		{"a carriage return", database.Text, `"\ra"`, "\"'\ra\""},
		{"a wide formula", database.Text, `"＝1+1"`, "'＝1+1"},
		{"a sign within a text", database.Text, `"1=1, a-b"`, `"1=1, a-b"`},
		{"an apostrophe", database.Text, `"'=1"`, `'=1`},
		{"a NUL", database.Text, `"a\u0000b"`, "a\ufffdb"},
		{"lines", database.Text, `"a\nb\r\nc"`, "\"a\nb\r\nc\""},
		{"quotes", database.Text, `"\"a\""`, `"""a"""`},
		{"an integer beyond 2^53", database.Integer, `-9223372036854775808`, `-9223372036854775808`},
		{"a decimal beyond all floats", database.Decimal, `"123456789012345678901234567890.123456"`, `123456789012345678901234567890.123456`},
		{"a small float", database.Float, `-2.25e-10`, `-2.25e-10`},
		{"a moment with its zone", database.TimestampTZ, `"2024-02-29T12:30:00.5+02:00"`, `2024-02-29T12:30:00.5+02:00`},
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

// FuzzCSV writes any text, a null and a document, and reads them to the letter: the text comes back, perhaps with an apostrophe, and is
// no formula. Another reader finds as many fields.
func FuzzCSV(f *testing.F) {
	for _, text := range []string{"", "a", "=1", "\"", ",", "\r\n", " ", "ż", "\x00", "'", "\xff", "\ufeff=", "\u200b-1", "\x00\"\n@", "＝1", "\u00a0+1", "-5"} {
		f.Add(text)
	}
	members := slices.Concat(outputOf(database.Text), outputOf(database.Text), outputOf(database.JSON))
	f.Fuzz(func(t *testing.T, text string) {
		quoted := jsontext.AppendString(nil, text)
		document := append(append([]byte(`{"a":`), quoted...), '}')
		var out bytes.Buffer
		file := newRowFile("csv", &out)
		if err := file.row(members, slices.Concat([]byte("["), quoted, []byte(",null,"), document, []byte("]"))); err != nil {
			t.Fatal(err)
		}
		fields, err := readRecord(out.String())
		if err != nil || len(fields) != 3 {
			t.Fatalf("%q is written as %q: %v, %v", text, out.String(), fields, err)
		}
		var plain string
		if err := json.Unmarshal(quoted, &plain); err != nil {
			t.Fatal(err)
		}
		want := strings.ReplaceAll(plain, "\x00", "\ufffd")
		got := fields[0]
		if got != want && got != "'"+want {
			t.Errorf("%q comes back as %q", text, got)
		}
		seen := strings.TrimFunc(got, func(r rune) bool { return unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf) })
		if seen != "" && strings.ContainsAny(seen[:1], "=+-@") || strings.HasPrefix(got, "\t") || strings.HasPrefix(got, "\r") {
			t.Errorf("%q is a formula", got)
		}
		var read struct{ A string }
		if err := json.Unmarshal([]byte(fields[2]), &read); fields[1] != "" || err != nil || read.A != plain {
			t.Errorf("null comes back as %q, the document of %q as %q, %v", fields[1], text, fields[2], err)
		}
		if records, err := csv.NewReader(&out).ReadAll(); err != nil || len(records) != 1 || len(records[0]) != 3 {
			t.Errorf("encoding/csv reads %q, %v", records, err)
		}
	})
}

// readRecord reads one record by RFC 4180, and takes nothing that the grammar does not have but the characters that are no ASCII, or
// are controls, in fields without quotes.
func readRecord(text string) (fields []string, err error) {
	for {
		var field strings.Builder
		if rest, quoted := strings.CutPrefix(text, `"`); quoted {
			for text = rest; ; text = text[1:] {
				if strings.HasPrefix(text, `""`) {
					text = text[1:]
				} else if strings.HasPrefix(text, `"`) {
					text = text[1:]
					break
				} else if text == "" {
					return nil, errors.New("a quote is not closed")
				}
				field.WriteByte(text[0])
			}
		} else {
			n := strings.IndexAny(text, ",\r\n\"")
			if n < 0 {
				return nil, errors.New("the record has no end")
			}
			field.WriteString(text[:n])
			text = text[n:]
		}
		fields = append(fields, field.String())
		switch rest, more := strings.CutPrefix(text, ","); {
		case more:
			text = rest
		case text == "\r\n":
			return fields, nil
		default:
			return nil, fmt.Errorf("%q follows a field", text)
		}
	}
}
