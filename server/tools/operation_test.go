package tools

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// Tools that cannot do anything for a token are not listed (docs/design/tools.md, "Which tools a token gets").
func TestToolsThatAreOfNoUseAreNotListed(t *testing.T) {
	const text = "another-token-of-at-least-thirty-two-characters"
	l := newLibrary(t, func(c *contract.Config) {
		c.Models[8].Operations = []string{"list", "create", "bulk", "related", "action"} // shelf
		c.Tokens = append(c.Tokens, contract.Token{Namespace: "shop", Name: "zoe", Hashes: []string{contract.HashToken(text)}, Rules: []contract.Rule{
			{Models: []string{"chapter", "shelf"}, Verbs: []string{"view"}}, {Models: []string{"shelf"}, Verbs: []string{"change"}}}})
	})
	token := l.tokens.Authenticate("Bearer "+text, time.Now())
	offered := func(model string) []string {
		var names []string
		for _, op := range call.OfferedTo(l.set.catalog, token, l.set.catalog.Model(model)) {
			names = append(names, op.Name)
		}
		return names
	}
	// A chapter's only relation leads to its book; a shelf's leads to shelves, of which no more can be added.
	if got := offered("chapter"); slices.Contains(got, "related") || !slices.Contains(got, "get") {
		t.Errorf("of chapter: %v", got)
	}
	if got, want := offered("shelf"), []string{"list", "related"}; !slices.Equal(got, want) {
		t.Errorf("of shelf: %v, want %v", got, want)
	}
}

func TestDeleteSelectedNeedsDeleteToBeOffered(t *testing.T) {
	l := newLibrary(t, on("author", func(m *contract.Model) { m.Operations = []string{"list", "action", "actions"} }))
	if r := l.call(ownerText, "action_author", `{"action":"delete_selected","ids":[1],"confirm":true}`); r.Code != call.CodePermissionDenied {
		t.Errorf("delete_selected: %s", r.Text)
	}
	if got := l.call(ownerText, "actions_author", `{}`); got.Code != call.CodePermissionDenied {
		t.Errorf("actions: %s", got.Text)
	}
}

func TestTheLabelsOfToolsAreABoundedSet(t *testing.T) {
	for tool, want := range map[string]string{
		"list_book": "list", "autocomplete_anything_at_all": "autocomplete", "find_models": "find",
		"find_books": "other", "list": "list", "list_": "other", "drop_book": "other", "": "other",
	} {
		if got := call.Label(tool); got != want {
			t.Errorf("%s: %s, want %s", tool, got, want)
		}
	}
}

func TestTheOperationsThatOnlyShowRows(t *testing.T) {
	want := []string{"list", "get", "describe", "related", "history", "autocomplete", "aggregate", "report"}
	if got := contract.ShowingOperations(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestACallCostsWhatItHolds(t *testing.T) {
	for _, c := range []struct {
		tool, arguments string
		want            int
	}{
		{"bulk_book", `{"items":[1,2,3]}`, 3}, {"action_book", `{"ids":[1,2]}`, 2}, {"bulk_book", `{"items":[]}`, 1}, {"bulk_book", `{"items":7}`, 1},
		{"bulk_book", `[`, 1}, {"list_book", `{"items":[1,2,3]}`, 1}, {"find_models", `{"ids":[1,2]}`, 1}, {"drop_book", `{"ids":[1,2]}`, 1},
		{"update_book", `{"id":1,"inlines":{"loan":[{},{}],"copy":[{}]}}`, 4}, {"create_book", `{"data":{},"inlines":{"loan":7}}`, 1}, {"create_book", `{"inlines":[{}]}`, 2},
		{"get_book", `{"id":1,"include_related":true,"include_inlines":true}`, 3}, {"get_book", `{"id":1,"include_related":false}`, 1}, {"get_book", `{"items":[1,2]}`, 1},
	} {
		if got := call.Cost(c.tool, []byte(c.arguments)); got != c.want {
			t.Errorf("%s %s: %d, want %d", c.tool, c.arguments, got, c.want)
		}
	}
}

// A call may send what its tool's schema has, and nothing else.
func TestCallsTakeWhatTheirSchemaHas(t *testing.T) {
	l := newLibrary(t)
	token := l.tokens.Authenticate("Bearer "+ownerText, time.Now())
	names := map[string]bool{}
	tools := map[string]call.Schema{}
	for _, m := range l.set.catalog.Models() {
		for _, op := range call.OfferedTo(l.set.catalog, token, m) {
			s := op.Define(m, call.Defining{}).InputSchema
			tools[op.Name+"_"+m.Name] = s
			for name := range s.Properties {
				names[name] = true
			}
		}
	}
	for tool, s := range tools {
		for name := range names {
			_, has := s.Properties[name]
			op, _ := call.ParseName(tool)
			if _, some := defineGeneric(op, call.Defining{}).InputSchema.Properties[name]; some && !has {
				continue // taken without being listed, or not offered for this model
			}
			r := l.call(ownerText, tool, `{"`+name+`":{"no":"value of any argument"}}`)
			if refused := strings.Contains(r.Message, "unknown argument"); refused == has {
				t.Errorf("the schema of %s has %s: %t; a call with it: %s", tool, name, has, r.Text)
			}
		}
	}
}

// Absent and null are the same in every argument of every tool.
func TestANullIsAnAbsentArgument(t *testing.T) {
	l := newLibrary(t)
	for _, c := range []struct{ tool, with, without string }{
		{"find_models", `null`, `{}`},
		{"find_models", `{"query":null}`, `{}`},
		{"list_author", `{"limit":null,"offset":null,"cursor":null,"total":null,"search":null,"order_by":null,"filters":null,"fields":null}`, `{}`},
		{"list_author", `{"cursor":"x","offset":null}`, `{"cursor":"x"}`},
		{"get_book", `{"id":1,"include_inlines":null,"include_related":null}`, `{"id":1}`},
		{"get_book", `{"id":null}`, `{}`},
		{"describe_author", `null`, ``},
		{"autocomplete_author", `{"term":null,"limit":null}`, `{}`},
		{"update_book", `{"id":1,"data":{"title":"Dune"},"inlines":null,"expected_version":null,"dry_run":true}`, `{"id":1,"data":{"title":"Dune"},"dry_run":true}`},
		{"delete_author", `{"id":2,"expected_version":null,"dry_run":true}`, `{"id":2,"dry_run":true}`},
		{"bulk_author", `{"operation":"create","items":null}`, `{"operation":"create"}`},
	} {
		with, without := l.call(ownerText, c.tool, c.with), l.call(ownerText, c.tool, c.without)
		if string(with.Text) != string(without.Text) {
			t.Errorf("%s %s: %s\nwithout: %s", c.tool, c.with, with.Text, without.Text)
		}
	}
}
