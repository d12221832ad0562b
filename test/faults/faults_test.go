// Package faults does to a database what happens to databases, while it is served: whatever the fault, there is no wrong
// answer and no half write, and once it is over the server works again without a restart.
package faults

import (
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

func TestConnectionsThatAreCut(t *testing.T) {
	onEach(t, true, func(t *testing.T, engine harness.Engine) {
		s := serve(t, engine)
		s.ok("list_account", `{}`)
		for range 3 {
			s.proxy.cut()
			// A read may be asked again; it must not fail for a connection that was dead before.
			if payload := s.recovers("get_account", `{"id":1}`); payload["owner"] != "Ann" {
				t.Fatalf("got %v, want the owner Ann", payload)
			}
			s.proxy.cut()
			s.recovers("update_account", `{"id":1,"data":{"balance":1000}}`)
		}
		s.whole()
		s.held("idle connections cut: reads and writes go on")
	})
}

func TestAConnectionThatIsCutWhileAStatementRuns(t *testing.T) {
	onEach(t, true, func(t *testing.T, engine harness.Engine) {
		s := serve(t, engine, func(c *contract.Config) {
			c.Endpoint.Database.StatementTimeout = contract.Duration(20 * time.Second)
		})
		s.ok("list_account", `{}`)
		var waiting sync.WaitGroup
		s.locked(func() {
			waiting.Go(func() {
				text, isError := s.endpoint.Call(root, "update_account", `{"id":2,"data":{"balance":2000}}`)
				if isError {
					t.Errorf("the update whose connection was cut: %s", text)
				}
			})
			s.waits()
			s.proxy.cut()
			if payload := s.recovers("get_account", `{"id":2}`); payload["owner"] != "Bob" {
				t.Errorf("%v", payload)
			}
		})
		waiting.Wait()
		s.holds("select balance from account where id = 2", "2000")
		s.holds("select count(*) from mcp_admin_log where object_id = '2'", "1")
		s.whole()
		s.held("connection cut while a statement waits: the transaction is run again on another, and written once")
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
		s.held("database out of reach: \"unavailable\" at once, and back without a restart")
	})
}

func TestACommitWhoseAnswerIsLostIsUncertain(t *testing.T) {
	for _, behind := range []bool{true, false} {
		t.Run(fmt.Sprintf("the database got it: %t", behind), func(t *testing.T) {
			onEach(t, true, func(t *testing.T, engine harness.Engine) {
				s := serve(t, engine)
				s.ok("update_account", `{"id":1,"data":{"balance":1000}}`)
				s.proxy.cutAtCommit(behind)
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
				s.held("answer to COMMIT lost: said not to be known, the change and its journal entry both there or neither")
			})
		})
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
		s.held("lock held: the write gives up in time, reads go on and show what is committed")
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
		s.held("two calls stuck on a lock: the others are answered")
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
			s.waits()
			for tool, arguments := range map[string]string{"get_account": `{"id":1}`, "transact": `{"steps":[{"tool":"update_account","arguments":{"id":1,"data":{"balance":1}}}]}`} {
				waiting.Go(func() {
					if text, isError := s.endpoint.Call(root, tool, arguments); !isError || !strings.Contains(text, `"unavailable"`) || !strings.Contains(text, "busy") {
						t.Errorf("%s: %s", tool, text)
					}
				})
			}
			waiting.Wait()
		})
		s.recovers("get_account", `{"id":1}`)
		s.held("all connections in use: \"busy\", and back once one is free")
	})
}

func TestASchemaThatChanges(t *testing.T) {
	onEach(t, false, func(t *testing.T, engine harness.Engine) {
		s := serve(t, engine)
		s.ok("list_account", `{}`)
		s.exec("alter table account add column note varchar(20)")
		s.exec("alter table account rename column owner to holder")
		for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
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
		s.held("columns added and renamed, a table dropped and made again: never a wrong value, and served anew")
	})
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
	s.held("volume full: \"unavailable\", nothing half written, reads go on, writes again once there is room")
}

// servers are real ones of the test's own, which are stopped and started.
func TestAServerThatIsStoppedAndStarted(t *testing.T) {
	for name, engine := range map[string]string{"postgres": contract.EnginePostgreSQL, "mariadb": contract.EngineMySQL} {
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
			s := &served{T: t, engine: engine, plain: plain}
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
			s.held("database server stopped and started: \"unavailable\", and back without a restart")
		})
	}
}

// folder returns a folder that the servers' own users can reach; t.TempDir's they cannot.
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
	needServers(t)
	c := exec.Command("go", append([]string{"run", "../databases"}, arguments...)...)
	var said strings.Builder
	c.Stderr = &said
	text, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", arguments, err, said.String())
	}
	return strings.TrimSpace(string(text))
}
