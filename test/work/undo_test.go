package work

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

const shelves = `
CREATE TABLE shelf (id integer NOT NULL PRIMARY KEY, name varchar(40) NOT NULL, note varchar(200), CONSTRAINT shelf_name UNIQUE (name));
CREATE TABLE book (id integer NOT NULL PRIMARY KEY, shelf_id integer, title varchar(60) NOT NULL, price decimal(8,2) DEFAULT 1 NOT NULL, state varchar(10) DEFAULT 'new' NOT NULL,
	FOREIGN KEY (shelf_id) REFERENCES shelf (id) ON DELETE SET NULL);
CREATE TABLE leaf (book_id integer NOT NULL, no integer NOT NULL, body varchar(9000), PRIMARY KEY (book_id, no),
	FOREIGN KEY (book_id) REFERENCES book (id) ON DELETE CASCADE);
CREATE TABLE mark (book_id integer NOT NULL, no integer NOT NULL, place integer NOT NULL, word varchar(20), PRIMARY KEY (book_id, no, place),
	FOREIGN KEY (book_id, no) REFERENCES leaf (book_id, no) ON DELETE CASCADE);
CREATE TABLE loan (id integer NOT NULL PRIMARY KEY, book_id integer NOT NULL, who varchar(40), pin varchar(10), FOREIGN KEY (book_id) REFERENCES book (id));
INSERT INTO shelf VALUES (1, 'top', NULL), (2, 'low', 'dusty');
INSERT INTO book (id, shelf_id, title, price) VALUES (1, 1, 'Dune', 9.50), (2, 1, 'Solaris', 7.25), (3, 2, 'Emma', 3.00);
INSERT INTO leaf VALUES (1, 1, 'one'), (1, 2, 'two'), (2, 1, NULL);
INSERT INTO mark VALUES (1, 1, 1, 'a'), (1, 1, 2, NULL), (2, 1, 1, 'b');
INSERT INTO loan VALUES (1, 3, 'Ann', '1234');
`

// library is a served database of shelves, with a journal.
type library struct {
	*harness.Endpoint
	t     *testing.T
	plain *sql.DB
}

var everything = contract.Rule{Models: []string{"*"}, Verbs: []string{"*"}, Actions: []string{"*"}}

var (
	clerk   = newCaller("clerk", everything)
	guest   = newCaller("guest", everything)
	teacher = newCaller("teacher", contract.Rule{Models: []string{"*"}, Verbs: []string{"view", "add"}})
)

func newLibrary(t *testing.T, e harness.Engine) *library {
	t.Helper()
	where, plain := e.Open(t, shelves)
	sold := "UPDATE book SET state = 'sold' WHERE id IN (:ids)"
	return &library{t: t, plain: plain, Endpoint: harness.Serve(t, where, []contract.Model{
		{Name: "shelf", Table: "shelf", Expose: true},
		{Name: "book", Table: "book", Expose: true, Actions: []contract.Action{
			{Name: "lend", Requires: []string{"change"}, Update: &contract.UpdateAction{Set: []contract.ActionAssignment{{Field: "state", Source: contract.SourceValue, Value: "lent"}}}},
			{Name: "sell", SQL: &contract.SQLAction{Statement: sold}},
		}},
		{Name: "leaf", Table: "leaf", Expose: true},
		{Name: "mark", Table: "mark", Expose: true},
		{Name: "loan", Table: "loan", Expose: true, Exclude: []string{"pin"}},
	}, []contract.Token{clerk.Token, guest.Token, teacher.Token}, func(c *contract.Config) {
		c.Endpoint.Audit = &contract.AuditTable{Name: "journal"}
		c.Endpoint.Database.MaxConnections = 2
	})}
}

// must calls a tool, and returns the answer and its call.
func (l *library) must(who caller, tool, arguments string) (answer, call string) {
	l.t.Helper()
	text, isError := l.Call(who.text, tool, arguments)
	if isError {
		l.t.Fatalf("%s %s: %s", tool, arguments, text)
	}
	var told struct{ Call string }
	if err := json.Unmarshal([]byte(text), &told); err != nil {
		l.t.Fatal(err)
	}
	return text, told.Call
}

// refuses makes sure that a call is refused, with a text in its message.
func (l *library) refuses(who caller, tool, arguments, message string) string {
	l.t.Helper()
	before := l.rows()
	text, isError := l.Call(who.text, tool, arguments)
	if !isError || !strings.Contains(text, message) {
		l.t.Errorf("%s %s: %s, want an error with %q", tool, arguments, text, message)
	}
	if after := l.rows(); !same(after, before) {
		l.t.Errorf("%s %s was refused and changed something: %v, before %v", tool, arguments, after, before)
	}
	return text
}

// state is the rows of all tables, by table and key.
type state map[string]string

var keys = map[string]int{"shelf": 1, "book": 1, "leaf": 2, "mark": 3, "loan": 1}

// rows reads all rows, by plain SQL.
func (l *library) rows() state {
	l.t.Helper()
	all := state{}
	for table, key := range keys {
		func() {
			found, err := l.plain.Query("SELECT * FROM " + table)
			if err != nil {
				l.t.Fatal(err)
			}
			defer found.Close()
			names, err := found.Columns()
			if err != nil {
				l.t.Fatal(err)
			}
			for found.Next() {
				values, into := make([]sql.NullString, len(names)), make([]any, len(names))
				for i := range values {
					into[i] = &values[i]
				}
				if err := found.Scan(into...); err != nil {
					l.t.Fatal(err)
				}
				texts := make([]string, len(values))
				for i, v := range values {
					if texts[i] = "NULL"; v.Valid {
						texts[i] = v.String
					}
				}
				all[table+" "+strings.Join(texts[:key], ",")] = strings.Join(texts, "|")
			}
			if err := found.Err(); err != nil {
				l.t.Fatal(err)
			}
		}()
	}
	return all
}

func same(a, b state) bool {
	if len(a) != len(b) {
		return false
	}
	for key, row := range a {
		if b[key] != row {
			return false
		}
	}
	return true
}

// is makes sure that the rows are as they were.
func (l *library) is(want state, what string) {
	l.t.Helper()
	if got := l.rows(); !same(got, want) {
		l.t.Errorf("%s: the rows are %v, not %v", what, got, want)
	}
}

func onEachEngine(t *testing.T, test func(t *testing.T, l *library)) {
	for _, e := range harness.Engines {
		t.Run(e.Title, func(t *testing.T) { test(t, newLibrary(t, e)) })
	}
}

func TestUndoTakesBackEachKindOfChange(t *testing.T) {
	onEachEngine(t, func(t *testing.T, l *library) {
		for _, tc := range []struct{ what, tool, arguments string }{
			{"a creation", "create_book", `{"data":{"id":9,"title":"Ubik","price":"2.00","shelf_id":2}}`},
			{"a change", "update_book", `{"id":1,"data":{"title":"Dune II","price":"1.99","shelf_id":null}}`},
			{"a change of one of a key of two", "update_leaf", `{"id":"1,2","data":{"body":null}}`},
			{"a deletion", "delete_shelf", `{"id":2}`},
			{"a deletion with what goes along, and what loses its reference", "delete_book", `{"id":1}`},
			{"a deletion of a parent whose children stay", "delete_shelf", `{"id":1}`},
			{"an action that sets a field", "action_book", `{"action":"lend","ids":[1,3]}`},
			{"the deletion of selected rows", "action_book", `{"action":"delete_selected","ids":[1,2]}`},
			{"a bulk", "bulk_book", `{"operation":"create","items":[{"data":{"id":7,"title":"a"}},{"data":{"id":8,"title":"b"}}]}`},
			{"steps", "transact", `{"steps":[{"tool":"create_shelf","arguments":{"data":{"id":5,"name":"new"}}},{"tool":"create_book","arguments":{"data":{"id":6,"title":"c","shelf_id":5}}},{"tool":"update_book","arguments":{"id":6,"data":{"title":"d"}}},{"tool":"delete_leaf","arguments":{"id":"1,1"}}]}`},
		} {
			before := l.rows()
			answer, call := l.must(clerk, tc.tool, tc.arguments)
			if _, behind, asks := strings.Cut(answer, `"confirmation_token":"`); asks {
				token, _, _ := strings.Cut(behind, `"`)
				_, call = l.must(clerk, tc.tool, strings.TrimSuffix(tc.arguments, "}")+`,"confirm":true,"confirmation_token":"`+token+`"}`)
			}
			after := l.rows()
			if same(before, after) || call == "" {
				t.Fatalf("%s: call %q changed nothing", tc.what, call)
			}
			if answer, _ := l.must(clerk, "undo", `{"call":"`+call+`","dry_run":true}`); !strings.Contains(answer, `"dry_run":true`) {
				t.Errorf("%s: %s", tc.what, answer)
			}
			l.is(after, tc.what+", after a dry run")
			_, undo := l.must(clerk, "undo", `{"call":"`+call+`"}`)
			l.is(before, tc.what)
			l.refuses(clerk, "undo", `{"call":"`+call+`"}`, "was taken back already, by call "+undo)
			_, again := l.must(clerk, "undo", `{"call":"`+undo+`"}`)
			l.is(after, tc.what+", undone and done again")
			l.must(clerk, "undo", `{"call":"`+again+`"}`)
			l.is(before, tc.what+", undone for the second time")
		}
	})
}

// An answer names no call that undo does not know.
func TestACallThatLeftNothingNamesNoCall(t *testing.T) {
	onEachEngine(t, func(t *testing.T, l *library) {
		_, call := l.must(clerk, "transact", `{"steps":[{"tool":"create_shelf","arguments":{"data":{"id":3,"name":"new"}}},`+
			`{"tool":"delete_shelf","arguments":{"id":{"_step":0,"path":"id"}}}]}`)
		text, undo := l.must(clerk, "undo", `{"call":"`+call+`"}`)
		if undo != "" || !strings.Contains(text, "they took each other back") {
			t.Errorf("%s\nwant a notice, and no call", text)
		}
	})
}

func TestUndoSince(t *testing.T) {
	onEachEngine(t, func(t *testing.T, l *library) {
		l.must(clerk, "update_book", `{"id":3,"data":{"title":"Emma I"}}`)
		time.Sleep(1100 * time.Millisecond) // some clocks of databases have whole seconds
		before := l.rows()
		begun := time.Now().UTC().Format(time.RFC3339Nano)
		l.must(clerk, "update_book", `{"id":1,"data":{"title":"x"}}`)
		l.must(clerk, "update_book", `{"id":1,"data":{"title":"y"}}`)
		l.must(clerk, "delete_book", `{"id":2}`)
		l.must(clerk, "create_shelf", `{"data":{"id":3,"name":"s"}}`)
		l.must(guest, "update_shelf", `{"id":2,"data":{"note":"of a guest"}}`)
		l.must(clerk, "undo", `{"since":"`+begun+`","model":"shelf"}`)
		l.must(guest, "undo", `{"since":"`+begun+`"}`)
		l.must(clerk, "undo", `{"since":"`+begun+`","model":"book"}`)
		got := l.rows()
		for _, lost := range []string{"leaf 2,1", "mark 2,1,1"} { // they went with their book, and are no books
			if got[lost] != "" {
				t.Errorf("%s is back", lost)
			}
			delete(before, lost)
		}
		l.is(before, "since")
	})
}

func TestUndoOfARowChangedSinceIsAConflict(t *testing.T) {
	onEachEngine(t, func(t *testing.T, l *library) {
		_, call := l.must(clerk, "update_book", `{"id":1,"data":{"title":"mine"}}`)
		l.must(guest, "update_book", `{"id":1,"data":{"title":"theirs"}}`)
		got := l.refuses(clerk, "undo", `{"call":"`+call+`"}`, "was changed since")
		if !strings.Contains(got, `"left":{"title":"mine"}`) || !strings.Contains(got, `"title":"theirs"`) || !strings.Contains(got, `"code":"conflict"`) {
			t.Errorf("it does not show both: %s", got)
		}
		_, call = l.must(clerk, "update_book", `{"id":2,"data":{"title":"mine"}}`)
		l.must(guest, "update_book", `{"id":2,"data":{"price":"5.00"}}`)
		l.refuses(clerk, "undo", `{"call":"`+call+`"}`, "was changed since") // another field of the row

		_, call = l.must(clerk, "transact", `{"steps":[{"tool":"update_shelf","arguments":{"id":1,"data":{"note":"a"}}},{"tool":"update_book","arguments":{"id":3,"data":{"title":"b"}}}]}`)
		if _, err := l.plain.Exec("UPDATE book SET title = 'past the server' WHERE id = 3"); err != nil {
			t.Fatal(err)
		}
		l.refuses(clerk, "undo", `{"call":"`+call+`"}`, "was changed since")

		_, call = l.must(clerk, "delete_leaf", `{"id":"2,1"}`)
		l.must(guest, "create_leaf", `{"data":{"book_id":2,"no":1,"body":"new"}}`)
		l.refuses(clerk, "undo", `{"call":"`+call+`"}`, "was changed since")

		_, call = l.must(clerk, "create_shelf", `{"data":{"id":8,"name":"h"}}`)
		l.must(guest, "create_book", `{"data":{"id":8,"title":"on it","shelf_id":8}}`)
		l.refuses(clerk, "undo", `{"call":"`+call+`"}`, "other rows depend on it")

		_, call = l.must(clerk, "create_shelf", `{"data":{"id":9,"name":"i"}}`)
		l.must(guest, "delete_shelf", `{"id":9}`)
		got = l.refuses(clerk, "undo", `{"call":"`+call+`"}`, "is gone, or out of your sight now")
		if !strings.Contains(got, `"current":null}`) {
			t.Errorf("it does not say that the row is gone, or tells of values: %s", got)
		}

		_, call = l.must(clerk, "create_shelf", `{"data":{"id":10,"name":"the first"}}`)
		l.must(guest, "delete_shelf", `{"id":10}`)
		l.must(guest, "create_shelf", `{"data":{"id":10,"name":"the second"}}`)
		got = l.refuses(clerk, "undo", `{"call":"`+call+`"}`, "was deleted since")
		if strings.Contains(got, "the first") || !strings.Contains(got, "the second") || !strings.Contains(got, `"code":"conflict"`) {
			t.Errorf("it does not show the row of today alone: %s", got)
		}
	})
}

func TestARefusedUndoSaysWhy(t *testing.T) {
	onEachEngine(t, func(t *testing.T, l *library) {
		long := strings.Repeat("x", 5000)
		for _, tc := range []struct{ tool, arguments, why string }{
			{"delete_loan", `{"id":1}`, "no hidden, masked or secret columns"},
			{"action_book", `{"action":"sell","ids":[1]}`, "the action is an SQL statement"},
			{"update_leaf", `{"id":"1,1","data":{"body":"` + long + `"}}`, "longer than the 4096 bytes"},
		} {
			_, call := l.must(clerk, tc.tool, tc.arguments)
			l.refuses(clerk, "undo", `{"call":"`+call+`"}`, tc.why)
		}
		l.must(clerk, "create_loan", `{"data":{"id":2,"book_id":3}}`)
		for _, arguments := range []string{`{"id":2,"dry_run":true}`, `{"id":2}`} {
			text, _ := l.must(clerk, "delete_loan", arguments)
			if !strings.Contains(text, `"undo":"not possible: the journal does not have all of the row: it keeps no hidden, masked or secret columns"`) {
				t.Errorf("delete_loan %s does not say that it is final: %s", arguments, text)
			}
		}
		if text, _ := l.must(clerk, "delete_book", `{"id":3,"dry_run":true}`); strings.Contains(text, `"undo"`) {
			t.Errorf("what can be undone is said to be final: %s", text)
		}
		for arguments, message := range map[string]string{
			`{}`: "give either call", `{"call":"x","since":"2026-01-01T00:00:00Z"}`: "give either call", `{"call":"x","model":"book"}`: "model goes with since",
			`{"since":"yesterday"}`: "since must be a time", `{"call":"nope"}`: "no such changes of yours", `{"since":"2026-01-01T00:00:00Z","model":"nope"}`: "not found",
		} {
			l.refuses(clerk, "undo", arguments, message)
		}
	})
}

func TestUndoNeedsTheRightsOfTheOppositeChange(t *testing.T) {
	onEachEngine(t, func(t *testing.T, l *library) {
		_, call := l.must(clerk, "create_shelf", `{"data":{"id":4,"name":"of the clerk"}}`)
		l.refuses(guest, "undo", `{"call":"`+call+`"}`, "no such changes of yours")
		_, call = l.must(teacher, "create_shelf", `{"data":{"id":5,"name":"of the teacher"}}`)
		l.refuses(teacher, "undo", `{"call":"`+call+`"}`, "permission_denied")

		_, call = l.must(clerk, "update_book", `{"id":1,"data":{"title":"t"}}`)
		l.Apply(func(c *contract.Config) {
			for i := range c.Tokens {
				c.Tokens[i].Rules = []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view", "add"}}}
			}
		})
		l.refuses(clerk, "undo", `{"call":"`+call+`"}`, "permission_denied")
		l.Apply(func(c *contract.Config) {
			for i := range c.Tokens {
				c.Tokens[i].Rules = []contract.Rule{{Models: []string{"shelf"}, Verbs: []string{"*"}}}
			}
		})
		l.refuses(clerk, "undo", `{"call":"`+call+`"}`, "you may not view it")
	})
}

func TestUndoTakesNoMoreChangesThanOneCallMay(t *testing.T) {
	l := newLibrary(t, harness.Engines[0])
	for _, first := range []int{100, 1100} {
		var items []string
		for i := range 600 {
			items = append(items, fmt.Sprintf(`{"data":{"id":%d,"title":"x"}}`, first+i))
		}
		l.must(clerk, "bulk_book", `{"operation":"create","items":[`+strings.Join(items, ",")+`]}`)
	}
	l.refuses(clerk, "undo", `{"since":"2026-01-01T00:00:00Z"}`, "these are more than 1000 changes")
}
