package faults

import (
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

const reader = "mcp_readerreaderread.0000000000000000000000000000000000000000000"

// startReplicated serves the accounts with reads from a replica; the entries are always read from the primary.
func (s *served) startReplicated(primary, replica harness.Database, maxStaleness time.Duration) {
	s.Helper()
	s.start(primary, func(c *contract.Config) {
		c.Endpoint.Database.Replicas = &contract.Replicas{MaxStaleness: contract.Duration(maxStaleness), MaxConnections: 4}
		c.Models[0].ReadsReplica = true
		c.Tokens = append([]contract.Token{{Namespace: "test", Name: "reader", Hashes: []string{contract.HashToken(reader)},
			Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}}}, c.Tokens...)
	})
	s.endpoint.Update(func(u *source.Update) { u.Replicas = replica.Connection })
	s.notes("")
}

// notes waits until the status has a text in its notes; "" is no word of replicas.
func (s *served) notes(text string) {
	s.Helper()
	var notes string
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		notes = s.endpoint.Status().Database.Notes
		if text == "" && !strings.Contains(notes, "replicas") || text != "" && strings.Contains(notes, text) {
			return
		}
	}
	s.Fatalf("the notes are %q, never %q", notes, text)
}

// owner is the owner of an account as a token reads it.
func (s *served) owner(token string, id int) string {
	s.Helper()
	text, isError := s.endpoint.Call(token, "get_account", fmt.Sprintf(`{"id":%d}`, id))
	if isError {
		s.Fatalf("got the error %v, want success", text)
	}
	_, after, _ := strings.Cut(text, `"owner":"`)
	owner, _, _ := strings.Cut(after, `"`)
	return owner
}

// standIn is a database that stands for a replica of another. Statements to MySQL and MariaDB name the database: there it must
// be one of the same name on another server.
func standIn(t *testing.T, engine harness.Engine, primary harness.Database, script string) harness.Database {
	t.Helper()
	if engine.Name == contract.EnginePostgreSQL {
		database, _ := engine.Open(t, script)
		return database
	}
	c, err := contract.ResolveConnection(primary.Connection, "")
	if err != nil {
		t.Fatal(err)
	}
	data := folder(t)
	uri := control(t, "start", "-engine", "mariadb", "-data", data)
	t.Cleanup(func() { control(t, "stop", "-engine", "mariadb", "-data", data) })
	harness.On(t, uri+"mysql", "create database "+c.Database)
	database, _ := harness.On(t, uri+c.Database, script)
	return database
}

// TestReadsGoToAReplica has a second database stand for a replica: what is read shows which one answered.
func TestReadsGoToAReplica(t *testing.T) {
	onEach(t, true, func(t *testing.T, engine harness.Engine) {
		const staleness = 1500 * time.Millisecond
		primary, plain := engine.Open(t, script)
		replica := standIn(t, engine, primary, strings.NewReplacer("Ann", "Replica", "'a'", "'replica'").Replace(script))
		c, err := contract.ResolveConnection(replica.Connection, "")
		if err != nil {
			t.Fatal(err)
		}
		s := &served{T: t, engine: engine.Name, plain: plain, proxy: newProxy(t, c.Address())}
		replica.Connection = map[string][]byte{"uri": []byte(strings.Replace(string(replica.Connection["uri"]), c.Address(), s.proxy.listener.Addr().String(), 1))}
		s.startReplicated(primary, replica, staleness)

		for _, call := range []struct{ tool, arguments, has string }{
			{"get_account", `{"id":1}`, "Replica"}, {"list_account", `{}`, "Replica"}, {"autocomplete_account", `{"term":"Rep"}`, `"count":1`},
			{"related_account", `{"id":1,"relation":"entry_by_account"}`, "replica"}, {"aggregate_account", `{"group_by":["owner"],"measures":{"n":{"count":"*"}}}`, "Replica"},
			{"get_entry", `{"id":1}`, `"a"`}, {"list_entry", `{}`, `"a"`},
		} {
			text, isError := s.endpoint.Call(reader, call.tool, call.arguments)
			if isError || !strings.Contains(text, call.has) {
				t.Errorf("%s: %s, want %s", call.tool, text, call.has)
			}
		}

		// A token that has written reads from the primary; others go on as they were.
		wrote := time.Now()
		s.ok("update_account", `{"id":2,"data":{"balance":2000}}`)
		s.holds("select balance from account where id = 2", "2000")
		if mine, theirs := s.owner(root, 1), s.owner(reader, 1); mine != "Ann" && time.Since(wrote) < staleness || theirs != "Replica" {
			t.Errorf("after a write its token reads %s, another one %s", mine, theirs)
		}
		time.Sleep(time.Until(wrote.Add(staleness + 200*time.Millisecond)))
		for s.owner(root, 1) != "Replica" { // on a busy machine the replica may count as away for a moment
			if time.Since(wrote) > 5*time.Minute {
				t.Fatal("long after the write its token still reads from the primary")
			}
			time.Sleep(50 * time.Millisecond)
		}
		s.ok("history_account", `{"id":2}`) // whose table the replica does not have

		// A replica that is away is done without, and said to be.
		s.proxy.setDown(true)
		for range 20 {
			if got := s.owner(reader, 1); got != "Ann" {
				t.Fatalf("the replica is away, and %s is read", got)
			}
		}
		s.notes("reads go to the primary")
		if reason := s.endpoint.Status().Database.Reason; reason != contract.ReasonConnected {
			t.Errorf("the database is %s", reason)
		}
		s.proxy.setDown(false)
		s.notes("")
		if got := s.owner(reader, 1); got != "Replica" {
			t.Errorf("the replica is back, and %s is read", got)
		}

		// A wrong password for it changes nothing but the status.
		uri, err := url.Parse(string(replica.Connection["uri"]))
		if err != nil {
			t.Fatal(err)
		}
		uri.User = url.UserPassword(uri.User.Username(), "wrong")
		s.endpoint.Update(func(u *source.Update) { u.Replicas = source.Secret{"uri": []byte(uri.String())} })
		s.notes("read over the connections from before")
		if got := s.owner(reader, 1); got != "Replica" {
			t.Errorf("with a wrong password %s is read", got)
		}
		s.held("replicas: reads go there, those of a token that wrote do not; one that is away is done without")
	})
}

// TestAStandbyIsReadFrom follows a real standby, whose position in the log of changes is known.
func TestAStandbyIsReadFrom(t *testing.T) {
	primary, standby := folder(t), folder(t)
	uri := control(t, "start", "-engine", "postgres", "-data", primary)
	t.Cleanup(func() { control(t, "stop", "-engine", "postgres", "-data", primary) })
	database, plain := harness.On(t, uri, script)
	following := control(t, "start", "-engine", "standby", "-data", standby, "-primary", uri)
	t.Cleanup(func() { control(t, "stop", "-engine", "standby", "-data", standby) })
	replica, onStandby := harness.On(t, following, "")
	s := &served{T: t, engine: contract.EnginePostgreSQL, plain: plain}
	s.startReplicated(database, replica, 2*time.Second)

	var writers sync.WaitGroup
	for account := range 3 {
		writers.Go(func() {
			for n := range 40 {
				balance := 1000 + n
				s.ok("update_account", fmt.Sprintf(`{"id":%d,"data":{"balance":%d}}`, account+1, balance))
				if got := s.ok("get_account", fmt.Sprintf(`{"id":%d}`, account+1))["balance"]; got != float64(balance) {
					t.Errorf("a token does not read its own write: %v, want %d", got, balance)
				}
				if text, isError := s.endpoint.Call(reader, "list_account", `{}`); isError {
					t.Errorf("got the error %v, want success", text)
				}
			}
		})
	}
	writers.Wait()

	// A standby that falls behind is not read any more.
	if _, err := onStandby.Exec("select pg_wal_replay_pause()"); err != nil {
		t.Fatal(err)
	}
	s.ok("update_account", `{"id":1,"data":{"owner":"Zoe"}}`)
	if got := s.owner(root, 1); got != "Zoe" {
		t.Errorf("the token that wrote reads %s", got)
	}
	if got := s.owner(reader, 1); got != "Ann" {
		t.Errorf("the standby shows %s, though it has not the change", got)
	}
	s.notes("more than 2s behind")
	if got := s.owner(reader, 1); got != "Zoe" {
		t.Errorf("the standby is too far behind, and %s is read", got)
	}
	if _, err := onStandby.Exec("select pg_wal_replay_resume()"); err != nil {
		t.Fatal(err)
	}
	s.notes("")
	if got := s.owner(reader, 1); got != "Zoe" {
		t.Errorf("the standby has caught up and shows %s", got)
	}
	s.held("a standby: a token reads its own writes; one that is too far behind is not read")
}
