package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ManagerMark says which manager wrote a child: its version, and a hash of what it was told about the pods. Managers with
// the same mark want the same (docs/design/workload.md, "Two managers").
type ManagerMark string

// set puts the mark on an object that is about to be written.
func (m ManagerMark) set(obj client.Object) {
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[ManagerAnnotation] = string(m)
	obj.SetAnnotations(annotations)
}

// before reports whether a manager gives way to another one: one of an older version to one of a newer, and of two of the
// same version always the same one.
func (m ManagerMark) before(other ManagerMark) bool {
	mine, _, _ := strings.Cut(string(m), " ")
	theirs, _, _ := strings.Cut(string(other), " ")
	a, errA := version.ParseSemantic(mine)
	b, errB := version.ParseSemantic(theirs)
	if errA == nil && errB == nil && (a.LessThan(b) || b.LessThan(a)) {
		return a.LessThan(b)
	}
	return m < other
}

// YieldTime is how long a manager leaves a child alone that another manager writes, before it tries again: the other one
// may have been removed.
const YieldTime = time.Minute

// OtherManager is the error if another manager is at work on the same child, and this one leaves it alone.
type OtherManager struct{ kind, name, mark string }

func (e OtherManager) Error() string {
	return fmt.Sprintf("another manager (%s) is at work on %s %q too, and this one leaves it alone; let only one manager watch a namespace", e.mark, e.kind, e.name)
}

// yield returns an OtherManager if a child that this process applied was written by another manager since, and ours has to
// give way. The mark of a manager from before this process is no obstacle: that manager may be gone.
func (c *Children) yield(ctx context.Context, place string, have metav1.Object, last applyOutcome) error {
	theirs := ManagerMark(have.GetAnnotations()[ManagerAnnotation])
	if last.wish == "" || theirs == "" || theirs == c.Mark || !c.Mark.before(theirs) {
		return nil
	}
	kind, name, _ := strings.Cut(place, "/")
	other := OtherManager{kind, name, string(theirs)}
	if last.yielded.IsZero() {
		last.yielded = c.now()
		c.outcomes.Set(place, last)
		ctrl.LoggerFrom(ctx).Info("Another manager is at work on the same objects, and this one gives way", "kind", kind, "object", name, "other", theirs, "this", c.Mark)
	} else if c.now().Sub(last.yielded) >= YieldTime {
		return nil // the next apply begins anew
	}
	return other
}
