package approval

import (
	"context"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// maxWaiting is how many approvals of an endpoint may wait, maxOfToken how many of one token.
	maxWaiting = 1000
	maxOfToken = 250
	// roomPause is how long a call waits for room.
	roomPause = 5 * time.Second
	// cachePause is how long the cache may take to have what is known to be.
	cachePause = 100 * time.Millisecond
)

// Reconciler makes, judges and removes approvals.
type Reconciler struct {
	Client    client.Client
	Approvals *cluster.Tracked[*v1alpha1.MCPApproval]
	Reports   *Reports
	// Again has an endpoint's pods tell once more of all calls that wait.
	Again func(endpoint types.NamespacedName)
	// Policy tells whether the API server checks who decides.
	Policy *cluster.ApprovalPolicy
	// Configs wakes the config reconciler.
	Configs func(endpoints ...types.NamespacedName)
	Events  events.EventRecorder
	Now     func() time.Time
	// LookAgain is how often the admission policy is looked at, which no watch tells of.
	LookAgain time.Duration

	// written are the versions of statuses that the cache may not have yet.
	written cluster.Memo[types.NamespacedName, string]
}

// These are the rights that this room needs. That the admission policy is read is a right of its own (config/approval-policy).
//
// +kubebuilder:rbac:groups=mcpadmin.dev,resources=mcpapprovals,verbs=list;watch;create;delete
// +kubebuilder:rbac:groups=mcpadmin.dev,resources=mcpapprovals/status,verbs=patch

// Reconcile makes the object of a call that waits, says what the decisions make of it, and removes it some time after it ended.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	key := request.NamespacedName
	a := &v1alpha1.MCPApproval{}
	if err := r.Client.Get(ctx, key, a); client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	} else if err != nil {
		r.written.Forget(key)
		return cluster.Result(r.ask(ctx, key))
	}
	if !a.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	if version, wrote := r.written.Get(key); wrote && cluster.OlderThan(a.ResourceVersion, version) {
		return ctrl.Result{RequeueAfter: cachePause}, nil
	}
	r.written.Forget(key)
	e, err := cluster.FindEndpoint(ctx, r.Client, EndpointOf(a))
	if err != nil || e == nil {
		return ctrl.Result{}, err // it goes with its endpoint
	}
	return cluster.Result(r.judge(ctx, e, a))
}

// judge writes what became of an approval, and returns when to look again.
func (r *Reconciler) judge(ctx context.Context, e *v1alpha1.MCPEndpoint, a *v1alpha1.MCPApproval) (time.Duration, error) {
	key, now := cluster.KeyOf(a), r.Now()
	told, isTold := r.Reports.of(key)
	force := r.Policy.Force(ctx, a)
	switch {
	case isTold && AskedAnew(a, &told.Approval):
		return 0, r.remove(ctx, a) // it is asked for again: a new object begins when this one is gone
	case !a.Ended() && force.Problem == "" && a.CreationTimestamp.Time.Before(force.Since):
		// Somebody may have decided, or made it, before the policy was in force. The pods tell of the call again.
		return 0, r.remove(ctx, a)
	}
	token, err := r.tokenOf(ctx, e, a.Spec.Request.TokenRef)
	if err != nil {
		return 0, err
	}
	if token != nil && !a.Ended() && !a.Spec.Request.GuardsSecretOf(token) {
		return 0, r.remove(ctx, a) // decisions were checked against another Secret; the pods tell of the call again
	}
	var news *contract.Approval
	if isTold {
		news = &told.Approval
	}
	status := statusOf(a, compile.Rule(a, e, token, force, now), news, now)
	if err := r.write(ctx, e, a, status); err != nil {
		return 0, err
	}
	if isTold {
		r.Reports.done(key, told)
	}
	a.Status = status
	if a.Ended() {
		if left := removeAt(e, a).Sub(now); left > 0 {
			return left, nil
		}
		return 0, r.remove(ctx, a)
	}
	left := a.Spec.Request.ExpiryTime.Sub(now)
	if len(a.Spec.Decisions) > 0 { // they count only as long as the policy is there, and the Config follows
		left = min(left, r.LookAgain)
		r.Configs(EndpointOf(a))
	}
	return max(left, time.Millisecond), nil
}

// removeAt is when an approval is removed that has ended. A denial holds until the call would have expired.
func removeAt(e *v1alpha1.MCPEndpoint, a *v1alpha1.MCPApproval) time.Time {
	keep := time.Duration(0)
	for i := range a.Spec.Request.Policies {
		if p := e.Spec.FindApproval(a.Spec.Request.Policies[i].Name); p != nil {
			keep = max(keep, p.EffectiveKeepFor())
		}
	}
	if keep == 0 {
		keep = v1alpha1.DefaultKeepFor
	}
	end := a.CreationTimestamp.Time
	if a.Status.EndTime != nil {
		end = a.Status.EndTime.Time
	}
	at := end.Add(keep)
	if expiry := a.Spec.Request.ExpiryTime.Time; a.Status.State == v1alpha1.ApprovalDenied && expiry.After(at) {
		return expiry
	}
	return at
}

// remove deletes an approval, if it is still this one.
func (r *Reconciler) remove(ctx context.Context, a *v1alpha1.MCPApproval) error {
	return client.IgnoreNotFound(r.Client.Delete(ctx, a, client.Preconditions{UID: &a.UID}))
}

// ask makes the object of a call that a pod holds back, and returns when to try again.
func (r *Reconciler) ask(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	told, isTold := r.Reports.of(key)
	if !isTold {
		return 0, nil
	}
	e, err := cluster.FindEndpoint(ctx, r.Client, told.endpoint)
	if err != nil {
		return 0, err
	}
	if e == nil || told.State != contract.ApprovalWaiting {
		r.Reports.done(key, told)
		return 0, nil
	}
	token, err := r.tokenOf(ctx, e, tokenRef(told.Token))
	if err != nil {
		return 0, err
	}
	now := r.Now()
	a, problem := New(e, token, &told.Approval, now)
	if problem != nil {
		ctrl.LoggerFrom(ctx).V(1).Info("A call that waits has no MCPApproval", "reason", problem.Error())
		r.Reports.done(key, told)
		return 0, nil
	}
	if !r.hasRoom(a) {
		return roomPause, nil
	}
	if force := r.Policy.Force(ctx); force.Problem == "" && now.Before(force.Since) {
		return force.Since.Sub(now), nil // no decision about it would count
	}
	switch err := r.Client.Create(ctx, a, cluster.FieldOwner); {
	case apierrors.IsAlreadyExists(err):
		return cachePause, nil
	case apierrors.IsInvalid(err):
		ctrl.LoggerFrom(ctx).Info("A call that waits has no MCPApproval, as the API server refuses it", "reason", err.Error())
		r.Reports.done(key, told)
		return 0, nil
	case err != nil:
		return 0, err
	}
	r.tellAsked(e, a)
	if told.Reason == "" { // a reason goes into the status, which is written when the cache has the object
		r.Reports.done(key, told)
	}
	return 0, nil
}

// hasRoom reports whether one more call of the token, and of the endpoint, may wait.
func (r *Reconciler) hasRoom(a *v1alpha1.MCPApproval) bool {
	all, own := 0, 0
	for _, other := range r.Approvals.Of(EndpointOf(a)) {
		if other.Ended() {
			continue
		}
		if all++; other.Spec.Request.TokenRef == a.Spec.Request.TokenRef {
			own++
		}
	}
	return all < maxWaiting && own < maxOfToken
}

// tokenOf is an endpoint's token; nil if it has none of that name.
func (r *Reconciler) tokenOf(ctx context.Context, e *v1alpha1.MCPEndpoint, ref v1alpha1.TokenReference) (*v1alpha1.MCPToken, error) {
	token := &v1alpha1.MCPToken{}
	err := r.Client.Get(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, token)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case token.Endpoint() != cluster.KeyOf(e) || !token.DeletionTimestamp.IsZero():
		return nil, nil
	}
	return token, nil
}
