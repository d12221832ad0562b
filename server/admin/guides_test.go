package admin

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

// offerWrites makes the table of operations offer a change of one row and one of many, for as long as the test runs.
func offerWrites(t *testing.T) {
	t.Helper()
	before := operations
	t.Cleanup(func() { operations = before })
	operations = append([]operation(nil), before...)
	run := func(*Admin, context.Context, access.Scope, []byte) ([]byte, error) { return nil, nil }
	for name, advice := range map[string]string{"update": "send only the fields that change", "bulk": "at most 1000 items"} {
		op := findOperation(name)
		op.run, op.advice = run, advice
		op.verb = access.Change
		op.define = func(m *catalog.Model) definition {
			return definition{Name: name + "_" + m.Name, InputSchema: closed(nil)}
		}
	}
}

// promptsFor is an Admin over one model, and the tokens of one who may change it and of one who may view it.
func promptsFor() (a *Admin, editor, viewer *access.Token) {
	id := &database.Column{Name: "id", Kind: database.Integer}
	columns := []*database.Column{id, {Name: "title", Kind: database.Text, MaxLength: 80}, {Name: "api_key", Kind: database.Text}}
	schema := &database.Schema{Tables: []*database.Table{{Name: "book", Columns: columns, PrimaryKey: columns[:1]}}}
	token := func(name, text, verb string) contract.Token {
		return contract.Token{Name: name, Hashes: []string{contract.HashToken(text)}, Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{verb}}}}
	}
	config := &contract.Config{
		Models: []contract.Model{{Exposure: "book", Name: "book", Table: "book", Expose: true, VerboseName: "book", VerboseNamePlural: "books", DefaultPageSize: 1, MaxPageSize: 1}},
		Tokens: []contract.Token{token("editor", editorText, contract.VerbChange), token("viewer", viewerText, contract.VerbView)},
	}
	models := catalog.Build(config, schema)
	tokens := access.NewTokens(config, models)
	now := time.Now()
	return New(models, nil), tokens.Authenticate("Bearer "+editorText, now), tokens.Authenticate("Bearer "+viewerText, now)
}

func TestPromptsFollowTheOperations(t *testing.T) {
	offerWrites(t)
	a, editor, viewer := promptsFor()
	for _, c := range []struct {
		name, prompt string
		token        *access.Token
		has, hasNot  []string
	}{
		{"an editor's guide to changes", "crud_guide", editor,
			[]string{"Change books safely", "- update_book: send only the fields that change", "- title: text, required, at most 80 characters", "- get_book:"}, []string{"create_book", "delete_book", "api_key"}},
		{"a viewer's guide to changes", "crud_guide", viewer, []string{"You may read books here, not change them", "- get_book:"}, []string{"update_book", "bulk_book"}},
		{"an editor's guide to many rows", "bulk_operations_guide", editor, []string{"- bulk_book: at most 1000 items"}, []string{"update_book", "action_book"}},
		{"a viewer's guide to many rows", "bulk_operations_guide", viewer, []string{"No model that you may use has bulk tools"}, []string{"bulk_book"}},
		{"an editor's model", "understand_model", editor, []string{"- update_book:", "- bulk_book:"}, []string{"api_key"}},
		{"a viewer's models", "explore_models", viewer, []string{"- book (books): Tools: list_book, get_book, describe_book\n"}, []string{"update_book"}},
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
	models := catalog.Build(config, nil) // no schema yet
	a := New(models, nil)
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
