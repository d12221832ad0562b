package tools

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

func TestDeleteSaysWhatGoesAlong(t *testing.T) {
	l := newLibrary(t)
	if _, err := l.plain.Exec(`INSERT INTO stock VALUES (1, 1), (2, 2); INSERT INTO label VALUES (1, 1)`); err != nil {
		t.Fatal(err)
	}
	answer := l.must(ownerText, "delete_book", `{"id":1}`)
	if want := "Deleted book 1, and with it 2 chapters, 1 tag, 1 label, 2 other records; kept without it: 1 review"; answer["message"] != want {
		t.Errorf("got %s", answer["message"])
	}
	if left := l.one("SELECT (SELECT count(*) FROM chapter) || (SELECT count(*) FROM stock) || (SELECT count(*) FROM label) || (SELECT count(*) FROM review WHERE book_id IS NULL)"); left != "1001" {
		t.Errorf("what is left is %s", left)
	}
	if answer := l.must(ownerText, "delete_shelf", `{"id":1}`); answer["message"] != "Deleted shelf 1, and with it 2 shelfs" {
		t.Errorf("got %s", answer["message"])
	}
	if r := l.call(ownerText, "delete_shelf", `{"id":1}`); r.Code != call.CodeNotFound {
		t.Errorf("a row that is not there: %s", r.Text)
	}
}

func TestDeleteIsProtected(t *testing.T) {
	rules := func(rules ...contract.Rule) func(*contract.Config) {
		return func(c *contract.Config) {
			for i := range c.Tokens {
				if c.Tokens[i].Name == "bookish" {
					c.Tokens[i].Rules = rules
				}
			}
		}
	}
	all := contract.Rule{Models: []string{"book", "tag", "label"}, Verbs: []string{"*"}}
	verbs := func(model string, verbs ...string) contract.Rule {
		return contract.Rule{Models: []string{model}, Verbs: verbs}
	}
	for _, c := range []struct {
		name, script string
		rules        []contract.Rule
		says         string
	}{
		{"by rows that forbid it", "INSERT INTO loan VALUES (1, 1, 'x'), (2, 1, 'y')", []contract.Rule{all, verbs("loan", "view"), verbs("chapter", "*"), verbs("review", "*")},
			"it is referred to by 2 loans; delete or change those first"},
		{"by rows of a model that is not seen", "INSERT INTO loan VALUES (1, 1, 'x')", []contract.Rule{all, verbs("chapter", "*"), verbs("review", "*")}, "other records depend on it"},
		{"by rows that the token may not delete", "", []contract.Rule{all, verbs("chapter", "view", "change"), verbs("review", "*")}, "deleting it would delete 2 chapters, which you may not"},
		{"by rows that the token may not change", "", []contract.Rule{all, verbs("chapter", "*"), verbs("review", "view", "delete")}, "deleting it would change 1 review, which you may not"},
		{"by rows behind a table that is not registered", "INSERT INTO stock VALUES (1, 1); INSERT INTO label VALUES (1, 1)",
			[]contract.Rule{verbs("book", "*"), verbs("tag", "*"), verbs("chapter", "*"), verbs("review", "*"), verbs("label", "view")}, "deleting it would delete 1 label, which you may not"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLibrary(t, rules(c.rules...))
			if _, err := l.plain.Exec(c.script); err != nil {
				t.Fatal(err)
			}
			r := l.call(bookishText, "delete_book", `{"id":1}`)
			if r.Code != call.CodeProtected || !strings.Contains(r.Message, c.says) {
				t.Errorf("got %s", r.Text)
			}
			if !strings.Contains(c.says, "loan") && strings.Contains(r.Message, "loan") {
				t.Errorf("a model that is not seen is named: %s", r.Message)
			}
			if l.one("SELECT count(*) FROM chapter") != "3" {
				t.Error("something was deleted")
			}
		})
	}
}

// The order of the reasons would tell in which table, and behind which rows, the rows out of sight lie.
func TestRowsOutOfSightComeLastAmongTheReasonsOfAProtectedDelete(t *testing.T) {
	const want = "book cannot be deleted: deleting it would delete 2 chapters, which you may not; other records depend on it"
	rule := func(model string, verbs ...string) contract.Rule {
		return contract.Rule{Models: []string{model}, Verbs: verbs}
	}
	for name, loans := range map[string]contract.Rule{"under a policy": rule("loan", "view"), "of a model that is not seen": rule("loan", "delete")} {
		l := newLibrary(t, func(c *contract.Config) {
			for i := range c.Tokens {
				if c.Tokens[i].Name == "bookish" {
					c.Tokens[i].Rules = []contract.Rule{rule("book", "*"), rule("tag", "*"), rule("label", "*"), rule("review", "*"), rule("chapter", "view"), loans}
				}
			}
		}, on("loan", func(m *contract.Model) {
			m.RowPolicies = []contract.RowPolicy{{Name: "nobody", Everyone: true, Filters: []contract.Filter{{Field: "reader", Value: "nobody"}}}}
		}))
		if _, err := l.plain.Exec("INSERT INTO loan VALUES (1, 1, 'x')"); err != nil {
			t.Fatal(err)
		}
		if r := l.call(bookishText, "delete_book", `{"id":1}`); r.Code != call.CodeProtected || r.Message != want {
			t.Errorf("rows %s: got %s, want %s", name, r.Text, want)
		}
	}
}

func TestDeleteOfTooMuchIsProtected(t *testing.T) {
	l := newLibrary(t)
	var script strings.Builder
	script.WriteString("INSERT INTO chapter VALUES ")
	for i := range 10_000 {
		if i > 0 {
			script.WriteByte(',')
		}
		fmt.Fprintf(&script, "(%d, 1, %d, 'x')", i+10, i+10)
	}
	if _, err := l.plain.Exec(script.String()); err != nil {
		t.Fatal(err)
	}
	if r := l.call(ownerText, "delete_book", `{"id":1}`); r.Code != call.CodeProtected || !strings.Contains(r.Message, "more than 10000 rows") {
		t.Errorf("got %.300s", r.Text)
	}
	if _, err := l.plain.Exec("DELETE FROM chapter WHERE id > 5000"); err != nil {
		t.Fatal(err)
	}
	l.must(ownerText, "delete_book", `{"id":1}`)
	if left := l.one("SELECT count(*) FROM chapter"); left != "1" {
		t.Errorf("%s chapters are left", left)
	}
}

func TestDeleteOfRowsThatHoldEachOther(t *testing.T) {
	l := newLibrary(t)
	if _, err := l.plain.Exec(`UPDATE shelf SET parent_id = 3 WHERE id = 1`); err != nil { // a ring
		t.Fatal(err)
	}
	l.must(ownerText, "delete_shelf", `{"id":2}`)
	if left := l.one("SELECT count(*) FROM shelf"); left != "0" {
		t.Errorf("%s shelves are left", left)
	}
}
