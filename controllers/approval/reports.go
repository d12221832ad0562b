package approval

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// maxReports is the most calls of one endpoint that wait for an MCPApproval to be made.
const maxReports = 2000

// Reports are what the pods tell of calls that wait, or waited, until it is in an MCPApproval. It is safe for concurrent use.
type Reports struct {
	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
	told  map[types.NamespacedName]report // by the MCPApproval's name
	count map[types.NamespacedName]int    // by endpoint
}

// report is what pods tell of one call.
type report struct {
	contract.Approval
	endpoint types.NamespacedName
}

// NewReports returns Reports that know nothing yet.
func NewReports() *Reports {
	return &Reports{told: map[types.NamespacedName]report{}, count: map[types.NamespacedName]int{}}
}

// states are those that a pod may tell.
var states = []string{contract.ApprovalWaiting, contract.ApprovalExecuted, contract.ApprovalWithdrawn, contract.ApprovalSuperseded}

// Take takes in what a pod tells, and returns false if some of it has no room.
func (r *Reports) Take(endpoint types.NamespacedName, approvals []contract.Approval) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := true
	for i := range approvals {
		a := &approvals[i]
		if a.Name == "" || a.Name != contract.ApprovalName(a.Digest) || !slices.Contains(states, a.State) {
			continue
		}
		key := types.NamespacedName{Namespace: endpoint.Namespace, Name: v1alpha1.ApprovalName(endpoint.Name, a.Name)}
		known, isKnown := r.told[key]
		switch {
		case isKnown && !isNewer(&known.Approval, a):
			continue
		case !isKnown && a.State == contract.ApprovalWaiting && r.count[endpoint] >= maxReports:
			all = false
			continue
		case !isKnown:
			r.count[endpoint]++
		}
		r.told[key] = report{*a, endpoint}
		if r.queue != nil {
			cluster.EnqueueAt(r.queue, cluster.PriorityChange, key)
		}
	}
	return all
}

// isNewer reports whether what one pod tells goes beyond what is known: a call that ran has run, whatever others say. Otherwise the later
// word counts.
func isNewer(known, told *contract.Approval) bool {
	switch {
	case told.State == contract.ApprovalExecuted:
		return known.State != contract.ApprovalExecuted || moment(told).After(moment(known))
	case known.State == contract.ApprovalExecuted:
		return false
	case moment(told).Equal(moment(known)):
		return told.State != contract.ApprovalWaiting && told.State != known.State || told.State == known.State && told.Reason != known.Reason
	}
	return moment(told).After(moment(known))
}

// moment is when a call came into its state.
func moment(a *contract.Approval) time.Time {
	if a.State != contract.ApprovalWaiting && a.Ended != nil {
		return *a.Ended
	}
	return a.Asked
}

// of is what pods tell of an approval; false if nothing that is not in its object.
func (r *Reports) of(key types.NamespacedName) (report, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	told, known := r.told[key]
	return told, known
}

// done forgets what was told, if it is still that: it is in the object, or nobody can use it.
func (r *Reports) done(key types.NamespacedName, told report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, known := r.told[key]
	if !known || isNewer(&told.Approval, &now.Approval) {
		return
	}
	delete(r.told, key)
	if r.count[now.endpoint]--; r.count[now.endpoint] <= 0 {
		delete(r.count, now.endpoint)
	}
}

// waiting are the approvals of an endpoint that are told of.
func (r *Reports) waiting(endpoint types.NamespacedName) (keys []types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, told := range r.told {
		if told.endpoint == endpoint {
			keys = append(keys, key)
		}
	}
	return keys
}

// source puts the approvals that pods tell of into the reconciler's queue, those as well that were told of before it ran.
func (r *Reports) source() source.Source {
	return source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.queue = queue
		for key := range r.told {
			cluster.EnqueueAt(queue, cluster.PriorityChange, key)
		}
		return nil
	})
}
