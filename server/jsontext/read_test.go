package jsontext_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// What is read is what encoding/json reads: the same texts are taken, and give the same values.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		walked, `{}`, `null`, ` null `, `[]`, `["a"]`, `["a",null]`, `["\u0061\n",""]`, `[1]`, `{"a":1,"a":2}`, `{"a":1}x`, `{"a":}`, `"x"`, `"\ud800"`,
		`"\ud83d\ude00\ud83d\u0041\udc00\ud800\ud83d\ude00"`, `"\u00E9\/\b\f\n\r\t\\\""`, `"\'"`, `"\u12"`, `"\u123G"`, `{"\u0062":1,"a":2,"b":3,"b":4}`, "\"\xc3\\n\xa9\"",
		`"a\"`, `"é"`, "\"\xff\"", "{\"\xff\":1}", "\"\u2028é\"", "\"\n\"", `"`, ``, ` `, `{"id":7,"fields":["title"]}`, `"a"b"`, `" "`, "\"\uFFFD\"",
		"{ \"<a href='x'>\" : \"b & c\\\\\",\n\"\u2028\u2027\":\t[\"\u2029\", \"\\\"<\", \"\xe2\", \"\xe2\x80\"] }",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := slices.Clone(data)
		isJSON := json.Valid(data)
		var object map[string]json.RawMessage
		isObject := json.Unmarshal(data, &object) == nil
		members, ok := jsontext.ReadObject(data)
		if isJSON && (ok != isObject || !same(members, object)) {
			t.Errorf("the object %q is %v (%t), want %v (%t)", data, members, ok, object, isObject)
		}
		if isObject && object != nil {
			got, err := json.Marshal(members)
			if want, _ := json.Marshal(object); err != nil || !means(t, got, want) {
				t.Errorf("%q is written as %s, want %s (%v)", data, got, want, err)
			}
		}
		var list []*string
		areStrings := json.Unmarshal(data, &list) == nil && list != nil && !slices.Contains(list, nil)
		got, ok := jsontext.ReadStrings(data)
		if isJSON && (ok != areStrings || ok && !slices.EqualFunc(got, list, func(a string, b *string) bool { return a == *b })) {
			t.Errorf("the list %q is %v (%t), want %v (%t)", data, got, ok, list, areStrings)
		}
		var text string
		isString := len(data) > 0 && data[0] == '"' && data[len(data)-1] == '"' && json.Unmarshal(data, &text) == nil
		if got, ok := jsontext.ReadString(data); ok != isString || ok && got != text {
			t.Errorf("the string %q is %q (%t), want %q (%t)", data, got, ok, text, isString)
		}
		var compact bytes.Buffer
		if json.Compact(&compact, data) == nil {
			if got := jsontext.AppendCompact([]byte("x"), data); string(got[1:]) != compact.String() {
				t.Errorf("%q without its spaces is %q, want %q", data, got[1:], &compact)
			}
		}
		if marshaled, err := json.Marshal(json.RawMessage(data)); err == nil {
			if got := jsontext.AppendMarshaled([]byte("x"), data); string(got[1:]) != string(marshaled) {
				t.Errorf("%q within JSON is %q, want %q", data, got[1:], marshaled)
			}
		}
		if !slices.Equal(data, before) {
			t.Errorf("%q became %q", before, data)
		}
	})
}

// same reports whether the members are those of a map, stand in the order of their names, and are found by them.
func same(members jsontext.Members, object map[string]json.RawMessage) bool {
	if (members == nil) != (object == nil) || !slices.Equal(members.Names(), slices.Sorted(maps.Keys(object))) {
		return false
	}
	for name, want := range object {
		if got, ok := members.Find(name); !ok || string(got) != string(want) || len(members.Without(name)) != len(members)-1 {
			return false
		}
		if _, ok := members.Find(name + "\x00"); ok && object[name+"\x00"] == nil {
			return false
		}
	}
	return true
}

// means reports whether two JSON texts mean the same.
func means(t *testing.T, a, b []byte) bool {
	t.Helper()
	var decoded [2]any
	for i, text := range [][]byte{a, b} {
		if err := json.Unmarshal(text, &decoded[i]); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	return reflect.DeepEqual(decoded[0], decoded[1])
}

func TestReadingCopiesNothing(t *testing.T) {
	data := []byte(`{"filters": {"author_id": 7}, "limit": 50}`)
	members, _ := jsontext.ReadObject(data)
	data[len(data)-2] = '1'
	if got := string(members.Value("limit")); got != "51" {
		t.Errorf("limit is %s: it is a copy", got)
	}
}

func TestAStringTakesItsOwnMemoryAlone(t *testing.T) {
	for _, text := range []string{`"published__year"`, `"A novel about \"quotes\" and \u00e9"`} {
		if got := testing.AllocsPerRun(100, func() { jsontext.ReadString([]byte(text)) }); got > 1 {
			t.Errorf("%s: %v allocations", text, got)
		}
	}
}

func TestMembersAreFoundInAnyOrder(t *testing.T) {
	o := jsontext.ObjectOf([]byte(`{"id":1, "na\"me" : "x", "":[2], "é":{"id":3}}`), 1)
	for _, test := range [][2]string{{"id", "1"}, {`na"me`, `"x"`}, {"é", `{"id":3}`}, {"", "[2]"}, {"id", "1"}, {`na\"me`, ""}, {"é", `{"id":3}`}, {"é", `{"id":3}`}} {
		if got := string(o.Value(test[0])); got != test[1] {
			t.Errorf("%q is %s, want %s", test[0], got, test[1])
		}
	}
	if got := jsontext.ObjectOf([]byte("{}"), 0).Value("id"); got != nil {
		t.Errorf("got %s of an empty object", got)
	}
}
