package doctor

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func condition(conditionType string, status metav1.ConditionStatus, reason string) metav1.Condition {
	return metav1.Condition{Type: conditionType, Status: status, Reason: reason, Message: reason + " of " + conditionType}
}

func typesOf(conditions []metav1.Condition) []string {
	names := []string{}
	for _, c := range conditions {
		names = append(names, c.Type)
	}
	return names
}

func TestTheCausesOfAnEndpointsTrouble(t *testing.T) {
	const no, unknown = metav1.ConditionFalse, metav1.ConditionUnknown
	wrongPassword := []metav1.Condition{
		condition("Ready", no, "AuthenticationFailed"), condition("Reconciling", metav1.ConditionTrue, "AuthenticationFailed"),
		condition("DatabaseReady", no, "AuthenticationFailed"), condition("WorkloadAvailable", no, "Unavailable"), condition("Programmed", no, "WaitingForPods"),
	}
	starting := []metav1.Condition{condition("DatabaseReady", unknown, "Connecting"), condition("WorkloadAvailable", no, "RollingOut")}
	twoFaults := append(slices.Clone(wrongPassword), condition("Routed", no, "RouteNotAccepted"))
	for name, c := range map[string]struct {
		conditions      []metav1.Condition
		sickPods        bool
		causes, effects []string
	}{
		"a wrong password is one cause":         {wrongPassword, false, []string{"DatabaseReady"}, []string{"WorkloadAvailable", "Programmed"}},
		"two faults are two causes":             {twoFaults, false, []string{"DatabaseReady", "Routed"}, []string{"WorkloadAvailable", "Programmed"}},
		"what only waits names the first":       {starting, false, []string{"DatabaseReady"}, []string{"WorkloadAvailable"}},
		"a pod's own problem is the only cause": {starting, true, []string{}, []string{"DatabaseReady", "WorkloadAvailable"}},
	} {
		got := troubleOf(c.conditions, isConsequence, c.sickPods)
		if !slices.Equal(typesOf(got.causes), c.causes) || !slices.Equal(typesOf(got.effects), c.effects) {
			t.Errorf("%s: causes %v, effects %v, want %v, %v", name, typesOf(got.causes), typesOf(got.effects), c.causes, c.effects)
		}
	}
}
