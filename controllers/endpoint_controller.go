package controllers

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/controllers/observe"
)

const (
	// gatherTime is how long an addition may wait for others before the Config is written (docs/design/controllers.md,
	// "Gathering changes").
	gatherTime = 100 * time.Millisecond
	// conflictRetry is how long to wait before writing a Config again after somebody else wrote it.
	conflictRetry = 50 * time.Millisecond
	// foreignRetry is how long to wait before trying a name again that another object has. No event tells when it is
	// free.
	foreignRetry = 30 * time.Second
)

// endpointReconciler compiles the objects of an endpoint into its Config, and runs the server that answers from it.
type endpointReconciler struct {
	client   client.Client
	children *children
	configs  *configSecrets
	webhooks *webhookSecrets
	poller   *observe.Poller
	store    *store
	status   *statusWriter[*v1alpha1.MCPEndpoint, v1alpha1.MCPEndpointStatus]
	pod      podOptions
	secrets  optIn
	// namespaces tells whose tokens an endpoint admits.
	namespaces namespaces
	now        func() time.Time

	// gathering is the time from which an addition to an endpoint's Config has waited for others.
	gathering memo[types.NamespacedName, time.Time]
	absences  absences
}

// endpointScope is what one reconcile knows.
type endpointScope struct {
	endpoint  *v1alpha1.MCPEndpoint
	exposures []v1alpha1.MCPModelExposure
	tokens    []v1alpha1.MCPToken
	// namespaceLabels are those of the tokens' namespaces, beside the endpoint's own.
	namespaceLabels map[string]map[string]string
	// credentials are those of the tokens that were looked up.
	credentials map[types.NamespacedName]compile.Credential
	// webhookSecrets are those of the exposures' webhooks by name, webhookError why some of them could not be read.
	webhookSecrets map[string]compile.WebhookSecret
	webhookError   error

	// floor is the highest revision that was ever written, as far as anything still tells.
	floor int64
	// stored is the Config that is written; config the one that is wanted, nil if the endpoint was never valid.
	stored   storedConfig
	config   *contract.Config
	verdicts compile.Verdicts
	// configProblem says why the wanted Config could not be stored; nil if it could.
	configProblem *finding

	// connectionProblem names an object of the user's that the database needs and that is missing; nil if none is.
	connectionProblem *finding
	// certificateProblem says why the Secret of the endpoint's own certificate cannot be used; nil if it can, or none is
	// needed.
	certificateProblem *finding
	// workloadProblem says why the workload could not be applied; nil if it could.
	workloadProblem *finding
	deployment      *appsv1.Deployment
	// pods are those that are not terminating, reports what each of them says.
	pods    []corev1.Pod
	reports podReports
	// reportsDue is how long to wait for pods that were never asked; 0 is not at all.
	reportsDue time.Duration
	// revisionBefore is the revision that the pods had before they all went, a moment ago; 0 if some are there.
	revisionBefore int64

	// lookAgain is when to reconcile again if nothing happens before; 0 is never.
	lookAgain time.Duration
}

// These are all the controllers' permissions (docs/design/rbac.md, "The manager", says what each is for). A test records the requests of
// a manager with these and no others, and fails for a right that is missing or never used. What only the cache reads
// needs no get. The manager may read every Secret, because it reads the tokens' Secrets, and because RBAC lets nobody
// grant a right that they lack: each server gets the right to read its own Secrets.
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
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=roles;rolebindings,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile resolves what the endpoint needs, compiles, writes the Config first and the workload second, and tells what
// the server's pods made of it. What fails on the way is in the status, and is tried again.
func (r *endpointReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	endpoint := &v1alpha1.MCPEndpoint{}
	if err := r.client.Get(ctx, request.NamespacedName, endpoint); client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	} else if err != nil || !endpoint.DeletionTimestamp.IsZero() {
		r.forget(request.NamespacedName)
		return ctrl.Result{}, nil
	}
	r.status.refresh(endpoint)
	s := &endpointScope{endpoint: endpoint}
	if err := r.resolve(ctx, s); err != nil {
		return ctrl.Result{}, err
	}
	r.compile(s)
	if wait := r.gather(s); wait > 0 {
		return ctrl.Result{RequeueAfter: wait}, nil
	}
	notWritten := r.writeConfig(ctx, s)
	if apierrors.IsConflict(notWritten) {
		return result(0, notWritten) // somebody else wrote it; what was read is of no use
	}
	notApplied := r.applyWorkload(ctx, s)
	if err := r.observe(ctx, s); err != nil {
		return ctrl.Result{}, err
	}
	if s.reportsDue > 0 {
		// A manager that has just started keeps the reported state of the pods until it has asked them.
		s.wakeIn(s.reportsDue)
		return result(s.lookAgain, errors.Join(notWritten, notApplied, s.webhookError))
	}
	r.publish(s)
	notReported := r.status.write(ctx, endpoint, r.summarise(s))
	return result(s.lookAgain, errors.Join(notWritten, notApplied, notReported, s.webhookError))
}

func (r *endpointReconciler) forget(endpoint types.NamespacedName) {
	r.poller.Observe(endpoint, "", nil)
	r.store.rights.forget(endpoint)
	r.store.publish(endpoint, nil, nil)
	r.configs.forget(endpoint)
	r.webhooks.read.forget(endpoint)
	r.status.written.forget(endpoint)
	r.absences.forget(endpoint)
	r.gathering.forget(endpoint)
}

// compile decides what the Config should be, and what becomes of each object.
func (r *endpointReconciler) compile(s *endpointScope) {
	defer timeStep("MCPEndpoint", stepCompile)()
	now := r.now()
	s.credentials = r.store.credentialsOf(s.tokens)
	in := compile.Inputs{
		Endpoint:    s.endpoint,
		Exposures:   s.exposures,
		Tokens:      s.tokens,
		Credentials: s.credentials,
		Webhooks:    s.webhookSecrets,
		Now:         now,
		Previous:    s.stored.config,
		Floor:       max(s.floor, s.stored.floor),

		NamespaceLabels: s.namespaceLabels,
		SomeNamespaces:  r.namespaces.some,
	}
	if in.Previous != nil {
		in.StatusKey, in.SealKey = in.Previous.Endpoint.StatusKey, in.Previous.Endpoint.SealKey
	} else {
		in.StatusKey, in.SealKey = rand.Text(), contract.NewSealKey()
	}
	s.config, s.verdicts = compile.Compile(in)
	if !s.verdicts.LookAgain.IsZero() {
		s.wakeIn(max(s.verdicts.LookAgain.Sub(now), time.Millisecond))
	}
}

// floor is the highest revision that was ever written, as far as this process and the objects' statuses still tell. A
// new Config continues above it; otherwise the pods' old revision would look like the new one.
func (r *endpointReconciler) floor(s *endpointScope) int64 {
	floor := max(s.endpoint.Status.Revision, r.configs.highest(keyOf(s.endpoint)))
	for i := range s.exposures {
		floor = max(floor, s.exposures[i].Status.Revision)
	}
	for i := range s.tokens {
		floor = max(floor, s.tokens[i].Status.Revision)
	}
	return floor
}

// gather returns how long to wait before a change is written that takes nothing away; 0 is not at all.
func (r *endpointReconciler) gather(s *endpointScope) time.Duration {
	key := keyOf(s.endpoint)
	if s.config == nil || s.isWritten() || s.configProblem != nil || !compile.OnlyAdds(s.stored.config, s.config) {
		r.gathering.forget(key)
		return 0
	}
	since, waiting := r.gathering.get(key)
	if !waiting {
		since = r.now()
		r.gathering.set(key, since)
	}
	if wait := gatherTime - r.now().Sub(since); wait > 0 {
		return wait
	}
	r.gathering.forget(key)
	return 0
}

// isWritten reports whether the wanted Config is the stored one.
func (s *endpointScope) isWritten() bool {
	return s.config != nil && s.stored.config != nil && s.config.Revision == s.stored.config.Revision
}

// applyWorkload applies the server's objects as the endpoint wants them. It leaves the objects of an invalid endpoint
// alone.
func (r *endpointReconciler) applyWorkload(ctx context.Context, s *endpointScope) error {
	defer timeStep("MCPEndpoint", stepApplyWorkload)()
	if !s.verdicts.Endpoint.Accepted || s.workloadProblem != nil {
		return nil
	}
	e := s.endpoint
	if !r.pod.allows(e) {
		message := "the manager's --allow-server-image does not allow the image " + quote(e.Spec.Server.Image) + "; name an allowed image, or none"
		s.workloadProblem = &finding{status: metav1.ConditionFalse, reason: v1alpha1.ReasonImageNotAllowed, message: message, stalled: true}
		return nil
	}
	meta := metav1.ObjectMeta{Namespace: e.Namespace, Name: e.ServiceName()}
	for _, child := range []struct {
		have client.Object
		want runtime.ApplyConfiguration
	}{
		{&corev1.ServiceAccount{ObjectMeta: meta}, serviceAccount(e)},
		{&rbacv1.Role{ObjectMeta: meta}, role(e)},
		{&rbacv1.RoleBinding{ObjectMeta: meta}, roleBinding(e)},
		{&corev1.Service{ObjectMeta: meta}, service(e)},
		{&appsv1.Deployment{ObjectMeta: meta}, deployment(e, r.pod)},
	} {
		err := r.children.apply(ctx, e, child.have, child.want)
		var foreign ownershipConflict
		switch {
		case errors.As(err, &foreign):
			s.workloadProblem = new(fails(v1alpha1.ReasonOwnershipConflict, foreign.Error()))
			s.wakeIn(foreignRetry)
			return nil
		case apierrors.IsInvalid(err):
			s.workloadProblem = &finding{status: metav1.ConditionFalse, reason: v1alpha1.ReasonInvalid, message: err.Error(), stalled: true}
			return nil
		case err != nil:
			s.workloadProblem = new(fails(v1alpha1.ReasonUnavailable, "the server's objects could not be applied; it is tried again"+refusal(err)))
			return err
		}
	}
	return nil
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
	pods, err := livingPods(ctx, r.children.cached, s.endpoint, s.deployment)
	if err != nil {
		return err
	}
	if s.stored.config != nil {
		r.poller.Observe(keyOf(s.endpoint), s.stored.config.Endpoint.StatusKey, pods)
	} else if s.config != nil && s.configProblem == nil {
		r.poller.Observe(keyOf(s.endpoint), s.config.Endpoint.StatusKey, pods)
	}
	s.pods = pods
	s.reports, s.reportsDue = reportsOf(r.poller, s.endpoint, pods)
	before, left := r.absences.note(keyOf(s.endpoint), s.reports, r.now())
	if s.revisionBefore = before; before > 0 {
		s.wakeIn(left)
	}
	return nil
}

// publish tells the other reconcilers what was found about their objects.
func (r *endpointReconciler) publish(s *endpointScope) {
	exposures := make(map[types.NamespacedName]exposureFacts, len(s.exposures))
	for i := range s.exposures {
		e := &s.exposures[i]
		verdict, compiled := s.verdicts.Exposures[keyOf(e)]
		if !compiled {
			continue
		}
		exposures[keyOf(e)] = exposureFacts{
			UID: e.UID, Generation: e.Generation, Verdict: verdict,
			Programmed: s.programmed(verdict),
			Model:      s.reports.servable(s.reports.model(e.Name, string(e.UID), verdict.Revision)),
		}
	}
	tokens := make(map[types.NamespacedName]tokenFacts, len(s.tokens))
	for i := range s.tokens {
		t := &s.tokens[i]
		verdict, compiled := s.verdicts.Tokens[keyOf(t)]
		if !compiled {
			continue
		}
		tokens[keyOf(t)] = tokenFacts{
			UID: t.UID, Generation: t.Generation, Credential: s.credentials[keyOf(t)], Verdict: verdict,
			Programmed: s.programmed(verdict.Verdict),
		}
	}
	r.store.rights.set(keyOf(s.endpoint), compile.NewRegistry(s.config))
	r.store.publish(keyOf(s.endpoint), exposures, tokens)
}

// programmed reports whether an object's entry has reached every pod.
func (s *endpointScope) programmed(verdict compile.Verdict) finding {
	switch {
	case verdict.Revision == 0:
		return fails(verdict.Reason, verdict.Message)
	case s.configProblem != nil && (s.stored.config == nil || verdict.Revision > s.stored.config.Revision):
		return *s.configProblem
	case verdict.Revision <= s.revisionBefore:
		return applied(verdict.Revision)
	}
	return s.reports.programmed(verdict.Revision)
}

// wakeIn reconciles again after d at the latest.
func (s *endpointScope) wakeIn(d time.Duration) {
	if s.lookAgain == 0 || d < s.lookAgain {
		s.lookAgain = d
	}
}

// result is that of every reconcile, and the one place that says when an error is tried again. A conflict means that the
// object has changed: it is read again at once. Other errors are tried again after a pause that grows. An error because
// the namespace is being deleted is ignored. Without an error the object is looked at again after lookAgain; 0 is never.
func result(lookAgain time.Duration, err error) (ctrl.Result, error) {
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: conflictRetry}, nil
	}
	if err == nil || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return ctrl.Result{RequeueAfter: lookAgain}, nil
	}
	return ctrl.Result{}, err
}
