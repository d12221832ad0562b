package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A status is held back only if nobody could take the one from before for the end: kstatus reads it as in progress.
func TestWhichStatusIsHeldBack(t *testing.T) {
	summary := func(generation int64, reason string) []metav1.Condition {
		return condition.TokenConditions.Summarise(&metav1.ObjectMeta{Generation: generation}, nil, condition.Findings{
			v1alpha1.ConditionAccepted:   condition.Holds("Fine", ""),
			v1alpha1.ConditionIssued:     condition.Holds("Fine", ""),
			v1alpha1.ConditionProgrammed: map[bool]condition.Finding{true: condition.Holds("Fine", ""), false: condition.Fails(reason, "it fails")}[reason == "Ready"],
		}, condition.Holds("Ready", ""))
	}
	for name, row := range map[string]struct {
		old, next []metav1.Condition
		held      bool
	}{
		"a new object waits":                         {nil, summary(2, "WaitingForPods"), true},
		"a new object is wrong":                      {nil, summary(2, "GroupNotFound"), true},
		"a new object is Ready":                      {nil, summary(2, "Ready"), false},
		"an edited object waits":                     {summary(1, "Ready"), summary(2, "WaitingForPods"), true},
		"an object that was wrong is edited":         {summary(1, "Invalid"), summary(2, "WaitingForPods"), true},
		"an object that waits, waits for another":    {summary(2, "SecretNotFound"), summary(2, "WaitingForPods"), true},
		"an object that is Ready is Ready no longer": {summary(2, "Ready"), summary(2, "WaitingForPods"), false},
		"an object that is wrong waits":              {summary(2, "TableNotFound"), summary(2, "WaitingForPods"), false},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			w := NewTokenStatus(nil, nil, func() time.Time { return now })
			token := &v1alpha1.MCPToken{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "agent", Generation: 2}}
			if wait := w.settle(token, row.old, row.next); (wait == settleTime) != row.held || !row.held && wait != 0 {
				t.Fatalf("held back for %v", wait)
			}
			now = now.Add(settleTime / 4)
			if wait := w.settle(token, row.old, row.next); row.held && wait != settleTime*3/4 {
				t.Errorf("a little later, held back for %v", wait)
			}
			now = now.Add(settleTime)
			if wait := w.settle(token, row.old, row.next); wait != 0 {
				t.Errorf("held back for %v for ever", wait)
			}
		})
	}
}

// Objects that come together are ready together: the more wait, the longer each one's first status may wait.
func TestManyStatusesAreHeldBackLonger(t *testing.T) {
	summary := func(reason string) []metav1.Condition {
		return condition.TokenConditions.Summarise(&v1alpha1.MCPToken{ObjectMeta: metav1.ObjectMeta{Generation: 1}}, nil, condition.Findings{v1alpha1.ConditionAccepted: condition.Fails(reason, "")}, condition.Holds("Ready", ""))
	}
	now := time.Now()
	w := NewTokenStatus(nil, nil, func() time.Time { return now })
	agent := func(i int) *v1alpha1.MCPToken {
		return &v1alpha1.MCPToken{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint("agent", i), Generation: 1}}
	}
	for i := range 501 {
		w.settle(agent(i), nil, summary(v1alpha1.ReasonWaitingForPods))
	}
	if wait := w.settle(agent(0), nil, summary(v1alpha1.ReasonWaitingForPods)); wait != settleTime+500*settlePace {
		t.Errorf("one of 501 waits %v", wait)
	}
	if wait := w.settle(agent(1), nil, summary(v1alpha1.ReasonGroupNotFound)); wait != settleTime {
		t.Errorf("one that is wrong waits %v", wait)
	}
	for i := range 5000 {
		w.settle(agent(i), nil, summary(v1alpha1.ReasonWaitingForPods))
	}
	if wait := w.settle(agent(0), nil, summary(v1alpha1.ReasonWaitingForPods)); wait != maxSettleTime {
		t.Errorf("one of 5000 waits %v", wait)
	}
	for i := range 5000 {
		w.Forget(KeyOf(agent(i)))
	}
	if wait := w.settle(agent(0), nil, summary(v1alpha1.ReasonWaitingForPods)); wait != settleTime {
		t.Errorf("one alone waits %v", wait)
	}
}

// cacheAt is a client whose cache has an object at one resourceVersion.
type cacheAt struct {
	client.Client
	resourceVersion string
}

func (c cacheAt) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	obj.SetNamespace(key.Namespace)
	obj.SetName(key.Name)
	obj.SetResourceVersion(c.resourceVersion)
	return nil
}

// A written status is kept for as long as the cache has an older one, and no longer: there may be ten thousand.
func TestAWrittenStatusIsKeptUntilTheCacheHasIt(t *testing.T) {
	at := func(resourceVersion string) *v1alpha1.MCPToken {
		return &v1alpha1.MCPToken{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "agent", ResourceVersion: resourceVersion}}
	}
	for name, row := range map[string]struct {
		cached string // when the write is answered
		seen   []string
		kept   bool
	}{
		"the cache is late":                          {"4", nil, true},
		"an event is older than the write":           {"3", []string{"4"}, true},
		"the event comes after the write's answer":   {"4", []string{"5"}, false},
		"somebody else wrote meanwhile":              {"4", []string{"6"}, false},
		"the event came before the write's answer":   {"5", nil, false},
		"a later one came before the write's answer": {"6", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := NewTokenStatus(cacheAt{resourceVersion: row.cached}, nil, time.Now)
			w.remember(t.Context(), KeyOf(at("")), "5", v1alpha1.MCPTokenStatus{PublicID: "written"})
			for _, seen := range row.seen {
				w.Saw(at(seen))
			}
			if kept := w.written.len() > 0; kept != row.kept {
				t.Errorf("it is kept: %v, want %v", kept, row.kept)
			}
			token := at("4")
			if w.Refresh(token); (token.Status.PublicID == "written") != row.kept {
				t.Errorf("a token from the cache gets the status %q", token.Status.PublicID)
			}
		})
	}
}
