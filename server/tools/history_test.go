package tools

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// history returns the entries of a row without their times, newest first.
func (l *library) history(token, tool, arguments string) []map[string]any {
	l.t.Helper()
	var entries []map[string]any
	for _, e := range l.must(token, tool, arguments)["history"].([]any) {
		entry := e.(map[string]any)
		if at := fmt.Sprint(entry["action_time"]); !strings.HasSuffix(at, "Z") || len(at) < len("2026-01-01T00:00:00Z") {
			l.t.Errorf("action_time is %s", at)
		}
		delete(entry, "action_time")
		entries = append(entries, entry)
	}
	return entries
}

// record writes an entry to the audit table, as one who changed a row of the book's table does.
func (l *library) record(action, id, changes string) {
	l.t.Helper()
	_, err := l.plain.Exec(`INSERT INTO mcp_audit (token, action, model, table_schema, table_name, object_id, object_repr, message, changes)
		VALUES ('shop/other', ?, 'volume', '', 'book', ?, 'hidden words', 'changed internal', ?)`, action, id, changes)
	if err != nil {
		l.t.Fatal(err)
	}
}

func TestHistoryIsOfTheRowThatIsThereNewestFirst(t *testing.T) {
	l := newLibrary(t)
	l.record("update", "1", `{"title":{"before":"Another book","after":"Dune"}}`)
	l.record("delete", "1", `{"title":{"before":"Dune"}}`)
	l.record("create", "1", `{"title":{"after":"Doon"},"author_id":{"after":1}}`)
	l.record("update", "2", `{"title":{"before":"a","after":"b"}}`)
	l.record("update", "1", `{"title":{"before":"Doon","after":"Dune"},"isbn":{"before":null,"after":"111"}}`)
	l.record("action:publish", "1", `{"state":{"before":"draft","after":"out"}}`)
	l.record("action:print", "1", `{}`)
	want := decoded(t, `[
		{"action":"action:print","token":"shop/other","change_message":"ran print","object_repr":"Dune","changes":{}},
		{"action":"action:publish","token":"shop/other","change_message":"ran publish, which changed state","object_repr":"Dune","changes":{"state":{"before":"draft","after":"out"}}},
		{"action":"update","token":"shop/other","change_message":"changed title, isbn","object_repr":"Dune","changes":{"title":{"before":"Doon","after":"Dune"},"isbn":{"before":null,"after":"111"}}},
		{"action":"create","token":"shop/other","change_message":"created","object_repr":"Dune","changes":{"title":{"after":"Doon"},"author_id":{"after":1}}}]`)
	var got []any
	for _, entry := range l.history(readerText, "history_book", `{"id":1}`) {
		got = append(got, entry)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	page := l.must(readerText, "history_book", `{"id":"1","limit":1,"offset":3}`)
	if page["count"] != 1.0 || page["object_id"] != 1.0 || page["model"] != "book" || page["history"].([]any)[0].(map[string]any)["action"] != "create" {
		t.Errorf("a page of it: %v", page)
	}
	if page := l.must(readerText, "history_book", `{"id":1,"offset":4}`); page["count"] != 0.0 {
		t.Errorf("behind the creation: %v", page)
	}
}

// Of one call, history tells only what that changed.
func TestHistoryOfOneCall(t *testing.T) {
	l := newLibrary(t)
	l.record("update", "1", `{"title":{"before":"Dune","after":"Doon"}}`)
	l.execute(`UPDATE mcp_audit SET "call" = 'FIRST'`)
	l.record("update", "1", `{"title":{"before":"Doon","after":"Dune"}}`)
	for call, want := range map[string]int{"FIRST": 1, "OTHER": 0, "": 2} {
		if got := l.history(readerText, "history_book", `{"id":1,"call":"`+call+`"}`); len(got) != want {
			t.Errorf("call %q: %v, want %d entries", call, got, want)
		}
	}
}

// A row that was deleted here and put there again by other means is another one.
func TestHistoryOfARowThatCameBack(t *testing.T) {
	l := newLibrary(t)
	l.record("create", "1", `{"title":{"after":"Another book"}}`)
	l.record("delete", "1", `{"title":{"before":"Another book"}}`)
	if entries := l.history(readerText, "history_book", `{"id":1}`); len(entries) != 0 {
		t.Errorf("it tells of the one before: %v", entries)
	}
}

// What was written when a field was visible is not shown when it is hidden, masked or named like a secret; the names are
// today's.
func TestHistoryShowsWhatIsVisibleToday(t *testing.T) {
	l := newLibrary(t, on("book", func(m *contract.Model) {
		m.Masked = []contract.MaskedField{{Name: "isbn"}}
		m.Overrides = append(m.Overrides, contract.FieldOverride{Name: "author_id", Relation: "writer"})
		m.Include, m.Exclude = []string{"title", "isbn", "author_id", "state", "version", "api_key"}, nil
	}))
	l.record("update", "1", `{"internal":{"before":"hidden words","after":"other words"},"isbn":{"before":"000","after":"111"},
		"api_key":{"before":"k1","after":"k2"},"author_id":{"before":2,"after":1}}`)
	entries := l.history(readerText, "history_book", `{"id":1}`)
	if len(entries) != 1 {
		t.Fatalf("%v", entries)
	}
	if got, want := entries[0]["changes"], decoded(t, `{"writer_id":{"before":2,"after":1}}`); !reflect.DeepEqual(got, want) {
		t.Errorf("changes are %v, want %v", got, want)
	}
	if text := fmt.Sprint(entries); strings.Contains(text, "words") || strings.Contains(text, "internal") || !strings.Contains(text, "changed writer_id") {
		t.Errorf("it tells %s", text)
	}
}

func TestHistoryOfWhatWasDoneHere(t *testing.T) {
	l := newLibrary(t)
	id := l.must(ownerText, "create_tag", `{"data":{"book_id":1,"name":"a b","weight":1}}`)["id"].(string)
	l.must(ownerText, "update_tag", `{"id":"`+id+`","data":{"weight":2}}`)
	entries := l.history(readerText, "history_tag", `{"id":"`+id+`"}`)
	if len(entries) != 2 || entries[0]["change_message"] != "changed weight" || entries[1]["change_message"] != "created" || entries[0]["token"] != "shop/owner" {
		t.Errorf("%v", entries)
	}
}
