package endpoint

import (
	"context"
	"errors"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/child"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	"github.com/mcp-admin/mcp-admin-operator/controllers/observe"
	"github.com/mcp-admin/mcp-admin-operator/controllers/program"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Reconciler runs the server that answers from an endpoint's Config, and writes the endpoint's status.
type Reconciler struct {
	Client    client.Client
	Children  *cluster.Children
	Exposures *cluster.Tracked[*v1alpha1.MCPModelExposure]
	Poller    *observe.Poller
	Store     *program.Store
	Status    *cluster.StatusWriter[*v1alpha1.MCPEndpoint, v1alpha1.MCPEndpointStatus]
	Events    events.EventRecorder
	Pod       child.PodOptions
	Network   *Network
	Secrets   cluster.OptIn
	// Namespaces tells whose tokens an endpoint admits.
	Namespaces cluster.Namespaces
	Now        func() time.Time
	Conflicts  *ConflictWatches
	Rollouts   *Rollouts
	// ApprovalPolicy tells whether decisions about calls that wait are taken; LookAgain is how often it is asked.
	ApprovalPolicy *cluster.ApprovalPolicy
	LookAgain      time.Duration
}

// endpointScope holds what one reconcile knows.
type endpointScope struct {
	endpoint *v1alpha1.MCPEndpoint
	program  *program.Program
	// config holds the known facts about the Config.
	config program.ConfigFacts

	// connectionProblem names an object of the user's that the database needs and that is missing; nil if none is.
	connectionProblem *condition.Finding
	// certificateProblem says why the Secret of the endpoint's own certificate cannot be used; nil if it can, or none is
	// needed.
	certificateProblem *condition.Finding
	// tracingProblem says why no traces are sent; nil if they are, or none are asked for.
	tracingProblem *condition.Finding
	// auditProblem says why no audit lines are sent to a collector; nil if they are, or none are asked for.
	auditProblem *condition.Finding
	// workloadProblem says why the workload could not be applied; nil if it could.
	workloadProblem *condition.Finding
	deployment      *appsv1.Deployment
	// rolloutWaits reports whether the Deployment is changed when other endpoints are done.
	rolloutWaits bool
	// routed says what leads agents to the Service; monitored who reads the metrics, nil if nobody is asked to.
	routed    condition.Finding
	monitored *condition.Finding
	// approvals say whether what people decide is taken; nil if no call waits for them.
	approvals *condition.Finding
	// notScaling is why the autoscaler does not scale, in its own word; "" if it does, or there is none.
	notScaling string
	// pods are the pods that are not terminating, reports their reports.
	pods    []corev1.Pod
	reports program.PodReports
	// reportsDue is how long to wait for pods that were never asked; 0 is not at all.
	reportsDue time.Duration

	// lookAgain is when to reconcile again if nothing happens before; 0 is never.
	lookAgain time.Duration
}

// These are all the controllers' permissions (docs/design/rbac.md, "The manager", says what each is for). A test records the requests of
// a manager with these and no others, and fails for a right that is missing or never used. What only the cache reads
// needs no get. The manager may read every Secret, because it reads the tokens' Secrets, and because RBAC lets nobody
// grant a right that they lack: each server gets the right to read its own Secrets. They delete
// only what an endpoint asked for and asks for no longer, while the endpoint itself stays.
//
// +kubebuilder:rbac:groups=mcpadmin.dev,resources=mcpendpoints;mcpmodelexposures;mcptokens,verbs=list;watch
// +kubebuilder:rbac:groups=mcpadmin.dev,resources=mcpendpoints/status;mcpmodelexposures/status;mcptokens/status,verbs=patch
// +kubebuilder:rbac:groups=core,resources=secrets,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=core,resources=configmaps;pods,verbs=list;watch
// Namespaces are read for their labels, by which an endpoint allows tokens of other namespaces. A manager that watches
// some namespaces only does not need it.
// +kubebuilder:rbac:groups=core,resources=namespaces,verbs=list;watch
// +kubebuilder:rbac:groups=core,resources=services;serviceaccounts,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=autoscaling,resources=horizontalpodautoscalers,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=roles;rolebindings,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
//
// An endpoint may stop asking for an Ingress, a NetworkPolicy, an HTTPRoute or a PodMonitor: only these kinds have the verb
// delete, and only an object with the endpoint's owner reference is deleted. The last two need not be installed, so they
// are not watched: the one object of an endpoint is read by its name, and none are listed.
//
// +kubebuilder:rbac:groups=networking.k8s.io,resources=ingresses;networkpolicies,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=gateway.networking.k8s.io,resources=httproutes,verbs=get;create;patch;delete
// +kubebuilder:rbac:groups=monitoring.coreos.com,resources=podmonitors,verbs=get;create;patch;delete

// Reconcile resolves what the endpoint needs, applies the workload once the Config is stored, and tells what the server's
// pods made of it. What fails on the way is in the status, and is tried again.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	endpoint := &v1alpha1.MCPEndpoint{}
	if err := r.Client.Get(ctx, request.NamespacedName, endpoint); client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	} else if err != nil || !endpoint.DeletionTimestamp.IsZero() {
		r.forget(request.NamespacedName)
		return ctrl.Result{}, nil
	}
	r.Status.Refresh(endpoint)
	if ctx = cluster.FreshLook(ctx, endpoint, endpoint.Status.LastHandledReconcileAt); cluster.LooksFresh(ctx) {
		r.Network.forget(request.NamespacedName)
	}
	s := &endpointScope{endpoint: endpoint, program: r.Store.Program(request.NamespacedName)}
	if s.config = s.program.Facts(); !s.config.Evaluates(endpoint) {
		return ctrl.Result{}, nil // the config reconciler wakes this one
	}
	if err := r.resolve(ctx, s); err != nil {
		return ctrl.Result{}, err
	}
	notApplied := r.applyWorkload(ctx, s)
	if other := (cluster.OtherManager{}); errors.As(notApplied, &other) {
		return ctrl.Result{RequeueAfter: cluster.YieldTime}, nil // its statuses count
	}
	notRouted := r.Network.apply(ctx, s)
	if err := r.observe(ctx, s); err != nil {
		return ctrl.Result{}, err
	}
	if s.reportsDue > 0 {
		// A manager that has just started keeps the reported state of the pods until it has asked them.
		s.wakeIn(s.reportsDue)
		return cluster.Result(s.lookAgain, errors.Join(notApplied, notRouted))
	}
	r.checkApprovals(ctx, s)
	r.publish(s)
	settles, notReported := r.Status.Write(ctx, endpoint, r.summarise(s))
	return cluster.Result(cluster.Soonest(s.lookAgain, settles), errors.Join(notApplied, notRouted, notReported))
}

func (r *Reconciler) forget(endpoint types.NamespacedName) {
	r.Poller.Observe(endpoint, "", nil)
	r.Store.Publish(endpoint, nil)
	r.Status.Forget(endpoint)
	r.Network.forget(endpoint)
	r.Children.Forget(endpoint)
	r.Rollouts.forget(endpoint)
}

// childProblem is the finding about a child that could not be applied, nil if it could, and the error if it has to be tried
// again.
func (s *endpointScope) childProblem(err error) (*condition.Finding, error) {
	var foreign cluster.OwnershipConflict
	var paused cluster.OwnerPaused
	switch {
	case err == nil:
		return nil, nil
	case errors.As(err, &paused):
		return new(condition.Fails(v1alpha1.ReasonPaused, paused.Error())), nil
	case errors.As(err, &foreign):
		s.wakeIn(cluster.ForeignRetry)
		return new(condition.Fails(v1alpha1.ReasonOwnershipConflict, foreign.Error())), nil
	case apierrors.IsInvalid(err):
		return new(condition.Fails(v1alpha1.ReasonInvalid, err.Error())), nil
	}
	return new(condition.Fails(v1alpha1.ReasonUnavailable, "the server's objects could not be applied; it is tried again"+refusal(err))), err
}

// observe reads the Deployment and its pods, and chooses the pods whose status is asked.
func (r *Reconciler) observe(ctx context.Context, s *endpointScope) error {
	defer cluster.TimeStep("MCPEndpoint", cluster.StepObserve)()
	found := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.endpoint.Namespace, Name: s.endpoint.ServiceName()}}
	if err := r.Children.Cached.Get(ctx, cluster.KeyOf(found), found); client.IgnoreNotFound(err) != nil {
		return err
	} else if err == nil && metav1.IsControlledBy(found, s.endpoint) {
		s.deployment = found
	}
	r.sawDeployment(ctx, s)
	if err := r.readAutoscaler(ctx, s); err != nil {
		return err
	}
	pods, counted, err := program.PodsOf(ctx, r.Children.Cached, s.endpoint, s.deployment)
	if err != nil {
		return err
	}
	if s.deployment != nil && s.program.CountPods(counted) && s.config.Main != nil && s.config.Main.Endpoint.CountsPods() {
		r.Store.Configs.Wake(cluster.KeyOf(s.endpoint)) // each pod has another share
	}
	r.Poller.Look(cluster.KeyOf(s.endpoint), cluster.LookRequest(s.endpoint, r.Exposures.Of(cluster.KeyOf(s.endpoint))))
	if main := s.config.Main; main != nil {
		r.Poller.Observe(cluster.KeyOf(s.endpoint), main.Endpoint.StatusKey, pods)
	}
	s.pods = pods
	if s.reports, s.reportsDue = program.Unreported(pods).Newest(r.Poller, cluster.KeyOf(s.endpoint)); s.reportsDue == 0 {
		r.report(s)
	}
	return nil
}

// report hands on what the pods say.
func (r *Reconciler) report(s *endpointScope) {
	now := r.Now()
	tokens, _ := s.program.Observe(s.reports, now)
	r.Store.Tokens.WakeAt(cluster.PriorityFinish, tokens...)
	if s.program.ConfigDue() {
		r.Store.Configs.Wake(cluster.KeyOf(s.endpoint))
	}
	if by := s.program.TakeOvertaken(); by > 0 {
		r.tellOvertaken(s.endpoint, by)
	}
	if left := s.program.AbsenceLeft(now); left > 0 {
		s.wakeIn(left)
	}
}

// tellOvertaken warns that what is stored is older than what a pod has had.
func (r *Reconciler) tellOvertaken(e *v1alpha1.MCPEndpoint, revision int64) {
	cluster.ConfigsOvertaken.Inc()
	r.Events.Eventf(e, nil, corev1.EventTypeWarning, "OlderConfig", "Reconcile", "A server pod has had revision %d of the Config, and the cluster "+
		"knows an older one: etcd or the Secrets were restored from a backup, or the Secrets were deleted. "+
		"Tokens that were revoked since the backup may be let in again: look at each, and delete those that should not be there", revision)
}

// Reported takes in the news of a pod. The endpoint's reconciler is woken only for what is more than a revision of tokens.
func (r *Reconciler) Reported(endpoint types.NamespacedName) {
	p, now := r.Store.Program(endpoint), r.Now()
	known, observed := p.KnownReports()
	if !observed {
		r.Store.Endpoints.Wake(endpoint)
		return
	}
	reports, due := known.Newest(r.Poller, endpoint)
	if due > 0 {
		r.Store.Endpoints.Wake(endpoint)
		return
	}
	tokens, others := p.Observe(reports, now)
	r.Store.Tokens.WakeAt(cluster.PriorityFinish, tokens...)
	if p.ConfigDue() {
		r.Store.Configs.Wake(endpoint)
	}
	if others {
		r.Store.Endpoints.Wake(endpoint)
	}
}

// publish tells the exposures' reconciler what was found about them.
func (r *Reconciler) publish(s *endpointScope) {
	all := r.Exposures.Of(cluster.KeyOf(s.endpoint))
	exposures := make(map[types.NamespacedName]program.ExposureFacts, len(all))
	for _, e := range all {
		verdict, compiled := s.config.Exposures[cluster.KeyOf(e)]
		if !compiled {
			continue
		}
		exposures[cluster.KeyOf(e)] = program.ExposureFacts{
			UID: e.UID, Generation: e.Generation, Verdict: verdict,
			Programmed: s.program.Programmed(verdict, r.Now()),
			Model:      s.reports.Servable(s.reports.Model(e.Name, string(e.UID), verdict.Revision)),
		}
	}
	r.Store.Publish(cluster.KeyOf(s.endpoint), exposures)
}

// wakeIn reconciles again after d at the latest.
func (s *endpointScope) wakeIn(d time.Duration) {
	s.lookAgain = cluster.Soonest(s.lookAgain, d)
}
