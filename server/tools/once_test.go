package tools

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// withAnswers keeps the answers of calls that have a key.
func withAnswers(c *contract.Config) {
	c.Endpoint.Idempotency = &contract.AuditTable{Name: "mcp_answers"}
}

// execute runs statements in the library's database as its administrator would.
func (l *library) execute(statements ...string) {
	l.t.Helper()
	for _, statement := range statements {
		err := l.set.db.Transact(l.t.Context(), func(tx database.Tx) error {
			_, err := tx.Execute(l.t.Context(), &database.Declared{Pieces: []database.Piece{{SQL: statement}}})
			return err
		})
		if err != nil {
			l.t.Fatalf("%s: %v", statement, err)
		}
	}
}

// authors is how many authors there are.
func (l *library) authors() any {
	l.t.Helper()
	return l.must(ownerText, "list_author", `{}`)["count"]
}

func TestACallWithAKeyHappensOnce(t *testing.T) {
	onLibraries(t, func(t *testing.T, l *library) {
		const lem = `{"data":{"name":"Lem"},"idempotency_key":"k 1"}`
		first := l.call(ownerText, "create_author", lem)
		if first.IsError {
			t.Fatalf("%s (%v)", first.Text, first.Cause)
		}
		for _, again := range []struct{ tool, arguments string }{
			{"create_author", lem},
			{"create", `{"idempotency_key":"k 1", "data": {"name":"L\u0065m"}, "model":"author"}`},
		} {
			r := l.call(ownerText, again.tool, again.arguments)
			if want := strings.TrimSuffix(string(first.Text), "}") + `,"replayed":true}`; string(r.Text) != want {
				t.Errorf("%s\nwant %s (%v)", r.Text, want, r.Cause)
			}
		}
		for _, other := range []string{`{"data":{"name":"Lew"},"idempotency_key":"k 1"}`, `{"data":{"name":"Lem","branch":"west"},"idempotency_key":"k 1"}`} {
			if r := l.call(ownerText, "create_author", other); r.Code != call.CodeConflict || !strings.Contains(r.Message, "was used for another call") {
				t.Errorf("%s: %s", other, r.Text)
			}
		}
		if got := l.authors(); got != 3.0 {
			t.Errorf("there are %v authors", got)
		}
		if r := l.call(clerkText, "create_author", lem); r.IsError || value(r, "replayed") != "" {
			t.Errorf("another token's key: %s (%v)", r.Text, r.Cause)
		}
	}, withAnswers)
}

func TestEachToolThatChangesTakesAKey(t *testing.T) {
	onLibraries(t, func(t *testing.T, l *library) {
		for i, c := range []struct{ tool, arguments string }{
			{"update_author", `"id":1,"data":{"name":"Frank"}`},
			{"bulk_author", `"operation":"create","items":[{"data":{"name":"A"}},{"data":{}}]`},
			{"action_book", `"action":"publish","ids":[1,2]`},
			{"transact", `"steps":[{"tool":"create_author","arguments":{"data":{"name":"B"}}},{"tool":"delete_shelf","arguments":{"id":3}}]`},
			{"delete_shelf", `"id":2`},
		} {
			arguments := fmt.Sprintf(`{%s,"idempotency_key":"%d"}`, c.arguments, i)
			first, second := l.call(ownerText, c.tool, arguments), l.call(ownerText, c.tool, arguments)
			if first.IsError || string(second.Text) != strings.TrimSuffix(string(first.Text), "}")+`,"replayed":true}` {
				t.Errorf("%s: %s, then %s (%v)", c.tool, first.Text, second.Text, first.Cause)
			}
		}
		if got := l.authors(); got != 4.0 {
			t.Errorf("there are %v authors", got)
		}
	}, withActions, withAnswers)
}

// What failed, or only asked, leaves its key free.
func TestAKeyIsFreeAfterACallThatChangedNothing(t *testing.T) {
	onLibraries(t, func(t *testing.T, l *library) {
		if r := l.call(ownerText, "update_book", `{"id":1,"data":{"isbn":"222"},"idempotency_key":"k"}`); r.Code != call.CodeValidation || !strings.Contains(string(r.Text), `"field":"isbn"`) {
			t.Errorf("%s", r.Text)
		}
		asked := l.call(ownerText, "action_shelf", `{"action":"delete_selected","ids":[3],"idempotency_key":"k"}`)
		if value(asked, "requires_confirmation") != "true" {
			t.Errorf("%s", asked.Text)
		}
		if r := l.call(ownerText, "action_shelf", `{"action":"delete_selected","ids":[3],"confirm":true,"idempotency_key":"k"}`); r.IsError || value(r, "replayed") != "" {
			t.Errorf("%s (%v)", r.Text, r.Cause)
		}
	}, withAnswers)
}

func TestKeysThatAreRefused(t *testing.T) {
	l, without := newLibrary(t, withAnswers), newLibrary(t)
	for _, c := range []struct {
		l         *library
		tool      string
		arguments string
		says      string
	}{
		{without, "create_author", `{"data":{"name":"x"},"idempotency_key":"k"}`, "this endpoint has no table of answers"},
		{l, "create_author", `{"data":{"name":"x"},"idempotency_key":""}`, "1 to 128 characters"},
		{l, "create_author", `{"data":{"name":"x"},"idempotency_key":"` + strings.Repeat("k", 129) + `"}`, "1 to 128 characters"},
		{l, "create_author", `{"data":{"name":"x"},"idempotency_key":7}`, "must be a string"},
		{l, "create_author", `{"data":{"name":"x"},"dry_run":true,"idempotency_key":"k"}`, "do not go together"},
		{l, "list_author", `{"idempotency_key":"k"}`, "is for calls that change something"},
		{l, "transact", `{"steps":[{"tool":"create_author","arguments":{"data":{"name":"x"},"idempotency_key":"k"}}]}`, "is no argument of a step"},
	} {
		if r := c.l.call(ownerText, c.tool, c.arguments); r.Code != call.CodeInvalidArgument || !strings.Contains(r.Message, c.says) {
			t.Errorf("%s %s: %s", c.tool, c.arguments, r.Text)
		}
	}
	if l.authors() != 2.0 || without.authors() != 2.0 {
		t.Error("something was changed")
	}
}

func TestCallsWithTheSameKeyAtOnceAreOne(t *testing.T) {
	onLibraries(t, func(t *testing.T, l *library) {
		for round := range 5 {
			answers := make([]call.Result, 8)
			var group sync.WaitGroup
			for i := range answers {
				group.Go(func() {
					answers[i] = l.set.Call(context.Background(), l.token(ownerText), "create_author",
						fmt.Appendf(nil, `{"data":{"name":"Lem"},"idempotency_key":"k%d"}`, round))
				})
			}
			group.Wait()
			fresh := 0
			for _, r := range answers {
				if r.IsError {
					t.Errorf("%s (%v)", r.Text, r.Cause)
				}
				if value(r, "replayed") == "" {
					fresh++
				}
				if value(r, "id") != value(answers[0], "id") {
					t.Errorf("%s and %s", r.Text, answers[0].Text)
				}
			}
			if got := l.authors(); fresh != 1 || got != 3.0+float64(round) {
				t.Errorf("%d calls happened; there are %v authors", fresh, got)
			}
		}
	}, withAnswers)
}

// The table shows nothing of what an answer has, and an answer is not shown to a token that may see less by now.
func TestKeptAnswersAreSealedAndBound(t *testing.T) {
	l := newLibrary(t, withAnswers)
	const call = `{"data":{"name":"Stanislaw Lem"},"idempotency_key":"secret-key"}`
	l.must(ownerText, "create_author", call)
	if row := l.one(`SELECT id || token || "call" || request || answer FROM mcp_answers`); strings.Contains(row, "Lem") || strings.Contains(row, "secret-key") {
		t.Errorf("the row is %s", row)
	}
	l.set.settings.SealKey = []byte(strings.Repeat("k", 32))
	answer := l.must(ownerText, "create_author", call)
	if answer["replayed"] != true || answer["object"] != nil || answer["call"] == nil || l.authors() != 3.0 {
		t.Errorf("got %v", answer)
	}
}

func TestOldAnswersAreRemoved(t *testing.T) {
	onLibraries(t, func(t *testing.T, l *library) {
		insert := "INSERT INTO mcp_answers (id, at, token, " + l.quoted("call") + ", request) VALUES ('%04d', '2020-01-01 00:00:00', 't', 'c', 'r')"
		for i := range 3 {
			l.execute(fmt.Sprintf(insert, i))
		}
		l.must(ownerText, "create_author", `{"data":{"name":"Lem"},"idempotency_key":"k"}`)
		table := l.set.catalog.Idempotency()
		for end := time.Now().Add(10 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
			_, page, err := l.set.db.Select(t.Context(), &database.Select{From: l.token(ownerText).Unscoped(table), Total: database.TotalExact}, nil)
			if err == nil && page.Total == 1 {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%d rows are left (%v)", page.Total, err)
			}
		}
	}, withAnswers)
}

// Who makes many calls with keys, or calls with long answers, does not fill the database: the calls happen, and what they
// answered is not kept.
func TestWhatIsKeptForACallerIsBounded(t *testing.T) {
	l := newLibrary(t, withAnswers)
	const long = `{"data":{"name":"Lem"},"idempotency_key":"long"}`
	kept := call.NewKeptAnswers()
	l.set.settings.Kept = kept
	for kept.TakeAnswer(l.token(ownerText).Caller(), 64<<10, time.Now()) {
	}
	l.must(ownerText, "create_author", long)
	answer := l.must(ownerText, "create_author", long)
	if answer["replayed"] != true || answer["object"] != nil || answer["call"] == nil || !strings.Contains(fmt.Sprint(answer["notice"]), "too large, or too many") || l.authors() != 3.0 {
		t.Errorf("got %v", answer)
	}
	if size := l.one(`SELECT max(length(answer)) FROM mcp_answers`); len(size) > 2 {
		t.Errorf("the answer has %s characters", size)
	}
	for kept.TakeCall(l.token(ownerText).Caller(), time.Now()) == nil {
	}
	r := l.call(ownerText, "create_author", `{"data":{"name":"Lem"},"idempotency_key":"one more"}`)
	if wait := value(r, "retry_after_ms"); r.Code != call.CodeRateLimited || wait == "" || l.authors() != 3.0 {
		t.Errorf("got %s", r.Text)
	}
	if r := l.call(clerkText, "create_author", `{"data":{"name":"Lem","branch":"west"},"idempotency_key":"one more"}`); r.IsError {
		t.Errorf("another caller is told %s (%v)", r.Text, r.Cause)
	}
	if answer := l.must(ownerText, "create_author", long); answer["replayed"] != true {
		t.Errorf("a key that is kept is answered with %v", answer)
	}
}

func (l *library) quoted(column string) string {
	if _, _, mysql := strings.Cut(fmt.Sprintf("%T", l.set.db), "mysql"); mysql {
		return "`" + column + "`"
	}
	return `"` + column + `"`
}

func TestAWebhookIsCalledOncePerKey(t *testing.T) {
	s := newService(t, withAnswers)
	const refund = `{"action":"refund","ids":[1],"idempotency_key":"k"}`
	first, second := s.call(ownerText, "action_book", refund), s.call(ownerText, "action_book", refund)
	if first.IsError || value(second, "replayed") != "true" || len(s.got) != 1 {
		t.Errorf("%s, then %s, in %d calls", first.Text, second.Text, len(s.got))
	}
	s.status = http.StatusInternalServerError
	const failing = `{"action":"refund","ids":[1],"idempotency_key":"failing"}`
	first = s.call(ownerText, "action_book", failing)
	// As if that had been long ago, so that nobody waits for it, but not so long that it is forgotten.
	s.execute("UPDATE mcp_answers SET at = '" + time.Now().UTC().Add(-12*time.Hour).Format(time.DateTime) + "'")
	second = s.call(ownerText, "action_book", failing)
	if first.Code != call.CodeUnavailable || second.Code != call.CodeUnavailable || !strings.Contains(second.Message, "its outcome is not known") || len(s.got) != 2 {
		t.Errorf("%s, then %s, in %d calls", first.Text, second.Text, len(s.got))
	}
}
