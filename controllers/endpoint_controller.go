package controllers

import (
	"context"
	"errors"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/observe"
)

// endpointReconciler runs the server that answers from an endpoint's Config, and writes the endpoint's status.
type endpointReconciler struct {
	client    client.Client
	children  *children
	exposures *tracked[*v1alpha1.MCPModelExposure]
	poller    *observe.Poller
	store     *store
	status    *statusWriter[*v1alpha1.MCPEndpoint, v1alpha1.MCPEndpointStatus]
	events    events.EventRecorder
	pod       podOptions
	network   *network
	secrets   optIn
	// namespaces tells whose tokens an endpoint admits.
	namespaces namespaces
	now        func() time.Time
	conflicts  *conflictWatches
	rollouts   *rollouts
}

// endpointScope holds what one reconcile knows.
type endpointScope struct {
	endpoint *v1alpha1.MCPEndpoint
	program  *program
	// config holds the known facts about the Config.
	config configFacts

	// connectionProblem names an object of the user's that the database needs and that is missing; nil if none is.
	connectionProblem *finding
	// certificateProblem says why the Secret of the endpoint's own certificate cannot be used; nil if it can, or none is
	// needed.
	certificateProblem *finding
	// workloadProblem says why the workload could not be applied; nil if it could.
	workloadProblem *finding
	deployment      *appsv1.Deployment
	// rolloutWaits reports whether the Deployment is changed when other endpoints are done.
	rolloutWaits bool
	// routed says what leads agents to the Service; monitored who reads the metrics, nil if nobody is asked to.
	routed    finding
	monitored *finding
	// notScaling is why the autoscaler does not scale, in its own word; "" if it does, or there is none.
	notScaling string
	// pods are the pods that are not terminating, reports their reports.
	pods    []corev1.Pod
	reports podReports
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
func (r *endpointReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	endpoint := &v1alpha1.MCPEndpoint{}
	if err := r.client.Get(ctx, request.NamespacedName, endpoint); client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	} else if err != nil || !endpoint.DeletionTimestamp.IsZero() {
		r.forget(request.NamespacedName)
		return ctrl.Result{}, nil
	}
	r.status.refresh(endpoint)
	if ctx = freshLook(ctx, endpoint, endpoint.Status.LastHandledReconcileAt); looksFresh(ctx) {
		r.network.forget(request.NamespacedName)
	}
	s := &endpointScope{endpoint: endpoint, program: r.store.program(request.NamespacedName)}
	if s.config = s.program.facts(); !s.config.evaluates(endpoint) {
		return ctrl.Result{}, nil // the config reconciler wakes this one
	}
	if err := r.resolve(ctx, s); err != nil {
		return ctrl.Result{}, err
	}
	notApplied := r.applyWorkload(ctx, s)
	if other := (otherManager{}); errors.As(notApplied, &other) {
		return ctrl.Result{RequeueAfter: yieldTime}, nil // its statuses count
	}
	notRouted := r.network.apply(ctx, s)
	if err := r.observe(ctx, s); err != nil {
		return ctrl.Result{}, err
	}
	if s.reportsDue > 0 {
		// A manager that has just started keeps the reported state of the pods until it has asked them.
		s.wakeIn(s.reportsDue)
		return result(s.lookAgain, errors.Join(notApplied, notRouted))
	}
	r.publish(s)
	settles, notReported := r.status.write(ctx, endpoint, r.summarise(s))
	return result(soonest(s.lookAgain, settles), errors.Join(notApplied, notRouted, notReported))
}

func (r *endpointReconciler) forget(endpoint types.NamespacedName) {
	r.poller.Observe(endpoint, "", nil)
	r.store.publish(endpoint, nil)
	r.status.forget(endpoint)
	r.network.forget(endpoint)
	r.children.forget(endpoint)
	r.rollouts.forget(endpoint)
}

// childProblem is the finding about a child that could not be applied, nil if it could, and the error if it has to be tried
// again.
func (s *endpointScope) childProblem(err error) (*finding, error) {
	var foreign ownershipConflict
	var paused ownerPaused
	switch {
	case err == nil:
		return nil, nil
	case errors.As(err, &paused):
		return new(fails(v1alpha1.ReasonPaused, paused.Error())), nil
	case errors.As(err, &foreign):
		s.wakeIn(foreignRetry)
		return new(fails(v1alpha1.ReasonOwnershipConflict, foreign.Error())), nil
	case apierrors.IsInvalid(err):
		return new(fails(v1alpha1.ReasonInvalid, err.Error())), nil
	}
	return new(fails(v1alpha1.ReasonUnavailable, "the server's objects could not be applied; it is tried again"+refusal(err))), err
}

// observe reads the Deployment and its pods, and chooses the pods whose status is asked.
func (r *endpointReconciler) observe(ctx context.Context, s *endpointScope) error {
	defer timeStep("MCPEndpoint", stepObserve)()
	found := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.endpoint.Namespace, Name: s.endpoint.ServiceName()}}
	if err := r.children.cached.Get(ctx, keyOf(found), found); client.IgnoreNotFound(err) != nil {
		return err
	} else if err == nil && metav1.IsControlledBy(found, s.endpoint) {
		s.deployment = found
	}
	r.sawDeployment(ctx, s)
	if err := r.readAutoscaler(ctx, s); err != nil {
		return err
	}
	pods, err := podsOf(ctx, r.children.cached, s.endpoint, s.deployment)
	if err != nil {
		return err
	}
	r.poller.Look(keyOf(s.endpoint), lookRequest(s.endpoint, r.exposures.of(keyOf(s.endpoint))))
	if main := s.config.main; main != nil {
		r.poller.Observe(keyOf(s.endpoint), main.Endpoint.StatusKey, pods)
	}
	s.pods = pods
	if s.reports, s.reportsDue = unreported(pods).newest(r.poller, keyOf(s.endpoint)); s.reportsDue == 0 {
		r.report(s)
	}
	return nil
}

// report hands on what the pods say.
func (r *endpointReconciler) report(s *endpointScope) {
	now := r.now()
	tokens, _ := s.program.observe(s.reports, now)
	r.store.tokens.wake(tokens...)
	if s.program.configDue() {
		r.store.configs.wake(keyOf(s.endpoint))
	}
	if by := s.program.takeOvertaken(); by > 0 {
		r.tellOvertaken(s.endpoint, by)
	}
	if left := s.program.absenceLeft(now); left > 0 {
		s.wakeIn(left)
	}
}

// tellOvertaken warns that what is stored is older than what a pod has had.
func (r *endpointReconciler) tellOvertaken(e *v1alpha1.MCPEndpoint, revision int64) {
	configsOvertaken.Inc()
	r.events.Eventf(e, nil, corev1.EventTypeWarning, "OlderConfig", "Reconcile", "A server pod has had revision %d of the Config, and the cluster "+
		"knows an older one: etcd or the Secrets were restored from a backup, or the Secrets were deleted. "+
		"Tokens that were revoked since the backup may be let in again: look at each, and delete those that should not be there", revision)
}

// reported takes in the news of a pod. The endpoint's reconciler is woken only for what is more than a revision of tokens.
func (r *endpointReconciler) reported(endpoint types.NamespacedName) {
	p, now := r.store.program(endpoint), r.now()
	known, observed := p.knownReports()
	if !observed {
		r.store.endpoints.wake(endpoint)
		return
	}
	reports, due := known.newest(r.poller, endpoint)
	if due > 0 {
		r.store.endpoints.wake(endpoint)
		return
	}
	tokens, others := p.observe(reports, now)
	r.store.tokens.wake(tokens...)
	if p.configDue() {
		r.store.configs.wake(endpoint)
	}
	if others {
		r.store.endpoints.wake(endpoint)
	}
}

// publish tells the exposures' reconciler what was found about them.
func (r *endpointReconciler) publish(s *endpointScope) {
	all := r.exposures.of(keyOf(s.endpoint))
	exposures := make(map[types.NamespacedName]exposureFacts, len(all))
	for _, e := range all {
		verdict, compiled := s.config.exposures[keyOf(e)]
		if !compiled {
			continue
		}
		exposures[keyOf(e)] = exposureFacts{
			UID: e.UID, Generation: e.Generation, Verdict: verdict,
			Programmed: s.program.programmed(verdict, r.now()),
			Model:      s.reports.servable(s.reports.model(e.Name, string(e.UID), verdict.Revision)),
		}
	}
	r.store.publish(keyOf(s.endpoint), exposures)
}

// wakeIn reconciles again after d at the latest.
func (s *endpointScope) wakeIn(d time.Duration) {
	s.lookAgain = soonest(s.lookAgain, d)
}

// soonest returns the shorter of two times to wait; 0 is forever.
func soonest(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// result makes the result of every reconcile. Only it decides when an error is tried again. A conflict means that the
// object has changed: it is read again at once. Other errors are tried again after a pause that grows. An error because the
// namespace is being deleted is ignored. Without an error the object is looked at again after lookAgain; 0 is never.
func result(lookAgain time.Duration, err error) (ctrl.Result, error) {
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: conflictRetry}, nil
	}
	if err == nil || endsWithNamespace(err) {
		return ctrl.Result{RequeueAfter: lookAgain}, nil
	}
	return ctrl.Result{}, err
}

// endsWithNamespace reports whether something could not be made because its namespace is being deleted, which is no failure.
func endsWithNamespace(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}
