package compile_test

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// guarded is an endpoint with a policy.
func guarded(change ...func(*v1alpha1.ApprovalPolicy)) *v1alpha1.MCPEndpoint {
	e := endpoint()
	e.Spec.Idempotency = &v1alpha1.IdempotencySpec{Table: v1alpha1.TableReference{Name: "kept"}}
	p := v1alpha1.ApprovalPolicy{Name: "orders", Match: v1alpha1.ApprovalMatch{Models: []string{"order"}}}
	for _, f := range change {
		f(&p)
	}
	e.Spec.Approvals = []v1alpha1.ApprovalPolicy{p}
	return e
}

// approvalOf is a call of the token agent that waits, asked for a minute ago.
func approvalOf(e *v1alpha1.MCPEndpoint, decisions ...v1alpha1.ApprovalDecision) *v1alpha1.MCPApproval {
	sum := sha256.Sum256([]byte("a call"))
	digest := hex.EncodeToString(sum[:])
	a := &v1alpha1.MCPApproval{ObjectMeta: meta(v1alpha1.ApprovalName("shop", contract.ApprovalName(digest)), time.Minute)}
	a.Spec.EndpointRef.Name = "shop"
	a.Spec.Request = v1alpha1.ApprovalRequest{
		TokenRef: v1alpha1.TokenReference{Namespace: "shop", Name: "agent"}, TokenUID: "uid-agent", Caller: "shop/agent", Tool: "update_order", Operation: "update",
		Digest: digest, AskTime: metav1.NewTime(now.Add(-time.Minute)), ExpiryTime: metav1.NewTime(now.Add(time.Hour)),
	}
	for i := range e.Spec.Approvals {
		p := &e.Spec.Approvals[i]
		a.Spec.Request.Policies = append(a.Spec.Request.Policies, v1alpha1.ApprovalAsker{
			Name: p.Name, Sum: compile.ApprovalSum(p), MinApprovals: p.EffectiveMinApprovals(), ApproverGroups: p.EffectiveApproverGroups(),
		})
	}
	a.Spec.Decisions = decisions
	return a
}

func by(user string, verdict v1alpha1.ApprovalVerdict, groups ...string) v1alpha1.ApprovalDecision {
	return v1alpha1.ApprovalDecision{DecidedBy: user, Decision: verdict, Groups: groups, Comment: "as " + user + " says"}
}

// inForce is an admission policy that is older than every approval.
var inForce = compile.PolicyForce{Since: now.Add(-time.Hour)}

func TestADecisionCountsOnlyIfItMay(t *testing.T) {
	agent := new(token("agent", time.Hour))
	other := new(token("agent", time.Hour))
	other.UID = "another"
	two := func(p *v1alpha1.ApprovalPolicy) { p.MinApprovals = 2 }
	leads := func(p *v1alpha1.ApprovalPolicy) { p.Approvers = &v1alpha1.Approvers{Groups: []string{"leads"}} }
	const approve, deny, override = v1alpha1.VerdictApprove, v1alpha1.VerdictDeny, v1alpha1.VerdictOverride
	for name, tt := range map[string]struct {
		endpoint *v1alpha1.MCPEndpoint
		change   func(*v1alpha1.MCPApproval)
		by       []v1alpha1.ApprovalDecision
		token    *v1alpha1.MCPToken
		force    compile.PolicyForce
		want     v1alpha1.ApprovalState
		reasons  []v1alpha1.ApprovalDecisionReason
	}{
		"nobody":            {guarded(), nil, nil, agent, inForce, "Waiting", nil},
		"one":               {guarded(), nil, []v1alpha1.ApprovalDecision{by("ann", approve)}, agent, inForce, "Approved", []v1alpha1.ApprovalDecisionReason{"Counted"}},
		"one of two":        {guarded(two), nil, []v1alpha1.ApprovalDecision{by("ann", approve)}, agent, inForce, "Waiting", []v1alpha1.ApprovalDecisionReason{"Counted"}},
		"two":               {guarded(two), nil, []v1alpha1.ApprovalDecision{by("ann", approve), by("bob", approve)}, agent, inForce, "Approved", []v1alpha1.ApprovalDecisionReason{"Counted", "Counted"}},
		"not in the group":  {guarded(leads), nil, []v1alpha1.ApprovalDecision{by("ann", approve, "staff")}, agent, inForce, "Waiting", []v1alpha1.ApprovalDecisionReason{"NotAnApprover"}},
		"in the group":      {guarded(leads), nil, []v1alpha1.ApprovalDecision{by("ann", approve, "leads")}, agent, inForce, "Approved", []v1alpha1.ApprovalDecisionReason{"Counted"}},
		"a ServiceAccount":  {guarded(), nil, []v1alpha1.ApprovalDecision{by("system:serviceaccount:shop:s", approve)}, agent, inForce, "Waiting", []v1alpha1.ApprovalDecisionReason{"NotAnApprover"}},
		"one that is named": {guarded(leads), nil, []v1alpha1.ApprovalDecision{by("system:serviceaccount:shop:s", approve, "leads")}, agent, inForce, "Approved", []v1alpha1.ApprovalDecisionReason{"Counted"}},
		"an override":       {guarded(leads, two), nil, []v1alpha1.ApprovalDecision{by("ann", override)}, agent, inForce, "Approved", []v1alpha1.ApprovalDecisionReason{"Counted"}},
		"denied":            {guarded(leads), nil, []v1alpha1.ApprovalDecision{by("ann", deny)}, agent, inForce, "Denied", []v1alpha1.ApprovalDecisionReason{"Counted"}},
		"allowed, denied":   {guarded(), nil, []v1alpha1.ApprovalDecision{by("ann", approve), by("bob", deny)}, agent, inForce, "Denied", []v1alpha1.ApprovalDecisionReason{"Counted", "Counted"}},
		"the caller's own":  {guarded(), func(a *v1alpha1.MCPApproval) { a.Spec.Request.Subject = "ann" }, []v1alpha1.ApprovalDecision{by("oidc:ann", approve)}, agent, inForce, "Waiting", []v1alpha1.ApprovalDecisionReason{"OwnCall"}},
		"no policy":         {guarded(), nil, []v1alpha1.ApprovalDecision{by("ann", approve)}, agent, compile.PolicyForce{Problem: "it is not installed"}, "Waiting", []v1alpha1.ApprovalDecisionReason{"PolicyNotInForce"}},
		"a denial without":  {guarded(), nil, []v1alpha1.ApprovalDecision{by("ann", deny)}, agent, compile.PolicyForce{Problem: "it is not installed"}, "Waiting", []v1alpha1.ApprovalDecisionReason{"PolicyNotInForce"}},
		"a younger policy":  {guarded(), nil, []v1alpha1.ApprovalDecision{by("ann", approve)}, agent, compile.PolicyForce{Since: now}, "Waiting", []v1alpha1.ApprovalDecisionReason{"PolicyNotInForce"}},
		"too late":          {guarded(), func(a *v1alpha1.MCPApproval) { a.Spec.Request.ExpiryTime = metav1.NewTime(now) }, []v1alpha1.ApprovalDecision{by("ann", approve)}, agent, inForce, "Expired", []v1alpha1.ApprovalDecisionReason{"Counted"}},
		"no token":          {guarded(), nil, []v1alpha1.ApprovalDecision{by("ann", approve)}, nil, inForce, "Superseded", []v1alpha1.ApprovalDecisionReason{"Counted"}},
		"another token":     {guarded(), nil, []v1alpha1.ApprovalDecision{by("ann", approve)}, other, inForce, "Superseded", []v1alpha1.ApprovalDecisionReason{"Counted"}},
		"another policy":    {guarded(two), func(a *v1alpha1.MCPApproval) { a.Spec.Request.Policies[0].Sum = "another" }, []v1alpha1.ApprovalDecision{by("ann", approve), by("bob", approve)}, agent, inForce, "Superseded", []v1alpha1.ApprovalDecisionReason{"Counted", "Counted"}},
		"a policy that was": {guarded(), func(a *v1alpha1.MCPApproval) { a.Spec.Request.Policies[0].Name = "gone" }, []v1alpha1.ApprovalDecision{by("ann", approve)}, agent, inForce, "Superseded", []v1alpha1.ApprovalDecisionReason{"Counted"}},
		"ended before":      {guarded(), func(a *v1alpha1.MCPApproval) { a.Status.State = v1alpha1.ApprovalWithdrawn }, []v1alpha1.ApprovalDecision{by("ann", approve)}, agent, inForce, "Withdrawn", []v1alpha1.ApprovalDecisionReason{"TooLate"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := approvalOf(tt.endpoint, tt.by...)
			if tt.change != nil {
				tt.change(a)
			}
			got := compile.Rule(a, tt.endpoint, tt.token, tt.force, now)
			if got.State != tt.want || !slices.Equal(got.Decisions, tt.reasons) {
				t.Errorf("got %s (%s), decisions %v; want %s, %v", got.State, got.Message, got.Decisions, tt.want, tt.reasons)
			}
		})
	}
}

func TestEachPolicyMustBeSatisfied(t *testing.T) {
	e := guarded(func(p *v1alpha1.ApprovalPolicy) { p.Approvers = &v1alpha1.Approvers{Groups: []string{"leads"}} })
	e.Spec.Approvals = append(e.Spec.Approvals, v1alpha1.ApprovalPolicy{Name: "security", Approvers: &v1alpha1.Approvers{Groups: []string{"security"}}})
	agent := new(token("agent", time.Hour))
	got := compile.Rule(approvalOf(e, by("ann", v1alpha1.VerdictApprove, "leads")), e, agent, inForce, now)
	if got.State != v1alpha1.ApprovalWaiting || !strings.Contains(got.Message, "security has 0 of 1") || strings.Contains(got.Message, "orders") {
		t.Errorf("one group: %s, %s", got.State, got.Message)
	}
	got = compile.Rule(approvalOf(e, by("ann", v1alpha1.VerdictApprove, "leads"), by("bob", v1alpha1.VerdictApprove, "security")), e, agent, inForce, now)
	if got.State != v1alpha1.ApprovalApproved || !slices.Equal(got.By, []string{"ann", "bob"}) {
		t.Errorf("both groups: %s by %v, %s", got.State, got.By, got.Message)
	}
}

// A policy that names what is not there matches more than it says, and says why.
func TestAPolicyThatNamesWhatIsMissingHasAProblem(t *testing.T) {
	for name, tt := range map[string]struct {
		change  func(*v1alpha1.ApprovalMatch)
		problem string
	}{
		"all is there": {func(m *v1alpha1.ApprovalMatch) {
			m.Groups, m.Operations = []string{"support"}, []string{"create", "action"}
		}, ""},
		"a model":      {func(m *v1alpha1.ApprovalMatch) { m.Models = []string{"ordre"} }, `no model "ordre"`},
		"an action":    {func(m *v1alpha1.ApprovalMatch) { m.Operations = []string{"action:refund"} }, `has an action "refund"`},
		"a group":      {func(m *v1alpha1.ApprovalMatch) { m.Groups = []string{"nobody"} }, `no group "nobody"`},
		"the built-in": {func(m *v1alpha1.ApprovalMatch) { m.Operations = []string{"action:" + contract.DeleteSelected} }, ""},
		"tokens to be": {func(m *v1alpha1.ApprovalMatch) { m.Tokens = []string{"later", "other/later"} }, ""},
		"an after": {func(m *v1alpha1.ApprovalMatch) {
			m.When = &v1alpha1.ApprovalWhen{After: &runtime.RawExtension{Raw: []byte(`{"total__gt": 5}`)}}
		}, ""},
		"rows, changes": {func(m *v1alpha1.ApprovalMatch) {
			m.When = &v1alpha1.ApprovalWhen{Rows: new(int32(10)), Changes: []string{"total"}}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := inputs()
			in.Endpoint = guarded(func(p *v1alpha1.ApprovalPolicy) { tt.change(&p.Match) })
			config := mustCompile(t, in)
			if !slices.Equal(config.Requires, []string{contract.RequiresApprovals}) || len(config.Endpoint.Approvals) != 1 {
				t.Fatalf("requires %v, policies %+v", config.Requires, config.Endpoint.Approvals)
			}
			p := config.Endpoint.Approvals[0]
			if (p.Problem == "") != (tt.problem == "") || !strings.Contains(p.Problem, tt.problem) {
				t.Errorf("the problem is %q, want %q", p.Problem, tt.problem)
			}
			if strings.Contains(p.Problem, "group") && (len(p.Groups) > 0 || len(p.Tokens) > 0) {
				t.Error("it is about some tokens only")
			}
			if p.Sum == "" || p.MinApprovals != 1 || p.ExpiresAfter != contract.Duration(time.Hour) || p.Show != contract.ShowFields {
				t.Errorf("what is absent: %+v", p)
			}
		})
	}
}

func TestAPolicyNeedsTheTableOfKeys(t *testing.T) {
	in := inputs()
	in.Endpoint = guarded()
	in.Endpoint.Spec.Idempotency = nil
	if config, verdicts := compile.Compile(in); config != nil || verdicts.Endpoint.Accepted || !strings.Contains(verdicts.Endpoint.Message, "idempotency") {
		t.Errorf("the verdict is %+v", verdicts.Endpoint)
	}
}

func TestAnotherPolicyHasAnotherSum(t *testing.T) {
	before := guarded().Spec.Approvals[0]
	for name, change := range map[string]func(*v1alpha1.ApprovalPolicy){
		"people":   func(p *v1alpha1.ApprovalPolicy) { p.MinApprovals = 2 },
		"strict":   func(p *v1alpha1.ApprovalPolicy) { p.FourEyes = v1alpha1.FourEyesStrict },
		"groups":   func(p *v1alpha1.ApprovalPolicy) { p.Approvers = &v1alpha1.Approvers{Groups: []string{"leads"}} },
		"the time": func(p *v1alpha1.ApprovalPolicy) { p.ExpiresAfter = &metav1.Duration{Duration: time.Minute} },
	} {
		if after := guarded(change).Spec.Approvals[0]; compile.ApprovalSum(&before) == compile.ApprovalSum(&after) {
			t.Errorf("%s: the sum stays", name)
		}
	}
	for name, change := range map[string]func(*v1alpha1.ApprovalPolicy){
		"how long an object stays": func(p *v1alpha1.ApprovalPolicy) { p.KeepFor = &metav1.Duration{Duration: time.Minute} },
		"who is told":              func(p *v1alpha1.ApprovalPolicy) { p.Notify = &v1alpha1.ApprovalNotify{} },
	} {
		if kept := guarded(change).Spec.Approvals[0]; compile.ApprovalSum(&before) != compile.ApprovalSum(&kept) {
			t.Errorf("%s makes another policy", name)
		}
	}
}

// decided compiles with the decisions that approvals make.
func decided(c *compile.Compiler, objects compile.Objects, force compile.PolicyForce, approvals ...*v1alpha1.MCPApproval) []compile.Pending {
	objects.Decisions = compile.Decisions(approvals, objects.Endpoint, func(key types.NamespacedName) *v1alpha1.MCPToken {
		for _, t := range objects.Tokens {
			if t.Namespace == key.Namespace && t.Name == key.Name {
				return t
			}
		}
		return nil
	}, force, objects.Now)
	c.Update(objects)
	return c.Pending()
}

// A decision goes before all that only adds; that it counts no more goes before everything.
func TestADecisionMovesThePartOfItsTokenAndNoOther(t *testing.T) {
	in := inputs()
	in.Endpoint = guarded()
	c, objects := compiler(in)
	c.Update(objects)
	store(t, c, objects)
	main := c.Main().Revision

	approved := approvalOf(in.Endpoint, by("ann", v1alpha1.VerdictApprove))
	pending := decided(c, objects, inForce, approved)
	if len(pending) != 1 || pending[0].Index != 0 || !pending[0].Soon || pending[0].Urgent {
		t.Fatalf("an approval: %+v", pending)
	}
	part := c.TokenPart(0)
	if len(part.Decisions) != 1 || part.Decisions[0].State != contract.ApprovalApproved || !slices.Equal(part.Decisions[0].By, []string{"ann"}) ||
		part.Decisions[0].Comment != "as ann says" || !part.Decisions[0].Expires.Equal(now.Add(time.Hour)) {
		t.Fatalf("the part says %+v", part.Decisions)
	}
	encoded, err := contract.EncodeTokens(part)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := contract.DecodeTokens(encoded, 0); err != nil {
		t.Fatal(err)
	}
	c.Written(0, part.Revision)
	if pending := decided(c, objects, inForce, approved); len(pending) != 0 {
		t.Errorf("nothing changed: %+v", pending)
	}
	if pending := decided(c, objects, compile.PolicyForce{Problem: "gone"}, approved); len(pending) != 1 || !pending[0].Urgent {
		t.Errorf("the admission policy is gone: %+v", pending)
	}
	if part := c.TokenPart(0); len(part.Decisions) != 0 || part.Revision <= main {
		t.Errorf("the part still says %+v", part.Decisions)
	}

	// A manager that has just started knows what is stored.
	decided(c, objects, inForce, approved)
	stored := compile.Stored{Main: c.Main(), Parts: []*contract.TokenPart{c.TokenPart(0)}}
	again := compile.NewCompiler(stored)
	if pending := decided(again, objects, inForce, approved); len(pending) != 0 {
		t.Errorf("after a restart: %+v", pending)
	}
	if pending := decided(again, objects, inForce); len(pending) != 1 || !pending[0].Urgent {
		t.Errorf("the approval is gone: %+v", pending)
	}
}

// How many people have allowed a call that still waits is told beside the decisions: servers that know nothing of it must not take it for one.
func TestACallThatWaitsTellsHowManyHaveAllowedIt(t *testing.T) {
	in := inputs()
	in.Endpoint = guarded(func(p *v1alpha1.ApprovalPolicy) { p.MinApprovals = 2 })
	c, objects := compiler(in)
	c.Update(objects)
	store(t, c, objects)
	if pending := decided(c, objects, inForce, approvalOf(in.Endpoint)); len(pending) != 0 {
		t.Errorf("nobody has allowed it: %+v", pending)
	}
	some := approvalOf(in.Endpoint, by("ann", v1alpha1.VerdictApprove))
	if pending := decided(c, objects, inForce, some); len(pending) != 1 || pending[0].Urgent {
		t.Errorf("one has allowed it: %+v", pending)
	}
	part := c.TokenPart(0)
	if len(part.Decisions) != 0 || len(part.Waiting) != 1 || part.Waiting[0].State != contract.ApprovalWaiting || part.Waiting[0].Allowed["orders"] != 1 {
		t.Fatalf("the part says %+v, %+v", part.Decisions, part.Waiting)
	}
	again := compile.NewCompiler(compile.Stored{Main: c.Main(), Parts: []*contract.TokenPart{part}})
	if pending := decided(again, objects, inForce, some); len(pending) != 0 {
		t.Errorf("after a restart: %+v", pending)
	}
	all := approvalOf(in.Endpoint, by("ann", v1alpha1.VerdictApprove), by("bob", v1alpha1.VerdictApprove))
	decided(again, objects, inForce, all)
	if part := again.TokenPart(0); len(part.Decisions) != 1 || len(part.Waiting) != 0 || part.Decisions[0].Allowed != nil {
		t.Errorf("both have allowed it: %+v, %+v", part.Decisions, part.Waiting)
	}
	if pending := decided(c, objects, compile.PolicyForce{Problem: "gone"}, some); len(pending) != 1 || len(c.TokenPart(0).Waiting) != 0 {
		t.Errorf("the admission policy is gone: %+v", pending)
	}
}

// Nothing is allowed to a token that is refused, or that has another's name.
func TestARevokedTokenHasNoDecisions(t *testing.T) {
	in := inputs()
	in.Endpoint = guarded()
	c, objects := compiler(in)
	approved := approvalOf(in.Endpoint, by("ann", v1alpha1.VerdictApprove))
	decided(c, objects, inForce, approved)
	if part := c.TokenPart(0); len(part.Decisions) != 1 {
		t.Fatalf("before: %+v", part.Decisions)
	}
	objects.Tokens[0] = edited(objects.Tokens[0], func(s *v1alpha1.MCPTokenSpec) { s.Active = new(false) })
	decided(c, objects, inForce, approved)
	if part := c.TokenPart(0); len(part.Decisions) != 0 {
		t.Errorf("after: %+v", part.Decisions)
	}
}
