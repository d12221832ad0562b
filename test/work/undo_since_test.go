package work

import (
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// Taking back goes from the newest call to the oldest. What an undo took back is no change since.
func TestUndoGoesBackCallByCall(t *testing.T) {
	onEachEngine(t, func(t *testing.T, l *library) {
		for _, row := range []struct{ what, first, second, third string }{
			{"changes of one field", `{"id":1,"data":{"title":"b"}}`, `{"id":1,"data":{"title":"c"}}`, `{"id":1,"data":{"title":"d"}}`},
			{"changes of several", `{"id":1,"data":{"title":"b","price":"2.00"}}`, `{"id":1,"data":{"title":"c"}}`, `{"id":1,"data":{"price":"3.00"}}`},
		} {
			before := []state{l.rows()}
			var calls []string
			for _, arguments := range []string{row.first, row.second, row.third} {
				_, call := l.must(clerk, "update_book", arguments)
				calls, before = append(calls, call), append(before, l.rows())
			}
			l.refuses(clerk, "undo", `{"call":"`+calls[0]+`"}`, "Undo call "+calls[2]+" of yours first")
			var undos []string
			for i := 2; i >= 0; i-- {
				_, undo := l.must(clerk, "undo", `{"call":"`+calls[i]+`"}`)
				undos = append(undos, undo)
				l.is(before[i], row.what)
				l.refuses(clerk, "undo", `{"call":"`+calls[i]+`"}`, "was taken back already, by call "+undo)
			}
			for i := 2; i >= 0; i-- { // and forth, the newest undo first
				l.must(clerk, "undo", `{"call":"`+undos[i]+`"}`)
				l.is(before[3-i], row.what+", made again")
			}
			l.must(clerk, "undo", `{"call":"`+calls[2]+`"}`)
			l.is(before[2], row.what+", taken back once more")
			l.must(clerk, "undo", `{"call":"`+calls[1]+`"}`)
			l.must(clerk, "undo", `{"call":"`+calls[0]+`"}`)
			l.is(before[0], row.what+", all taken back once more")
		}
		begun := l.rows()
		var calls []string
		for _, c := range [][2]string{
			{"create_shelf", `{"data":{"id":7,"name":"s"}}`}, {"update_shelf", `{"id":7,"data":{"note":"n"}}`}, {"update_book", `{"id":2,"data":{"shelf_id":7}}`},
			{"delete_shelf", `{"id":7}`}, {"delete_book", `{"id":2}`}, {"create_book", `{"data":{"id":2,"title":"another"}}`},
		} {
			_, call := l.must(clerk, c[0], c[1])
			calls = append(calls, call)
		}
		for i := len(calls) - 1; i >= 0; i-- {
			l.must(clerk, "undo", `{"call":"`+calls[i]+`"}`)
		}
		l.is(begun, "creations, changes and deletions, the newest first")
	})
}

// A value that came back by another way than undo is a change, and so is one that another caller left.
func TestWhatOthersDidIsAChangeUnlessTheyTookItBack(t *testing.T) {
	onEachEngine(t, func(t *testing.T, l *library) {
		_, call := l.must(clerk, "update_book", `{"id":1,"data":{"title":"b"}}`)
		l.must(guest, "update_book", `{"id":1,"data":{"title":"c"}}`)
		_, last := l.must(guest, "update_book", `{"id":1,"data":{"title":"b"}}`)
		got := l.refuses(clerk, "undo", `{"call":"`+call+`"}`, "was changed since")
		if strings.Contains(got, last) {
			t.Errorf("it names a call of another caller: %s", got)
		}

		_, call = l.must(clerk, "update_book", `{"id":2,"data":{"title":"b"}}`)
		before := l.rows()
		_, theirs := l.must(guest, "update_book", `{"id":2,"data":{"title":"c","price":"4.00"}}`)
		_, their := l.must(guest, "undo", `{"call":"`+theirs+`"}`)
		l.is(before, "their undo")
		_, undo := l.must(clerk, "undo", `{"call":"`+call+`"}`)
		if undo == "" {
			t.Error("nothing was undone")
		}
		l.refuses(guest, "undo", `{"call":"`+their+`"}`, "was changed since")
		l.must(clerk, "undo", `{"call":"`+undo+`"}`)
		l.must(guest, "undo", `{"call":"`+their+`"}`)
		l.refuses(clerk, "undo", `{"call":"`+call+`"}`, "was changed since") // their change is there again
		l.refuses(clerk, "undo", `{"call":"`+undo+`"}`, "was taken back already")

		_, call = l.must(clerk, "create_shelf", `{"data":{"id":8,"name":"h"}}`)
		_, theirs = l.must(guest, "delete_shelf", `{"id":8}`)
		l.must(guest, "undo", `{"call":"`+theirs+`"}`)
		l.must(clerk, "undo", `{"call":"`+call+`"}`)
		_, call = l.must(clerk, "update_book", `{"id":3,"data":{"title":"b"}}`)
		_, theirs = l.must(guest, "update_book", `{"id":3,"data":{"title":"c"}}`)
		l.must(guest, "undo", `{"call":"`+theirs+`"}`)
		if _, err := l.plain.Exec("UPDATE book SET title = 'past the server' WHERE id = 3"); err != nil {
			t.Fatal(err)
		}
		l.refuses(clerk, "undo", `{"call":"`+call+`"}`, "was changed since")
	})
}

// A row that is gone and one that is out of sight are the same to the caller.
func TestUndoOfARowThatIsGoneOrOutOfSight(t *testing.T) {
	onEachEngine(t, func(t *testing.T, l *library) {
		const want = `is gone, or out of your sight now; nothing was undone. Undo what was done since first, if it was you, or write yourself what is right","code":"conflict","current":null`
		_, gone := l.must(clerk, "update_book", `{"id":1,"data":{"title":"mine"}}`)
		_, moved := l.must(clerk, "update_book", `{"id":2,"data":{"title":"mine"}}`)
		l.must(guest, "delete_book", `{"id":1}`)
		l.Apply(func(c *contract.Config) {
			for i := range c.Models {
				if c.Models[i].Name == "book" {
					c.Models[i].RowPolicies = []contract.RowPolicy{{Name: "others", Everyone: true, Filters: []contract.Filter{{Field: "id", Lookup: "gt", Value: "2"}}}}
				}
			}
		})
		l.refuses(clerk, "undo", `{"call":"`+gone+`"}`, want)
		l.refuses(clerk, "undo", `{"call":"`+moved+`"}`, want)
	})
}
