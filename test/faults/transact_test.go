package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// number is the value of an environment variable, or a small number that every run affords.
func number(t *testing.T, variable string, usual int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// withTransfers keeps answers, and has the actions that move one from account to account.
func withTransfers(c *contract.Config) {
	c.Endpoint.Idempotency = &contract.AuditTable{Name: "mcp_answers"}
	c.Endpoint.Database.StatementTimeout = contract.Duration(20 * time.Second)
	for i := range c.Models {
		if c.Models[i].Name == "account" {
			for name, by := range map[string]string{"give": "- 1", "take": "+ 1"} {
				c.Models[i].Actions = append(c.Models[i].Actions, contract.Action{Name: name, Requires: []string{"change"},
					SQL: &contract.SQLAction{Statement: "UPDATE account SET balance = balance " + by + " WHERE id IN (:ids)"}})
			}
		}
	}
}

// transfer is a call of transact that moves one from an account to another, and notes it.
func transfer(key string, from, to, entry int) string {
	return fmt.Sprintf(`{"idempotency_key":%q,"steps":[
		{"tool":"action_account","arguments":{"action":"give","ids":[%d]},"expect":{"count":1}},
		{"tool":"create_entry","arguments":{"data":{"id":%d,"account_id":%[2]d,"note":"out"}}},
		{"tool":"action_account","arguments":{"action":"take","ids":[%[4]d]}},
		{"tool":"get_entry","arguments":{"id":{"_step":1,"path":"object.id"}},"expect":{"note":"out"}}]}`, key, from, entry, to)
}

// A caller whose answer was lost sends the call again with its key: it happened once, and is answered as the first time.
// MCP_TEST_LOST_ANSWERS is how often.
func TestACallWhoseAnswerIsLostHappensOnce(t *testing.T) {
	rounds := number(t, "MCP_TEST_LOST_ANSWERS", 12)
	onEach(t, false, func(t *testing.T, engine harness.Engine) {
		s := serve(t, engine, withTransfers)
		made := 0
		// Once in a while the cut meets another commit: the schema is read, and old answers are removed, once a minute.
		for lost := 0; made < rounds || s.proxy != nil && lost < rounds; made++ {
			i := made
			if i > 2*rounds {
				t.Fatalf("the answers of %d calls were lost, of %d", lost, made)
			}
			key, arguments := fmt.Sprintf("order %d", i), transfer(fmt.Sprintf("order %d", i), 1, 2, 100+i)
			if s.proxy != nil {
				s.proxy.cutAtCommit(i%2 == 0)
			}
			if told, isError := s.call("transact", arguments); isError {
				if lost++; told["code"] != "unavailable" || !strings.Contains(fmt.Sprint(told["error"]), "not known") {
					t.Fatalf("%s: %v", key, told)
				}
			}
			first := s.recovers("transact", arguments)
			again := s.ok("transact", arguments)
			if again["replayed"] != true || fmt.Sprint(again["results"], again["call"]) != fmt.Sprint(first["results"], first["call"]) {
				t.Fatalf("%s: %v, then %v", key, first, again)
			}
		}
		s.holds("select balance from account where id = 1", fmt.Sprint(100-made))
		s.holds("select balance from account where id = 2", fmt.Sprint(200+made))
		s.agree(made)
		s.held(fmt.Sprintf("%d answers lost, and asked for again with their keys: each change once, and the same answer", rounds))
	})
}

// agree sees that rows, journal and kept answers tell of the same transfers, and nothing of others.
func (s *served) agree(transfers int) {
	s.Helper()
	call := `"call"`
	if s.engine == contract.EngineMySQL || strings.Contains(s.engine, "MariaDB") {
		call = "`call`"
	}
	s.holds("select sum(balance) from account where id <= 3", "600")
	s.holds("select count(*) from entry where note = 'out'", fmt.Sprint(transfers))
	s.holds("select count(*) from mcp_answers where answer is not null", fmt.Sprint(transfers))
	s.holds("select count(*) from mcp_answers", fmt.Sprint(transfers))
	s.holds("select count(*) from mcp_admin_log", fmt.Sprint(3*transfers))
	s.holds("select count(distinct "+call+") from mcp_admin_log", fmt.Sprint(transfers))
	s.holds("select count(*) from mcp_answers a where not exists (select 1 from mcp_admin_log l where l."+call+" = a."+call+")", "0")
}

// Agents move money between the same accounts while connections are cut at any moment. Each sends its call again until it
// is answered.
func TestTransactsWhoseConnectionsAreCut(t *testing.T) {
	agents, transfers := 6, number(t, "MCP_TEST_CUT_TRANSFERS", 5)
	onEach(t, true, func(t *testing.T, engine harness.Engine) {
		s := serve(t, engine, withTransfers)
		done := make(chan struct{})
		var cutting, calling sync.WaitGroup
		var finished atomic.Int64
		cutting.Go(func() {
			// On a slow machine cuts come less often, so that some transfers get through.
			for pause, last := 60*time.Millisecond, int64(0); ; {
				select {
				case <-done:
					return
				case <-time.After(rand.N(pause)):
				}
				s.proxy.cut()
				if now := finished.Load(); now == last {
					pause = min(pause*2, 20*time.Second)
				} else {
					pause, last = max(pause/2, 20*time.Millisecond), now
				}
			}
		})
		for agent := range agents {
			calling.Go(func() {
				for i := range transfers {
					n := agent*transfers + i
					s.persists(transfer(fmt.Sprint(n), 1+n%3, 1+(n+1)%3, 100+n))
					finished.Add(1)
				}
			})
		}
		calling.Wait()
		close(done)
		cutting.Wait()
		s.agree(agents * transfers)
		s.held(fmt.Sprintf("connections cut at any moment of %d transfers of several steps: all of one or nothing, and journal and kept answers agree", agents*transfers))
	})
}

// persists calls transact until it succeeds. Whatever it answers before must say that it may be tried again.
func (s *served) persists(arguments string) {
	s.Helper()
	var text string
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(rand.N(50 * time.Millisecond)) {
		var isError bool
		if text, isError = s.endpoint.Call(root, "transact", arguments); !isError {
			return
		}
		var told struct{ Code string }
		if err := json.Unmarshal([]byte(text), &told); err != nil || told.Code != "unavailable" && told.Code != "conflict" && told.Code != "timeout" {
			s.Errorf("%s", text)
			return
		}
	}
	s.Errorf("it never succeeded: %s", text)
}

// MCP_TEST_AGENTS agents move money between a few accounts for MCP_TEST_SECONDS: what others do to the same rows is a
// success after another run, or a conflict; the sum stays the same.
func TestAgentsWithOverlappingTransacts(t *testing.T) {
	agents, seconds := number(t, "MCP_TEST_AGENTS", 20), number(t, "MCP_TEST_SECONDS", 3)
	withPlaces := func(c *contract.Config) { // for all agents, though they have one token
		c.Endpoint.Limits.MaxConcurrentRequests, c.Endpoint.Limits.MaxResultBytes = 2*agents, 16<<10
	}
	onEach(t, false, func(t *testing.T, engine harness.Engine) {
		s := serve(t, engine, withTransfers, withPlaces)
		for id := 4; id <= 20; id++ {
			s.exec(fmt.Sprintf("insert into account values (%d, 'x', 100)", id))
		}
		var succeeded, gaveWay, busy, next atomic.Int64
		var calling sync.WaitGroup
		end := time.Now().Add(time.Duration(seconds) * time.Second)
		for range agents {
			calling.Go(func() {
				for time.Now().Before(end) {
					n := int(next.Add(1))
					from, to := 1+rand.N(20), 1+rand.N(20)
					told, err := callTransact(s.endpoint.URL, fmt.Sprintf(`{"steps":[
						{"tool":"get_account","arguments":{"id":%[1]d},"expect":{"id":%[1]d}},
						{"tool":"action_account","arguments":{"action":"give","ids":[%[1]d]}},
						{"tool":"create_entry","arguments":{"data":{"id":%[3]d,"account_id":%[2]d,"note":"out"}}},
						{"tool":"action_account","arguments":{"action":"take","ids":[{"_step":2,"path":"object.account_id"}]}}]}`, from, to, 100+n))
					message := fmt.Sprint(told["error"])
					switch {
					case err == nil && told["code"] == nil:
						succeeded.Add(1)
					case told["code"] == "conflict":
						gaveWay.Add(1)
					case told["code"] == "unavailable" && (strings.Contains(message, "busy") || strings.Contains(message, "this call needs")):
						busy.Add(1) // no connection, or no lock, within the time that a call waits
					case errors.Is(err, errTooMany):
						busy.Add(1)
						time.Sleep(rand.N(100 * time.Millisecond))
					default:
						t.Errorf("neither done nor a conflict: %v, %v; %.3000v", told, err, s.endpoint.Log.Lines("ERROR"))
						return
					}
				}
			})
		}
		calling.Wait()
		s.holds("select sum(balance) from account", fmt.Sprint(600+17*100))
		s.holds("select count(*) from entry where note = 'out'", fmt.Sprint(succeeded.Load()))
		s.holds("select count(*) from mcp_admin_log", fmt.Sprint(3*succeeded.Load()))
		t.Logf("%d agents in %d s: %d done, %d conflicts, %d without a place", agents, seconds, succeeded.Load(), gaveWay.Load(), busy.Load())
		s.held(fmt.Sprintf("%d agents with overlapping transactions of several steps: each done or told to try again, sums as they were", agents))
	})
}
