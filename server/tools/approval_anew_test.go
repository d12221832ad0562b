package tools

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/approval"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// An approval that came, and was not used in time, lets nothing run, and says so.
func TestAnApprovalThatIsNotUsedInTimeIsGone(t *testing.T) {
	l := newLibrary(t, approving(policy("deletions", func(p *contract.ApprovalPolicy) { p.Operations = []string{"delete"} })))
	name := l.waits(ownerText, "delete_shelf", `{"id":3}`)
	a := l.told(name)
	l.waiting.Decide(map[string]*contract.Decision{a.Digest: {
		Name: name, Digest: a.Digest, Caller: a.Caller, Tool: a.Tool, State: contract.ApprovalApproved, By: []string{"ana"}, Expires: time.Now(),
	}})
	if r := l.call(ownerText, "delete_shelf", `{"id":3}`); r.Code != call.CodeApprovalDenied || !strings.Contains(r.Message, "was allowed, and was not made in time") {
		t.Errorf("%s", r.Text)
	}
	if again := l.waits(ownerText, "delete_shelf", `{"id":3}`); again != name || !l.told(name).Asked.After(a.Asked) {
		t.Errorf("it waits as %s, and the manager is told %+v", again, l.told(again))
	}
}

// What waits for a policy that is gone is asked for anew when the policy is back.
func TestAPolicyThatComesBackAsksAnew(t *testing.T) {
	deletions := policy("deletions", func(p *contract.ApprovalPolicy) { p.Operations = []string{"delete"} })
	l := newLibrary(t, approving(deletions))
	name := l.waits(ownerText, "delete_shelf", `{"id":3}`)
	before := l.told(name)
	without, with := libraryConfig(), libraryConfig()
	approving(deletions)(with)
	approval.New(without, l.set.catalog, l.tokens.Inspector(), l.waiting)
	if listed := l.must(ownerText, "approvals", `{}`); strings.Contains(fmt.Sprint(listed), name) {
		t.Errorf("without the policy there is %v", listed)
	}
	approval.New(with, l.set.catalog, l.tokens.Inspector(), l.waiting)
	if again := l.waits(ownerText, "delete_shelf", `{"id":3}`); again != name || !l.told(name).Asked.After(before.Asked) {
		t.Errorf("it waits as %s, and the manager is told %+v, after %+v", again, l.told(again), before)
	}
}

// A call that waits has changed nothing, and its line says so.
func TestTheLineOfACallThatWaitsHasNoChange(t *testing.T) {
	l := newLibrary(t, approving(policy("all", func(*contract.ApprovalPolicy) {})))
	l.waits(ownerText, "bulk_author", `{"operation":"create","items":[{"data":{"name":"A"}},{"data":{"name":"B"}}]}`)
	if line := l.log.String(); !strings.Contains(line, `"changed":0`) || !strings.Contains(line, `"outcome":"approval_required"`) {
		t.Errorf("the line is %s", line)
	}
}

// While people are still missing, the agent is told how many have allowed its call.
func TestACallThatWaitsTellsHowManyHaveAllowedIt(t *testing.T) {
	l := newLibrary(t, approving(
		policy("two", func(p *contract.ApprovalPolicy) { p.MinApprovals = 2 }),
		policy("one", func(*contract.ApprovalPolicy) {}),
	))
	const remove = `{"id":3}`
	name := l.waits(ownerText, "delete_shelf", remove)
	if r := l.call(ownerText, "delete_shelf", remove); strings.Contains(string(r.Text), "approvals_given") {
		t.Errorf("nobody has allowed it: %s", r.Text)
	}
	if listed := l.must(ownerText, "approvals", `{}`); !strings.Contains(fmt.Sprint(listed), "approvals_given:[two: 0 of 2]") {
		t.Errorf("listed is %v", listed)
	}
	l.waiting.Allowed(map[string]map[string]int{l.told(name).Digest: {"two": 1, "one": 1}})
	if r := l.call(ownerText, "delete_shelf", remove); !strings.Contains(string(r.Text), `{"name":"two","approvals_needed":2,"approvals_given":1}`) || value(r, "approval") != name {
		t.Errorf("got %s", r.Text)
	}
	if listed := l.must(ownerText, "approvals", `{}`); !strings.Contains(fmt.Sprint(listed), "approvals_given:[two: 1 of 2]") || !strings.Contains(fmt.Sprint(listed), "state:Waiting") {
		t.Errorf("listed is %v", listed)
	}
	l.decide(name, contract.ApprovalApproved, "")
	l.must(ownerText, "delete_shelf", remove)
}

// A pod may die between the commit of an allowed call and telling of it. The pod that is asked next finds in the table that it ran.
func TestAnotherPodTellsOfACallThatRan(t *testing.T) {
	configure := approving(policy("p", func(p *contract.ApprovalPolicy) { p.Tokens = []string{"shop/owner"} }))
	onLibraries(t, func(t *testing.T, l *library) {
		const create = `{"data":{"title":"N","author_id":2}}`
		name := l.waits(ownerText, "create_book", create)
		l.decide(name, contract.ApprovalApproved, "")
		ran := l.must(ownerText, "create_book", create)["call"]

		config := libraryConfig()
		configure(config)
		l.waiting = approval.NewRegister(func() {}, nil)
		l.set.settings.Gate = approval.New(config, l.set.catalog, l.tokens.Inspector(), l.waiting)
		if other := l.waits(ownerText, "create_book", create); other != name {
			t.Fatalf("the other pod has it as %s, not %s", other, name)
		}
		l.decide(name, contract.ApprovalApproved, "")
		again := func() string {
			if r := l.call(ownerText, "create_book", create); r.Code != call.CodeConflict {
				t.Errorf("the second time: %s (%v)", r.Text, r.Cause)
			}
			return l.waiting.Serial()
		}
		if first, second := again(), again(); first != second {
			t.Error("the manager is told of it each time")
		}
		if a := l.told(name); a.State != contract.ApprovalExecuted || a.Call != ran {
			t.Errorf("the manager is told %s, call %q, of call %q", a.State, a.Call, ran)
		}
	}, configure)
}
