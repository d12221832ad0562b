package controllers

import (
	"regexp"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract/excerpt"
)

// conditionTable names the conditions of a kind, beside Ready, Reconciling and Stalled which every kind has. Ready is
// true if all of them are; otherwise the first that is not says why.
type conditionTable []string

// The conditions of each kind (docs/design/controllers.md, "Conditions").
var (
	endpointConditions = conditionTable{
		v1alpha1.ConditionDatabaseReady, v1alpha1.ConditionWorkloadAvailable, v1alpha1.ConditionProgrammed, v1alpha1.ConditionRouted,
		v1alpha1.ConditionAuthenticationReady, v1alpha1.ConditionMonitored,
	}
	exposureConditions = conditionTable{v1alpha1.ConditionAccepted, v1alpha1.ConditionResolved, v1alpha1.ConditionProgrammed}
	tokenConditions    = conditionTable{v1alpha1.ConditionAccepted, v1alpha1.ConditionIssued, v1alpha1.ConditionProgrammed}
)

// finding is the result of looking at one condition. A message depends only on what was found, never on chance or time. So
// an unchanged object keeps its status byte by byte.
type finding struct {
	status          metav1.ConditionStatus
	reason, message string
	// aside reports whether the condition does not count for Ready.
	aside bool
}

func holds(reason, message string) finding {
	return finding{status: metav1.ConditionTrue, reason: reason, message: message}
}

func fails(reason, message string) finding {
	return finding{status: metav1.ConditionFalse, reason: reason, message: message}
}

func unknown(reason, message string) finding {
	return finding{status: metav1.ConditionUnknown, reason: reason, message: message}
}

const pausedMessage = "the annotation " + v1alpha1.PausedAnnotation + " is true: nothing new is made of this object; " +
	"what takes access away is not held up"

// findings are by condition type, of a kind's table. A condition without one is not there.
type findings map[string]finding

// summarise returns an object's conditions by the rules of kstatus: Ready, and while it is not true either Stalled or
// Reconciling. Paused is there while the object is paused. ready is Ready's finding if every condition holds. Transition
// times are kept from old.
func (t conditionTable) summarise(obj metav1.Object, old []metav1.Condition, found findings, ready finding) []metav1.Condition {
	conditions := make([]metav1.Condition, 0, len(t)+3)
	set := func(conditionType string, f finding) {
		if before := meta.FindStatusCondition(old, conditionType); before != nil {
			conditions = append(conditions, *before)
		}
		meta.SetStatusCondition(&conditions, metav1.Condition{
			Type: conditionType, Status: f.status, ObservedGeneration: obj.GetGeneration(), Reason: f.reason, Message: excerpt.Of(f.message, maxMessage),
		})
	}
	if obstacle := t.obstacle(found); obstacle != nil {
		ready = *obstacle
	}
	set(v1alpha1.ConditionReady, ready)
	for _, conditionType := range t {
		if f, ok := found[conditionType]; ok {
			set(conditionType, f)
		}
	}
	if ready.status != metav1.ConditionTrue {
		abnormal := v1alpha1.ConditionReconciling
		if ready.stalled() {
			abnormal = v1alpha1.ConditionStalled
		}
		set(abnormal, holds(ready.reason, ready.message))
	}
	if v1alpha1.IsPaused(obj) {
		set(v1alpha1.ConditionPaused, holds(v1alpha1.ReasonPaused, pausedMessage))
	}
	return conditions
}

// obstacles are the conditions that keep an object from being Ready, the most important first.
var obstacles = []func(finding) bool{
	finding.stalled,
	func(f finding) bool { return f.status == metav1.ConditionFalse },
	func(f finding) bool { return f.status != metav1.ConditionTrue },
}

// obstacle is the finding that keeps an object from being Ready: first one that is final, then one that fails, then one
// that is unknown. Nil if there is none.
func (t conditionTable) obstacle(found findings) *finding {
	for _, stands := range obstacles {
		for _, conditionType := range t {
			if f, ok := found[conditionType]; ok && stands(f) && !f.aside {
				return &f
			}
		}
	}
	return nil
}

// maxMessage and maxNote bound a condition's message and a status's note, in bytes; maxEndpointNotes is how many notes an
// endpoint's status has room for.
const (
	maxMessage       = 2048
	maxNote          = 500
	maxEndpointNotes = 20
)

// clipped returns the notes, each as long as a status has room for.
func clipped(notes []string) []string {
	var fit []string
	for _, note := range notes {
		fit = append(fit, excerpt.Of(note, maxNote))
	}
	return fit
}

var conditionReason = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,99}$`)

// reported is a reason that a pod gave. An invalid reason is replaced, since the API server would refuse the whole
// status.
func reported(reason string) string {
	if conditionReason.MatchString(reason) {
		return reason
	}
	return v1alpha1.ReasonUnknown
}
