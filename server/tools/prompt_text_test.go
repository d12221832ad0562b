package tools

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

const (
	editorText = "editor-token-of-at-least-thirty-two-characters"
	viewerText = "viewer-token-of-at-least-thirty-two-characters"
)

// promptsFor is an Admin over one model, and the tokens of one who may change it and of one who may view it.
func promptsFor() (a *Set, editor, viewer access.Token) {
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
	models := catalog.Build(config, schema)
	tokens := access.TokensOf(config, models)
	now := time.Now()
	return New(models, nil, call.Settings{}), tokens.Authenticate("Bearer "+editorText, now), tokens.Authenticate("Bearer "+viewerText, now)
}

func TestPromptsFollowTheOperations(t *testing.T) {
	a, editor, viewer := promptsFor()
	for _, c := range []struct {
		name, prompt string
		token        access.Token
		has, hasNot  []string
	}{
		{"an editor's guide to changes", "crud_guide", editor,
			[]string{"Change books safely", "- update_book: data holds only the fields to change", `update_book {"id": 1, "data": {"title": "text"}, "dry_run": true}`,
				`transact {"steps": [{"tool": "update_book", "arguments": {"id": 1, "data": {"title": "text"}}}], "dry_run": true}`, "- title: text, required, at most 80 characters", "- get_book:"}, []string{"create_book", "delete_book", "api_key"}},
		{"a viewer's guide to changes", "crud_guide", viewer, []string{"You may read books here, not change them", "- get_book:"}, []string{"update_book", "bulk_book"}},
		{"an editor's guide to many rows", "bulk_operations_guide", editor, []string{"- bulk_<model>: many rows", "- books: actions_book, bulk_book\n", "1000 items at most", `{"operation": "update", "items": [{"id": 1, "data": {"title": "text"}}]}`}, []string{"update_book", " action_book", `"operation": "delete"`}},
		{"a viewer's guide to many rows", "bulk_operations_guide", viewer, []string{"No model that you may use has bulk tools"}, []string{"bulk_book"}},
		{"an editor's model", "understand_model", editor, []string{"- update_book:", "- bulk_book:", `aggregate_book {"group_by":["title"],"measures":{"rows":{"count":"*"}},"order_by":["-rows"],"limit":10}`}, []string{"api_key"}},
		{"a viewer's models", "explore_models", viewer, []string{"- book (books): Tools: list_book, get_book, describe_book, actions_book, autocomplete_book, aggregate_book\n"}, []string{"update_book"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := a.Prompt(c.token, View{}, c.prompt, []byte(`{"model_name":"book"}`))
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
	if text := a.Instructions("shop", editor, View{}); strings.Contains(text, "only read") {
		t.Errorf("an editor is told: %s", text)
	}
	if text := a.Instructions("shop", viewer, View{}); !strings.Contains(text, "You may only read.") || !strings.Contains(text, "You may view: book.") {
		t.Errorf("a viewer is told: %s", text)
	}
}

func TestPromptOfAModelThatIsWithheldSaysSo(t *testing.T) {
	config := &contract.Config{
		Models: []contract.Model{{Exposure: "book", Name: "book", Table: "book", Expose: true, VerboseName: "book", VerboseNamePlural: "books"}},
		Tokens: []contract.Token{{Name: "viewer", Hashes: []string{contract.HashToken(viewerText)}, Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}}},
	}
	models := catalog.Build(config, nil) // no schema yet
	a := New(models, nil, call.Settings{})
	token := access.TokensOf(config, models).Authenticate("Bearer "+viewerText, time.Now())
	if _, err := a.Prompt(token, View{}, "understand_model", []byte(`{"model_name":"book"}`)); err == nil || !strings.Contains(err.Error(), "try again") {
		t.Errorf("understand_model: %v", err)
	}
	if p, err := a.Prompt(token, View{}, "explore_models", nil); err != nil || !strings.Contains(p.Text, "no model here that you may view") {
		t.Errorf("explore_models: %v %s", err, p.Text)
	}
	if list := string(a.AppendResources(nil, token, View{})); list != "[]" {
		t.Errorf("resources/list: %s", list)
	}
	if r := a.ReadResource(context.Background(), token, "data://book/"); r.Code != call.CodeUnavailable {
		t.Errorf("resources/read: %+v", r)
	}
}

// The tools do what the guides say.
func TestGuidesOfWhatTheTokenMayChange(t *testing.T) {
	l := newLibrary(t)
	owner := l.tokens.Authenticate("Bearer "+ownerText, time.Now())
	bookish := l.tokens.Authenticate("Bearer "+bookishText, time.Now())
	for _, c := range []struct {
		name, prompt string
		token        access.Token
		has, hasNot  []string
	}{
		{"an owner's guide to changes", "crud_guide", owner, []string{
			`- create_book {"data": {"title": "text", "isbn": "text", "author_id": 1, "state": "draft"}, "dry_run": true}`,
			`- update_book {"id": 1, "data": {"title": "text", "isbn": "text"}, "expected_version": 1, "dry_run": true}`,
			`- delete_book {"id": 1, "dry_run": true}`,
			`"inlines": {"chapter": [{"data": {"number": 1, "title": "text"}}]}, "dry_run": true}: adds one`,
			`"inlines": {"chapter": [{"id": 1, "_delete": true}]}, "dry_run": true}: deletes one`,
			"expected_version is the row's version", "- conflict: ", "- protected: ", "Afterwards history_book shows", "Read-only fields, which no data may hold: upper_title, notes, version.",
		}, []string{"internal", "api_key"}},
		{"the guide of one who may only view chapters", "crud_guide", bookish, []string{"- update_book {"}, []string{"Inlines: chapters"}},
		{"an owner's guide to many rows", "bulk_operations_guide", owner, []string{
			"Actions, by model:\n- delete_selected of author: Delete the selected rows, and what goes with them. Asks first.",
			`1. action_author {"action": "delete_selected", "ids": [1]} changes nothing, and answers requires_confirmation: true`,
			`"confirm": true and "confirmation_token": `, "5 items at most",
		}, []string{"label_id"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := l.set.Prompt(c.token, View{}, c.prompt, []byte(`{"model_name":"book"}`))
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
}

// Tokens that may change rows, and not view them, are told so.
func TestPromptsOfTokensThatMayNotView(t *testing.T) {
	l := newLibrary(t)
	for text, has := range map[string][2]string{
		adderText:   {"- bulk_<model>: many rows", `- create_book {"data": `},
		deleterText: {"- bulk_<model>: many rows", `- delete_book {"id": 1, "dry_run": true}`},
	} {
		token := l.tokens.Authenticate("Bearer "+text, time.Now())
		told := l.set.Instructions("shop", token, View{})
		if strings.Contains(told, "only read") || !strings.Contains(told, "You may change, but not view: author, book, ") || strings.Contains(told, "_guide") {
			t.Errorf("%s is told: %s", token.Name(), told)
		}
		if p, err := l.set.Prompt(token, View{}, "bulk_operations_guide", nil); err != nil || !strings.Contains(p.Text, has[0]) {
			t.Errorf("%s: %v %s", token.Name(), err, p.Text)
		}
		p, err := l.set.Prompt(token, View{}, "crud_guide", []byte(`{"model_name":"book"}`))
		if err != nil || !strings.Contains(p.Text, "You may change books here, not view them") || !strings.Contains(p.Text, has[1]) || strings.Contains(p.Text, "list_book") {
			t.Errorf("%s: %v %s", token.Name(), err, p.Text)
		}
		if _, err := l.set.Prompt(token, View{}, "understand_model", []byte(`{"model_name":"book"}`)); err == nil {
			t.Errorf("%s understands a model that it may not view", token.Name())
		}
	}
}

// Every example of the prompts is called as it stands there, and succeeds on rows that have the ids in it.
func TestExamplesOfPromptsSucceed(t *testing.T) {
	// The rows that the examples name, without those that would forbid what an example does.
	const rows = `UPDATE book SET author_id = 2; UPDATE chapter SET number = number + 10`
	const alone = `DELETE FROM chapter; DELETE FROM review; DELETE FROM tag; UPDATE shelf SET parent_id = NULL`
	const tag = `INSERT INTO tag VALUES (1, 'text', 1)`
	for _, text := range []string{ownerText, adderText, deleterText, readerText, bookishText} {
		books := newLibrary(t)
		token := books.tokens.Authenticate("Bearer "+text, time.Now())
		for _, p := range []struct{ prompt, arguments string }{
			{"explore_models", ""}, {"bulk_operations_guide", ""}, {"understand_model", "book"}, {"crud_guide", "book"}, {"crud_guide", "shelf"}, {"crud_guide", "tag"},
		} {
			prompt, err := books.set.Prompt(token, View{}, p.prompt, []byte(`{"model_name":"`+p.arguments+`"}`))
			if err != nil {
				if text == ownerText {
					t.Errorf("%s %s of %s: %v", p.prompt, p.arguments, token.Name(), err)
				}
				continue
			}
			calls := examples(prompt.Text)
			if changes := p.prompt == "crud_guide" && token.Name() != "shop/reader" && p.arguments == "book"; changes && len(calls) == 0 {
				t.Errorf("the %s of %s shows no example:\n%s", p.prompt, token.Name(), prompt.Text)
			}
			for _, example := range calls {
				tool, arguments := example[0], example[1]
				l := newLibrary(t)
				script, op := rows, strings.SplitN(tool, "_", 2)[0]
				if op == "delete" || op == "bulk" || op == "action" || strings.Contains(arguments, "delete_") {
					script += ";" + alone
				}
				if called := tool + arguments; strings.Contains(called, "update_tag") || strings.Contains(called, "delete_tag") {
					script += ";" + tag
				}
				if _, err := l.plain.Exec(script); err != nil {
					t.Fatal(err)
				}
				if r := l.call(text, tool, arguments); r.IsError || strings.Contains(string(r.Text), `"errors":[{`) {
					t.Errorf("%s of %s: %s %s: %s", p.prompt, token.Name(), tool, arguments, r.Text)
				}
				if op, _ := call.ParseName(tool); op.Writes() && op.Name != "bulk" && op.Name != "action" && !strings.Contains(arguments, `"dry_run": true`) {
					t.Errorf("%s of %s: %s %s is not a dry run", p.prompt, token.Name(), tool, arguments)
				}
			}
		}
	}
}

// examples are the calls in a text: a tool's name and an object each.
func examples(text string) (calls [][2]string) {
	for _, found := range exampleCall.FindAllStringSubmatchIndex(text, -1) {
		var arguments json.RawMessage
		if json.NewDecoder(strings.NewReader(text[found[3]+1:])).Decode(&arguments) == nil {
			calls = append(calls, [2]string{text[found[2]:found[3]], string(arguments)})
		}
	}
	return calls
}

var exampleCall = regexp.MustCompile(`\b(transact|[a-z]+_[a-z_]+) \{`)
