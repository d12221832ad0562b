package tools

import (
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/tools/write"
)

func TestJournal(t *testing.T) {
	l := newLibrary(t)
	entry := `SELECT token || '|' || action || '|' || model || '|' || table_name || '|' || object_id || '|' || object_repr || '|' || message FROM mcp_audit ORDER BY id DESC LIMIT 1`
	changes := `SELECT changes FROM mcp_audit ORDER BY id DESC LIMIT 1`
	l.must(ownerText, "update_book", `{"id":1,"data":{"title":"Dune Messiah","isbn":null}}`)
	if got := l.one(entry); got != "shop/owner|update|book|book|1|Dune Messiah|changed title, isbn, upper_title, version" {
		t.Errorf("the entry is %s", got)
	}
	want := `{"isbn":{"before":"111","after":null},"title":{"before":"Dune","after":"Dune Messiah"},"upper_title":{"before":"DUNE","after":"DUNE MESSIAH","aside":true},"version":{"before":1,"after":2,"aside":true}}`
	if got := l.one(changes); got != want {
		t.Errorf("the changes are %s", got)
	}
	l.must(ownerText, "create_author", `{"data":{"name":"Lem"}}`)
	if got := l.one(changes); got != `{"branch":{"after":"north"},"id":{"after":3},"name":{"after":"Lem"}}` {
		t.Errorf("the changes of a create are %s", got)
	}
	l.must(ownerText, "update_book", `{"id":1,"data":{"title":"`+strings.Repeat("é", 20)+`"}}`)
	l.must(ownerText, "update_tag", `{"id":"1,sand","data":{"weight":9}}`)
	if got := l.one(entry); got != "shop/owner|update|tag|tag|1,sand|sand|changed weight" {
		t.Errorf("the entry is %s", got)
	}
	before := l.one("SELECT count(*) FROM mcp_audit")
	l.call(ownerText, "update_book", `{"id":1,"data":{"isbn":"222"}}`)
	if after := l.one("SELECT count(*) FROM mcp_audit"); after != before {
		t.Errorf("a change that was refused is in the audit")
	}
	l.must(ownerText, "delete_book", `{"id":1}`)
	for query, want := range map[string]string{
		`SELECT group_concat(model || object_id || message, ' ') FROM mcp_audit WHERE action = 'delete'`:          "tag1,sanddeleted with book " + strings.Repeat("é", 20) + " chapter2deleted with book " + strings.Repeat("é", 20) + " chapter1deleted with book " + strings.Repeat("é", 20) + " book1deleted",
		`SELECT changes FROM mcp_audit WHERE model = 'review'`:                                                    `{"book_id":{"before":1,"after":null}}`,
		`SELECT count(*) FROM mcp_audit WHERE changes LIKE '%hidden words%' OR changes LIKE '%api_key%'`:          "0",
		`SELECT changes FROM mcp_audit WHERE model = 'tag' AND action = 'delete'`:                                 `{"book_id":{"before":1},"name":{"before":"sand"},"weight":{"before":9}}`,
		`SELECT count(*) FROM mcp_audit WHERE at IS NULL OR abs(julianday(at) - julianday('now')) > 1`:            "0",
		`SELECT group_concat(DISTINCT action || ' ' || message) FROM mcp_audit WHERE model = 'review' AND id > 0`: "update changed by a deletion",
	} {
		if got := l.one(query); got != want {
			t.Errorf("%s\n got %s\nwant %s", query, got, want)
		}
	}
}

func TestAuditLineTellsNoValues(t *testing.T) {
	l := newLibrary(t)
	l.must(ownerText, "update_book", `{"id":1,"data":{"title":"Dune Messiah"}}`)
	l.call(readerText, "update_book", `{"id":1,"data":{"title":"Dune Messiah"}}`)
	lines := strings.Split(strings.TrimSpace(l.log.String()), "\n")
	for i, want := range []string{
		`"token":"shop/owner","tool":"update_book","model":"book","operation":"update","ids":["1"],"fields":["title"],"changed":1,"dry_run":false,"outcome":"ok"}`,
		`"token":"shop/reader","tool":"update_book","model":"book","operation":"update","ids":[],"fields":[],"changed":0,"dry_run":false,"outcome":"permission_denied"}`,
	} {
		if !strings.HasSuffix(withoutCall(lines[i]), want) {
			t.Errorf("line %d is %s", i, lines[i])
		}
	}
	if strings.Contains(l.log.String(), "Messiah") {
		t.Errorf("the lines hold a value: %s", l.log)
	}
}

func TestJournalCutsLongValues(t *testing.T) {
	l := newLibrary(t)
	l.must(ownerText, "create_offer", `{"data":{"body":"`+strings.Repeat("ä", 10_000)+`"}}`)
	changes := l.one("SELECT changes FROM mcp_audit")
	if len(changes) > write.MaxJournalValue+200 || !strings.Contains(changes, `ä..."}`) {
		t.Errorf("%d bytes: %.100s", len(changes), changes)
	}
}
