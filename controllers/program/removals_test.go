package program

import (
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"k8s.io/apimachinery/pkg/types"
)

// withToken is a program with a token in its stored Config, and what compiles the objects without the token.
func withToken(t *testing.T, now time.Time) (p *Program, revoke func()) {
	t.Helper()
	p, endpoint := newProgram(t)
	p.endpoint = types.NamespacedName{Namespace: t.Name(), Name: "shop"}
	token := &v1alpha1.MCPToken{}
	token.Namespace, token.Name, token.UID, token.Generation = "shop", "agent", "1", 1
	token.Spec.EndpointRef.Name = "shop"
	token.Spec.Permissions = []v1alpha1.PermissionRule{{Models: []string{"*"}, Verbs: []v1alpha1.Verb{v1alpha1.VerbView}}}
	text := compile.TextCredential(contract.NewToken())
	objects := compile.Objects{
		Endpoint: endpoint, Tokens: []*v1alpha1.MCPToken{token}, Now: now,
		Credential: func(*v1alpha1.MCPToken) *compile.Credential { return &text },
	}
	p.Update(objects)
	for next, ok := p.Next(nil); ok; next, ok = p.Next(nil) {
		p.Wrote(next, now)
	}
	return p, func() {
		objects.Tokens = nil
		p.Update(objects)
	}
}

func reporting(main, tokens int64) PodReports {
	return PodReports{{uid: "pod", counted: true, Status: &contract.Status{Version: contract.Version, Revision: main, TokenParts: []int64{tokens}}}}
}

func TestAnAttemptToTakeAwayIsRepeatedWithinTwoSeconds(t *testing.T) {
	p, revoke := withToken(t, time.Now())
	if wait := p.RetryRemoval(); wait != 0 {
		t.Fatalf("nothing is taken away, and tried again after %v", wait)
	}
	revoke()
	for range 40 {
		if wait := p.RetryRemoval(); wait <= 0 || wait > 2*time.Second {
			t.Fatalf("it is tried again after %v", wait)
		}
	}
	p.RemovalTried()
	if wait := p.RetryRemoval(); wait > 100*time.Millisecond {
		t.Errorf("after a success the next failure waits %v", wait)
	}
}

// The time counts from the change, not from the write, and until the last pod has it.
func TestARemovalIsLateFromItsChangeOn(t *testing.T) {
	now := time.Now()
	p, revoke := withToken(t, now)
	p.Observe(reporting(1, 1), now)
	revoke()
	if late, next := p.LateRemoval(now.Add(9 * time.Second)); late != nil || next != time.Second {
		t.Errorf("after 9 s: %+v, %v", late, next)
	}
	if late, _ := p.LateRemoval(now.Add(10 * time.Second)); late == nil {
		t.Error("it is not late after 10 s, as it was not written")
	}
	next, _ := p.Next(nil)
	p.Wrote(next, now.Add(11*time.Second))
	p.Observe(reporting(1, 1), now.Add(12*time.Second))
	if late, _ := p.LateRemoval(now.Add(12 * time.Second)); late == nil || late.Revision != next.Revision {
		t.Errorf("a pod lacks it: %+v", late)
	}
	if _, others := p.Observe(reporting(1, next.Revision), now.Add(13*time.Second)); !others {
		t.Error("the endpoint does not hear that it is over")
	}
	if late, wait := p.LateRemoval(now.Add(30 * time.Second)); late != nil || wait != 0 {
		t.Errorf("all pods have it: %+v, %v", late, wait)
	}
	if _, others := p.Observe(reporting(1, 1), now.Add(40*time.Second)); !others {
		t.Error("the endpoint does not hear of a pod that answers from before")
	}
	if late, _ := p.LateRemoval(now.Add(50 * time.Second)); late == nil {
		t.Error("a pod answers from before")
	}
	p.Observe(reporting(1, 0), now.Add(51*time.Second))
	if late, _ := p.LateRemoval(now.Add(80 * time.Second)); late != nil {
		t.Errorf("a pod without the part lets nobody in: %+v", late)
	}
}

// What thousands of objects would say alike the endpoint says alone, unless it lasts.
func TestThatNoPodIsReadyIsSaidOfTokensOnlyIfItLasts(t *testing.T) {
	now := time.Now()
	p, _ := withToken(t, now)
	p.Observe(reporting(1, 1), now)
	none := PodReports{{uid: "pod", Status: &contract.Status{Version: contract.Version, Revision: 1, TokenParts: []int64{1}}}}
	programmed := func(after time.Duration) bool {
		return p.Programmed(compile.Verdict{Accepted: true, Revision: 1}, now.Add(after)).Status == "True"
	}
	for _, after := range []time.Duration{time.Second, time.Minute, 4 * time.Minute} {
		if tokens, _ := p.Observe(none, now.Add(after)); len(tokens) > 0 || !programmed(after) {
			t.Errorf("%v later %v are written", after, tokens)
		}
	}
	if left := p.AbsenceLeft(now.Add(time.Second + time.Minute)); left != 4*time.Minute {
		t.Errorf("it is looked at again after %v", left)
	}
	if tokens, _ := p.Observe(none, now.Add(6*time.Minute)); len(tokens) != 1 || programmed(6*time.Minute) {
		t.Errorf("6 minutes later %v are written", tokens)
	}
}
