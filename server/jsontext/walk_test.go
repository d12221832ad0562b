package jsontext_test

import (
	"encoding/json"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

const walked = ` { "a" : [ 1 , "x,]}" , { "b" : null } , [ ] , -2.5e3 ] , "qu\"ote" : {} , "\u0061b" : "\\" , "" : true } `

func TestValuesAreFoundWhereTheyStand(t *testing.T) {
	for _, c := range []struct{ member, want string }{
		{"a", `[ 1 , "x,]}" , { "b" : null } , [ ] , -2.5e3 ]`}, {`qu"ote`, `{}`}, {"ab", `"\\"`}, {"", `true`},
	} {
		if got, there := jsontext.Member([]byte(walked), c.member); !there || string(got) != c.want {
			t.Errorf("%q is %s (%t), want %s", c.member, got, there, c.want)
		}
	}
	if got, there := jsontext.Member([]byte(walked), "b"); there {
		t.Errorf("a member of a member was found: %s", got)
	}
	list, _ := jsontext.Member([]byte(walked), "a")
	for i, want := range []string{`1`, `"x,]}"`, `{ "b" : null }`, `[ ]`, `-2.5e3`} {
		if got, there := jsontext.Element(list, i); !there || string(got) != want {
			t.Errorf("element %d is %s (%t), want %s", i, got, there, want)
		}
	}
	for _, i := range []int{-1, 5} {
		if got, there := jsontext.Element(list, i); there {
			t.Errorf("element %d is %s", i, got)
		}
	}
	if _, there := jsontext.Element([]byte(walked), 0); there {
		t.Error("an object has elements")
	}
}

// The walk finds in any JSON what encoding/json reads; and no text makes it loop for ever or read beyond the end.
func FuzzInside(f *testing.F) {
	for _, text := range []string{walked, `[1,[2,{"a":[]}],"\\\""]`, `{}`, `""`, `{"a"`, `[,`, `{"a":`, `"\`, `[}`, ``} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n := 0
		last := map[string]string{}
		for name, value := range jsontext.Inside(data) {
			if n++; n > len(data) {
				t.Fatal("more values than bytes")
			}
			var text string
			if name != nil && json.Unmarshal(name, &text) == nil {
				last[text] = string(value)
			}
		}
		var object map[string]json.RawMessage
		var list []json.RawMessage
		switch {
		case json.Unmarshal(data, &object) == nil:
			for name, value := range object {
				if last[name] != string(value) {
					t.Errorf("%q is %s, want %s", name, last[name], value)
				}
			}
		case json.Unmarshal(data, &list) == nil:
			if n != len(list) {
				t.Errorf("%d elements, want %d", n, len(list))
			}
			for i, value := range list {
				if got, _ := jsontext.Element(data, i); string(got) != string(value) {
					t.Errorf("element %d is %s, want %s", i, got, value)
				}
			}
		}
	})
}
