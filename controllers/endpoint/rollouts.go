package endpoint

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/controllers/child"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// maxRollouts is how many endpoints' servers may be replaced at the same time because the manager is another one.
	maxRollouts = 10
	// rolloutRecheck is how often an endpoint that waits for the rollouts of others looks by itself.
	rolloutRecheck = time.Minute
)

// errRolloutWaits is the error of a Deployment that is changed when other endpoints are done.
var errRolloutWaits = errors.New("the server is replaced when the rollouts of other endpoints are done")

// Rollouts pace what a new manager, or one with other options, changes at all Deployments (docs/design/workload.md, "A new
// manager"). The first endpoint goes alone, and each that is replaced well lets one more go beside the others: so a server
// image that does not start reaches one endpoint, and a good one all of them soon. It is safe for concurrent use.
type Rollouts struct {
	// wake has endpoints reconciled that waited.
	wake func(...types.NamespacedName)

	mu sync.Mutex
	// under are the endpoints whose servers are being replaced, waiting the ones that wait for them, in order.
	under   map[types.NamespacedName]bool
	waiting []types.NamespacedName
	// well is how many were replaced since one was not.
	well int
}

// NewRollouts returns the pace of rollouts; wake reconciles endpoints whose turn has come.
func NewRollouts(wake func(...types.NamespacedName)) *Rollouts {
	return &Rollouts{wake: wake, under: map[types.NamespacedName]bool{}}
}

// begin reports whether an endpoint's server may be replaced now. If not, the endpoint is woken when it may.
func (r *Rollouts) begin(endpoint types.NamespacedName) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.under[endpoint] {
		return true
	}
	if r.room() <= 0 {
		if !slices.Contains(r.waiting, endpoint) {
			r.waiting = append(r.waiting, endpoint)
		}
		r.count()
		return false
	}
	r.under[endpoint] = true
	r.leave(endpoint)
	return true
}

// room is how many more may begin. The caller holds the lock.
func (r *Rollouts) room() int { return min(1+r.well, maxRollouts) - len(r.under) }

// leave takes an endpoint out of waiting, and reports whether it was there. The caller holds the lock.
func (r *Rollouts) leave(endpoint types.NamespacedName) (waited bool) {
	i := slices.Index(r.waiting, endpoint)
	if i >= 0 {
		r.waiting = slices.Delete(r.waiting, i, i+1)
	}
	r.count()
	return i >= 0
}

// change notes something, with the lock held, and wakes the endpoints that may begin if note reports that something changed.
func (r *Rollouts) change(note func() (changed bool)) {
	r.mu.Lock()
	changed := note()
	next := r.next()
	r.mu.Unlock()
	if changed {
		r.wake(next...)
	}
}

// notWaiting notes that an endpoint has nothing to wait for. A replacement of its server that began continues.
func (r *Rollouts) notWaiting(endpoint types.NamespacedName) {
	r.change(func() bool { return r.leave(endpoint) })
}

// forget notes that an endpoint's server is not replaced after all, or that the endpoint is gone.
func (r *Rollouts) forget(endpoint types.NamespacedName) {
	r.change(func() bool {
		began := r.under[endpoint]
		delete(r.under, endpoint)
		return r.leave(endpoint) || began
	})
}

// saw notes how far an endpoint's Deployment is, after all that was written to it; nil if there is none. It reports whether
// the replacement has just failed. Nothing waits for it any longer then, and the next one begins.
func (r *Rollouts) saw(endpoint types.NamespacedName, d *appsv1.Deployment) (failed bool) {
	r.change(func() bool {
		stuck := d != nil && isStuck(d)
		if !r.under[endpoint] || d != nil && !stuck && !isReplaced(d) {
			return false
		}
		delete(r.under, endpoint)
		if r.well++; stuck {
			r.well = 0
		}
		failed = stuck
		return true
	})
	return failed
}

// next returns the waiting endpoints that may begin. The caller holds the lock.
func (r *Rollouts) next() []types.NamespacedName {
	return slices.Clone(r.waiting[:max(0, min(r.room(), len(r.waiting)))])
}

// count tells how many wait. The caller holds the lock.
func (r *Rollouts) count() { cluster.RolloutsWaiting.Set(float64(len(r.waiting))) }

// isReplaced reports whether a Deployment runs its newest pods alone, and all of them.
func isReplaced(d *appsv1.Deployment) bool {
	desired := int32(1)
	if d.Spec.Replicas != nil {
		desired = *d.Spec.Replicas
	}
	s := d.Status
	return s.ObservedGeneration >= d.Generation && s.Replicas == s.UpdatedReplicas && s.UpdatedReplicas >= desired && s.AvailableReplicas >= desired
}

// isStuck reports whether a Deployment's own deadline for its newest pods has passed.
func isStuck(d *appsv1.Deployment) bool {
	progressing := deploymentCondition(d, appsv1.DeploymentProgressing)
	return d.Status.ObservedGeneration >= d.Generation && progressing != nil && progressing.Status == corev1.ConditionFalse
}

// pace returns errRolloutWaits if a child that is about to be changed is a Deployment that has to wait for other endpoints'
// Deployments. It waits only if nobody asked for this change of the endpoint, so if the mark is another manager's, and only
// if the old pods answer agents meanwhile.
func (r *Reconciler) pace(ctx context.Context, s *endpointScope, have client.Object) error {
	d, isDeployment := have.(*appsv1.Deployment)
	e := s.endpoint
	switch {
	case !isDeployment || d.Annotations[cluster.ManagerAnnotation] == string(r.Children.Mark):
		return nil
	case e.Generation != e.Status.ObservedGeneration || cluster.LooksFresh(ctx):
		return nil // somebody wants it now
	case d.Status.AvailableReplicas == 0 || !isReplaced(d):
		return nil // nobody is answered anyway, or its pods are being replaced already, perhaps in vain
	case !trusts(d, r.Pod):
		return nil // its pods take no Config that this manager signs, so no revocation either
	case r.Rollouts.begin(cluster.KeyOf(e)):
		return nil
	}
	return errRolloutWaits
}

// trusts reports whether a Deployment's pods take the Configs that this manager signs.
func trusts(d *appsv1.Deployment, options child.PodOptions) bool {
	return slices.ContainsFunc(d.Spec.Template.Spec.Containers, func(c corev1.Container) bool {
		return c.Name == child.ServerContainer && slices.Contains(c.Args, options.ConfigKeyArgument())
	})
}

// sawDeployment notes how far the replacing of the endpoint's server is, once the cache has what was written last.
func (r *Reconciler) sawDeployment(ctx context.Context, s *endpointScope) {
	if s.deployment != nil && r.Children.Late(s.deployment) {
		return
	}
	if r.Rollouts.saw(cluster.KeyOf(s.endpoint), s.deployment) {
		ctrl.LoggerFrom(ctx).Error(nil, "The server of an endpoint could not be replaced in time; the next ones are replaced one by one",
			"endpoint", klog.KObj(s.endpoint))
	}
}
