package tools

import (
	"reflect"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

func TestInlines(t *testing.T) {
	l := newLibrary(t)
	answer := l.must(ownerText, "update_book", `{"id":1,"inlines":{"chapter":[
		{"data":{"number":1,"title":"Prologue"}},{"id":2,"data":{"title":"Second"}},{"id":1,"_delete":true}]}}`)
	want := map[string]any{
		"created": []any{map[string]any{"model": "chapter", "id": 4.0}},
		"updated": []any{map[string]any{"model": "chapter", "id": 2.0}},
		"deleted": []any{map[string]any{"model": "chapter", "id": 1.0}},
	}
	if !reflect.DeepEqual(answer["inlines"], want) {
		t.Errorf("got %v", answer["inlines"])
	}
	chapters := "SELECT group_concat(id || book_id || title, ' ') FROM chapter"
	state := l.one(chapters)
	if state != "21Second 32Other 41Prologue" {
		t.Errorf("the chapters are %s", state)
	}
	if version := l.one("SELECT version FROM book WHERE id = 1"); version != "2" {
		t.Errorf("the version is %s", version)
	}
	for _, c := range []struct {
		name, token, inlines, says string
		code                       call.Code
	}{
		{"another row's child", ownerText, `{"chapter":[{"data":{"number":7,"title":"x"}},{"id":3,"data":{"title":"x"}}]}`, "chapter[1].id: no such chapter belongs to this book", call.CodeValidation},
		{"deleting another row's child", ownerText, `{"chapter":[{"id":3,"_delete":true}]}`, "chapter[0].id", call.CodeValidation},
		{"a violation", ownerText, `{"chapter":[{"data":{"number":2,"title":"x"}}]}`, "chapter[0].book_id", call.CodeValidation},
		{"too many", ownerText, `{"chapter":[{"data":{}},{"data":{}},{"data":{}},{"data":{}}]}`, "at most 3", call.CodeInvalidArgument},
		{"no inline", ownerText, `{"loan":[]}`, "its inlines are chapter, review", call.CodeInvalidArgument},
		{"one that is not seen", bookishText, `{"review":[]}`, "its inlines are chapter", call.CodeInvalidArgument},
		{"one that is only seen", bookishText, `{"chapter":[{"data":{"number":9,"title":"x"}}]}`, "cannot add chapter", call.CodePermissionDenied},
		{"a shape that is none", ownerText, `{"chapter":[{"id":1}]}`, "chapter[0] must be", call.CodeInvalidArgument},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := l.call(c.token, "update_book", `{"id":1,"data":{"title":"lost"},"inlines":`+c.inlines+`}`)
			if r.Code != c.code || !strings.Contains(string(r.Text), c.says) {
				t.Errorf("got %s, want %s", r.Text, c.says)
			}
			if l.one(chapters) != state || l.one("SELECT title FROM book WHERE id = 1") != "Dune" {
				t.Error("some of it was kept")
			}
		})
	}
}
