package tools

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// retire ends the loans of books, and takes the books out of print; its last statement breaks a rule if asked to.
func retire(c *contract.Config) {
	modelNamed(c, "book").Actions = []contract.Action{{Name: "retire",
		Parameters: []contract.Parameter{{Name: "price", Type: contract.TypeDecimal}, {Name: "note", Type: contract.TypeString}},
		SQL: &contract.SQLAction{Statement: "DELETE FROM chapter WHERE book_id IN (:ids)", More: []string{
			"UPDATE book SET notes = :note WHERE id IN (:ids)",
			"INSERT INTO note (body) SELECT :note FROM author WHERE id = 1",
			"UPDATE book SET price = :price WHERE id IN (:ids)",
		}}}}
	for i := range c.Tokens {
		if t := &c.Tokens[i]; t.Name == "owner" {
			t.Rules[0].Actions = []string{contract.Wildcard}
		}
	}
}

func TestTheStatementsOfAnActionAreOneTransaction(t *testing.T) {
	onLibraries(t, func(t *testing.T, l *library) {
		failed := l.call(ownerText, "action_book", `{"action":"retire","ids":[1],"confirmation_data":{"price":"-1","note":"gone"}}`)
		if failed.Code != call.CodeValidation {
			t.Errorf("%s (%v)", failed.Text, failed.Cause)
		}
		if got := l.must(ownerText, "list_chapter", `{"filters":{"book_id":1}}`)["count"]; got != 2.0 {
			t.Errorf("%v chapters are left of an action that failed", got)
		}
		r := l.call(ownerText, "action_book", `{"action":"retire","ids":[1],"confirmation_data":{"price":"3","note":"gone"}}`)
		if r.IsError || value(r, "affected_count") != "2" {
			t.Errorf("%s (%v)", r.Text, r.Cause)
		}
		book := l.call(ownerText, "get_book", `{"id":1}`)
		if value(book, "notes") != "gone" || l.must(ownerText, "list_note", `{}`)["count"] != 1.0 || l.must(ownerText, "list_chapter", `{}`)["count"] != 1.0 {
			t.Errorf("the book is %s", book.Text)
		}
		if history := l.call(ownerText, "history_book", `{"id":1}`); value(history, "history.0.action") != "action:retire" {
			t.Errorf("the history is %s", history.Text)
		}
	}, retire)
}
