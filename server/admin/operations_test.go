package admin

import (
	"slices"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
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
		for _, op := range l.admin.offered(token, l.admin.catalog.Model(model)) {
			names = append(names, op.name)
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
	if r := l.call(ownerText, "action_author", `{"action":"delete_selected","ids":[1],"confirm":true}`); r.Code != CodePermissionDenied {
		t.Errorf("delete_selected: %s", r.Text)
	}
	if got := l.call(ownerText, "actions_author", `{}`); got.Code != CodePermissionDenied {
		t.Errorf("actions: %s", got.Text)
	}
}
