package tools

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

func TestBulk(t *testing.T) {
	l := newLibrary(t)
	answer := l.must(ownerText, "bulk_author", `{"operation":"create","items":[{"name":"Lem"},{"data":{"name":"Verne"}},{"name":null},{"data":{"name":"x"},"id":1}]}`)
	if answer["total_items"] != 4.0 || answer["success_count"] != 2.0 || answer["error_count"] != 2.0 || answer["error"] != nil {
		t.Errorf("create: %v", answer)
	}
	answer = l.must(ownerText, "bulk_book", `{"operation":"update","items":[
		{"id":1,"data":{"isbn":"222"}},{"id":1,"data":{"title":"A"}},{"id":2,"data":{"title":"B"},"expected_version":1},{"id":9,"data":{"title":"C"}}]}`)
	var codes []any
	for _, e := range answer["results"].(map[string]any)["errors"].([]any) {
		codes = append(codes, e.(map[string]any)["index"], e.(map[string]any)["code"])
	}
	if want := []any{0.0, "validation_error", 2.0, "conflict", 3.0, "not_found"}; !reflect.DeepEqual(codes, want) {
		t.Errorf("update: %v", codes)
	}
	if want := []any{map[string]any{"index": 1.0, "id": 1.0, "updated": true}}; !reflect.DeepEqual(answer["results"].(map[string]any)["success"], want) {
		t.Errorf("update: %v", answer["results"])
	}
	if titles := l.one("SELECT group_concat(title) FROM book"); titles != "A,Emma" {
		t.Errorf("the titles are %s", titles)
	}
	r := l.call(ownerText, "bulk_book", `{"operation":"update","atomic":true,"items":[{"id":1,"data":{"title":"B"}},{"id":9,"data":{"title":"C"}}]}`)
	if r.Code != call.CodeNotFound || !r.IsError {
		t.Errorf("all or nothing: %s", r.Text)
	}
	if payload := l.decode(r); payload["success_count"] != 0.0 || payload["error_count"] != 1.0 || payload["operation"] != "update" {
		t.Errorf("all or nothing answers %v", payload)
	}
	if title := l.one("SELECT title FROM book WHERE id = 1"); title != "A" {
		t.Errorf("something was kept: %s", title)
	}
	answer = l.must(ownerText, "bulk_shelf", `{"operation":"delete","items":[3,{"id":2},7]}`)
	if answer["success_count"] != 2.0 || l.one("SELECT count(*) FROM shelf") != "1" {
		t.Errorf("delete: %v", answer)
	}
	for arguments, code := range map[string]call.Code{
		`{"operation":"create","items":[]}`:                  call.CodeInvalidArgument,
		`{"operation":"create","items":[1,2,3,4,5,6]}`:       call.CodeInvalidArgument,
		`{"operation":"drop","items":[{}]}`:                  call.CodeInvalidArgument,
		`{"operation":"create","items":[{}],"dry_run":true}`: call.CodeInvalidArgument,
		`{"operation":"delete","items":[99]}`:                call.CodeNotFound,
	} {
		if r := l.call(ownerText, "bulk_author", arguments); r.Code != code {
			t.Errorf("%s: got %s, want %s", arguments, r.Text, code)
		}
	}
	if r := l.call(adderText, "bulk_author", `{"operation":"delete","items":[1]}`); r.Code != call.CodePermissionDenied {
		t.Errorf("another verb: %s", r.Text)
	}
}

func TestRowsThatWentWithOthersOfTheBulkAreDeleted(t *testing.T) {
	for _, items := range []string{`[2,3]`, `[3,2]`, `[2,{"id":"3"}]`} {
		l := newLibrary(t)
		answer := l.must(ownerText, "bulk_shelf", `{"operation":"delete","atomic":true,"items":`+items+`}`)
		if answer["success_count"] != 2.0 || l.one("SELECT count(*) FROM shelf") != "1" {
			t.Errorf("%s: %v", items, answer)
		}
	}
	l := newLibrary(t)
	if r := l.call(ownerText, "bulk_shelf", `{"operation":"delete","atomic":true,"items":[2,7]}`); r.Code != call.CodeNotFound || l.one("SELECT count(*) FROM shelf") != "3" {
		t.Errorf("one that never was: %s", r.Text)
	}
}

func TestErrorsOfManyItemsStayModerate(t *testing.T) {
	l := newLibrary(t, on("book", func(m *contract.Model) { m.MaxBulkItems = 1000 }))
	stale := strings.Repeat(`,{"id":1,"data":{"title":"A"},"expected_version":9}`, 1000)
	if r := l.call(ownerText, "bulk_book", `{"operation":"update","items":[`+stale[1:]+`]}`); r.Code != call.CodeConflict || strings.Contains(string(r.Text), `"current"`) {
		t.Errorf("the row stands in the answer: %.400s", r.Text)
	}
	var unknown []string
	for i := range 5000 {
		unknown = append(unknown, fmt.Sprintf(`"f%d":1`, i))
	}
	items := strings.Repeat(`,{`+strings.Join(unknown[:5], ",")+`}`, 1000)
	r := l.call(ownerText, "bulk_book", `{"operation":"create","items":[`+items[1:]+`]}`)
	if n := strings.Count(string(r.Text), "validation_errors"); r.Code != call.CodeValidation || n < 100 || n > 1200 || len(r.Text) > 400_000 {
		t.Errorf("%d bytes, %d with details: %.400s", len(r.Text), n, r.Text)
	}
	r = l.call(ownerText, "create_book", `{"data":{`+strings.Join(unknown, ",")+`}}`)
	if problems := l.decode(r)["validation_errors"].(map[string]any); problems["error_count"].(float64) < 5000 || len(problems["errors"].([]any)) > 100 {
		t.Errorf("%d bytes: %.400s", len(r.Text), r.Text)
	}
}

// A foreign key to a table that is no model, which the database checks on commit.
func TestWhatIsCheckedOnCommit(t *testing.T) {
	l := newLibrary(t)
	for _, arguments := range []string{`{"data":{"vendor_id":9}}`, `{"data":{"vendor_id":9},"dry_run":true}`} {
		if r := l.call(ownerText, "create_offer", arguments); r.Code != call.CodeValidation {
			t.Errorf("%s: %s", arguments, r.Text)
		}
	}
	r := l.call(ownerText, "bulk_offer", `{"operation":"create","atomic":true,"items":[{"vendor_id":1},{"vendor_id":9}]}`)
	if r.Code != call.CodeValidation || l.one("SELECT count(*) FROM offer") != "0" {
		t.Errorf("all or nothing: %s", r.Text)
	}
	answer := l.must(ownerText, "bulk_offer", `{"operation":"create","items":[{"vendor_id":1},{"vendor_id":9},{"vendor_id":null}]}`)
	if answer["success_count"] != 2.0 || answer["error_count"] != 1.0 || l.one("SELECT count(*) FROM offer") != "2" {
		t.Errorf("each for itself: %v", answer)
	}
}
