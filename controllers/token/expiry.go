package token

import (
	"fmt"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// expiresSoon is the finding of a token that expires soon, and nil for any other; in is how long it takes until that changes by the clock, 0
// if it does not, or the token's verdict changes with it.
func expiresSoon(t *v1alpha1.MCPToken, now time.Time) (found *condition.Finding, in time.Duration) {
	at := t.WarnsAt()
	if at == nil || !t.Spec.EffectiveActive() || t.Expired(now) {
		return nil, 0
	}
	if now.Before(*at) {
		return nil, at.Sub(now)
	}
	return new(condition.Holds(v1alpha1.ReasonExpiresSoon, fmt.Sprintf("the token expires at %s; set %s, or give its holder another token",
		t.EffectiveExpiry().UTC().Format(time.RFC3339), map[bool]string{true: "a later spec.expiry", false: "a longer spec.ttl"}[t.Spec.Expiry != nil]))), 0
}

// lastRefused is the hour in which a token that has expired or is not active was shown last, as its status said before or the pods have told
// since; nil for a token in force.
func (r *Reconciler) lastRefused(t *v1alpha1.MCPToken) *metav1.Time {
	if t.Spec.EffectiveActive() && !t.Expired(r.Now()) {
		r.Store.Refused.Forget(cluster.KeyOf(t))
		return nil
	}
	told, _ := r.Store.Refused.Get(cluster.KeyOf(t))
	if before := t.Status.LastRefusedTime; before != nil && !told.Last.After(before.Time) {
		return before
	}
	return statusTime(told.Last)
}

// tell emits events about what a status says that was written: that a token expires soon, once, and that one is shown which has expired or
// is not active, once in an hour.
func (r *Reconciler) tell(t *v1alpha1.MCPToken, next v1alpha1.MCPTokenStatus) {
	before := t.Status
	soon := meta.FindStatusCondition(next.Conditions, v1alpha1.ConditionExpiresSoon)
	if soon != nil && !meta.IsStatusConditionTrue(before.Conditions, v1alpha1.ConditionExpiresSoon) {
		r.Events.Eventf(t, nil, corev1.EventTypeWarning, v1alpha1.ReasonExpiresSoon, "Reconcile", "%s", soon.Message)
	}
	if next.LastRefusedTime == nil || next.LastRefusedTime.Equal(before.LastRefusedTime) {
		return
	}
	if use, known := r.Store.Refused.Get(cluster.KeyOf(t)); known {
		reason, message := refusedUse(t, use)
		r.Events.Eventf(t, nil, corev1.EventTypeWarning, reason, "Reconcile", "%s", message)
	}
}

// refusedUse is the reason and the text of the event about a token that is shown though it is not in force.
func refusedUse(t *v1alpha1.MCPToken, use contract.RefusedUse) (reason, message string) {
	reason, since := "UsedWhileInactive", "while it is not active"
	if use.Reason == v1alpha1.ReasonExpired {
		reason, since = "UsedAfterExpiry", "after it expired at "+t.EffectiveExpiry().UTC().Format(time.RFC3339)
	}
	times := fmt.Sprintf("%d times", use.Count)
	if use.Count == 1 {
		times = "once"
	}
	message = fmt.Sprintf("it was used %s %s, and refused", times, since)
	if use.From != "" {
		message += "; last from " + use.From
	}
	return reason, message
}
