package status

import (
	"bytes"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/doctor"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
)

var now = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// screenOf is what the command prints of an endpoint with those conditions and one pod.
func screenOf(s *Status) string {
	var out bytes.Buffer
	s.show(output.NewScreen(&out))
	return out.String()
}

func endpointWith(conditions ...metav1.Condition) *Status {
	e := &v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop"}}
	e.Status.Conditions = conditions
	e.Status.Database = v1alpha1.DatabaseStatus{Engine: "PostgreSQL", Version: "17.6"}
	return Of(e, &doctor.Diagnosis{}, now)
}

func conditionOf(name, reason string) metav1.Condition {
	status := metav1.ConditionFalse
	if reason == "" {
		status, reason = metav1.ConditionTrue, "Fine"
	}
	return metav1.Condition{Type: name, Status: status, Reason: reason}
}

func exposure(name string, conditions ...metav1.Condition) v1alpha1.MCPModelExposure {
	x := v1alpha1.MCPModelExposure{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	x.Status.Conditions = conditions
	return x
}

// With a wrong password in the Secret the models have no fault, and calls are answered over old connections.
func TestADatabaseThatRefusesNewConnectionsIsNotAway(t *testing.T) {
	refused := []metav1.Condition{conditionOf("Ready", "AuthenticationFailed"), conditionOf("DatabaseReady", "AuthenticationFailed")}
	models := []v1alpha1.MCPModelExposure{
		exposure("order", conditionOf("Ready", "AuthenticationFailed"), conditionOf("Accepted", ""), conditionOf("Resolved", "AuthenticationFailed")),
		exposure("item", conditionOf("Ready", "AuthenticationFailed"), conditionOf("Accepted", ""), conditionOf("Resolved", "AuthenticationFailed")),
		exposure("ordr", conditionOf("Ready", "Invalid"), conditionOf("Accepted", "Invalid"), conditionOf("Resolved", "AuthenticationFailed")),
	}
	for name, c := range map[string]struct {
		pods []Pod
		says string
	}{
		"a pod runs": {[]Pod{{Name: "shop-0", Ready: true}}, "PostgreSQL 17.6 new connections fail: AuthenticationFailed; calls are answered over those that are open, if there are any\n"},
		"none runs":  {nil, "PostgreSQL 17.6 not reached: AuthenticationFailed\n"},
	} {
		s := endpointWith(refused...)
		s.Pods = c.pods
		s.AddModels(models)
		out := screenOf(s)
		for _, want := range []string{c.says, "0 served, 1 withheld, 2 wait for the endpoint\n", "MCPModelExposure ordr is withheld: Invalid\n"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: the output lacks %q:\n%s", name, want, out)
			}
		}
	}
	s := endpointWith(conditionOf("Ready", ""), conditionOf("DatabaseReady", ""))
	s.AddModels([]v1alpha1.MCPModelExposure{exposure("order", conditionOf("Ready", "TableNotFound"), conditionOf("Resolved", "TableNotFound")), exposure("new")})
	if s.Models.Waiting != 0 || len(s.Models.Withheld) != 2 {
		t.Errorf("with an endpoint that is Ready the models are %+v", s.Models)
	}
}

// The alert counts no tokens that live for 30 days at most.
func TestOnlyTokensThatLiveLongCauseTheAlertThatTheyExpire(t *testing.T) {
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		created, expires time.Duration
		line, alert      bool
	}{
		"a day":            {-time.Hour, 23 * time.Hour, true, false},
		"30 days":          {-29 * day, day, true, false},
		"more":             {-30 * day, day, true, true},
		"a year, not soon": {-day, 364 * day, false, false},
	} {
		token := v1alpha1.MCPToken{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "agent", CreationTimestamp: metav1.NewTime(now.Add(c.created))}}
		at := metav1.NewTime(now.Add(c.expires))
		token.Spec.Expiry, token.Status.ExpirationTime = &at, &at
		token.Status.Conditions = []metav1.Condition{conditionOf("Ready", "")}
		s := endpointWith(conditionOf("Ready", ""))
		s.Ready = true
		s.AddTokens([]v1alpha1.MCPToken{token})
		s.warn()
		out := screenOf(s)
		if strings.Contains(out, ", 1 expires within 7 days") != c.line || strings.Contains(out, "MCPTokenExpiresSoon") != c.alert {
			t.Errorf("%s: the alerts are %v, the screen is\n%s", name, s.Alerts, out)
		}
	}
}
