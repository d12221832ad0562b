package work

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// TestRandomTransactsUndone makes random steps over parents and children, to which they refer in any order: rows are created,
// changed, moved to parents that come and go, and deleted with what depends on them. Nobody else changes anything, so that each
// call can be taken back, and its undoing too, and in the end all calls, the newest first: every row is as it was. MCP_TEST_CALLS=1000 makes so many.
func TestRandomTransactsUndone(t *testing.T) {
	calls := 40
	if n, err := strconv.Atoi(os.Getenv("MCP_TEST_CALLS")); err == nil {
		calls = n
	}
	onEachEngine(t, func(t *testing.T, l *library) {
		seed := harness.Seed(t)
		t.Logf("seed %d", seed)
		p := &planner{Rand: rand.New(rand.NewPCG(seed, 0)), next: 10}
		refused := 0
		var standing []done
		for range calls {
			before := l.rows()
			steps := p.plan(before)
			text, isError := l.Call(clerk.text, "transact", steps)
			after := l.rows()
			if isError {
				if refused++; !same(before, after) {
					t.Fatalf("%s: %s changed something", steps, text)
				}
				continue
			}
			call := callOf(text)
			if p.IntN(3) == 0 && call != "" {
				standing = append(standing, done{call: call, what: steps, before: before})
				continue
			}
			tried, _ := l.must(clerk, "undo", `{"call":"`+call+`","dry_run":true}`)
			l.is(after, "a dry run of undo of "+steps)
			_, undo := l.must(clerk, "undo", `{"call":"`+call+`"}`)
			if l.is(before, "undo of "+steps+", which would be "+tried); undo == "" && !same(before, after) {
				t.Fatalf("undo of %s names no call, but it changed rows", steps)
			}
			if undo != "" && p.IntN(2) == 0 {
				l.must(clerk, "undo", `{"call":"`+undo+`"}`)
				l.is(after, "undo of undo of "+steps)
				standing = append(standing, done{call: call, what: steps, before: before})
			}
			if t.Failed() {
				return
			}
		}
		for _, d := range slices.Backward(standing) {
			l.must(clerk, "undo", `{"call":"`+d.call+`"}`)
			if l.is(d.before, "all since taken back, and "+d.what); t.Failed() {
				return
			}
		}
		t.Logf("%d calls, %d refused, %d taken back in the end", calls, refused, len(standing))
		if refused > calls/4 {
			t.Errorf("%d of %d calls were refused: the test means little", refused, calls)
		}
	})
}

func callOf(answer string) string {
	_, call, _ := strings.Cut(answer, `"call":"`)
	call, _, _ = strings.Cut(call, `"`)
	return call
}

// planner makes up steps that go together: it knows which rows there are after each of them.
type planner struct {
	*rand.Rand
	// next is an id that no row has had.
	next int
	// there are the keys of rows by table; steps are those so far, made the step that created a row of the call.
	there map[string][]string
	made  map[string]int
	steps []string
	// names are the names of shelves, which must be unique.
	names map[string]string
}

func (p *planner) plan(rows state) string {
	p.there, p.made, p.steps, p.names = map[string][]string{}, map[string]int{}, nil, map[string]string{}
	for row, values := range rows {
		if key, isShelf := strings.CutPrefix(row, "shelf "); isShelf {
			p.names[key] = strings.Split(values, "|")[1]
		}
		table, key, _ := strings.Cut(row, " ")
		p.there[table] = append(p.there[table], key)
	}
	for _, keys := range p.there {
		slices.Sort(keys) // so that the seed alone decides
	}
	for range 2 + p.IntN(9) {
		p.step()
	}
	return `{"steps":[` + strings.Join(p.steps, ",") + `]}`
}

// any is the key of a row of the table; "" if there is none. Rows of the call itself come often.
func (p *planner) any(table string) string {
	keys := p.there[table]
	if len(keys) == 0 {
		return ""
	}
	if last := keys[len(keys)-1]; p.IntN(2) == 0 {
		return last
	}
	return keys[p.IntN(len(keys))]
}

// id is a row's id as an argument: a reference, if a step created the row.
func (p *planner) id(table, key string) string {
	if step, made := p.made[table+" "+key]; made && p.IntN(3) > 0 {
		return fmt.Sprintf(`{"_step":%d,"path":"id"}`, step)
	}
	return strconv.Quote(key)
}

func (p *planner) add(tool, arguments string, values ...any) {
	p.steps = append(p.steps, fmt.Sprintf(`{"tool":%q,"arguments":`+arguments+`}`, append([]any{tool}, values...)...))
}

func (p *planner) create(table, key, data string, values ...any) {
	p.add("create_"+table, `{"data":{`+data+`}}`, values...)
	p.there[table] = append(p.there[table], key)
	p.made[table+" "+key] = len(p.steps) - 1
}

// remove forgets the row, and those whose keys begin with its own in the tables that depend on it.
func (p *planner) remove(table, key string, dependents ...string) {
	p.add("delete_"+table, `{"id":%s}`, p.id(table, key))
	p.there[table] = slices.DeleteFunc(p.there[table], func(k string) bool { return k == key })
	for _, d := range dependents {
		p.there[d] = slices.DeleteFunc(p.there[d], func(k string) bool { return strings.HasPrefix(k, key+",") })
	}
}

func (p *planner) rename(shelf, name string) {
	p.add("update_shelf", `{"id":%s,"data":{"name":%q}}`, p.id("shelf", shelf), name)
	p.names[shelf] = name
}

func (p *planner) step() {
	p.next++
	text := fmt.Sprintf("t%d", p.next)
	shelf, book, leaf, mark := p.any("shelf"), p.any("book"), p.any("leaf"), p.any("mark")
	onShelf := "null"
	if shelf != "" && p.IntN(4) > 0 {
		onShelf = p.id("shelf", shelf)
	}
	switch n := p.IntN(16); {
	case n == 0:
		p.create("shelf", strconv.Itoa(p.next), `"id":%d,"name":%q`, p.next, text)
		p.names[strconv.Itoa(p.next)] = text
	case n == 1:
		p.create("book", strconv.Itoa(p.next), `"id":%d,"title":%q,"shelf_id":%s`, p.next, text, onShelf)
	case n < 4 && book != "":
		p.create("leaf", fmt.Sprintf("%s,%d", book, p.next), `"book_id":%s,"no":%d,"body":%q`, p.id("book", book), p.next, text)
	case n < 6 && leaf != "":
		of, no, _ := strings.Cut(leaf, ",")
		p.create("mark", fmt.Sprintf("%s,%d", leaf, p.next), `"book_id":%s,"no":%s,"place":%d`, of, no, p.next)
	case n == 6 && shelf != "":
		p.rename(shelf, text)
	case n == 7 && len(p.there["shelf"]) > 1: // two swap their names, which must be unique
		a, b := p.there["shelf"][0], p.there["shelf"][1]
		nameA, nameB := p.names[a], p.names[b]
		p.rename(a, text)
		p.rename(b, nameA)
		p.rename(a, nameB)
	case n < 10 && book != "":
		p.add("update_book", `{"id":%s,"data":{"shelf_id":%s,"title":%q}}`, p.id("book", book), onShelf, text)
	case n == 10 && leaf != "":
		p.add("update_leaf", `{"id":%s,"data":{"body":%q}}`, p.id("leaf", leaf), text)
	case n == 11 && mark != "":
		p.add("update_mark", `{"id":%s,"data":{"word":%q}}`, p.id("mark", mark), text)
	case n == 12 && shelf != "":
		p.remove("shelf", shelf)
	case n == 13 && book != "" && book != "3": // which is lent
		p.remove("book", book, "leaf", "mark")
	case n == 14 && leaf != "":
		p.remove("leaf", leaf, "mark")
	case n == 15 && mark != "":
		p.remove("mark", mark)
	default:
		p.create("book", strconv.Itoa(p.next), `"id":%d,"title":%q`, p.next, text)
	}
}
