package tools

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

const (
	editorText = "editor-token-of-at-least-thirty-two-characters"
	viewerText = "viewer-token-of-at-least-thirty-two-characters"
)

// promptsFor is an Admin over one model, and the tokens of one who may change it and of one who may view it.
func promptsFor() (a *Set, editor, viewer *access.Token) {
	id := &database.Column{Name: "id", Kind: database.Integer}
	columns := []*database.Column{id, {Name: "title", Kind: database.Text, MaxLength: 80}, {Name: "api_key", Kind: database.Text}}
	schema := &database.Schema{Tables: []*database.Table{{Name: "book", Kind: database.BaseTable, Writable: true, Columns: columns, PrimaryKey: columns[:1]}}}
	schema.GrantAll()
	token := func(name, text, verb string) contract.Token {
		return contract.Token{Name: name, Hashes: []string{contract.HashToken(text)}, Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{verb}}}}
	}
	config := &contract.Config{
		Models: []contract.Model{{Exposure: "book", Name: "book", Table: "book", Expose: true, VerboseName: "book", VerboseNamePlural: "books", DefaultPageSize: 1, MaxPageSize: 1, MaxBulkItems: 1000}},
		Tokens: []contract.Token{token("editor", editorText, contract.VerbChange), token("viewer", viewerText, contract.VerbView)},
	}
	models := catalog.Build(config, schema, Viewing())
	tokens := access.NewTokens(config, models)
	now := time.Now()
	return New(models, nil, Settings{}), tokens.Authenticate("Bearer "+editorText, now), tokens.Authenticate("Bearer "+viewerText, now)
}

func TestPromptsFollowTheOperations(t *testing.T) {
	a, editor, viewer := promptsFor()
	for _, c := range []struct {
		name, prompt string
		token        *access.Token
		has, hasNot  []string
	}{
		{"an editor's guide to changes", "crud_guide", editor,
			[]string{"Change books safely", "- update_book: data holds only the fields to change", `update_book {"id": 1, "data": {"title": "text"}, "dry_run": true}`, "- title: text, required, at most 80 characters", "- get_book:"}, []string{"create_book", "delete_book", "api_key"}},
		{"a viewer's guide to changes", "crud_guide", viewer, []string{"You may read books here, not change them", "- get_book:"}, []string{"update_book", "bulk_book"}},
		{"an editor's guide to many rows", "bulk_operations_guide", editor, []string{"- bulk_<model>: many rows", "- books: actions_book, bulk_book\n", "at most 1000 items", `{"operation": "update", "items": [{"id": 1, "data": {"title": "text"}}, …]}`}, []string{"update_book", " action_book", `"operation": "delete"`}},
		{"a viewer's guide to many rows", "bulk_operations_guide", viewer, []string{"No model that you may use has bulk tools"}, []string{"bulk_book"}},
		{"an editor's model", "understand_model", editor, []string{"- update_book:", "- bulk_book:"}, []string{"api_key"}},
		{"a viewer's models", "explore_models", viewer, []string{"- book (books): Tools: list_book, get_book, describe_book, actions_book, autocomplete_book\n"}, []string{"update_book"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := a.Prompt(c.token, c.prompt, []byte(`{"model_name":"book"}`))
			if err != nil {
				t.Fatal(err)
			}
			for _, piece := range append(c.has, dataNotInstructions) {
				if !strings.Contains(p.Text, piece) {
					t.Errorf("%q is not in:\n%s", piece, p.Text)
				}
			}
			for _, piece := range c.hasNot {
				if strings.Contains(p.Text, piece) {
					t.Errorf("%q is in:\n%s", piece, p.Text)
				}
			}
		})
	}
	if text := a.Instructions("shop", editor); strings.Contains(text, "only read") {
		t.Errorf("an editor is told: %s", text)
	}
	if text := a.Instructions("shop", viewer); !strings.Contains(text, "You may only read.") || !strings.Contains(text, "You may view: book.") {
		t.Errorf("a viewer is told: %s", text)
	}
}

func TestPromptOfAModelThatIsWithheldSaysSo(t *testing.T) {
	config := &contract.Config{
		Models: []contract.Model{{Exposure: "book", Name: "book", Table: "book", Expose: true, VerboseName: "book", VerboseNamePlural: "books"}},
		Tokens: []contract.Token{{Name: "viewer", Hashes: []string{contract.HashToken(viewerText)}, Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}}},
	}
	models := catalog.Build(config, nil, Viewing()) // no schema yet
	a := New(models, nil, Settings{})
	token := access.NewTokens(config, models).Authenticate("Bearer "+viewerText, time.Now())
	if _, err := a.Prompt(token, "understand_model", []byte(`{"model_name":"book"}`)); err == nil || !strings.Contains(err.Error(), "try again") {
		t.Errorf("understand_model: %v", err)
	}
	if p, err := a.Prompt(token, "explore_models", nil); err != nil || !strings.Contains(p.Text, "no model here that you may view") {
		t.Errorf("explore_models: %v %s", err, p.Text)
	}
	if list := string(a.AppendResources(nil, token)); list != "[]" {
		t.Errorf("resources/list: %s", list)
	}
	if r := a.ReadResource(context.Background(), token, "data://book/"); r.Code != CodeUnavailable {
		t.Errorf("resources/read: %+v", r)
	}
}

// What the guides say can be done is what the tools do: the examples are called as they stand there.
func TestGuidesOfWhatTheTokenMayChange(t *testing.T) {
	l := newLibrary(t)
	owner := l.tokens.Authenticate("Bearer "+ownerText, time.Now())
	bookish := l.tokens.Authenticate("Bearer "+bookishText, time.Now())
	for _, c := range []struct {
		name, prompt string
		token        *access.Token
		has, hasNot  []string
	}{
		{"an owner's guide to changes", "crud_guide", owner, []string{
			`- create_book {"data": {"title": "text", "isbn": "text", "author_id": 1, "state": "draft"}, "dry_run": true}`,
			`- update_book {"id": 1, "data": {"title": "text", "isbn": "text"}, "expected_version": 1, "dry_run": true}`,
			`- delete_book {"id": 1, "dry_run": true}`,
			`"inlines": {"chapter": [{"data": {"number": 1, "title": "text"}}, {"id": 1, "data": {"number": 1, "title": "text"}}, {"id": 1, "_delete": true}]}}`,
			"expected_version is the row's version", "- conflict: ", "- protected: ", "Afterwards history_book shows", "Read-only fields, which no data may hold: upper_title, notes, version.",
		}, []string{"internal", "api_key"}},
		{"the guide of one who may only view chapters", "crud_guide", bookish, []string{"- update_book {"}, []string{"Inlines: chapters"}},
		{"an owner's guide to many rows", "bulk_operations_guide", owner, []string{
			"Actions, by model:\n- delete_selected of author: Delete the selected rows, and what goes with them. Asks first.",
			`1. action_author {"action": "delete_selected", "ids": [1]} changes nothing, and answers requires_confirmation: true`,
			`"confirm": true, "confirmation_token": `, "at most 5 items",
		}, []string{"label_id"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := l.set.Prompt(c.token, c.prompt, []byte(`{"model_name":"book"}`))
			if err != nil {
				t.Fatal(err)
			}
			for _, piece := range append(c.has, dataNotInstructions) {
				if !strings.Contains(p.Text, piece) {
					t.Errorf("%q is not in:\n%s", piece, p.Text)
				}
			}
			for _, piece := range c.hasNot {
				if strings.Contains(p.Text, piece) {
					t.Errorf("%q is in:\n%s", piece, p.Text)
				}
			}
		})
	}
	text, err := l.set.Prompt(owner, "crud_guide", []byte(`{"model_name":"book"}`))
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, line := range strings.Split(text.Text, "\n") {
		call, isExample := strings.CutPrefix(line, "- ")
		tool, arguments, found := strings.Cut(call, " {")
		end := strings.LastIndex(arguments, "}")
		if !isExample || !found || end < 0 || strings.Contains(tool, " ") || !strings.Contains(arguments, "dry_run") {
			continue
		}
		calls++
		if r := l.call(ownerText, tool, "{"+arguments[:end+1]); r.Code == CodeInvalidArgument || r.Code == CodeInternal {
			t.Errorf("%s {%s: %s", tool, arguments, r.Text)
		}
	}
	if calls < 3 {
		t.Errorf("only %d examples could be called", calls)
	}
}
