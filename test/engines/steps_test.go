package engines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

func steps(s *suite, t *testing.T) {
	s.check(t, "steps that only read are refused, and so is a key on them", func(t *testing.T) {
		for _, token := range []string{"root", "viewer", "clerk"} {
			for _, more := range []string{"", `,"dry_run":true`} {
				s.fails(t, token, "transact", `{"steps":[{"tool":"list_book"},{"tool":"get_book","arguments":{"id":1},"expect":{"id":1}}]`+more+`}`, "invalid_argument")
			}
		}
	})
	s.check(t, "a reference in the form of another language is refused, and nothing is stored", func(t *testing.T) {
		for _, form := range []string{
			"{{steps[0].id}}", "{{ steps.0.object.id }}", "{{0.id}}", "Note {{steps[0].id}}", "${steps[0].id}", "${0.object.id}", "$0.id", "$0.object.id", "$steps[0].id", "$steps.0.id",
			"$prev.id", "@0.id", "steps[0].id", "steps[0].object.id", "step0.id", "step_0.object.id", "results[0].id", "<id of step 0>", "[step 0].id>", "{step 0.id}",
		} {
			told := s.fails(t, "root", "transact", fmt.Sprintf(`{"steps":[{"tool":"create_category","arguments":{"data":{"name":"x"}}},{"tool":"create_category","arguments":{"data":{"name":%q}}}]}`, form), "invalid_argument")
			if message := fmt.Sprint(told["error"]); !strings.Contains(message, `{"_step":0,"path":"object.id"}`) || !strings.Contains(message, `{"_literal": `) {
				t.Errorf("%s: %s", form, message)
			}
		}
		s.holds(t, "select count(*) from category", "4")
	})
	s.check(t, "other texts with such characters are texts", func(t *testing.T) {
		for _, text := range []string{"$5.00", "$0.99", "$0", "5 {items}", "Dear {{name}}, hello", "step 1: breathe", "results are in", "a@b.c", "#1.", "{}", "<b>bold</b>", "1.5", "[1]", "step-by-step"} {
			told := s.ok(t, "root", "transact", fmt.Sprintf(`{"dry_run":true,"steps":[{"tool":"create_category","arguments":{"data":{"name":%q}}}]}`, text))
			want(t, told, fmt.Sprintf("%q", text), "results", 0, "object", "name")
		}
	})
	s.check(t, "now is the same in a step as in a call of its own", func(t *testing.T) {
		alone := s.ok(t, "root", "list_book", `{"filters":{"published__lt":{"_now":"-1d"}},"limit":0}`)
		told := s.ok(t, "root", "transact", `{"dry_run":true,"steps":[{"tool":"create_category","arguments":{"data":{"name":"now"}}},
			{"tool":"list_book","arguments":{"filters":{"published__lt":{"_now":"-1d"}},"limit":0}}]}`)
		if alone["total_count"] == 0.0 {
			t.Fatalf("the test is empty: %v", alone)
		}
		want(t, told, fmt.Sprint(alone["total_count"]), "results", 1, "total_count")
	})
	s.check(t, "a literal is what it holds, whatever that looks like", func(t *testing.T) {
		told := s.ok(t, "root", "transact", `{"dry_run":true,"steps":[{"tool":"create_category","arguments":{"data":{"name":{"_literal":"{{steps[0].id}}"}}}},
			{"tool":"create_sample","arguments":{"data":{"id":9,"doc":{"_literal":{"_step":0,"path":"x"}}}}}]}`)
		want(t, told, `"{{steps[0].id}}"`, "results", 0, "object", "name")
		want(t, told, `{"_step":0,"path":"x"}`, "results", 1, "object", "doc")
		s.fails(t, "root", "transact", `{"steps":[{"tool":"create_category","arguments":{"data":{"name":{"_literal":"x","more":1}}}}]}`, "invalid_argument")
	})
	s.check(t, "a foreign key that leads nowhere says how to find an id, and how to name a row of an earlier step", func(t *testing.T) {
		told := s.fails(t, "root", "transact", `{"steps":[{"tool":"create_author","arguments":{"data":{"name":"x"}}},{"tool":"create_book","arguments":{"data":{"title":"x","author_id":99999}}}]}`, "validation_error")
		for _, part := range []string{`no such author; autocomplete {"model":"author","term":"…"} finds ids`, `a row of an earlier step is {"_step":0,"path":"object.id"}`} {
			if !strings.Contains(fmt.Sprint(told["error"]), part) {
				t.Errorf("%v does not say %s", told["error"], part)
			}
		}
		told = s.fails(t, "root", "create_book", `{"data":{"title":"x","author_id":"Mia Li"}}`, "validation_error")
		if message := fmt.Sprint(told["error"]); !strings.Contains(message, `autocomplete {"model":"author"`) || strings.Contains(message, "_step") {
			t.Errorf(`got %s, want autocomplete {"model":"author" in it and nothing of _step`, message)
		}
		told = s.fails(t, "bookish", "create_book", `{"data":{"title":"x","author_id":99999}}`, "validation_error")
		if strings.Contains(fmt.Sprint(told), `"author"`) {
			t.Errorf("a token that may not view authors is told %v", told)
		}
	})
	s.check(t, "what a call made and deleted needs no undoing", func(t *testing.T) {
		told := s.ok(t, "root", "transact", `{"steps":[{"tool":"create_category","arguments":{"data":{"name":"parent"}}},
			{"tool":"create_category","arguments":{"data":{"name":"child","parent_id":{"_step":0,"path":"id"}}}},
			{"tool":"update_category","arguments":{"id":4,"data":{"name":"lies","parent_id":{"_step":0,"path":"id"}}}},
			{"tool":"update_category","arguments":{"id":4,"data":{"name":"facts","parent_id":2}}},
			{"tool":"delete_category","arguments":{"id":{"_step":0,"path":"id"}}}]}`)
		tried := s.ok(t, "root", "undo", fmt.Sprintf(`{"call":%q,"dry_run":true}`, told["call"]))
		want(t, tried, `"update"`, "changes", 0, "change")
		want(t, tried, `{"parent_id":2}`, "changes", 0, "from")
		want(t, tried, `{"parent_id":1}`, "changes", 0, "to")
		s.holds(t, "select parent_id from category where id = 4", "2")
		undone := s.ok(t, "root", "undo", fmt.Sprintf(`{"call":%q}`, told["call"]))
		if changes := at(t, undone, "changes").([]any); len(changes) != 1 || changes[0].(object)["from"] != nil {
			t.Errorf("got %v, want one change without from", changes)
		}
		s.holds(t, "select parent_id from category where id = 4", "1")
		s.holds(t, "select count(*) from category", "4")
		only := s.ok(t, "root", "transact", `{"steps":[{"tool":"create_category","arguments":{"data":{"name":"brief"}}},{"tool":"delete_category","arguments":{"id":{"_step":0,"path":"id"}}}]}`)
		want(t, s.ok(t, "root", "undo", fmt.Sprintf(`{"call":%q}`, only["call"])), `[]`, "changes")
	})
	s.check(t, "the audit says what an undo took back", func(t *testing.T) {
		made := s.ok(t, "root", "create_category", `{"data":{"name":"brief"}}`)
		for _, arguments := range []string{fmt.Sprintf(`{"call":%q,"dry_run":true}`, made["call"]), fmt.Sprintf(`{"call":%q}`, made["call"])} {
			s.endpoint.Log.Reset()
			s.ok(t, "root", "undo", arguments)
			if lines := s.endpoint.Log.Lines(fmt.Sprintf(`"undoes":%q`, made["call"])); len(lines) != 1 || !strings.Contains(lines[0], `"operation":"undo"`) {
				t.Errorf("of undo %s the audit has %v, want one line that names call %s", arguments, s.endpoint.Log.Lines(`"msg":"audit"`), made["call"])
			}
		}
	})
	s.check(t, "the page of a deletion says whether undo brings it back", func(t *testing.T) {
		for tool, comesBack := range map[string]bool{"action_category": true, "action_book": false} { // a book has a masked column
			asked := s.ok(t, "root", tool, `{"action":"delete_selected","ids":[2]}`)
			if message := fmt.Sprint(asked["message"]); strings.Contains(message, "The tool undo can take this back") != comesBack || strings.Contains(message, "This cannot be undone") == comesBack {
				t.Errorf("%s: %s", tool, message)
			}
		}
		confirm := s.fails(t, "root", "action_category", `{"action":"delete_selected","ids":[2],"confirm":true}`, "conflict")["confirmation_token"]
		gone := s.ok(t, "root", "action_category", fmt.Sprintf(`{"action":"delete_selected","ids":[2],"confirm":true,"confirmation_token":%q}`, confirm))
		s.holds(t, "select count(*) from category", "2")
		s.ok(t, "root", "undo", fmt.Sprintf(`{"call":%q}`, gone["call"]))
		s.holds(t, "select count(*) from category", "4")
		// What the ids name is all that goes: confirm does.
		want(t, s.ok(t, "root", "action_category", `{"action":"delete_selected","ids":[3],"confirm":true}`), `1`, "affected_count")
	})
}

// A call that was taken back does not say, when it is repeated with its key, that its change is there.
func TestAKeyOfACallThatWasUndone(t *testing.T) {
	for _, engine := range harness.Engines {
		t.Run(engine.Title, func(t *testing.T) {
			s := start(t, engine, func(c *contract.Config) { c.Endpoint.Idempotency = &contract.AuditTable{Name: "mcp_answers"} })
			const create = `{"data":{"name":"maps"},"idempotency_key":"k"}`
			made := s.ok(t, "root", "create_category", create)
			s.ok(t, "root", "create_category", `{"data":{"name":"globes"},"idempotency_key":"other"}`)
			s.ok(t, "root", "undo", fmt.Sprintf(`{"call":%q,"dry_run":true}`, made["call"]))
			want(t, s.ok(t, "root", "create_category", create), `true`, "replayed")
			undone := s.ok(t, "root", "undo", fmt.Sprintf(`{"call":%q}`, made["call"]))
			told := s.fails(t, "root", "create_category", create, "conflict")
			if message := fmt.Sprint(told["error"]); !strings.Contains(message, "your call "+fmt.Sprint(undone["call"])+" has taken it back") {
				t.Errorf("got %q, want the call that has taken it back, %v", message, undone["call"])
			}
			want(t, s.ok(t, "root", "create_category", `{"data":{"name":"globes"},"idempotency_key":"other"}`), `true`, "replayed")
			s.ok(t, "root", "undo", fmt.Sprintf(`{"call":%q}`, undone["call"]))
			again := s.ok(t, "root", "create_category", create)
			want(t, again, `true`, "replayed")
			want(t, again, fmt.Sprint(made["id"]), "id")
			s.holds(t, "select count(*) from category where name = 'maps'", "1")
		})
	}
}

// Who may not change a row keeps nobody from changing it: an expectation of such a row takes no lock, and waits for none.
func TestAnExpectationLocksOnlyWhatTheTokenMayChange(t *testing.T) {
	for _, engine := range harness.Engines {
		if engine.Product == harness.SQLite {
			continue // which locks no rows
		}
		t.Run(engine.Title, func(t *testing.T) {
			skipOnlyRead(t, engine)
			database, plain := engine.Open(t, library(engine))
			noter := contract.Token{Namespace: "test", Name: "noter", Hashes: []string{contract.HashToken(secret("noter"))}, Groups: []string{"staff"},
				Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}, {Models: []string{"category"}, Verbs: []string{"change"}}}}
			s := &suite{engine, harness.Serve(t, database, models(), append(tokens(), noter), withAudit), plain}
			holder, err := plain.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = holder.Rollback() }()
			if _, err := holder.ExecContext(t.Context(), "update book set pages = 1 where id = 1"); err != nil {
				t.Fatal(err)
			}
			told := s.ok(t, "noter", "transact", `{"steps":[{"tool":"get_book","arguments":{"id":1},"expect":{"pages":341}},{"tool":"list_book","expect":{"count":5}},
				{"tool":"update_category","arguments":{"id":4,"data":{"name":"true facts"}}}]}`)
			want(t, told, `"true facts"`, "results", 2, "object", "name")
		})
	}
}
