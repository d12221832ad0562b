package condition

import (
	"regexp"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract/excerpt"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Table names the conditions of a kind, beside Ready, Reconciling and Stalled which every kind has. Ready is
// true if all of them are; otherwise the first that is not says why.
type Table []string

// The conditions of each kind (docs/design/conditions.md, "Reasons and outcomes").
var (
	EndpointConditions = Table{
		v1alpha1.ConditionDatabaseReady, v1alpha1.ConditionWorkloadAvailable, v1alpha1.ConditionProgrammed, v1alpha1.ConditionRouted,
		v1alpha1.ConditionAuthenticationReady, v1alpha1.ConditionApprovalsReady, v1alpha1.ConditionMonitored,
	}
	ExposureConditions = Table{v1alpha1.ConditionAccepted, v1alpha1.ConditionResolved, v1alpha1.ConditionProgrammed}
	TokenConditions    = Table{v1alpha1.ConditionAccepted, v1alpha1.ConditionIssued, v1alpha1.ConditionProgrammed}
)

// Finding is the result of looking at one condition. A message depends only on what was found, never on chance or time. So
// an unchanged object keeps its status byte by byte.
type Finding struct {
	Status          metav1.ConditionStatus
	Reason, Message string
	// Aside reports whether the condition does not count for Ready.
	Aside bool
}

// Holds is a finding whose condition is True.
func Holds(reason, message string) Finding {
	return Finding{Status: metav1.ConditionTrue, Reason: reason, Message: message}
}

// Fails is a finding whose condition is False.
func Fails(reason, message string) Finding {
	return Finding{Status: metav1.ConditionFalse, Reason: reason, Message: message}
}

// Unknown is a finding whose condition is Unknown.
func Unknown(reason, message string) Finding {
	return Finding{Status: metav1.ConditionUnknown, Reason: reason, Message: message}
}

const pausedMessage = "the annotation " + v1alpha1.PausedAnnotation + " is true: nothing new is made of this object; " +
	"what takes access away is not held up"

// Findings are by condition type, of a kind's table. A condition without one is not there.
type Findings map[string]Finding

// Summarise returns an object's conditions by the rules of kstatus: Ready, and while it is not true either Stalled or
// Reconciling. Paused is there while the object is paused. ready is Ready's finding if every condition holds. Transition
// times are kept from old. ExpiresSoon is there if it was found, and counts for nothing.
func (t Table) Summarise(obj metav1.Object, old []metav1.Condition, found Findings, ready Finding) []metav1.Condition {
	conditions := make([]metav1.Condition, 0, len(t)+3)
	set := func(conditionType string, f Finding) {
		if before := meta.FindStatusCondition(old, conditionType); before != nil {
			conditions = append(conditions, *before)
		}
		meta.SetStatusCondition(&conditions, metav1.Condition{
			Type: conditionType, Status: f.Status, ObservedGeneration: obj.GetGeneration(), Reason: f.Reason, Message: excerpt.Of(f.Message, maxMessage),
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
	if ready.Status != metav1.ConditionTrue {
		abnormal := v1alpha1.ConditionReconciling
		if ready.stalled() {
			abnormal = v1alpha1.ConditionStalled
		}
		set(abnormal, Holds(ready.Reason, ready.Message))
	}
	if f, ok := found[v1alpha1.ConditionExpiresSoon]; ok {
		set(v1alpha1.ConditionExpiresSoon, f)
	}
	if v1alpha1.IsPaused(obj) {
		set(v1alpha1.ConditionPaused, Holds(v1alpha1.ReasonPaused, pausedMessage))
	}
	return conditions
}

// Obstacles are the conditions that keep an object from being Ready, the most important first.
var Obstacles = []func(Finding) bool{
	Finding.stalled,
	func(f Finding) bool { return f.Status == metav1.ConditionFalse },
	func(f Finding) bool { return f.Status != metav1.ConditionTrue },
}

// obstacle is the finding that keeps an object from being Ready: first one that is final, then one that fails, then one
// that is unknown. Nil if there is none.
func (t Table) obstacle(found Findings) *Finding {
	for _, stands := range Obstacles {
		for _, conditionType := range t {
			if f, ok := found[conditionType]; ok && stands(f) && !f.Aside {
				return &f
			}
		}
	}
	return nil
}

// maxMessage and MaxNote bound a condition's message and a status's note, in bytes; MaxEndpointNotes is how many notes an
// endpoint's status has room for.
const (
	maxMessage       = 2048
	MaxNote          = 500
	MaxEndpointNotes = 20
)

// Clipped returns the notes, each as long as a status has room for.
func Clipped(notes []string) []string {
	var fit []string
	for _, note := range notes {
		fit = append(fit, excerpt.Of(note, MaxNote))
	}
	return fit
}

var conditionReason = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,99}$`)

// Reported is a reason that a pod gave. An invalid reason is replaced, since the API server would refuse the whole
// status.
func Reported(reason string) string {
	if conditionReason.MatchString(reason) {
		return reason
	}
	return v1alpha1.ReasonUnknown
}
