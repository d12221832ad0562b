package controllers

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// outcome says what it means that an object is not Ready for a reason (docs/design/controllers.md, "Conditions").
type outcome int

const (
	// trouble: somebody must act, but not by an edit of this object. It is Reconciling, and told by a Warning.
	trouble outcome = iota
	// interruption: trouble for an object that was Ready, and the usual wait for a new one.
	interruption
	// waiting: every change passes through it. It is Reconciling, and no event tells it.
	waiting
	// final: this object names what does not exist, or is wrong in itself. It is Stalled, and told by a Warning. It
	// recovers by itself if what it names comes.
	final
)

// outcomes has the outcome of each reason. One that is not here is trouble.
var outcomes = map[string]outcome{
	v1alpha1.ReasonInvalid:            final,
	v1alpha1.ReasonImageNotAllowed:    final,
	v1alpha1.ReasonPodTemplateInvalid: final,
	v1alpha1.ReasonGroupNotFound:      final,
	v1alpha1.ReasonIssuerNotFound:     final,
	v1alpha1.ReasonAudienceMissing:    final,
	v1alpha1.ReasonScaledToZero:       final,
	contract.ReasonTableNotFound:      final,
	contract.ReasonFieldNotFound:      final,
	contract.ReasonFieldNotAllowed:    final,
	contract.ReasonSchemaNotFound:     final,

	v1alpha1.ReasonEndpointNotFound:  waiting,
	v1alpha1.ReasonWaitingForGateway: waiting,
	v1alpha1.ReasonWaitingForAddress: waiting,
	v1alpha1.ReasonWaitingForPods:    waiting,
	v1alpha1.ReasonWaitingForReport:  waiting,
	v1alpha1.ReasonWaitingForToken:   waiting,
	v1alpha1.ReasonRollingOut:        waiting,
	v1alpha1.ReasonPaused:            waiting,
	v1alpha1.ReasonUnknown:           waiting,
	contract.ReasonConnecting:        waiting,
	contract.ReasonSchemaUnknown:     waiting,

	v1alpha1.ReasonUnavailable:      interruption,
	v1alpha1.ReasonConfigNotWritten: interruption,
}

// stalled reports whether a finding is final.
func (f finding) stalled() bool {
	return f.status != metav1.ConditionTrue && outcomes[f.reason] == final
}

// warns reports whether the conditions of an object of this table are trouble that an event tells. An endpoint's problem is
// reported at the endpoint alone, not at each of its tokens and models.
func (t conditionTable) warns(conditions []metav1.Condition, wasReady bool) bool {
	ready := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.Status == metav1.ConditionTrue || t.ofEndpoint(conditions, ready) {
		return false
	}
	switch outcomes[ready.Reason] {
	case waiting:
		return false
	case interruption:
		return wasReady
	}
	return true
}

// ofEndpoint reports whether a token or an exposure is not Ready for what is the matter with its endpoint: its database,
// its Config, or its spec.
func (t conditionTable) ofEndpoint(conditions []metav1.Condition, ready *metav1.Condition) bool {
	if slices.Contains(t, v1alpha1.ConditionWorkloadAvailable) {
		return false
	}
	if ready.Reason == v1alpha1.ReasonEndpointInvalid || slices.Contains(refusals, ready.Reason) {
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
