package faults

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// unconfirmed serves a PostgreSQL, and returns what has its commits wait for a standby that never comes, or not any more.
func unconfirmed(t *testing.T) (s *served, standbys func(names string)) {
	data := folder(t)
	uri := control(t, "start", "-engine", "postgres", "-data", data)
	t.Cleanup(func() { control(t, "stop", "-engine", "postgres", "-data", data) })
	database, plain := harness.On(t, uri, script)
	s = &served{T: t, engine: contract.EnginePostgreSQL, plain: plain}
	s.exec("alter role all set synchronous_commit = on")
	s.start(database, func(c *contract.Config) {
		c.Endpoint.Idempotency = &contract.AuditTable{Name: "mcp_answers"}
		c.Endpoint.Database.StatementTimeout = contract.Duration(time.Second)
	})
	standbys = func(names string) {
		t.Helper()
		s.exec("alter system set synchronous_standby_names = '" + names + "'")
		s.exec("select pg_reload_conf()")
		s.settles("show synchronous_standby_names", names)
		if names != "" {
			s.commitsWait()
		}
	}
	s.exec("create table confirmation (n int)")
	t.Cleanup(func() { standbys("") })
	return s, standbys
}

// commitsWait returns once a commit waits for a standby: the server's checkpointer has it wait, and reads the configuration by itself.
func (s *served) commitsWait() {
	s.Helper()
	for {
		ended := make(chan error, 1)
		go func() {
			_, err := s.plain.Exec("insert into confirmation (n) values (1)")
			ended <- err
		}()
		waits := false
		for len(ended) == 0 && !waits {
			if err := s.plain.QueryRow("select count(pg_cancel_backend(pid)) > 0 from pg_stat_activity where wait_event = 'SyncRep'").Scan(&waits); err != nil {
				s.Fatal(err)
			}
		}
		if err := <-ended; err != nil {
			s.Fatal(err)
		}
		if waits {
			return
		}
	}
}

// A commit that no standby confirms is not acknowledged, and neither is its repetition, though the row is there: a failover would
// lose it.
func TestACommitThatNoStandbyConfirms(t *testing.T) {
	s, standbys := unconfirmed(t)
	s.ok("update_account", `{"id":1,"data":{"balance":1000}}`)
	standbys("nobody")
	for range 2 {
		told := s.fails("update_account", `{"id":2,"data":{"balance":2000},"idempotency_key":"one"}`, "unavailable")
		if message := fmt.Sprint(told["error"]); !strings.Contains(message, "did not confirm it") || !strings.Contains(message, "send it again as it is, and it succeeds once") {
			t.Fatalf("got %s", message)
		}
		s.holds("select balance from account where id = 2", "2000")
	}
	standbys("")
	if again := s.recovers("update_account", `{"id":2,"data":{"balance":2000},"idempotency_key":"one"}`); again["replayed"] != true {
		t.Errorf("got %v, want what the first call would have answered", again)
	}
	s.holds("select count(*) from mcp_admin_log where object_id = '2'", "1")
	s.whole()
	s.held("no standby confirms a commit: it is not acknowledged, nor is its repetition, until one does")
}

// The audit line of such a commit tells how many rows were changed: they are in the database.
func TestTheAuditLineOfACommitThatNoStandbyConfirms(t *testing.T) {
	s, standbys := unconfirmed(t)
	standbys("nobody")
	for _, c := range []struct {
		tool, arguments string
		// told are the lines' operations and numbers of changed rows.
		told []string
	}{
		{"create_account", `{"data":{"id":10,"owner":"Di","balance":1000},"inlines":{"entry":[{"data":{"id":10,"note":"d"}}]}}`, []string{"create 2"}},
		{"update_account", `{"id":1,"data":{"balance":1001}}`, []string{"update 1"}},
		{"update_account", `{"id":1,"data":{"balance":1002},"idempotency_key":"one"}`, []string{"update 1"}},
		{"update_account", `{"id":1,"data":{"balance":1002},"idempotency_key":"one"}`, []string{"update 0"}}, // the first call did it
		{"bulk_account", `{"operation":"update","items":[{"id":1,"data":{"balance":1003}},{"id":2,"data":{"balance":1003}}]}`, []string{"bulk:update 2"}},
		{"action_account", `{"action":"delete_selected","ids":[3],"confirm":true}`, []string{"action:delete_selected 1"}},
		{"transact", `{"steps":[{"tool":"update_account","arguments":{"id":1,"data":{"balance":1004}}},{"tool":"update_account","arguments":{"id":2,"data":{"balance":1004}}}]}`,
			[]string{"update 1", "update 1", "transact 2"}},
		{"delete_entry", `{"id":3}`, []string{"delete 1"}},
		{"update_account", `{"id":1,"data":{"balance":1005},"dry_run":true}`, []string{"update 0"}},
	} {
		s.endpoint.Log.Reset()
		outcome := "unavailable"
		if strings.Contains(c.arguments, "dry_run") {
			outcome = call.OutcomeOK
			s.ok(c.tool, c.arguments)
		} else if message := fmt.Sprint(s.fails(c.tool, c.arguments, outcome)["error"]); !strings.HasPrefix(message, "the change was made") || strings.Contains(message, "nothing was") {
			t.Errorf("%s: got %s", c.tool, message)
		}
		var told []string
		for _, text := range s.endpoint.Log.Lines(`"changed":`) {
			var line struct {
				Operation, Outcome string
				Changed            int
			}
			if err := json.Unmarshal([]byte(text), &line); err != nil {
				t.Fatal(err)
			}
			if told = append(told, fmt.Sprintf("%s %d", line.Operation, line.Changed)); line.Outcome != outcome {
				t.Errorf("%s: got the outcome %q, want %q: %s", c.tool, line.Outcome, outcome, text)
			}
		}
		if !slices.Equal(told, c.told) {
			t.Errorf("%s %s: got %q, want %q", c.tool, c.arguments, told, c.told)
		}
	}
	s.held("no standby confirms a commit: its audit line tells how many rows were changed")
}

// A webhook cannot be undone: without a standby that knows of the call, it is not called, and the key can be used again.
func TestAWebhookThatNoStandbyWouldKnowOf(t *testing.T) {
	s, standbys := unconfirmed(t)
	var calls atomic.Int32
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	t.Cleanup(hook.Close)
	s.endpoint.Apply(func(c *contract.Config) {
		c.Models[0].Actions = []contract.Action{{Name: "ship", Requires: []string{"change"}, Webhook: &contract.Webhook{URL: hook.URL, Timeout: contract.Duration(time.Minute)}}}
	})
	standbys("nobody")
	for _, arguments := range []string{`{"action":"ship","ids":[1]}`, `{"action":"ship","ids":[1],"idempotency_key":"one"}`} {
		told := s.fails("action_account", arguments, "unavailable")
		if message := fmt.Sprint(told["error"]); !strings.Contains(message, "it was not made, and nothing was changed") || calls.Load() != 0 {
			t.Errorf("%s: got %s after %d calls of the webhook", arguments, message, calls.Load())
		}
	}
	standbys("")
	s.recovers("action_account", `{"action":"ship","ids":[1],"idempotency_key":"one"}`)
	if again := s.ok("action_account", `{"action":"ship","ids":[1],"idempotency_key":"one"}`); again["replayed"] != true || calls.Load() != 1 {
		t.Errorf("got %v after %d calls of the webhook, want the first answer after one", again, calls.Load())
	}
	s.held("no standby confirms that a webhook is to be called: it is not called")
}

// The status says so if the endpoint's user does not wait for the standby that the server is to wait for.
func TestAUserWhoDoesNotWaitForAStandby(t *testing.T) {
	primary, standby := folder(t), folder(t)
	uri := control(t, "start", "-engine", "postgres", "-data", primary)
	t.Cleanup(func() { control(t, "stop", "-engine", "postgres", "-data", primary) })
	database, plain := harness.On(t, uri, script)
	control(t, "start", "-engine", "standby", "-data", standby, "-primary", uri)
	t.Cleanup(func() { control(t, "stop", "-engine", "standby", "-data", standby) })
	s := &served{T: t, engine: contract.EnginePostgreSQL, plain: plain}
	for _, c := range []struct {
		commit, standbys string
		noted            bool
	}{
		{"local", "", false}, {"off", "", false},
		{"local", "*", true}, {"off", "*", true}, {"remote_write", "*", true},
		{"on", "*", false}, {"remote_apply", "*", false},
	} {
		s.exec("alter system set synchronous_standby_names = '" + c.standbys + "'")
		s.exec("select pg_reload_conf()")
		s.settles("show synchronous_standby_names", c.standbys)
		s.exec("alter role all set synchronous_commit = " + c.commit)
		s.start(database)
		s.ok("update_account", `{"id":1,"data":{"balance":1000}}`)
		note := "its synchronous_commit is " + c.commit + " for this user"
		if notes := s.endpoint.Status().Database.Notes; strings.Contains(notes, note) != c.noted || !c.noted && notes != "" {
			t.Errorf("synchronous_commit = %s, synchronous_standby_names = %q: the notes are %q", c.commit, c.standbys, notes)
		}
	}
	s.held("a user whose commits do not wait for the standby of the server: the status says so")
}
