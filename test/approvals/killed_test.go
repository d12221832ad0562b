package approvals

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// killedTotals are those of all engines.
var killedTotals struct{ killed, executed, byTheDead, twice, wrong atomic.Int64 }

const podsAtOnce = 3

// Three server processes of one signed Config, one of which is killed in each round (kill -9): after a call was allowed and before it
// is made again, while it runs and waits for a lock, at any moment of it, or as soon as its row is there. The agent asks another pod,
// until it is told that the call was done. What was allowed is done once, and journal, table of keys and what the pods tell agree.
// MCP_TEST_KILLED_PODS is how many.
func TestAPodThatIsKilledDoesNothingTwice(t *testing.T) {
	rounds := 8
	if text := os.Getenv("MCP_TEST_KILLED_PODS"); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatalf("MCP_TEST_KILLED_PODS: %v", err)
		}
	}
	for _, engine := range harness.Engines {
		if engine.Name == contract.EngineSQLite {
			continue // its file has one pod
		}
		t.Run(engine.Title, func(t *testing.T) {
			database, plain := engine.Open(t, strings.ReplaceAll(script, "{serial}", serials[engine.Name]))
			k := &killing{t: t, engine: engine.Name, plain: plain, fleet: newFleet(t, database, killedConfig()), told: map[string]contract.Approval{}}
			for i := range k.pods {
				k.pods[i] = k.fleet.start()
			}
			for n := range rounds {
				if k.round(n); t.Failed() {
					break
				}
			}
			killedTotals.killed.Add(int64(rounds))
			t.Logf("%d pods were killed: %d times the call had happened, and %d times it had not", rounds, k.happened, rounds-k.happened)
		})
	}
}

// killedConfig has every refund wait.
func killedConfig() *contract.Config {
	model := func(name string) contract.Model {
		return contract.Model{Revision: 1, Exposure: name, Name: name, Table: name, VerboseName: name, VerboseNamePlural: name + "s", DefaultPageSize: 100, MaxPageSize: 100, MaxBulkItems: 100}
	}
	c := &contract.Config{
		Version: contract.Version, Layout: contract.Layout{Parts: 1}, Revision: 1, Requires: []string{contract.RequiresApprovals},
		Models: []contract.Model{model("account"), model("refund")},
		Tokens: []contract.Token{{Namespace: namespace, Name: "agent", UID: "u", Hashes: []string{contract.HashToken(agent)},
			Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"*"}}}}},
	}
	c.Endpoint = contract.Endpoint{
		Namespace: namespace, Name: "pods", URL: "http://pods/mcp/", StatusKey: statusKey, SealKey: sealKey,
		Database: contract.Database{MaxConnections: 4, StatementTimeout: contract.Duration(time.Minute)},
		Limits:   contract.Limits{MaxBodyBytes: 1 << 20, MaxConcurrentRequests: 50, MaxResultBytes: 1 << 20},
		Audit:    &contract.AuditTable{Name: "mcp_admin_log"}, Idempotency: &contract.AuditTable{Name: "mcp_answers"},
		Approvals: []contract.ApprovalPolicy{{Name: "refunds", Sum: "1", Models: []string{"refund"}, MinApprovals: 1,
			ExpiresAfter: contract.Duration(time.Hour), Show: contract.ShowValues}},
	}
	return c
}

// killing is the story of one engine.
type killing struct {
	t      *testing.T
	engine string
	plain  *sql.DB
	fleet  *fleet
	pods   [podsAtOnce]*pod
	// told is what the pods told of each approval; happened is how often a call had happened when its pod was killed.
	told     map[string]contract.Approval
	happened int
	// took is how long the last calls took that ran undisturbed.
	took time.Duration
}

// patienceWithPods ends a round that hangs.
const patienceWithPods = 5 * time.Minute

// round has a call asked for, allowed, and made on a pod that is killed, and then on others.
func (k *killing) round(n int) {
	k.t.Helper()
	first := n / 4 % podsAtOnce
	call := fmt.Sprintf(`{"data":{"account_id":1,"amount":%d,"note":"round %d"}}`, 1+n, n)
	name := k.ask(k.pods[first], call)
	asked := k.told[name]
	k.fleet.decide(contract.Decision{Name: name, Digest: asked.Digest, Caller: asked.Caller, Tool: asked.Tool, State: contract.ApprovalApproved,
		By: []string{"ana"}, Expires: time.Now().Add(time.Hour)})
	p, kind := k.pods[first], n%4
	if kind > 0 {
		k.awaitDecision(p, name)
	}
	switch kind {
	case 0: // between the decision and the execution
		p.kill()
	case 1:
		k.killWhileItWaits(p, call)
	case 2:
		go func() { _, _ = p.call("create_refund", call) }()
		time.Sleep(rand.N(max(2*k.took, 10*time.Millisecond))) // any moment will do
		p.kill()
	case 3:
		go func() { _, _ = p.call("create_refund", call) }()
		k.until("the row is there", func() bool { return k.refunds(n) > 0 })
		p.kill()
	}
	if k.refunds(n) > 0 {
		k.happened++
	}
	started := make(chan *pod, 1)
	go func() { // meanwhile the agent goes on
		var next *pod
		defer func() { started <- next }()
		next = k.fleet.start()
	}()
	id, ranNow := k.untilDone(first+1, call)
	k.judge(n, name, id, ranNow)
	if k.pods[first] = <-started; k.pods[first] == nil {
		k.t.FailNow()
	}
	k.fleet.forget(name)
}

// ask asks for a call, and returns the name of its approval.
func (k *killing) ask(p *pod, call string) string {
	k.t.Helper()
	a, err := p.call("create_refund", call)
	if err != nil || a.Code != "approval_required" {
		k.t.Fatalf("%s: %+v, %v", call, a, err)
	}
	k.look()
	if k.told[a.Approval].State != contract.ApprovalWaiting {
		k.t.Fatalf("nobody tells of %s: %+v", a.Approval, k.told[a.Approval])
	}
	return a.Approval
}

// look reads what the pods tell.
func (k *killing) look() {
	for _, p := range k.pods {
		all, err := p.approvals()
		if err != nil {
			continue // it was killed
		}
		for _, a := range all {
			if k.told[a.Name].State != contract.ApprovalExecuted { // as the manager takes it
				k.told[a.Name] = a
			}
		}
	}
}

// killWhileItWaits kills a pod while the call waits for a lock in its transaction.
func (k *killing) killWhileItWaits(p *pod, call string) {
	k.t.Helper()
	tx, err := k.plain.Begin()
	if err == nil {
		_, err = tx.Exec("select * from account where id = 1 for update")
	}
	if err != nil {
		k.t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	go func() { _, _ = p.call("create_refund", call) }()
	waiting, pace := "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'", time.Duration(0)
	if k.engine == contract.EngineMySQL { // which reads this table anew only if nobody has asked for it for 100 ms
		waiting, pace = "select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'", 150*time.Millisecond
	}
	k.until("the call waits for the lock", func() bool {
		time.Sleep(pace)
		return k.number(waiting) > 0
	})
	p.kill()
}

// awaitDecision waits as an agent does until the pod knows what people decided.
func (k *killing) awaitDecision(p *pod, name string) {
	k.t.Helper()
	k.until("the pod knows the decision", func() bool {
		a, err := p.call("approvals", fmt.Sprintf(`{"approval":%q,"wait":50}`, name))
		if err != nil {
			k.t.Fatal(err)
		}
		return len(a.Approvals) == 1 && a.Approvals[0].State == contract.ApprovalApproved
	})
}

// until waits until something is so.
func (k *killing) until(what string, is func() bool) {
	k.t.Helper()
	for deadline := time.Now().Add(patienceWithPods); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			k.t.Fatalf("it never comes that %s", what)
		}
	}
}

// untilDone makes the call on one pod after the other, until it is told that it was done: now, or before. It returns the call's id if
// it was now, and whether it ran.
func (k *killing) untilDone(from int, call string) (id string, ran bool) {
	k.t.Helper()
	var a answer
	var err error
	for i, deadline := from, time.Now().Add(patienceWithPods); time.Now().Before(deadline); i++ {
		began := time.Now()
		p := k.pods[i%podsAtOnce]
		select {
		case <-p.ended:
			continue
		default:
		}
		if a, err = p.call("create_refund", call); err != nil {
			k.t.Fatal(err)
		}
		switch {
		case a.Success:
			k.took = time.Since(began)
			return a.Call, true
		case a.Code == "conflict" && strings.Contains(a.Error, "was done"):
			return "", false
		case a.Code != "approval_required" && a.Code != "conflict" && a.Code != "unavailable":
			k.t.Fatalf("%s: %+v", call, a)
		}
	}
	k.t.Fatalf("%s was never done: %+v", call, a)
	return "", false
}

// judge holds rows, journal, table of keys and what the pods tell against each other.
func (k *killing) judge(n int, name, id string, ranNow bool) {
	k.t.Helper()
	k.look()
	rows, digest, told := k.refunds(n), k.told[name].Digest, k.told[name]
	var recorded, kept string
	entries := k.number("select count(*) from mcp_admin_log where model = 'refund' and message like '%(" + name + ")%'")
	used := k.number("select count(*) from mcp_answers where request = '" + digest + "'")
	if entries == 1 && used == 1 {
		call := map[string]string{contract.EnginePostgreSQL: `"call"`, contract.EngineMySQL: "`call`"}[k.engine]
		recorded = k.text("select " + call + " from mcp_admin_log where model = 'refund' and message like '%(" + name + ")%'")
		kept = k.text("select " + call + " from mcp_answers where request = '" + digest + "'")
	}
	if rows > 1 || entries > 1 {
		killedTotals.twice.Add(1)
	}
	if rows == 1 && entries == 1 && used == 1 && told.State == contract.ApprovalExecuted && told.Call == recorded && told.Call == kept && (!ranNow || id == recorded) {
		killedTotals.executed.Add(1)
		if !ranNow {
			killedTotals.byTheDead.Add(1)
		}
		return
	}
	killedTotals.wrong.Add(1)
	text, _ := json.Marshal(told)
	k.t.Errorf("round %d: %d refunds, %d entries of the journal (%s), %d used approvals (%s), answered %q, told %s", n, rows, entries, recorded, used, kept, id, text)
}

func (k *killing) refunds(n int) int {
	k.t.Helper()
	return k.number(fmt.Sprintf("select count(*) from refund where note = 'round %d'", n))
}

func (k *killing) number(query string) int {
	k.t.Helper()
	n, err := strconv.Atoi(k.text(query))
	if err != nil {
		k.t.Fatalf("%s: %v", query, err)
	}
	return n
}

func (k *killing) text(query string) string {
	k.t.Helper()
	var text string
	if err := k.plain.QueryRow(query).Scan(&text); err != nil {
		k.t.Fatalf("%s: %v", query, err)
	}
	return text
}
