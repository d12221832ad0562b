package work

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// done is a call that changed something, with the rows before and after.
type done struct {
	who           caller
	call, what    string
	before, after state
}

// TestRandomChangesUndone makes random changes by two callers and takes random ones of them back: the rows that a call changed
// are as before and all others as they are, or the server refused and changed nothing. MCP_TEST_CALLS=1000 makes so many.
func TestRandomChangesUndone(t *testing.T) {
	calls := 60
	if n, err := strconv.Atoi(os.Getenv("MCP_TEST_CALLS")); err == nil {
		calls = n
	}
	onEachEngine(t, func(t *testing.T, l *library) {
		seed := harness.Seed(t)
		t.Logf("seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 0))
		var history []done
		undone, refused := 0, 0
		for range calls {
			history = append(history, l.change(r, history)...)
			if len(history) == 0 || r.IntN(3) > 0 {
				continue
			}
			i := len(history) - 1
			if r.IntN(2) == 0 {
				i = r.IntN(len(history))
			}
			if again := l.takeBack(history[i], r.IntN(4) == 0); again != nil {
				undone++
				history = append(history, *again)
			} else {
				refused++
			}
			if t.Failed() {
				return
			}
		}
		t.Logf("%d changes, %d undone, %d refused", len(history), undone, refused)
		if calls >= 60 && undone == 0 {
			t.Error("nothing could be undone")
		}
	})
}

// change makes a random change; nothing if the server refuses it.
func (l *library) change(r *rand.Rand, history []done) []done {
	who := clerk
	if r.IntN(4) == 0 {
		who = guest
	}
	tool, arguments := randomCall(r)
	if r.IntN(5) == 0 {
		var steps []string
		for range 1 + r.IntN(4) {
			tool, arguments := randomCall(r)
			steps = append(steps, fmt.Sprintf(`{"tool":%q,"arguments":%s}`, tool, arguments))
		}
		tool, arguments = "transact", `{"steps":[`+strings.Join(steps, ",")+`]}`
	}
	before := l.rows()
	text, isError := l.Call(who.text, tool, arguments)
	after := l.rows()
	if isError {
		if !same(before, after) {
			l.t.Errorf("%s %s: %s changed something", tool, arguments, text)
		}
		return nil
	}
	_, call, _ := strings.Cut(text, `"call":"`)
	call, _, _ = strings.Cut(call, `"`)
	if same(before, after) {
		return nil
	}
	return []done{{who, call, tool + " " + arguments, before, after}}
}

// randomCall is a write of a row or of a few.
func randomCall(r *rand.Rand) (tool, arguments string) {
	id := r.IntN(8) + 1
	text := fmt.Sprintf("t%d", r.IntN(6))
	shelf := []string{"null", "1", "2", "3", "4"}[r.IntN(5)]
	switch r.IntN(12) {
	case 0:
		return "create_shelf", fmt.Sprintf(`{"data":{"id":%d,"name":%q}}`, id, text)
	case 1:
		return "update_shelf", fmt.Sprintf(`{"id":%d,"data":{"name":%q,"note":%q}}`, id, text, text)
	case 2:
		return "delete_shelf", fmt.Sprintf(`{"id":%d}`, id)
	case 3:
		return "create_book", fmt.Sprintf(`{"data":{"id":%d,"title":%q,"shelf_id":%s,"price":"%d.%02d"}}`, id, text, shelf, r.IntN(90), r.IntN(100))
	case 4:
		return "update_book", fmt.Sprintf(`{"id":%d,"data":{"title":%q,"shelf_id":%s}}`, id, text, shelf)
	case 5:
		return "update_book", fmt.Sprintf(`{"id":%d,"data":{"price":"%d.%02d"}}`, id, r.IntN(90), r.IntN(100))
	case 6:
		return "delete_book", fmt.Sprintf(`{"id":%d}`, id)
	case 7:
		return "create_leaf", fmt.Sprintf(`{"data":{"book_id":%d,"no":%d,"body":%q}}`, id, r.IntN(3), text)
	case 8:
		return "delete_leaf", fmt.Sprintf(`{"id":"%d,%d"}`, id, r.IntN(3))
	case 9:
		return "action_book", fmt.Sprintf(`{"action":%q,"ids":[%d,%d]}`, []string{"lend", "sell"}[r.IntN(2)], id, id+1)
	case 10:
		return "create_loan", fmt.Sprintf(`{"data":{"id":%d,"book_id":%d,"who":%q}}`, id, r.IntN(8)+1, text)
	}
	return "delete_loan", fmt.Sprintf(`{"id":%d}`, id)
}

// takeBack undoes a change, and compares; nil if the server refused.
func (l *library) takeBack(d done, byTheOther bool) *done {
	l.t.Helper()
	who := d.who
	if byTheOther {
		who = map[string]caller{clerk.Name: guest, guest.Name: clerk}[who.Name]
	}
	now := l.rows()
	text, isError := l.Call(who.text, "undo", `{"call":"`+d.call+`"}`)
	is := l.rows()
	if isError {
		if !same(is, now) {
			l.t.Errorf("undo of %s was refused (%s) and changed the rows: %v, before %v", d.what, text, is, now)
		}
		return nil
	}
	if byTheOther {
		l.t.Errorf("%s undid what %s did: %s", who.Name, d.who.Name, text)
	}
	want := state{}
	for key, row := range now {
		want[key] = row
	}
	for key, row := range d.after {
		if d.before[key] != row {
			delete(want, key)
		}
		if now[key] != row && d.before[key] != row {
			l.t.Errorf("undo of %s: %s was changed since, to %q, and was undone", d.what, key, now[key])
		}
	}
	for key, row := range d.before {
		if d.after[key] != row {
			want[key] = row
		}
	}
	if !same(is, want) {
		l.t.Errorf("undo of %s: the rows are %v, not %v", d.what, is, want)
	}
	_, call, _ := strings.Cut(text, `"call":"`)
	call, _, _ = strings.Cut(call, `"`)
	return &done{who, call, "undo of " + d.what, now, is}
}
