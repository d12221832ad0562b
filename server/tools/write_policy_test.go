package tools

import (
	"reflect"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// underPolicies makes the clerk see the authors of the branch that the token names, the books of those, and of reviews
// only good ones; the owner sees all.
func underPolicies(c *contract.Config) {
	all := contract.RowPolicy{Name: "all", Groups: []string{"owners"}, AllRows: true}
	for i := range c.Tokens {
		if c.Tokens[i].Name == "owner" {
			c.Tokens[i].Groups = []string{"owners"}
		}
	}
	policies := map[string]contract.Filter{
		"author": {Field: "branch", TokenAttribute: "branch"},
		"book":   {Field: "author__branch", TokenAttribute: "branch"},
		"review": {Field: "body", Value: "good"},
	}
	for i := range c.Models {
		if f, ok := policies[c.Models[i].Name]; ok {
			c.Models[i].RowPolicies = []contract.RowPolicy{all, {Name: "own", Groups: []string{"clerks"}, Filters: []contract.Filter{f}}}
		}
	}
	for i := range c.Tokens {
		if c.Tokens[i].Name == "clerk" {
			c.Tokens[i].Groups = []string{"clerks"}
		}
	}
}

func TestWritesStayWithinTheRowPolicy(t *testing.T) {
	l := newLibrary(t, underPolicies)
	dump := `SELECT (SELECT group_concat(id || name || branch) FROM author) || (SELECT group_concat(id || title || author_id) FROM book) || (SELECT count(*) FROM mcp_audit)`
	before := l.one(dump)
	for _, c := range []struct {
		name, tool, arguments string
		code                  call.Code
		says                  string
	}{
		{"adding a row that is not seen", "create_author", `{"data":{"name":"x","branch":"north"}}`, call.CodeValidation, call.AllFields},
		{"moving a row out of sight", "update_author", `{"id":2,"data":{"branch":"north"}}`, call.CodeValidation, call.AllFields},
		{"changing a row that is not seen", "update_author", `{"id":1,"data":{"name":"x"}}`, call.CodeNotFound, "author not found"},
		{"deleting a row that is not seen", "delete_author", `{"id":1}`, call.CodeNotFound, "author not found"},
		{"changing a row that is not seen through a relation", "update_book", `{"id":1,"data":{"title":"x"}}`, call.CodeNotFound, "book not found"},
		{"moving a row out of sight through a relation", "update_book", `{"id":2,"data":{"author_id":1}}`, call.CodeValidation, "no such author"},
		{"a child of a row that is not seen", "create_chapter", `{"data":{"book_id":1,"number":9,"title":"x"}}`, call.CodeValidation, "no such book"},
		{"an inline's row that is not seen", "update_book", `{"id":2,"inlines":{"review":[{"data":{"body":"bad"}}]}}`, call.CodeValidation, "review[0]." + call.AllFields},
		{"an expected version of a row that is not seen", "update_book", `{"id":1,"data":{"title":"x"},"expected_version":9}`, call.CodeNotFound, "book not found"},
		{"all or nothing", "bulk_author", `{"operation":"update","atomic":true,"items":[{"id":2,"data":{"name":"x"}},{"id":1,"data":{"name":"x"}}]}`, call.CodeNotFound, "author not found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := l.call(clerkText, c.tool, c.arguments)
			if r.Code != c.code || !strings.Contains(string(r.Text), c.says) {
				t.Errorf("got %s (%v)", r.Text, r.Cause)
			}
			if after := l.one(dump); after != before {
				t.Errorf("%s became %s", before, after)
			}
		})
	}
	l.must(clerkText, "create_author", `{"data":{"name":"Lem"}}`)
	if branch := l.one("SELECT branch FROM author WHERE name = 'Lem'"); branch != "south" {
		t.Errorf("the policy's value was not filled in: %s", branch)
	}
	l.must(clerkText, "update_book", `{"id":2,"data":{"author_id":3}}`)
	l.must(ownerText, "update_book", `{"id":1,"data":{"author_id":3}}`)
}

func TestAForeignKeyIsLookedAtAfterTriggers(t *testing.T) {
	l := newLibrary(t, underPolicies)
	if _, err := l.plain.Exec(`CREATE TRIGGER move AFTER INSERT ON chapter BEGIN UPDATE chapter SET book_id = 1 WHERE id = new.id; END`); err != nil {
		t.Fatal(err)
	}
	r := l.call(clerkText, "create_chapter", `{"data":{"book_id":2,"number":9,"title":"x"}}`)
	if fields := fieldsAtFault(t, r); fields[0] != "book_id" || !strings.Contains(string(r.Text), "no such book") || l.one("SELECT count(*) FROM chapter") != "3" {
		t.Errorf("got %s", r.Text)
	}
}

func TestAForeignKeyToAHiddenRowLooksLikeOneToNoRow(t *testing.T) {
	l := newLibrary(t, underPolicies)
	for _, tool := range []struct{ name, arguments string }{
		{"create_book", `{"data":{"title":"x","author_id":?}}`},
		{"update_book", `{"id":2,"data":{"author_id":?}}`},
		{"update_book", `{"id":2,"data":{"author_id":?},"dry_run":true}`},
		{"bulk_book", `{"operation":"create","items":[{"title":"x","author_id":?}]}`},
	} {
		hidden := l.call(clerkText, tool.name, strings.ReplaceAll(tool.arguments, "?", "1"))
		missing := l.call(clerkText, tool.name, strings.ReplaceAll(tool.arguments, "?", "99"))
		if !hidden.IsError || string(hidden.Text) != string(missing.Text) {
			t.Errorf("%s: hidden %s, missing %s", tool.name, hidden.Text, missing.Text)
		}
	}
}

func TestDeleteIsProtectedByRowsThatTheTokenDoesNotSee(t *testing.T) {
	l := newLibrary(t, underPolicies)
	if _, err := l.plain.Exec("INSERT INTO review VALUES (7, 2, 'bad words'), (8, 2, 'good')"); err != nil {
		t.Fatal(err)
	}
	r := l.call(clerkText, "delete_book", `{"id":2}`)
	if want := "book cannot be deleted: other records depend on it"; r.Code != call.CodeProtected || r.Message != want {
		t.Errorf("got %s, want %s", r.Text, want)
	}
	if _, err := l.plain.Exec("DELETE FROM review WHERE id = 7"); err != nil {
		t.Fatal(err)
	}
	answer := l.must(clerkText, "delete_book", `{"id":2}`)
	delete(answer, "call")
	if want := map[string]any{"success": true, "message": "Deleted book 2, and with it 1 chapter; kept without it: 1 review",
		"undo": "not possible: the journal does not have all of the row: it keeps no hidden, masked or secret columns"}; !reflect.DeepEqual(answer, want) {
		t.Errorf("got %v", answer)
	}
}

// How many rows there are out of sight is not to be told, nor that the others are not all.
func TestNothingIsCountedOfRowsThatAreNotAllSeen(t *testing.T) {
	l := newLibrary(t, on("loan", func(m *contract.Model) {
		m.RowPolicies = []contract.RowPolicy{{Name: "own", Everyone: true, Filters: []contract.Filter{{Field: "reader", TokenAttribute: "branch"}}}}
	}))
	if _, err := l.plain.Exec("INSERT INTO loan VALUES (1, 2, 'south'), (2, 2, 'north')"); err != nil {
		t.Fatal(err)
	}
	r := l.call(clerkText, "delete_book", `{"id":2}`)
	if want := "book cannot be deleted: other records depend on it"; r.Code != call.CodeProtected || r.Message != want {
		t.Errorf("got %s, want %s", r.Text, want)
	}
}
