package doctor

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// summaries are the conditions that repeat what others say.
var summaries = []string{v1alpha1.ConditionReady, v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled, v1alpha1.ConditionPaused}

// consequences are the reasons that only say that something else has to happen first.
var consequences = []string{
	v1alpha1.ReasonUnavailable, v1alpha1.ReasonRollingOut, v1alpha1.ReasonWaitingForPods, v1alpha1.ReasonWaitingForReport,
	v1alpha1.ReasonUnknown, v1alpha1.ReasonEndpointInvalid, contract.ReasonConnecting, contract.ReasonSchemaUnknown,
}

// trouble says why one object is not Ready: the causes, and what follows from them.
type trouble struct{ causes, effects []metav1.Condition }

// troubleOf sorts the conditions that are not true. Each condition is either a cause or follows from one: from another
// condition of the object, or from its endpoint. If all seem to follow from something, and nothing is known that they follow
// from, the first is the cause.
func troubleOf(conditions []metav1.Condition, follows func(metav1.Condition) bool, elsewhere bool) trouble {
	var t trouble
	for _, c := range conditions {
		switch {
		case c.Status == metav1.ConditionTrue || slices.Contains(summaries, c.Type):
		case follows(c):
			t.effects = append(t.effects, c)
		case !slices.ContainsFunc(t.causes, func(other metav1.Condition) bool { return other.Reason == c.Reason && other.Message == c.Message }):
			t.causes = append(t.causes, c)
		}
	}
	if len(t.causes) == 0 && len(t.effects) > 0 && !elsewhere {
		t.causes, t.effects = t.effects[:1], t.effects[1:]
	}
	return t
}

// isConsequence reports whether a condition of an endpoint only waits for something else.
func isConsequence(c metav1.Condition) bool { return slices.Contains(consequences, c.Reason) }

// ofEndpoint reports whether a condition of an exposure or a token says what is the matter with its endpoint. Programmed
// and Resolved repeat the endpoint's reasons; Issued is about a token's own Secret.
func (x *examination) ofEndpoint(endpoint types.NamespacedName) func(metav1.Condition) bool {
	reasons := x.ailing[endpoint]
	return func(c metav1.Condition) bool { return repeats(c, reasons) }
}

// repeats reports whether a condition of an exposure or a token follows from what its endpoint is not Ready for.
func repeats(c metav1.Condition, reasons []string) bool {
	shared := c.Type == v1alpha1.ConditionProgrammed || c.Type == v1alpha1.ConditionResolved
	return len(reasons) > 0 && (isConsequence(c) || shared && slices.Contains(reasons, c.Reason))
}

// WaitsForEndpoint reports whether nothing is wrong with an exposure that is not Ready but what is wrong with its endpoint, by the
// conditions of both.
func WaitsForEndpoint(exposure, endpoint []metav1.Condition) bool {
	var reasons []string
	for _, c := range endpoint {
		if c.Status != metav1.ConditionTrue && !slices.Contains(summaries, c.Type) {
			reasons = append(reasons, c.Reason)
		}
	}
	t := troubleOf(exposure, func(c metav1.Condition) bool { return repeats(c, reasons) }, true)
	return len(t.causes) == 0 && len(t.effects) > 0
}

// tell reports the causes of an object's trouble, the first one with what follows from it.
func (x *examination) tell(s subject, t trouble) {
	for i, c := range t.causes {
		p := Problem{Object: s.name(), Reason: c.Reason, Message: sentence(c), Command: command(s, c.Reason)}
		if i == 0 {
			for _, effect := range t.effects {
				p.Effects = append(p.Effects, effect.Type+" "+effect.Reason)
			}
		}
		x.found.Problems = append(x.found.Problems, p)
	}
}

// dependent looks at an exposure or a token. One that only waits for its endpoint is counted.
func (x *examination) dependent(s subject, endpoint types.NamespacedName) {
	ready := x.readiness(s)
	if ready == nil {
		return
	}
	if ready.Status == metav1.ConditionTrue {
		x.refused(s, ready)
		return
	}
	t := troubleOf(s.conditions, x.ofEndpoint(endpoint), len(x.ailing[endpoint]) > 0)
	if len(t.causes) == 0 {
		x.waiting[endpoint]++
		return
	}
	t.effects = nil // they follow from the endpoint
	x.tell(s, t)
}

// refused notes a token that every pod refuses because its spec says so, and one that will be soon. It is Ready, and a caller that uses it
// gets a 401 that does not tell why.
func (x *examination) refused(s subject, ready *metav1.Condition) {
	if soon := meta.FindStatusCondition(s.conditions, v1alpha1.ConditionExpiresSoon); soon != nil && soon.Status == metav1.ConditionTrue {
		x.note(s, soon.Message)
	}
	if ready.Reason != v1alpha1.ReasonExpired && ready.Reason != v1alpha1.ReasonInactive {
		return
	}
	message := ready.Message
	if s.lastRefused != nil {
		message += "; somebody still uses it: last in the hour from " + s.lastRefused.UTC().Format(time.RFC3339)
	}
	x.note(s, message)
}

// readiness returns the present Ready condition of an object; nil, and a problem, if the manager has not looked at it.
func (x *examination) readiness(s subject) *metav1.Condition {
	if !s.object.GetDeletionTimestamp().IsZero() {
		x.problem(s.name(), "it is being deleted", s.describe())
		return nil
	}
	ready := meta.FindStatusCondition(s.conditions, v1alpha1.ConditionReady)
	if ready == nil || s.observed != s.generation {
		x.problem(s.name(), "the manager has not looked at it since it was changed last", s.describe())
		return nil
	}
	if v1alpha1.IsPaused(s.object) {
		x.note(s, "it is paused: the manager changes nothing of it (annotation "+v1alpha1.PausedAnnotation+")")
	}
	for _, note := range s.notes {
		x.note(s, note)
	}
	return ready
}

func sentence(c metav1.Condition) string {
	if c.Message == "" {
		return fmt.Sprintf("%s is %s (%s)", c.Type, c.Status, c.Reason)
	}
	return fmt.Sprintf("%s (%s %s)", c.Message, c.Type, c.Reason)
}

func (s subject) name() string { return fmt.Sprintf("%s %s", s.kind, cluster.Key(s.object)) }

// Causes are the conditions of an endpoint that are not true, without those that only wait for others.
func Causes(conditions []metav1.Condition) []metav1.Condition {
	return troubleOf(conditions, isConsequence, false).causes
}
