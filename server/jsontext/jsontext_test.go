package jsontext_test

import (
	"encoding/json"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

func TestValues(t *testing.T) {
	for _, test := range []struct {
		name   string
		append func(dst []byte, s string) []byte
		cases  map[string]string
	}{
		{"string", jsontext.AppendString[string], map[string]string{
			"": `""`, "plain": `"plain"`, "a\"b\\c": `"a\"b\\c"`, "\n\r\t\x00\x1f": `"\n\r\t\u0000\u001f"`,
			"naïve 文 🎉": `"naïve 文 🎉"`, "</script>&": `"</script>&"`, "\u007f\ufffd": "\"\u007f\ufffd\"",
			"a\xffb": "\"a\ufffdb\"", "cut \xf0\x9f\x8e": "\"cut \ufffd\ufffd\ufffd\"", "\xed\xa0\x80": "\"\ufffd\ufffd\ufffd\"",
		}},
		{"integer", jsontext.AppendInteger[string], map[string]string{
			"0": "0", "-7": "-7", "9007199254740991": "9007199254740991", "-9007199254740991": "-9007199254740991",
			"9007199254740992": `"9007199254740992"`, "-9007199254740993": `"-9007199254740993"`,
			"92233720368547758070": `"92233720368547758070"`, "": `""`, "-": `"-"`, "007": `"007"`, "1,2": `"1,2"`, "1e5": `"1e5"`,
		}},
		{"number", jsontext.AppendNumber[string], map[string]string{
			"0": "0", "-0": "-0", "1.5": "1.5", "1e+20": "1e+20", "-2.5E-7": "-2.5E-7",
			"NaN": `"NaN"`, "-Infinity": `"-Infinity"`, "01": `"01"`, ".5": `".5"`, "5.": `"5."`, "1e": `"1e"`, "": `""`, "1 ": `"1 "`, "-": `"-"`,
		}},
		{"timestamp", jsontext.AppendTimestamp[string], map[string]string{
			"2009-01-01 00:00:00": "2009-01-01T00:00:00", "2009-01-01 00:00:00.125": "2009-01-01T00:00:00.125",
			"2009-01-01 12:34": "2009-01-01T12:34:00", "2009-01-01T12:34:56": "2009-01-01T12:34:56",
			"2009-01-01 00:00:00+00": "2009-01-01T00:00:00Z", "2009-01-01 00:00:00.5+00": "2009-01-01T00:00:00.5Z",
			"2009-01-01 00:00:00Z": "2009-01-01T00:00:00Z", "2009-01-01 00:00:00+00:00": "2009-01-01T00:00:00Z",
			"2009-01-01 05:30:00+05:30": "2009-01-01T05:30:00+05:30", "2009-01-01 05:00:00-07": "2009-01-01T05:00:00-07:00",
			"infinity": "infinity", "-infinity": "-infinity", "0044-03-15 00:00:00 BC": "0044-03-15 00:00:00 BC",
			"10000-01-01 00:00:00": "10000-01-01 00:00:00", "2009-01-01": "2009-01-01", "": "", "soon": "soon",
			"2009-01-01 00:00:00.": "2009-01-01 00:00:00.", "2009-01-01 00:00:00+1": "2009-01-01 00:00:00+1", "\"\n": `\"\n`,
		}},
		{"timestamp as text", jsontext.AppendTimestampText[string], map[string]string{
			"2009-01-01 00:00:00.125": "2009-01-01T00:00:00.125", "2009-01-01 00:00:00+00": "2009-01-01T00:00:00Z", "\"\n": "\"\n", "": "",
		}},
		{"instant", jsontext.AppendInstant[string], map[string]string{
			"2009-01-01 00:00:00": "2009-01-01T00:00:00Z", "2009-01-01 00:00": "2009-01-01T00:00:00Z", "2009-01-01 00:00:00.1234567": "2009-01-01T00:00:00.1234567Z",
			"2009-01-01 00:00:00.5Z": "2009-01-01T00:00:00.5Z", "2009-01-01 05:00:00-07": "2009-01-01T05:00:00-07:00",
			"2009-01-01 05:30:00+05:30": "2009-01-01T05:30:00+05:30", "2009-01-01": "2009-01-01", "": "", "\"\n": `\"\n`,
		}},
		{"instant as text", jsontext.AppendInstantText[string], map[string]string{
			"2009-01-01 00:00:00": "2009-01-01T00:00:00Z", "2009-01-01 00:00:00+00": "2009-01-01T00:00:00Z", "\"\n": "\"\n", "": "",
		}},
		{"part of a key", jsontext.AppendPercentEncoded[string], map[string]string{
			"plain-1.2_~": "plain-1.2_~", "a,b/c d%": "a%2Cb%2Fc%20d%25", "é": "%C3%A9", "": "",
		}},
	} {
		for in, want := range test.cases {
			t.Run(test.name+" "+in, func(t *testing.T) {
				if got := string(test.append([]byte("x"), in)); got != "x"+want {
					t.Errorf("got %s, want %s", got[1:], want)
				}
			})
		}
	}
}

// Whatever byte stands at a place of a timestamp, it is one if and only if it looks like one.
func TestEachByteOfATimestampCounts(t *testing.T) {
	form := regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2})?$`)
	for _, text := range []string{"2009-01-02 03:04:05", "2009-10-29T13:54:59", "2009-10-29 13:54"} {
		for at := range len(text) {
			for c := range 256 {
				changed := []byte(text)
				changed[at] = byte(c)
				want := string(changed)
				if form.MatchString(want) {
					want = (want[:10] + "T" + want[11:] + ":00")[:19]
				}
				if got := string(jsontext.AppendTimestampText(nil, changed)); got != want {
					t.Fatalf("%q is %q, want %q", changed, got, want)
				}
			}
		}
	}
}

func TestFloats(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", 1: "1", -1.5: "-1.5", 0.1: "0.1", 1e21: "1e+21", 1e-7: "1e-07", 123456789.25: "123456789.25",
		math.Inf(1): `"Infinity"`, math.Inf(-1): `"-Infinity"`, math.MaxFloat64: "1.7976931348623157e+308",
	} {
		if got := string(jsontext.AppendFloat(nil, f)); got != want {
			t.Errorf("%v is %s, want %s", f, got, want)
		}
	}
	if got := string(jsontext.AppendFloat(nil, math.NaN())); got != `"NaN"` {
		t.Errorf("NaN is %s", got)
	}
	if got := string(jsontext.AppendFloatText(nil, math.Inf(-1))); got != "-Infinity" {
		t.Errorf("as text, an infinity is %s", got)
	}
}

func TestIntegersBeyondExactness(t *testing.T) {
	for _, n := range []int64{0, jsontext.MaxSafeInteger, -jsontext.MaxSafeInteger, jsontext.MaxSafeInteger + 1, math.MaxInt64, math.MinInt64} {
		digits := strconv.FormatInt(n, 10)
		want := string(jsontext.AppendInteger(nil, digits))
		if got := string(jsontext.AppendInt(nil, n)); got != want || strings.HasPrefix(got, `"`) != (n > jsontext.MaxSafeInteger || n < -jsontext.MaxSafeInteger) {
			t.Errorf("%d is %s, and as text %s", n, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	var m jsontext.Names
	m.Add("left over")
	m.Reset()
	m.Add("id")
	m.Add(`a"b`)
	got := append(m.Append(append(m.Append([]byte("{"), 0), '1'), 1), "2}"...)
	if string(got) != `{"id":1,"a\"b":2}` {
		t.Errorf("got %s", got)
	}
}

func FuzzStringIsValidJSON(f *testing.F) {
	for _, seed := range []string{"", "plain", "\"\\\n\x00", "\xff\xfe", "\xf0\x9f\x8e\x89", "\u2028"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := jsontext.AppendString(nil, s)
		var back string
		if err := json.Unmarshal(out, &back); err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		if want := strings.ToValidUTF8(s, "\ufffd"); back != want && back != string([]rune(s)) {
			t.Errorf("%q came back as %q", s, back)
		}
		if again := jsontext.AppendString(nil, []byte(s)); string(again) != string(out) {
			t.Errorf("as bytes it is %q, as string %q", again, out)
		}
		if again := jsontext.AppendDocument(nil, []byte(s)); string(again) != string(out) {
			t.Errorf("as a document it is %q, as string %q", again, out)
		}
	})
}

func FuzzValuesAreValidJSON(f *testing.F) {
	for _, seed := range []string{"1", "-0.5e7", "9007199254740993", "2009-01-01 00:00:00+00", "NaN", "1,\"x\":2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		timestamp := append(jsontext.AppendTimestamp([]byte(`"`), s), '"')
		instant := append(jsontext.AppendInstant([]byte(`"`), s), '"')
		for _, out := range [][]byte{jsontext.AppendInteger(nil, s), jsontext.AppendNumber(nil, s), timestamp, instant} {
			if !json.Valid(out) {
				t.Errorf("%q became %q", s, out)
			}
		}
		if back, err := url.PathUnescape(string(jsontext.AppendPercentEncoded(nil, s))); err != nil || back != s {
			t.Errorf("%q came back as %q, %v", s, back, err)
		}
	})
}

func BenchmarkAppendString(b *testing.B) {
	for name, text := range map[string]string{"ASCII": strings.Repeat("A sentence about it. ", 10), "beyond": strings.Repeat("Ein Satz über Bücher. ", 10)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			out := make([]byte, 0, 1024)
			for b.Loop() {
				out = jsontext.AppendString(out[:0], text)
			}
		})
	}
}
