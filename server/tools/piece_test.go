package tools

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/read"
)

// get_ says that it cut a value, and reads all of it in pieces.
func TestValuesThatAreTooLongForOneAnswer(t *testing.T) {
	l := newLibrary(t)
	long := strings.Repeat("é\"", 150_000)
	if _, err := l.plain.Exec(`UPDATE author SET name = ? WHERE id = 1`, long); err != nil {
		t.Fatal(err)
	}
	const notice = `"_notice":"values of more than 262144 bytes are cut, and say so at their end; get_author with field and offset shows a text, JSON or bytes value in pieces`
	for _, arguments := range []string{`{"id":1}`, `{"id":1,"include_related":true}`} {
		if r := l.call(ownerText, "get_author", arguments); r.IsError || !strings.Contains(string(r.Text), notice) {
			t.Errorf("get_author %s says nothing of what it cut: …%s", arguments, r.Text[max(0, len(r.Text)-200):])
		}
	}
	const generic = `get {\"model\": \"author\"} with field and offset`
	if r := l.call(ownerText, "get", `{"model":"author","id":1}`); !strings.Contains(string(r.Text), generic) {
		t.Errorf("get ends with …%s, want %s in it", r.Text[max(0, len(r.Text)-200):], generic)
	}
	if r := l.call(ownerText, "related_book", `{"id":1,"relation":"author"}`); r.IsError || !strings.Contains(string(r.Text), `"notice":"values of more than`) {
		t.Errorf("related_book says nothing of what it cut: …%s", r.Text[max(0, len(r.Text)-200):])
	}
	if r := l.call(ownerText, "get_author", `{"id":2}`); strings.Contains(string(r.Text), "_notice") {
		t.Errorf("a row that is whole: %s", r.Text)
	}
	var text strings.Builder
	for offset, pieces := 0, 0; ; pieces++ {
		r := l.call(ownerText, "get_author", fmt.Sprintf(`{"id":1,"field":"name","offset":%d,"length":1000000}`, offset))
		var p read.Piece
		if err := json.Unmarshal(r.Text, &p); err != nil || p.Value == nil || pieces > 10 {
			t.Fatalf("%s", r.Text)
		}
		text.WriteString(*p.Value)
		if offset = p.NextOffset; offset == 0 {
			break
		}
	}
	if text.String() != long {
		t.Errorf("the pieces have %d bytes, the value has %d", text.Len(), len(long))
	}
}

func TestWrongPieces(t *testing.T) {
	l := newLibrary(t, maskBodies)
	for _, c := range []struct{ tool, arguments, want string }{
		{"get_author", `{"id":1,"offset":1}`, "offset and length go with field, which names the field to read a piece of"},
		{"get_author", `{"id":1,"field":"name","length":0}`, "length must be at least 1"},
		{"get_author", `{"id":1,"field":"name","include_related":true}`, "field does not go with include_inlines or include_related: leave them out to read a piece of one value"},
		{"get_author", `{"id":1,"field":"id"}`, "field: id is of type integer, which is not read in pieces; the fields that are: name, branch"},
		{"get_author", `{"id":1,"field":"nme"}`, `field: author has no field "nme"; the fields that can be read in pieces are name, branch`},
	} {
		if r := l.call(ownerText, c.tool, c.arguments); r.Code != call.CodeInvalidArgument || r.Message != c.want {
			t.Errorf("%s %s: %s", c.tool, c.arguments, r.Text)
		}
	}
}
