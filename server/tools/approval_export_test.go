package tools

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// exportFile takes a file of an export.
type exportFile struct{ bytes.Buffer }

func (*exportFile) Flush() error { return nil }

// An export waits before its link is made. The link needs nobody's word again, and uses no other approval up.
func TestALinkIsFetchedWithoutAsking(t *testing.T) {
	exports := policy("exports", func(p *contract.ApprovalPolicy) { p.Operations = []string{contract.ApproveExport} })
	l := newLibrary(t, approving(exports), func(c *contract.Config) {
		for i := range c.Tokens {
			c.Tokens[i].Rules = append(c.Tokens[i].Rules, contract.Rule{Models: []string{"*"}, Verbs: []string{contract.VerbExport}})
		}
	})
	l.set.settings.ExportsURL, l.set.settings.MaxExportRows = "https://library.example.com/mcp/exports/", 10
	const asked = `{"export":"csv","fields":["title"],"order_by":["id"]}`
	name := l.waits(ownerText, "list_book", asked)
	if told := l.told(name); told.State != contract.ApprovalWaiting || !strings.Contains(told.Notice, `asks for {"export":"csv","fields":["title"]`) {
		t.Fatalf("the manager is told %+v, want what the export has", told)
	}
	link := &call.ExportLink{
		ID: "c1", Token: "shop/owner", Operation: "list", Model: "book", Format: call.ExportCSV, Arguments: json.RawMessage(asked),
		Asked: time.Now(), Expires: time.Now().Add(call.ExportLife),
	}
	token := l.token(ownerText)
	for range 2 {
		if err := l.set.MayExport(t.Context(), token, link); err != nil {
			t.Fatalf("got %v, want that the token may have the file", err)
		}
	}
	var file exportFile
	if rows, result := l.set.Export(t.Context(), token, link, &file); rows != 2 || result.IsError {
		t.Errorf("got %d rows, %s (%v), want 2", rows, result.Text, result.Cause)
	}
	if got := strings.Join(strings.Fields(file.String()), " "); got != "id,title 1,Dune 2,Emma" {
		t.Errorf("the file has %q", got)
	}
	if waiting := l.waiting.Page("").Approvals; len(waiting) != 1 || waiting[0].State != contract.ApprovalWaiting {
		t.Errorf("after the file there are %+v, want the one export that still waits", waiting)
	}
}

// An export may leave by another model's tool, if that leads to the model.
func TestAnExportThroughARelationWaits(t *testing.T) {
	authors := policy("authors", func(p *contract.ApprovalPolicy) {
		p.Models, p.Operations = []string{"author"}, []string{contract.ApproveExport}
	})
	l := newLibrary(t, approving(authors), func(c *contract.Config) {
		for i := range c.Tokens {
			c.Tokens[i].Rules = append(c.Tokens[i].Rules, contract.Rule{Models: []string{"*"}, Verbs: []string{contract.VerbExport}})
		}
	})
	l.set.settings.ExportsURL, l.set.settings.MaxExportRows = "https://library.example.com/mcp/exports/", 10
	for _, waits := range []string{
		`list_author {"export":"csv"}`, `list_book {"export":"csv","fields":["title","author__name"]}`,
		`related_book {"id":1,"relation":"author","export":"csv"}`, `aggregate_book {"export":"csv","group_by":["author__name"]}`,
		`list_chapter {"export":"csv","fields":["book__author__name"]}`, `list_book {"export":"csv","fields":["title","author_\u005fname"],"order_by":["id"]}`,
	} {
		tool, arguments, _ := strings.Cut(waits, " ")
		l.waits(ownerText, tool, arguments)
	}
	for _, runs := range []string{`list_book {"export":"csv","fields":["title"]}`, `list_book {"fields":["title","author__name"]}`, `related_book {"id":1,"relation":"author"}`} {
		tool, arguments, _ := strings.Cut(runs, " ")
		if r := l.call(ownerText, tool, arguments); r.IsError || value(r, "approval") != "" {
			t.Errorf("%s: %s (%v)", runs, r.Text, r.Cause)
		}
	}
}
