package page

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/doctor"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/status"
)

// An endpoint may be Ready and not serve all: then the objects are the cause, and the first line says it.
func TestObjectsAreTheCauseOfWhatIsNotServed(t *testing.T) {
	s := &status.Status{Ready: true, Conditions: []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue}},
		Models:   status.Models{Served: 3, Withheld: []status.Withheld{{Exposure: "a"}, {Exposure: "b"}}},
		Tokens:   status.Tokens{All: 2, NotReady: []string{"shop/x"}},
		Problems: []doctor.Problem{{Object: "Pod shop/p", Command: "not this"}, {Object: "MCPModelExposure shop/a", Command: "kubectl edit"}},
	}
	objects := chainOf(s)[0]
	if objects.State != broken || objects.Why != "2 models are not served, 1 token is not ready" || objects.Do != "kubectl edit" {
		t.Errorf("got %+v", objects)
	}
	if got := (&health{Status: s}).Lacks(); got != objects.Why {
		t.Errorf("the first line says %q", got)
	}
	s.Models.Withheld, s.Tokens.NotReady = nil, nil
	if objects := chainOf(s)[0]; objects.State != good || (&health{Status: s}).Lacks() != "" {
		t.Errorf("got %+v", objects)
	}
}

func TestTheCallsSayHowManyResultsTheyLeaveOut(t *testing.T) {
	c := &chain{Status: &status.Status{Counted: &status.Counted{Calls: map[string]float64{"ok": 9, "conflict": 1, "not_found": 2, "protected": 3, "rate_limited": 4, "unavailable": 5}}}}
	if got := strings.Join(c.counted(), "; "); got != "9 ok; 1 conflict; 2 not_found; 3 protected; and 2 more results" {
		t.Error(got)
	}
}
