package faults

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// A commit that no standby confirms is not acknowledged, and neither is its repetition, though the row is there: a failover would
// lose it.
func TestACommitThatNoStandbyConfirms(t *testing.T) {
	data := folder(t)
	uri := control(t, "start", "-engine", "postgres", "-data", data)
	t.Cleanup(func() { control(t, "stop", "-engine", "postgres", "-data", data) })
	database, plain := harness.On(t, uri, script)
	s := &served{T: t, engine: contract.EnginePostgreSQL, plain: plain}
	s.exec("alter role all set synchronous_commit = on")
	s.start(database, func(c *contract.Config) {
		c.Endpoint.Idempotency = &contract.AuditTable{Name: "mcp_answers"}
		c.Endpoint.Database.StatementTimeout = contract.Duration(time.Second)
	})
	s.ok("update_account", `{"id":1,"data":{"balance":1000}}`)
	standbys := func(names string) {
		t.Helper()
		s.exec("alter system set synchronous_standby_names = '" + names + "'")
		s.exec("select pg_reload_conf()")
		s.settles("show synchronous_standby_names", names)
	}
	standbys("nobody")
	t.Cleanup(func() { standbys("") })
	for range 2 {
		told := s.fails("update_account", `{"id":2,"data":{"balance":2000},"idempotency_key":"one"}`, "unavailable")
		if message := fmt.Sprint(told["error"]); !strings.Contains(message, "did not confirm it") {
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
