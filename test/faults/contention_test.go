package faults

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

const (
	callers = 8
	changes = 40
)

// isolated gives the database's transactions another isolation level.
const isolated = `
do $$ begin execute format('alter database %%I set default_transaction_isolation = %%L', current_database(), '%s'); end $$;`

// TestContention has many callers change the same rows at once. Each call adds one to two rows, or renames two in a bulk. It
// does so once, or says that it gave way: nothing is lost, nothing is done twice, and each call has one line of the audit.
func TestContention(t *testing.T) {
	for _, level := range []string{"repeatable read", "serializable"} {
		t.Run("PostgreSQL "+level, func(t *testing.T) {
			database, plain := harness.Engines[1].Open(t, script+fmt.Sprintf(isolated, level))
			s := &served{T: t, engine: "PostgreSQL, " + level, plain: plain}
			s.start(database, withIncrement)
			s.contend(s.endpoint)
		})
	}
	t.Run("MariaDB", func(t *testing.T) {
		database, plain := harness.Engines[2].Open(t, script)
		s := &served{T: t, engine: "MariaDB", plain: plain}
		s.start(database, withIncrement)
		s.contend(s.endpoint)
	})
	t.Run("Galera", func(t *testing.T) {
		first, second := galera(t)
		harness.On(t, first+"mysql", "create database accounts")
		database, plain := harness.On(t, first+"accounts", script)
		s := &served{T: t, engine: "Galera, two writers", plain: plain}
		s.start(database, withIncrement)
		other := &served{T: t, engine: s.engine, plain: plain}
		other.start(harness.Database{Connection: map[string][]byte{"uri": []byte(second + "accounts")}}, withIncrement)
		s.contend(s.endpoint, other.endpoint)
	})
}

// withIncrement adds the action that adds one to each row.
func withIncrement(c *contract.Config) {
	c.Endpoint.Database.StatementTimeout = contract.Duration(contentionTime)
	for i := range c.Models {
		if c.Models[i].Name == "account" {
			c.Models[i].Actions = []contract.Action{{Name: "increment", Requires: []string{"change"},
				SQL: &contract.SQLAction{Statement: "UPDATE account SET balance = balance + 1 WHERE id IN (:ids)"}}}
		}
	}
}

// contend makes the calls over all endpoints at once, and counts.
func (s *served) contend(endpoints ...*harness.Endpoint) {
	s.Helper()
	var counting sync.Mutex
	added, renamed, gaveWay := 0, 0, 0
	var calling sync.WaitGroup
	for caller := range callers {
		calling.Go(func() {
			endpoint := endpoints[caller%len(endpoints)]
			for i := range changes {
				a := 1 + (caller+i)%3
				b := 1 + (caller+i+1)%3
				tool, arguments := "action_account", fmt.Sprintf(`{"action":"increment","ids":[%d,%d]}`, a, b)
				if i%4 == 3 {
					tool = "bulk_account"
					arguments = fmt.Sprintf(`{"operation":"update","items":[{"id":%[1]d,"data":{"owner":"%[3]d"}},{"id":%[2]d,"data":{"owner":"%[3]d"}}]}`, a, b, caller)
				}
				text, isError := endpoint.Call(root, tool, arguments)
				var told struct {
					Code     string
					Affected int `json:"affected_count"`
					Written  int `json:"success_count"`
				}
				if err := json.Unmarshal([]byte(text), &told); err != nil {
					s.Errorf("%v in %s", err, text)
				}
				counting.Lock()
				switch {
				case told.Affected == 2:
					added++
				case told.Written == 2:
					renamed++
				case isError && told.Code == "conflict":
					gaveWay++
				default:
					s.Errorf("neither done nor a conflict: %s", text)
				}
				counting.Unlock()
			}
		})
	}
	calling.Wait()
	s.settles("select sum(balance) from account", fmt.Sprint(600+2*added))
	s.settles("select count(*) from mcp_admin_log", fmt.Sprint(2*(added+renamed)))
	lines := 0
	for _, endpoint := range endpoints {
		lines += len(endpoint.Log.Lines(`"msg":"audit"`))
	}
	if lines != callers*changes {
		s.Errorf("%d lines of the audit for %d calls", lines, callers*changes)
	}
	s.held(fmt.Sprintf("%d callers change the same rows %d times each: %d done, %d told to try again, nothing lost or doubled", callers, changes, added+renamed, gaveWay))
}

// galera starts two nodes, and returns the URI of each once both take writes.
func galera(t *testing.T) (first, second string) {
	t.Helper()
	data := folder(t)
	uris := install(t, "Galera", "start", "-engine", "galera", "-data", data)
	t.Cleanup(func() { control(t, "stop", "-engine", "galera", "-data", data) })
	if _, err := fmt.Sscan(uris, &first, &second); err != nil {
		t.Fatalf("%v in %q", err, uris)
	}
	waitFor(t, second+"mysql", "select 1 from information_schema.global_status where variable_name = 'wsrep_ready' and variable_value = 'ON'")
	return first, second
}
