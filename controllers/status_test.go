package controllers

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// A status is held back only if nobody could take the one from before for the end: kstatus reads it as in progress.
func TestWhichStatusIsHeldBack(t *testing.T) {
	summary := func(generation int64, reason string) []metav1.Condition {
		return tokenConditions.summarise(&metav1.ObjectMeta{Generation: generation}, nil, findings{
			v1alpha1.ConditionAccepted:   holds("Fine", ""),
			v1alpha1.ConditionIssued:     holds("Fine", ""),
			v1alpha1.ConditionProgrammed: map[bool]finding{true: holds("Fine", ""), false: fails(reason, "it fails")}[reason == "Ready"],
		}, holds("Ready", ""))
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
			w := newTokenStatus(nil, nil, func() time.Time { return now })
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
		return tokenConditions.summarise(&v1alpha1.MCPToken{ObjectMeta: metav1.ObjectMeta{Generation: 1}}, nil, findings{v1alpha1.ConditionAccepted: fails(reason, "")}, holds("Ready", ""))
	}
	now := time.Now()
	w := newTokenStatus(nil, nil, func() time.Time { return now })
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
		w.forget(keyOf(agent(i)))
	}
	if wait := w.settle(agent(0), nil, summary(v1alpha1.ReasonWaitingForPods)); wait != settleTime {
		t.Errorf("one alone waits %v", wait)
	}
}
