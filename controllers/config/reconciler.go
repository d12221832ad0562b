package config

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	"github.com/mcp-admin/mcp-admin-operator/controllers/program"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// writeBatch is how many parts one reconcile writes, so that a revocation does not wait for a growing layout.
const writeBatch = 16

// Reconciler compiles the objects of an endpoint, and writes the parts of its Config that have changed. It is the
// only one that does. It does nothing else, so that a revocation waits for nothing else.
type Reconciler struct {
	Client    client.Client
	Exposures *cluster.Tracked[*v1alpha1.MCPModelExposure]
	Tokens    *cluster.Tracked[*v1alpha1.MCPToken]
	Approvals *cluster.Tracked[*v1alpha1.MCPApproval]
	// ApprovalPolicy tells whether what people decided was checked.
	ApprovalPolicy *cluster.ApprovalPolicy
	// Namespaces tells which of the tokens an endpoint admits.
	Namespaces cluster.Namespaces
	Secrets    *program.ConfigSecrets
	Webhooks   *WebhookSecrets
	Store      *program.Store
	Now        func() time.Time
}

// Reconcile compiles what has changed, and writes the parts that differ from what is stored: what takes access away
// first. That is tried again soon, however often it failed.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	result, err := r.reconcile(ctx, request)
	p := r.Store.Known(request.NamespacedName)
	switch {
	case p == nil:
		return result, err
	case err == nil:
		p.RemovalTried()
		return result, nil
	}
	if wait := p.RetryRemoval(); wait > 0 {
		ctrl.LoggerFrom(ctx).Error(err, "What takes access away could not be written; it is tried again", "endpoint", klog.KRef(request.Namespace, request.Name))
		return ctrl.Result{RequeueAfter: wait}, nil
	}
	return result, err
}

func (r *Reconciler) reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	endpoint := &v1alpha1.MCPEndpoint{}
	if err := r.Client.Get(ctx, request.NamespacedName, endpoint); client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	} else if err != nil || !endpoint.DeletionTimestamp.IsZero() {
		r.forget(request.NamespacedName)
		return ctrl.Result{}, nil
	}
	p := r.Store.Program(request.NamespacedName)
	p.ChangeCame(r.Now())
	seen := r.removals(request.NamespacedName)
	if p.Awaits(seen) {
		p.RemovalCame(r.Now())
	}
	if err := r.load(ctx, endpoint, p); err != nil {
		return r.notLoaded(p, request.NamespacedName, err)
	}
	if ctx = cluster.FreshLook(ctx, endpoint, endpoint.Status.LastHandledReconcileAt); cluster.LooksFresh(ctx) {
		p.DoubtAll(endpoint)
		p.AllTokensChanged()
		r.Webhooks.read.Forget(request.NamespacedName)
	}
	if err := r.recheck(ctx, endpoint, p); err != nil {
		return r.notLoaded(p, request.NamespacedName, err)
	}
	if wait := p.Rest(endpoint, seen, r.Now()); wait > 0 {
		return ctrl.Result{RequeueAfter: wait}, nil
	}
	exposures := r.Exposures.Of(request.NamespacedName)
	webhooks, webhookError := r.Webhooks.resolve(ctx, endpoint, exposures)
	tokens, changed, err := r.changedTokens(ctx, endpoint, p)
	if err != nil {
		return ctrl.Result{}, err
	}
	began := r.Now()
	lookAgain := r.compile(endpoint, p, compile.Objects{Exposures: exposures, Tokens: tokens, Changed: changed, Webhooks: webhooks, Decisions: r.decisions(ctx, endpoint)})
	p.CompiledIn(r.Now().Sub(began), seen, r.Now())
	if wait := p.Gather(r.Now()); wait > 0 {
		return cluster.Result(wait, webhookError)
	}
	wait, err := r.write(ctx, endpoint, p, func() bool { return r.removals(request.NamespacedName) != seen })
	return cluster.Result(cluster.Soonest(wait, lookAgain), errors.Join(err, webhookError))
}

// changedTokens returns the endpoint's changed tokens, and the names of the changed and the deleted ones; all tokens and
// nil if nobody knows which.
func (r *Reconciler) changedTokens(ctx context.Context, e *v1alpha1.MCPEndpoint, p *program.Program) ([]*v1alpha1.MCPToken, []types.NamespacedName, error) {
	var tokens []*v1alpha1.MCPToken
	changed := p.TakeChangedTokens(e)
	if changed == nil {
		tokens = r.Tokens.Of(cluster.KeyOf(e))
	} else {
		tokens = r.Tokens.Some(cluster.KeyOf(e), changed)
	}
	tokens, err := r.Namespaces.Admitted(ctx, e, tokens)
	if err != nil {
		p.AllTokensChanged()
	}
	return tokens, changed, err
}

// removals is how many changes have come that may take something away at an endpoint.
func (r *Reconciler) removals(endpoint types.NamespacedName) int {
	return r.Exposures.RemovalsOf(endpoint) + r.Tokens.RemovalsOf(endpoint) + r.Approvals.RemovalsOf(endpoint)
}

// decisions are what people decided about calls of the endpoint's tokens. They are made of the objects each time, so that a manager that has
// just started takes nothing back.
func (r *Reconciler) decisions(ctx context.Context, e *v1alpha1.MCPEndpoint) map[types.NamespacedName][]contract.Decision {
	approvals := r.Approvals.Of(cluster.KeyOf(e))
	if !slices.ContainsFunc(approvals, func(a *v1alpha1.MCPApproval) bool { return len(a.Spec.Decisions) > 0 || a.Ended() }) {
		return nil
	}
	token := func(key types.NamespacedName) *v1alpha1.MCPToken {
		found := r.Tokens.Some(cluster.KeyOf(e), []types.NamespacedName{key})
		if len(found) == 0 || !found[0].DeletionTimestamp.IsZero() {
			return nil
		}
		return found[0]
	}
	return compile.Decisions(approvals, e, token, r.ApprovalPolicy.Force(ctx, approvals...), r.Now())
}

func (r *Reconciler) forget(endpoint types.NamespacedName) {
	if p := r.Store.Drop(endpoint); p != nil {
		for _, name := range p.SecretNames(endpoint.Name) {
			r.Secrets.Forget(endpoint.Namespace, name)
		}
	}
	r.Webhooks.read.Forget(endpoint)
	r.Exposures.Forget(endpoint)
	r.Tokens.Forget(endpoint)
	r.Approvals.Forget(endpoint)
}

// load reads the stored Config, once.
func (r *Reconciler) load(ctx context.Context, e *v1alpha1.MCPEndpoint, p *program.Program) error {
	if p.IsLoaded() {
		return nil
	}
	base := e.ConfigSecretName()
	stored := compile.Stored{Floor: r.floor(e), StatusKey: rand.Text(), SealKey: contract.NewSealKey()}
	main, err := r.Secrets.Read(ctx, e, contract.MainSecret(base))
	if err != nil {
		return err
	}
	parts := 1
	if main.Part != nil {
		if stored.Main, err = contract.DecodeMain(main.Part); err != nil {
			stored.Floor = max(stored.Floor, main.Part.Revision())
			ctrl.LoggerFrom(ctx).Info("A stored Config cannot be read; it is made anew", "reason", err.Error())
		} else {
			parts = stored.Main.Layout.Parts
		}
	}
	for i := range parts {
		read, err := r.Secrets.Read(ctx, e, contract.TokensSecret(base, i))
		if err != nil {
			return err
		}
		if read.Part == nil {
			continue
		}
		if part, err := contract.DecodeTokens(read.Part, i); err == nil {
			stored.Parts = append(stored.Parts, part)
		} else {
			stored.Floor = max(stored.Floor, read.Part.Revision())
		}
	}
	p.Start(compile.NewCompiler(stored))
	return nil
}

// recheck reads the parts that somebody else may have changed or deleted.
func (r *Reconciler) recheck(ctx context.Context, e *v1alpha1.MCPEndpoint, p *program.Program) error {
	doubts := p.Doubted()
	if len(doubts) == 0 {
		return nil
	}
	for index := range p.Parts() {
		name := cluster.PartName(e, index)
		if !doubts[name] {
			continue
		}
		read, err := r.Secrets.Read(ctx, e, name)
		if err != nil {
			p.Doubt(name)
			return err
		}
		p.Found(index, read)
	}
	return nil
}

// notLoaded is the result if a Secret of the Config could not be read.
func (r *Reconciler) notLoaded(p *program.Program, endpoint types.NamespacedName, err error) (ctrl.Result, error) {
	var foreign cluster.OwnershipConflict
	if !errors.As(err, &foreign) {
		return cluster.Result(0, err)
	}
	if p.SetProblem(new(condition.Fails(v1alpha1.ReasonOwnershipConflict, foreign.Error()))) {
		r.Store.Endpoints.Wake(endpoint)
		for _, t := range r.Tokens.Of(endpoint) {
			r.Store.Tokens.Wake(cluster.KeyOf(t))
		}
	}
	return cluster.Result(cluster.ForeignRetry, nil)
}

// floor is the highest revision that was ever written, as far as the objects' statuses still tell. A new Config continues
// above it; otherwise the pods' old revision would look like the new one.
func (r *Reconciler) floor(e *v1alpha1.MCPEndpoint) int64 {
	floor := e.Status.Revision
	for _, exposure := range r.Exposures.Of(cluster.KeyOf(e)) {
		floor = max(floor, exposure.Status.Revision)
	}
	for _, token := range r.Tokens.Of(cluster.KeyOf(e)) {
		floor = max(floor, token.Status.Revision)
	}
	return floor
}

// compile compiles what has changed, and wakes the reconcilers of the objects that it concerns. It returns how long that
// holds; 0 is forever.
func (r *Reconciler) compile(e *v1alpha1.MCPEndpoint, p *program.Program, objects compile.Objects) time.Duration {
	defer cluster.TimeStep("Config", cluster.StepCompile)()
	now := r.Now()
	objects.Endpoint, objects.Credential, objects.Now = e, r.Store.Credential, now
	outcome := p.Update(objects)
	r.Store.Tokens.Wake(outcome.Tokens...)
	if outcome.Main {
		r.Store.Endpoints.Wake(cluster.KeyOf(e))
	} else if len(outcome.Tokens) > 0 {
		r.Store.Endpoints.WakeAfter(countDelay, cluster.KeyOf(e))
	}
	if outcome.LookAgain.IsZero() {
		return 0
	}
	return max(outcome.LookAgain.Sub(now), time.Millisecond)
}

// countDelay is how long the number of tokens in an endpoint's status may be out of date: it is not worth a write for each
// of many tokens.
const countDelay = 5 * time.Second
