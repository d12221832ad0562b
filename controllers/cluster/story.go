package cluster

import (
	"context"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// At Info the log has one line for each step in the life of an object, and none for a reconcile that changed nothing
// (docs/design/managers.md, "The log").

// Watched passes what another predicate passes, and tells the log what people did to an object of a kind. It is for the watch
// of that kind's own reconciler: the other watches stay silent. saw is called with each new state of an object, even one
// that is not passed.
func Watched(mgr manager.Manager, kind string, passes predicate.Predicate, saw func(client.Object)) builder.Predicates {
	log := mgr.GetLogger().WithName("objects").WithValues("kind", kind)
	return builder.WithPredicates(predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool {
			if !e.IsInInitialList {
				log.Info("An object was created", "object", klog.KObj(e.Object), "generation", e.Object.GetGeneration())
			}
			return true
		},
		UpdateFunc: func(e event.UpdateEvent) bool {
			saw(e.ObjectNew)
			if !passes.Update(e) {
				return false
			}
			if e.ObjectNew.GetDeletionTimestamp() == nil && e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() {
				log.Info("An object was edited", "object", klog.KObj(e.ObjectNew), "generation", e.ObjectNew.GetGeneration())
			}
			if isRevocation(e.ObjectOld, e.ObjectNew) {
				tokensRevoked.WithLabelValues("inactive").Inc()
			}
			return true
		},
		DeleteFunc: func(e event.DeleteEvent) bool {
			log.Info("An object was deleted", "object", klog.KObj(e.Object))
			if _, isToken := e.Object.(*v1alpha1.MCPToken); isToken {
				tokensRevoked.WithLabelValues("deleted").Inc()
			}
			return passes.Delete(e)
		},
	})
}

// isRevocation reports whether an edit made a token inactive.
func isRevocation(before, after client.Object) bool {
	old, isToken := before.(*v1alpha1.MCPToken)
	if !isToken {
		return false
	}
	return old.Spec.EffectiveActive() && !after.(*v1alpha1.MCPToken).Spec.EffectiveActive()
}

// tellChanges writes a line for each condition of an endpoint that came to hold or holds no more, and for Ready of the
// other kinds. Reasons and messages that change while a condition does not hold are in the status alone.
func tellChanges(ctx context.Context, obj client.Object, old, next []metav1.Condition) {
	told := []string{v1alpha1.ConditionReady}
	if _, isEndpoint := obj.(*v1alpha1.MCPEndpoint); isEndpoint {
		told = slices.Concat(condition.EndpointConditions, told)
	}
	for _, conditionType := range told {
		c := meta.FindStatusCondition(next, conditionType)
		held := meta.IsStatusConditionTrue(old, conditionType)
		if c == nil || held == (c.Status == metav1.ConditionTrue) {
			continue
		}
		what := "A condition holds"
		if held {
			what = "A condition no longer holds"
		}
		ctrl.LoggerFrom(ctx).Info(what, "condition", c.Type, "object", klog.KObj(obj), "generation", obj.GetGeneration(), "reason", c.Reason, "message", c.Message)
	}
}
