package approval

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	apply "github.com/mcp-admin/mcp-admin-operator/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/excerpt"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxMessage bounds a condition's message, and maxEventNote an event's text, in bytes.
const maxMessage, maxEventNote = 2048, 1024

// endConditions are the conditions that tell an end.
var endConditions = map[v1alpha1.ApprovalState]string{
	v1alpha1.ApprovalDenied: v1alpha1.ConditionDenied, v1alpha1.ApprovalExpired: v1alpha1.ConditionExpired, v1alpha1.ApprovalExecuted: v1alpha1.ConditionExecuted,
	v1alpha1.ApprovalWithdrawn: v1alpha1.ConditionWithdrawn, v1alpha1.ApprovalSuperseded: v1alpha1.ConditionSuperseded,
}

// AskedAnew reports whether a call waits again after its approval ended, or expired as its server sees it.
func AskedAnew(a *v1alpha1.MCPApproval, told *contract.Approval) bool {
	if told.State != contract.ApprovalWaiting {
		return false
	}
	ended := a.Ended() && a.Status.EndTime != nil && told.Asked.Truncate(time.Microsecond).After(a.Status.EndTime.Time)
	return ended || !told.Asked.Before(a.Spec.Request.ExpiryTime.Time)
}

// Judge is the status of an approval where nobody but the program itself takes decisions, as there is no cluster. told is what the server
// tells of the call; nil if nothing that was not told before.
func Judge(a *v1alpha1.MCPApproval, e *v1alpha1.MCPEndpoint, token *v1alpha1.MCPToken, told *contract.Approval, now time.Time) v1alpha1.MCPApprovalStatus {
	return statusOf(a, compile.Rule(a, e, token, compile.PolicyForce{}, now), told, now)
}

// statusOf is an approval's status by what people decided and what the pods tell.
func statusOf(a *v1alpha1.MCPApproval, ruling compile.Ruling, told *contract.Approval, now time.Time) v1alpha1.MCPApprovalStatus {
	status := *a.Status.DeepCopy()
	status.ObservedGeneration = a.Generation
	if told != nil && told.Reason != "" {
		status.Reason = plain(told.Reason, contract.MaxApprovalReason)
	}
	status.Decisions = seenDecisions(a, ruling, now)
	state, reason, message, at := ruling.State, ruling.Reason, ruling.Message, now
	if state == v1alpha1.ApprovalExpired {
		at = a.Spec.Request.ExpiryTime.Time
	}
	if told != nil {
		switch ended := moment(told); {
		case told.State == contract.ApprovalExecuted && a.Status.State != v1alpha1.ApprovalExecuted:
			state, reason, message, at = v1alpha1.ApprovalExecuted, v1alpha1.ApprovalReasonExecuted, "the call ran", ended
			status.Call = plain(told.Call, 128)
		case told.State == contract.ApprovalWithdrawn && !a.Ended():
			state, reason, message, at = v1alpha1.ApprovalWithdrawn, v1alpha1.ApprovalReasonWithdrawn, "the caller wants it no more", ended
		case told.State == contract.ApprovalSuperseded && !a.Ended():
			state, reason, message, at = v1alpha1.ApprovalSuperseded, v1alpha1.ApprovalReasonRowsChanged, "the rows have changed since: the call would do something else", ended
			if by := plain(told.By, 20); by != "" {
				status.SupersededBy = v1alpha1.ApprovalName(a.Spec.EndpointRef.Name, by)
				message += ", and waits as " + status.SupersededBy
			}
		}
	}
	if state == a.EffectiveState() && a.Ended() {
		return status // it ended before
	}
	status.State = state
	tell := func(conditionType string, holds metav1.ConditionStatus, reason, message string) {
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type: conditionType, Status: holds, Reason: reason, Message: excerpt.Of(message, maxMessage), ObservedGeneration: a.Generation,
		})
	}
	switch state {
	case v1alpha1.ApprovalWaiting:
		if len(a.Spec.Decisions) > 0 || meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionApproved) != nil {
			tell(v1alpha1.ConditionApproved, metav1.ConditionFalse, reason, message)
		} else if a.Status.State == v1alpha1.ApprovalWaiting && status.Reason == a.Status.Reason {
			return a.Status // there is nothing to say
		}
	case v1alpha1.ApprovalApproved:
		tell(v1alpha1.ConditionApproved, metav1.ConditionTrue, reason, message)
	case v1alpha1.ApprovalDenied, v1alpha1.ApprovalExpired:
		tell(v1alpha1.ConditionApproved, metav1.ConditionFalse, reason, message)
	}
	if end := endConditions[state]; end != "" {
		for _, other := range endConditions {
			if other != end {
				meta.RemoveStatusCondition(&status.Conditions, other)
			}
		}
		tell(end, metav1.ConditionTrue, reason, message)
		status.EndTime = &metav1.MicroTime{Time: at.Truncate(time.Microsecond)}
	}
	return status
}

// seenDecisions say of each decision whether it counts, and since when it is known.
func seenDecisions(a *v1alpha1.MCPApproval, ruling compile.Ruling, now time.Time) []v1alpha1.ApprovalDecisionStatus {
	var all []v1alpha1.ApprovalDecisionStatus
	for i := range a.Spec.Decisions {
		by := a.Spec.Decisions[i].DecidedBy
		seen := v1alpha1.ApprovalDecisionStatus{DecidedBy: by, SeenTime: metav1.NewTime(now.Truncate(time.Second)), Reason: ruling.Decisions[i]}
		if known := slices.IndexFunc(a.Status.Decisions, func(d v1alpha1.ApprovalDecisionStatus) bool { return d.DecidedBy == by }); known >= 0 {
			seen.SeenTime = a.Status.Decisions[known].SeenTime
		}
		all = append(all, seen)
	}
	return all
}

// write writes a status that differs, and tells people what became of the call.
func (r *Reconciler) write(ctx context.Context, e *v1alpha1.MCPEndpoint, a *v1alpha1.MCPApproval, status v1alpha1.MCPApprovalStatus) error {
	if equality.Semantic.DeepEqual(a.Status, status) {
		return nil
	}
	encoded, err := json.Marshal(&status)
	if err != nil {
		return err
	}
	want := apply.MCPApproval(a.Name, a.Namespace).WithUID(a.UID).WithStatus(apply.MCPApprovalStatus())
	if err := json.Unmarshal(encoded, want.Status); err != nil {
		return err
	}
	if err := r.Client.Status().Apply(ctx, want, cluster.FieldOwner, client.ForceOwnership); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("writing the status: %w", err))
	}
	r.written.Set(cluster.KeyOf(a), *want.ResourceVersion)
	if status.State != a.EffectiveState() {
		r.Configs(EndpointOf(a))
		r.tell(e, a, &status)
	}
	return nil
}

// tellAsked emits the event about a call that waits. Events about one approval are a series: that of another begins its own.
func (r *Reconciler) tellAsked(e *v1alpha1.MCPEndpoint, a *v1alpha1.MCPApproval) {
	var policies []string
	for i := range a.Spec.Request.Policies {
		policies = append(policies, a.Spec.Request.Policies[i].Name)
	}
	r.Events.Eventf(e, a, corev1.EventTypeNormal, "ApprovalAsked", "Approve", "%s", excerpt.Of(fmt.Sprintf(
		"%s waits for an approval: %s of %s would change %d rows (policies: %s)", a.Name, a.Spec.Request.Operation, callerOf(a), *a.Spec.Request.Rows, strings.Join(policies, ", ")), maxEventNote))
}

// eventReasons are the reasons of the events about what became of a call.
var eventReasons = map[v1alpha1.ApprovalState]string{
	v1alpha1.ApprovalApproved: "ApprovalGranted", v1alpha1.ApprovalDenied: "ApprovalDenied", v1alpha1.ApprovalExpired: "ApprovalExpired",
}

// tell emits the event about what became of a call.
func (r *Reconciler) tell(e *v1alpha1.MCPEndpoint, a *v1alpha1.MCPApproval, status *v1alpha1.MCPApprovalStatus) {
	reason, tells := eventReasons[status.State]
	if !tells {
		return
	}
	severity := corev1.EventTypeNormal
	approved := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionApproved)
	if approved.Reason == v1alpha1.ApprovalReasonOverridden {
		severity, reason = corev1.EventTypeWarning, "ApprovalOverridden"
		cluster.ApprovalOverrides.Inc()
	}
	r.Events.Eventf(e, a, severity, reason, "Approve", "%s", excerpt.Of(fmt.Sprintf("%s (%s of %s): %s", a.Name, a.Spec.Request.Operation, callerOf(a), approved.Message), maxEventNote))
}

// callerOf names the token whose call it is.
func callerOf(a *v1alpha1.MCPApproval) string {
	return "the token " + a.Spec.Request.TokenRef.Namespace + "/" + a.Spec.Request.TokenRef.Name
}
