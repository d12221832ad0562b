package controllers

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// A restart finds what a group's edit has not told yet: ten thousand statuses must not be written at once for it.
func TestStatusesThatDifferInRightsAloneAreWrittenInTurn(t *testing.T) {
	now := time.Now()
	turns := &rightsTurns{}
	token := func(i int) *v1alpha1.MCPToken {
		o := &v1alpha1.MCPToken{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("agent-", i)}}
		o.Status.Rights, o.Status.Revision = &v1alpha1.RightsStatus{Tools: new(int32(3))}, 7
		return o
	}
	wanted := func(tools int32, revision int64) v1alpha1.MCPTokenStatus {
		return v1alpha1.MCPTokenStatus{Rights: &v1alpha1.RightsStatus{Tools: new(tools)}, Revision: revision}
	}
	for i := range 5 {
		if wait := turns.untilTurn(token(i), wanted(4, 7), now); wait != rightsDelay+time.Duration(i)*rightsPace {
			t.Errorf("the %d-th waits for %s", i, wait)
		}
	}
	for name, c := range map[string]struct {
		token  *v1alpha1.MCPToken
		status v1alpha1.MCPTokenStatus
		after  time.Duration
		want   time.Duration
	}{
		"it has its turn already":          {token(2), wanted(4, 7), time.Second, rightsDelay + 2*rightsPace - time.Second},
		"its turn has come":                {token(3), wanted(4, 7), rightsDelay + 3*rightsPace, 0},
		"more is new":                      {token(10), wanted(4, 8), 0, 0},
		"nothing is new":                   {token(10), wanted(3, 7), 0, 0},
		"its rights were never told":       {&v1alpha1.MCPToken{}, wanted(4, 0), 0, 0},
		"it has no rights any more":        {token(10), v1alpha1.MCPTokenStatus{Revision: 7}, 0, 0},
		"one that comes later waits again": {token(11), wanted(4, 7), time.Hour, rightsDelay},
	} {
		if got := turns.untilTurn(c.token, c.status, now.Add(c.after)); got != c.want {
			t.Errorf("%s: it waits for %s, want %s", name, got, c.want)
		}
	}
	if _, still := turns.at[keyOf(token(3))]; still {
		t.Error("a turn that has come is still remembered")
	}
}
