package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// A dry run says which policies would hold the call back, and leaves nothing that waits.
func TestADryRunTellsOfApprovals(t *testing.T) {
	expensive := policy("expensive", func(p *contract.ApprovalPolicy) {
		p.Models, p.When.After = []string{"book"}, json.RawMessage(`{"price__gt":"500"}`)
	})
	southern := policy("southern", func(p *contract.ApprovalPolicy) {
		p.Models, p.When.Before = []string{"book"}, json.RawMessage(`{"author__branch":"south"}`)
	})
	deletions := policy("deletions", func(p *contract.ApprovalPolicy) {
		p.Models, p.Operations = []string{"author", "chapter"}, []string{"delete"}
	})
	onLibraries(t, func(t *testing.T, l *library) {
		author := l.must(ownerText, "create_author", `{"data":{"name":"Lem"}}`)
		for _, c := range []struct {
			tool, arguments string
			want            []string
		}{
			{"update_book", `{"id":1,"data":{"price":"600.00"},"dry_run":true}`, []string{"expensive"}},
			{"update_book", `{"id":2,"data":{"price":"600.00"},"dry_run":true}`, []string{"expensive", "southern"}},
			{"update_book", `{"id":1,"data":{"price":"400.00"},"dry_run":true}`, nil},
			{"create_book", `{"data":{"title":"N","author_id":1,"price":"501.00"},"dry_run":true}`, []string{"expensive"}},
			{"delete_chapter", `{"id":1,"dry_run":true}`, []string{"deletions"}},
			{"delete_book", `{"id":2,"dry_run":true}`, []string{"deletions", "southern"}},
			{"delete_shelf", `{"id":3,"dry_run":true}`, nil},
			{"transact", `{"steps":[{"tool":"update_author","arguments":{"id":1,"data":{"name":"F"}}},{"tool":"delete_chapter","arguments":{"id":1}}],"dry_run":true}`, []string{"deletions"}},
			{"undo", fmt.Sprintf(`{"call":%q,"dry_run":true}`, author["call"]), []string{"deletions"}},
		} {
			if c.tool == "undo" && l.plain == nil {
				continue // one engine does
			}
			r := l.call(ownerText, c.tool, c.arguments)
			var got struct {
				Success bool
				DryRun  bool     `json:"dry_run"`
				Would   []string `json:"would_need_approval"`
			}
			if err := json.Unmarshal(r.Text, &got); err != nil || !got.Success || !got.DryRun || !slices.Equal(got.Would, c.want) {
				t.Errorf("%s %s: %s (%v), want that it would need %v", c.tool, c.arguments, r.Text, r.Cause, c.want)
			}
		}
		if page := l.waiting.Page("").Approvals; len(page) != 0 {
			t.Errorf("after dry runs there waits %+v", page)
		}
		l.waits(ownerText, "delete_chapter", `{"id":1}`)
	}, approving(expensive, southern, deletions))
}

func TestOutputSchemasHaveWhatADryRunTells(t *testing.T) {
	for _, approves := range []bool{true, false} {
		for _, op := range append(slices.Clone(call.Operations), call.Globals...) {
			d := op.Define(nil, call.Defining{Structured: true, Keeps: true, Approves: approves})
			text, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			_, dry := d.InputSchema.Properties["dry_run"]
			if got := strings.Contains(string(text), `"would_need_approval":{"type":"array"`); got != (approves && dry) {
				t.Errorf("%s with approvals %t: told is %t, want %t", op.Name, approves, got, approves && dry)
			}
		}
	}
}

// Who decides sees why they are asked: the fields that the condition asks of, though they stay as they are.
func TestPeopleSeeWhatTheConditionAsksOf(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*contract.ApprovalPolicy)
		fields []string
	}{
		{"before", func(p *contract.ApprovalPolicy) {
			p.When.Before = json.RawMessage(`{"author__branch":"north","state":"draft"}`)
		}, []string{"author_id", "state", "title"}},
		{"after", func(p *contract.ApprovalPolicy) {
			p.When.After = json.RawMessage(`{"_any":[{"isbn":"111"},{"_not":{"version__gt":{"_field":"author_id"}}}]}`)
		}, []string{"author_id", "isbn", "title", "version"}},
		{"an expression", func(p *contract.ApprovalPolicy) {
			p.When.After = json.RawMessage(`{"id__lte":{"mul":["version",{"add":["author_id",1]}]}}`)
		}, []string{"author_id", "id", "title", "version"}},
		{"none", func(p *contract.ApprovalPolicy) { p.When.Changes = []string{"title"} }, []string{"title"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLibrary(t, approving(policy("p", func(p *contract.ApprovalPolicy) {
				p.Models = []string{"book"}
				c.change(p)
			})))
			changes := l.told(l.waits(ownerText, "update_book", `{"id":1,"data":{"title":"Other"}}`)).Changes
			got := slices.DeleteFunc(slices.Clone(changes[0].Fields), func(name string) bool {
				return name == "upper_title" || name == "version" && !slices.Contains(c.fields, name)
			})
			if len(changes) != 1 || !slices.Equal(got, c.fields) {
				t.Fatalf("shown is %+v, want the fields %v", changes, c.fields)
			}
			for _, name := range c.fields {
				before, after := string(changes[0].Before[name]), string(changes[0].After[name])
				if name != "title" && name != "version" && (before == "" || before != after) {
					t.Errorf("%s is shown as %s and %s, want that it stays", name, before, after)
				}
			}
		})
	}
}

// Rows of tables that are no model are told as what becomes of them, and matched by it.
func TestRowsOfOtherTablesAreToldByKind(t *testing.T) {
	for _, c := range []struct {
		operation string
		waits     bool
	}{{"delete", true}, {"update", false}} {
		l := newLibrary(t, approving(policy("p", func(p *contract.ApprovalPolicy) {
			one := 1
			p.Operations, p.When.Rows = []string{c.operation}, &one
		})))
		if _, err := l.plain.Exec("INSERT INTO stock VALUES (1, 3)"); err != nil {
			t.Fatal(err)
		}
		if !c.waits {
			l.must(ownerText, "delete_chapter", `{"id":3}`)
			continue
		}
		told := l.told(l.waits(ownerText, "delete_chapter", `{"id":3}`))
		if last := told.Changes[len(told.Changes)-1]; told.Rows != 2 || last.Model != "" || last.Change != "delete" || last.Rows != 1 {
			t.Errorf("told is %+v", told)
		}
	}
}
