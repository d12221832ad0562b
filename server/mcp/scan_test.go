package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestScanRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                        ``,
		"space alone":                    " \n",
		"two values":                     `{} {}`,
		"a trailing comma in an object":  `{"a":1,}`,
		"a trailing comma in an array":   `[1,]`,
		"a missing colon":                `{"a" 1}`,
		"a name without quotes":          `{a:1}`,
		"an open object":                 `{"a":1`,
		"an open string":                 `{"a":"b`,
		"a byte order mark":              "\uFEFF{}",
		"bad UTF-8 in a value":           "{\"a\":\"\xff\"}",
		"bad UTF-8 in a name":            "{\"\xc3\":1}",
		"an overlong encoding":           "{\"a\":\"\xc0\xaf\"}",
		"a surrogate in UTF-8":           "{\"a\":\"\xed\xa0\x80\"}",
		"a lone high surrogate":          `{"a":"\ud800"}`,
		"a lone low surrogate":           `{"a":"\udc00"}`,
		"a high surrogate before a text": `{"a":"\ud800x"}`,
		"a bad escape":                   `{"a":"\x"}`,
		"a short escape":                 `{"a":"\u12"}`,
		"a line break in a string":       "{\"a\":\"\n\"}",
		"a leading zero":                 `{"a":01}`,
		"a plus sign":                    `{"a":+1}`,
		"no digit after the point":       `{"a":1.}`,
		"no digit in the exponent":       `{"a":1e}`,
		"a minus alone":                  `{"a":-}`,
		"NaN":                            `{"a":NaN}`,
		"half a literal":                 `{"a":tru}`,
		"a NUL byte":                     "{}\x00",
		"a comment":                      `{} // no`,
		"a member twice":                 `{"a":1,"a":1}`,
		"a member twice, once escaped":   `{"name":1,"n\u0061me":2}`,
		"a member twice deep down":       `{"params":{"arguments":{"data":[{"x":1,"y":2,"x":3}]}}}`,
		"a member twice among many":      `{` + manyMembers(200) + `,"m77":0}`,
		"65 arrays":                      strings.Repeat("[", 65) + strings.Repeat("]", 65),
		"65 objects":                     strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65),
	} {
		t.Run(name, func(t *testing.T) {
			var s scanner
			if err := s.scan([]byte(text), &body{}); err == nil {
				t.Errorf("%q was accepted", text)
			}
		})
	}
}

func TestScanAccepts(t *testing.T) {
	for name, text := range map[string]string{
		"an object":                      `{}`,
		"space everywhere":               " {\t\"a\" : [ 1 , 2 ] ,\r\n\"b\" : { } } ",
		"numbers":                        `[0,-0,1.5,-1e9,1E+2,1e-2,12345678901234567890]`,
		"literals":                       `[true,false,null]`,
		"escapes":                        `{"a":"\"\\\/\b\f\n\r\té\ud83d\ude00"}`,
		"text of many scripts":           `{"ключ":"値 😀"}`,
		"one name in different objects":  `[{"a":1},{"a":{"a":1}}]`,
		"names that differ in case":      `{"a":1,"A":2}`,
		"many members":                   `{` + manyMembers(5000) + `}`,
		"64 arrays":                      strings.Repeat("[", 64) + strings.Repeat("]", 64),
		"64 objects":                     strings.Repeat(`{"a":`, 64) + "1" + strings.Repeat("}", 64),
		"a replacement character":        `{"a":"\ufffd"}`,
		"the same name in a later batch": `[{"id":1,"method":"a"},{"id":1,"method":"a"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			var s scanner
			if err := s.scan([]byte(text), &body{}); err != nil {
				t.Errorf("%.80q: %v", text, err)
			}
		})
	}
}

func manyMembers(n int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(`"m%d":%d`, i, i)
	}
	return strings.Join(parts, ",")
}

func TestScanFindsMembers(t *testing.T) {
	var s scanner
	var b body
	text := `{"x":{"name":"no"}, "jsonrpc":"2.0", "id" : 7 ,"method":"tools/call","par\u0061ms":{"name":"list_book","arguments": {"limit":1} ,
		"other":{"name":"no"},"protocolVersion":"v"},"name":"n","arguments":[1]}`
	if err := s.scan([]byte(text), &b); err != nil {
		t.Fatal(err)
	}
	m := b.messages[0]
	for _, c := range []struct{ name, got, want string }{
		{"jsonrpc", string(m.jsonrpc), `"2.0"`},
		{"id", string(m.id), `7`},
		{"method", string(m.method), `"tools/call"`},
		{"name", string(m.name), `"n"`},
		{"arguments", string(m.arguments), `[1]`},
		{"params.name", string(m.inside.name), `"list_book"`},
		{"params.arguments", string(m.inside.arguments), `{"limit":1}`},
		{"params.protocolVersion", string(m.inside.protocolVersion), `"v"`},
	} {
		if c.got != c.want {
			t.Errorf("%s is %q, want %q", c.name, c.got, c.want)
		}
	}
}

func TestScannerIsReused(t *testing.T) {
	var s scanner
	var b body
	for range 2 {
		if err := s.scan([]byte(`[{"id":1,"params":{"name":"a"}}]`), &b); err != nil {
			t.Fatal(err)
		}
		if err := s.scan([]byte(`{"method":"b"}`), &b); err != nil {
			t.Fatal(err)
		}
		if m := b.messages[0]; m.id != nil || m.inside.name != nil || string(m.method) != `"b"` || b.elements != 0 {
			t.Errorf("the message holds what another one said: %+v", m)
		}
	}
}

// oracle is an independent, slow scanner made of encoding/json, which the scanner must agree with.
func oracle(data []byte) bool {
	if !json.Valid(data) || !utf8.Valid(data) {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	type level struct {
		names  map[string]bool
		isName bool
	}
	var open []*level
	for {
		token, err := d.Token()
		if err == io.EOF {
			return true
		}
		if err != nil {
			return false
		}
		if len(open) > 0 && open[len(open)-1].names != nil && token != json.Delim('}') {
			top := open[len(open)-1]
			if top.isName = !top.isName; top.isName {
				name := token.(string)
				if top.names[name] {
					return false
				}
				top.names[name] = true
				continue
			}
		}
		switch token {
		case json.Delim('{'):
			open = append(open, &level{names: map[string]bool{}})
		case json.Delim('['):
			open = append(open, &level{})
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
		if len(open) > maxDepth {
			return false
		}
	}
}

var anySurrogate = regexp.MustCompile(`\\u[dD][89a-fA-F]`)

func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		`{"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_book","arguments":{"filters":{"a__in":[1,2.5e3,null]}}}}`,
		`[{"id":"x","method":"ping"},1,[],"a"]`,
		`{"a":1,"\u0061":2}`, `{"a":"\ud83d\ude00"}`, `{"a":"\ud83d"}`, `{"é":"\\\"/"}`, "{\"a\":\"\xff\"}", `[[[[{}]]]]`, `-0.0e-1`,
		`{` + manyMembers(40) + `}`,
	} {
		f.Add([]byte(seed))
	}
	var s scanner
	var b body
	f.Fuzz(func(t *testing.T, data []byte) {
		err := s.scan(data, &b)
		want := oracle(data)
		if err == nil && !want {
			t.Fatalf("%q was accepted", data)
		}
		if err != nil && want && !anySurrogate.Match(data) {
			t.Fatalf("%q was refused: %v", data, err)
		}
		if err != nil || b.kind != '{' {
			return
		}
		// The scanner finds what a map finds.
		var members map[string]json.RawMessage
		if err := json.Unmarshal(data, &members); err != nil {
			t.Fatal(err)
		}
		m := b.messages[0]
		for name, raw := range map[string][]byte{"id": m.id, "method": m.method, "params": m.params, "name": m.name, "arguments": m.arguments, "jsonrpc": m.jsonrpc} {
			if !bytes.Equal(bytes.TrimSpace(members[name]), raw) {
				t.Fatalf("%s is %q, want %q", name, raw, members[name])
			}
			if isString(raw) {
				var text string
				if err := json.Unmarshal(raw, &text); err != nil || text != stringValue(raw) {
					t.Fatalf("%s is read as %q, want %q", raw, stringValue(raw), text)
				}
			}
		}
	})
}

func BenchmarkScan(b *testing.B) {
	data := []byte(`{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"list_track","arguments":{"limit":50,"search":"love","filters":{"unit_price__gte":"0.99","album__artist__name__icontains":"a"},"order_by":["-name"]}}}`)
	var s scanner
	var into body
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := s.scan(data, &into); err != nil {
			b.Fatal(err)
		}
	}
}
