// Package faults does to a database what happens to databases, while it is served: whatever the fault, there is no wrong
// answer and no half write, and once it is over the server goes on without a restart.
package faults

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

const script = `
create table account (id int primary key, owner varchar(50) not null, balance int not null);
create table entry (id int primary key, account_id int not null, note varchar(2000), foreign key (account_id) references account (id) on delete cascade);
insert into account values (1, 'Ann', 100), (2, 'Bob', 200), (3, 'Cy', 300);
insert into entry values (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c');
`

const root = "mcp_rootrootrootroot.0000000000000000000000000000000000000000000"

// served is the accounts on one engine, behind an endpoint.
type served struct {
	*testing.T
	engine   string
	endpoint *harness.Endpoint
	plain    *sql.DB
	// proxy stands before the database; nil for SQLite.
	proxy *proxy
}

func serve(t *testing.T, engine harness.Engine, configure ...func(*contract.Config)) *served {
	t.Helper()
	database, plain := engine.Open(t, script)
	s := &served{T: t, engine: engine.Name, plain: plain}
	if database.Connection != nil {
		c, err := contract.ResolveConnection(database.Connection, "")
		if err != nil {
			t.Fatal(err)
		}
		s.proxy = newProxy(t, c.Address())
		uri := strings.Replace(string(database.Connection["uri"]), c.Address(), s.proxy.listener.Addr().String(), 1)
		database.Connection = map[string][]byte{"uri": []byte(uri)}
	}
	s.start(database, configure...)
	return s
}

func (s *served) start(database harness.Database, configure ...func(*contract.Config)) {
	s.Helper()
	everything := contract.Token{Namespace: "test", Name: "root", Hashes: []string{contract.HashToken(root)},
		Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"*"}}}}
	models := []contract.Model{{Name: "account", Table: "account", Inlines: []contract.Inline{{Model: "entry", Max: 100}}}, {Name: "entry", Table: "entry"}}
	quick := func(c *contract.Config) {
		c.Endpoint.Database.StatementTimeout = contract.Duration(2 * time.Second)
		c.Endpoint.Audit = &contract.AuditTable{Name: "mcp_admin_log"}
	}
	s.endpoint = harness.Serve(s.T, database, models, []contract.Token{everything}, append([]func(*contract.Config){quick}, configure...)...)
}

type object = map[string]any

func (s *served) call(tool, arguments string) (object, bool) {
	s.Helper()
	text, isError := s.endpoint.Call(root, tool, arguments)
	var payload object
	if err := json.Unmarshal([]byte(text), &payload); err != nil {
		s.Fatalf("%s %s: %v in %s", tool, arguments, err, text)
	}
	return payload, isError
}

// ok calls a tool that must succeed.
func (s *served) ok(tool, arguments string) object {
	s.Helper()
	payload, isError := s.call(tool, arguments)
	if isError {
		s.Fatalf("%s %s: %v", tool, arguments, payload)
	}
	return payload
}

// fails calls a tool that must fail with one of some codes.
func (s *served) fails(tool, arguments string, codes ...string) object {
	s.Helper()
	payload, isError := s.call(tool, arguments)
	for _, code := range codes {
		if isError && payload["code"] == code {
			return payload
		}
	}
	s.Fatalf("%s %s: want %v, got %v", tool, arguments, codes, payload)
	return nil
}

// recovers waits until a call succeeds again. Whatever it answers before must be an error, and not a wrong answer.
func (s *served) recovers(tool, arguments string) object {
	s.Helper()
	var payload object
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var isError bool
		if payload, isError = s.call(tool, arguments); !isError {
			return payload
		}
		if code := payload["code"]; code != "unavailable" && code != "timeout" {
			s.Fatalf("%s %s: %v", tool, arguments, payload)
		}
	}
	s.Fatalf("%s %s never succeeded again: %v", tool, arguments, payload)
	return nil
}

// holds compares what plain SQL finds with a text.
func (s *served) holds(query, wanted string) {
	s.Helper()
	var got sql.NullString
	if err := s.plain.QueryRowContext(context.Background(), query).Scan(&got); err != nil {
		s.Fatalf("%s: %v", query, err)
	}
	if got.String != wanted {
		s.Fatalf("%s gives %q, want %q", query, got.String, wanted)
	}
}

// whole sees that no write is half there: each change has its journal entry, and no entry lacks its change.
func (s *served) whole() {
	s.Helper()
	s.holds("select count(*) from account a where a.balance >= 1000 and not exists (select 1 from mcp_admin_log l where l.table_name = 'account' and l.object_id = cast(a.id as char(1)))", "0")
	s.holds("select count(*) from mcp_admin_log l where l.table_name = 'account' and l.action = 'update' and not exists (select 1 from account a where l.object_id = cast(a.id as char(1)) and a.balance >= 1000)", "0")
}

func onEach(t *testing.T, withNetwork bool, test func(*testing.T, harness.Engine)) {
	for _, engine := range harness.Engines {
		if withNetwork && engine.Name == contract.EngineSQLite {
			continue
		}
		t.Run(engine.Name, func(t *testing.T) { test(t, engine) })
	}
}

func TestConnectionsThatAreCut(t *testing.T) {
	onEach(t, true, func(t *testing.T, engine harness.Engine) {
		s := serve(t, engine)
		s.ok("list_account", `{}`)
		for range 3 {
			s.proxy.cut()
			// A read may be asked again; it must not fail for a connection that was dead before.
			if payload := s.recovers("get_account", `{"id":1}`); payload["owner"] != "Ann" {
				t.Fatal(payload)
			}
			s.proxy.cut()
			s.recovers("update_account", `{"id":1,"data":{"balance":1000}}`)
		}
		s.whole()
	})
}

func TestADatabaseThatIsAwayAndComesBack(t *testing.T) {
	onEach(t, true, func(t *testing.T, engine harness.Engine) {
		s := serve(t, engine)
		s.ok("list_account", `{}`)
		s.proxy.setDown(true)
		for tool, arguments := range map[string]string{"list_account": `{}`, "get_account": `{"id":1}`, "update_account": `{"id":1,"data":{"balance":5}}`, "delete_account": `{"id":1}`, "describe_account": `{}`} {
			if payload, isError := s.call(tool, arguments); tool != "describe_account" && (!isError || payload["code"] != "unavailable") {
				t.Errorf("%s: %v", tool, payload)
			} else if tool == "describe_account" && isError {
				t.Errorf("what needs no database fails: %v", payload)
			}
		}
		s.proxy.setDown(false)
		s.recovers("list_account", `{}`)
		s.recovers("update_account", `{"id":1,"data":{"balance":1001}}`)
		s.holds("select balance from account where id = 1", "1001")
		s.holds("select count(*) from account", "3")
		s.whole()
	})
}

func TestACommitWhoseAnswerIsLostIsUncertain(t *testing.T) {
	for _, behind := range []bool{true, false} {
		t.Run(fmt.Sprintf("the database got it: %t", behind), func(t *testing.T) {
			onEach(t, true, func(t *testing.T, engine harness.Engine) {
				s := serve(t, engine)
				s.ok("update_account", `{"id":1,"data":{"balance":1000}}`)
				s.proxy.cutAt("COMMIT", behind)
				told := s.fails("update_account", `{"id":2,"data":{"balance":2000}}`, "unavailable")
				if message := fmt.Sprint(told["error"]); !strings.Contains(message, "not known") {
					t.Errorf("the message does not say that it is not known: %s", message)
				}
				wanted := "200"
				if behind {
					wanted = "2000"
				}
				s.settles("select balance from account where id = 2", wanted)
				s.recovers("get_account", `{"id":2}`)
				s.whole()
			})
		})
	}
}

// settles waits until plain SQL finds a text.
func (s *served) settles(query, wanted string) {
	s.Helper()
	var got string
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err := s.plain.QueryRowContext(context.Background(), query).Scan(&got); err == nil && got == wanted {
			return
		}
	}
	s.Fatalf("%s gives %q, never %q", query, got, wanted)
}

// locked holds a lock on account 2 while do runs.
func (s *served) locked(do func()) {
	s.Helper()
	ctx := context.Background()
	c, err := s.plain.Conn(ctx)
	if err != nil {
		s.Fatal(err)
	}
	defer c.Close()
	begin := "begin"
	if s.engine == contract.EngineSQLite {
		begin = "begin immediate"
	}
	for _, statement := range []string{begin, "update account set owner = 'locked' where id = 2"} {
		if _, err := c.ExecContext(ctx, statement); err != nil {
			s.Fatal(err)
		}
	}
	do()
	if _, err := c.ExecContext(ctx, "rollback"); err != nil {
		s.Fatal(err)
	}
}

func TestALockThatIsHeld(t *testing.T) {
	onEach(t, false, func(t *testing.T, engine harness.Engine) {
		s := serve(t, engine)
		s.ok("list_account", `{}`)
		s.locked(func() {
			s.fails("update_account", `{"id":2,"data":{"balance":1002}}`, "timeout", "unavailable")
			s.ok("list_account", `{}`)
			if got := s.ok("get_account", `{"id":2}`)["owner"]; got != "Bob" {
				t.Errorf("what is not committed is shown: %v", got)
			}
			if engine.Name != contract.EngineSQLite { // which locks the whole file
				s.ok("update_account", `{"id":1,"data":{"balance":1001}}`)
			}
		})
		s.ok("update_account", `{"id":2,"data":{"balance":1002}}`)
		s.whole()
	})
}

func TestOneSlowCallStopsNoOther(t *testing.T) {
	onEach(t, true, func(t *testing.T, engine harness.Engine) {
		s := serve(t, engine, func(c *contract.Config) { c.Endpoint.Database.MaxConnections = 3 })
		s.locked(func() {
			var waiting sync.WaitGroup
			for range 2 {
				waiting.Go(func() { s.endpoint.Call(root, "update_account", `{"id":2,"data":{"balance":1002}}`) })
			}
			for range 20 {
				s.ok("get_account", `{"id":1}`)
			}
			waiting.Wait()
		})
	})
}

func TestAPoolThatIsBusySaysSo(t *testing.T) {
	onEach(t, true, func(t *testing.T, engine harness.Engine) {
		s := serve(t, engine, func(c *contract.Config) {
			c.Endpoint.Database.MaxConnections = 1
			c.Endpoint.Database.StatementTimeout = contract.Duration(20 * time.Second)
		})
		s.locked(func() {
			var waiting sync.WaitGroup
			waiting.Go(func() { s.endpoint.Call(root, "update_account", `{"id":2,"data":{"balance":1002}}`) })
			time.Sleep(300 * time.Millisecond) // the update has the connection by then; if not, the next call succeeds
			told, isError := s.call("get_account", `{"id":1}`)
			if !isError || told["code"] != "unavailable" || !strings.Contains(fmt.Sprint(told["error"]), "busy") {
				t.Errorf("%v", told)
			}
			waiting.Wait()
		})
		s.recovers("get_account", `{"id":1}`)
	})
}

func TestASchemaThatChanges(t *testing.T) {
	onEach(t, false, func(t *testing.T, engine harness.Engine) {
		s := serve(t, engine)
		s.ok("list_account", `{}`)
		s.exec("alter table account add column note varchar(20)")
		s.exec("alter table account rename column owner to holder")
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
			payload, isError := s.call("get_account", `{"id":1}`)
			if !isError && payload["holder"] == "Ann" {
				break
			}
			if !isError && payload["owner"] != nil && payload["owner"] != "Ann" || time.Now().After(deadline) {
				t.Fatalf("%v", payload)
			}
		}
		s.ok("update_account", `{"id":1,"data":{"holder":"Eve","note":"new","balance":1000}}`)
		s.exec("drop table entry")
		s.settlesOn("list_entry", "unavailable")
		s.ok("list_account", `{}`)
		s.exec("create table entry (id int primary key, account_id int not null, text varchar(10), foreign key (account_id) references account (id))")
		s.settlesOn("list_entry", "")
		s.whole()
	})
}

func (s *served) exec(statement string) {
	s.Helper()
	if _, err := s.plain.ExecContext(context.Background(), statement); err != nil {
		s.Fatalf("%s: %v", statement, err)
	}
}

// settlesOn calls a tool until it answers with a code; "" is success.
func (s *served) settlesOn(tool, code string) {
	s.Helper()
	var payload object
	for deadline := time.Now().Add(80 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		var isError bool
		payload, isError = s.call(tool, `{}`)
		if isError == (code != "") && (code == "" || payload["code"] == code) {
			return
		}
	}
	s.Fatalf("%s: never %q, but %v", tool, code, payload)
}

// TestAFileThatIsFull fills the volume of a SQLite file. Only root can make a small volume.
func TestAFileThatIsFull(t *testing.T) {
	folder := t.TempDir()
	if err := syscall.Mount("none", folder, "tmpfs", 0, "size=512k"); err != nil {
		t.Skipf("no small volume can be made: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	database, plain := harness.OnFile(t, filepath.Join(folder, "data.sqlite"), script)
	s := &served{T: t, engine: contract.EngineSQLite, plain: plain}
	s.start(database)
	s.ok("update_account", `{"id":1,"data":{"balance":1000}}`)
	filler := filepath.Join(folder, "filler")
	if err := os.WriteFile(filler, make([]byte, 256<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	write := func(i int) (object, bool) {
		return s.call("update_account", fmt.Sprintf(`{"id":2,"data":{"balance":%d},"inlines":{"entry":[{"data":{"id":%d,"note":%q}}]}}`, 2000+i, 100+i, strings.Repeat("x", 1900)))
	}
	done := 0
	for {
		payload, isError := write(done)
		if isError {
			if payload["code"] != "unavailable" {
				t.Fatalf("a full volume gives %v", payload)
			}
			break
		}
		if done++; done > 1000 {
			t.Fatal("the volume is never full")
		}
	}
	if done == 0 {
		t.Fatal("nothing was written before the volume was full")
	}
	s.holds("select balance from account where id = 2", fmt.Sprint(2000+done-1))
	s.holds("select count(*) from entry where id >= 100", fmt.Sprint(done))
	s.holds("pragma integrity_check", "ok")
	s.ok("list_entry", `{}`)
	s.whole()
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if payload, isError := write(done); isError {
		t.Fatalf("there is room again, but: %v", payload)
	}
	s.whole()
}

// servers are real ones of the test's own, which are stopped and started.
func TestAServerThatIsStoppedAndStarted(t *testing.T) {
	for _, name := range []string{"postgres", "mariadb"} {
		t.Run(name, func(t *testing.T) {
			data := folder(t)
			uri := control(t, "start", "-engine", name, "-data", data)
			t.Cleanup(func() { control(t, "stop", "-engine", name, "-data", data) })
			port := uri[strings.LastIndex(uri, ":")+1:]
			if name == "mariadb" { // whose URI leads to no database yet
				harness.On(t, uri+"mysql", "create database accounts")
				uri += "accounts"
			}
			database, plain := harness.On(t, uri, script)
			s := &served{T: t, engine: name, plain: plain}
			s.start(database)
			s.ok("update_account", `{"id":1,"data":{"balance":1000}}`)
			control(t, "stop", "-engine", name, "-data", data)
			s.fails("list_account", `{}`, "unavailable")
			s.fails("update_account", `{"id":1,"data":{"balance":1}}`, "unavailable")
			control(t, "start", "-engine", name, "-data", data, "-port", strings.FieldsFunc(port, func(r rune) bool { return r < '0' || r > '9' })[0])
			s.recovers("list_account", `{}`)
			s.recovers("update_account", `{"id":2,"data":{"balance":2000}}`)
			s.settles("select balance from account where id = 2", "2000")
			s.whole()
		})
	}
}

// folder is one that the servers' own users can reach, which those of t.TempDir are not.
func folder(t *testing.T) string {
	t.Helper()
	parent, err := os.MkdirTemp("", "mcp-admin-faults-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(parent) })
	if err := os.Chmod(parent, 0o711); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(parent, "data")
}

// control runs test/databases and returns what it prints.
func control(t *testing.T, arguments ...string) string {
	t.Helper()
	c := exec.Command("go", append([]string{"run", "../databases"}, arguments...)...)
	var said strings.Builder
	c.Stderr = &said
	text, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", arguments, err, said.String())
	}
	return strings.TrimSpace(string(text))
}
