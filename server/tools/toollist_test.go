package tools

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

type listedTool struct {
	Name        string
	InputSchema struct {
		Properties map[string]map[string]any
	}
	Annotations toldHints
}

// toldHints are annotations as a client reads them: MCP says what absent ones mean.
type toldHints struct{ call.Annotations }

func (h *toldHints) UnmarshalJSON(text []byte) error {
	h.Annotations = call.Annotations{DestructiveHint: true, OpenWorldHint: true}
	err := json.Unmarshal(text, &h.Annotations)
	h.DestructiveHint = h.DestructiveHint && !h.ReadOnlyHint
	return err
}

// listed are the tools of tools/list for a token, by name.
func (l *library) listed(token string) map[string]listedTool {
	l.t.Helper()
	var list []listedTool
	if err := json.Unmarshal(l.set.Tools(l.tokens.Authenticate("Bearer "+token, time.Now()), View{}, false).Plain, &list); err != nil {
		l.t.Fatal(err)
	}
	tools := map[string]listedTool{}
	for _, tool := range list {
		tools[tool.Name] = tool
	}
	return tools
}

// The tools of all tokens are encoded once, and yet none names a model that the token may not view.
func TestDescriptionsNameWhatTheTokenMayUse(t *testing.T) {
	const writer = "writer-token-of-at-least-thirty-two-characters"
	l := newLibrary(t, func(c *contract.Config) {
		c.Tokens = append(c.Tokens, contract.Token{Namespace: "shop", Name: "writer", Hashes: []string{contract.HashToken(writer)}, Rules: []contract.Rule{
			{Models: []string{"book", "chapter"}, Verbs: []string{"*"}}}})
	})
	for _, c := range []struct{ token, tool, argument, end string }{
		{ownerText, "list_book", "filters", "; relations: author, chapter_by_book, loan_by_book, review_by_book, tag_by_book"},
		{bookishText, "list_book", "filters", "; relations: chapter_by_book"},
		{bookishText, "list_chapter", "filters", "; relations: book"},
		{readerText, "list_note", "filters", "__count__gte: n"},
		{ownerText, "create_book", "inlines", "; models: chapter, review"},
		{writer, "create_book", "inlines", "; models: chapter"},
		{writer, "update_book", "inlines", "; models: chapter"},
		{bookishText, "create_book", "inlines", ""},
	} {
		description, _ := l.listed(c.token)[c.tool].InputSchema.Properties[c.argument]["description"].(string)
		if !strings.HasSuffix(description, c.end) {
			t.Errorf("%s of %s: %q, want an end of %q", c.argument, c.tool, description, c.end)
		}
	}
}

func TestSchemasRefuseNothingThatTheServerTakes(t *testing.T) {
	tools := newLibrary(t).listed(ownerText)
	for _, c := range []struct{ tool, argument, member, want string }{
		{"get_book", "id", "type", `["integer","string"]`},
		{"get_tag", "id", "type", `"string"`},
		{"list_book", "limit", "maximum", `null`},
		{"list_book", "limit", "description", `null`},
		{"update_book", "expected_version", "type", `["integer","string"]`},
	} {
		if got, _ := json.Marshal(tools[c.tool].InputSchema.Properties[c.argument][c.member]); string(got) != c.want {
			t.Errorf("%s of %s of %s: %s, want %s", c.member, c.argument, c.tool, got, c.want)
		}
	}
	data := tools["create_book"].InputSchema.Properties["data"]["properties"].(map[string]any)
	if got, _ := json.Marshal(data["price"].(map[string]any)["type"]); string(got) != `["number","string","null"]` {
		t.Errorf("a decimal is %s", got)
	}
	if tools["update_book"].Annotations.IdempotentHint || !tools["update_author"].Annotations.IdempotentHint {
		t.Error("an update is idempotent if, and only if, it moves no version")
	}
}
