package condition

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Outcome says what it means that an object is not Ready for a reason (docs/design/conditions.md, "Reasons and outcomes").
type Outcome int

const (
	// Trouble means that somebody must act, but not by an edit of this object. It is Reconciling, and told by a Warning.
	Trouble Outcome = iota
	// Interruption is trouble for an object that was Ready, and the usual wait for a new one.
	Interruption
	// Waiting means that every change passes through it. It is Reconciling, and no event tells it.
	Waiting
	// Final means that this object names what does not exist, or is wrong in itself. It is Stalled, and told by a Warning. It
	// recovers by itself if what it names comes.
	Final
)

// Outcomes has the outcome of each reason. One that is not here is trouble.
var Outcomes = map[string]Outcome{
	v1alpha1.ReasonInvalid:            Final,
	v1alpha1.ReasonImageNotAllowed:    Final,
	v1alpha1.ReasonDuckDBImageMissing: Final,
	v1alpha1.ReasonPodTemplateInvalid: Final,
	v1alpha1.ReasonGroupNotFound:      Final,
	v1alpha1.ReasonIssuerNotFound:     Final,
	v1alpha1.ReasonAudienceMissing:    Final,
	v1alpha1.ReasonScaledToZero:       Final,
	contract.ReasonTableNotFound:      Final,
	contract.ReasonFieldNotFound:      Final,
	contract.ReasonFieldNotAllowed:    Final,
	contract.ReasonSchemaNotFound:     Final,

	v1alpha1.ReasonEndpointNotFound:  Waiting,
	v1alpha1.ReasonWaitingForGateway: Waiting,
	v1alpha1.ReasonWaitingForAddress: Waiting,
	v1alpha1.ReasonWaitingForPods:    Waiting,
	v1alpha1.ReasonWaitingForReport:  Waiting,
	v1alpha1.ReasonWaitingForToken:   Waiting,
	v1alpha1.ReasonRollingOut:        Waiting,
	v1alpha1.ReasonPaused:            Waiting,
	v1alpha1.ReasonUnknown:           Waiting,
	contract.ReasonConnecting:        Waiting,
	contract.ReasonSchemaUnknown:     Waiting,

	v1alpha1.ReasonUnavailable:      Interruption,
	v1alpha1.ReasonConfigNotWritten: Interruption,
}

// stalled reports whether a finding is final.
func (f Finding) stalled() bool {
	return f.Status != metav1.ConditionTrue && Outcomes[f.Reason] == Final
}

// Warns reports whether the conditions of an object of this table are trouble that an event tells. An endpoint's problem is
// reported at the endpoint alone, not at each of its tokens and models.
func (t Table) Warns(conditions []metav1.Condition, wasReady bool) bool {
	ready := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.Status == metav1.ConditionTrue || t.ofEndpoint(conditions, ready) {
		return false
	}
	switch Outcomes[ready.Reason] {
	case Waiting:
		return false
	case Interruption:
		return wasReady
	}
	return true
}

// ofEndpoint reports whether a token or an exposure is not Ready for what is the matter with its endpoint: its database,
// its Config, or its spec.
func (t Table) ofEndpoint(conditions []metav1.Condition, ready *metav1.Condition) bool {
	if slices.Contains(t, v1alpha1.ConditionWorkloadAvailable) {
		return false
	}
	if ready.Reason == v1alpha1.ReasonEndpointInvalid || slices.Contains(Refusals, ready.Reason) {
		return true
	}
	for _, conditionType := range t {
		c := meta.FindStatusCondition(conditions, conditionType)
		if c != nil && c.Status == ready.Status && c.Reason == ready.Reason {
			return conditionType == v1alpha1.ConditionProgrammed
		}
	}
	return false
}

// Refusals are the reasons for which a database refuses its user. They do not pass with time: an administrator must act.
var Refusals = []string{
	contract.ReasonSecretIncomplete, contract.ReasonAuthenticationFailed, contract.ReasonDatabaseNotFound,
	contract.ReasonTLSFailed,
}
