package controllers

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

const (
	// gatherTime is how long an addition may wait for others before it is written (docs/design/controllers.md,
	// "Gathering changes").
	gatherTime = 100 * time.Millisecond
	// gatherShare is how many times as long as the last additions took to write the next ones wait at least, so that ten
	// thousand new tokens do not keep the API server busy with parts that are soon written again. maxGatherTime is the longest.
	gatherShare   = 2
	maxGatherTime = 5 * time.Second
	// restShare is how many times as long as compiling took a program rests before it compiles what only adds; maxRest is the
	// longest. What took less than minCompile is not worth a rest.
	restShare  = 2
	maxRest    = 250 * time.Millisecond
	minCompile = 5 * time.Millisecond
)

// conflictRetry is how long to wait before writing again after somebody else wrote.
const conflictRetry = 50 * time.Millisecond

// writeBatch is how many parts one reconcile writes, so that a revocation does not wait for a growing layout.
const writeBatch = 16

// configReconciler compiles the objects of an endpoint, and writes the parts of its Config that have changed. It is the
// only one that does. It does nothing else, so that a revocation waits for nothing else.
type configReconciler struct {
	client    client.Client
	exposures *tracked[*v1alpha1.MCPModelExposure]
	tokens    *tracked[*v1alpha1.MCPToken]
	// namespaces tells which of the tokens an endpoint admits.
	namespaces namespaces
	secrets    *configSecrets
	webhooks   *webhookSecrets
	store      *store
	now        func() time.Time
}

// Reconcile compiles what has changed, and writes the parts that differ from what is stored: what takes access away
// first. That is tried again soon, however often it failed.
func (r *configReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	result, err := r.reconcile(ctx, request)
	p := r.store.known(request.NamespacedName)
	switch {
	case p == nil:
		return result, err
	case err == nil:
		p.removalTried()
		return result, nil
	}
	if wait := p.retryRemoval(); wait > 0 {
		ctrl.LoggerFrom(ctx).Error(err, "What takes access away could not be written; it is tried again", "endpoint", klog.KRef(request.Namespace, request.Name))
		return ctrl.Result{RequeueAfter: wait}, nil
	}
	return result, err
}

func (r *configReconciler) reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	endpoint := &v1alpha1.MCPEndpoint{}
	if err := r.client.Get(ctx, request.NamespacedName, endpoint); client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	} else if err != nil || !endpoint.DeletionTimestamp.IsZero() {
		r.forget(request.NamespacedName)
		return ctrl.Result{}, nil
	}
	p := r.store.program(request.NamespacedName)
	seen := r.removals(request.NamespacedName)
	if p.awaits(seen) {
		p.removalCame(r.now())
	}
	if err := r.load(ctx, endpoint, p); err != nil {
		return r.notLoaded(p, request.NamespacedName, err)
	}
	if ctx = freshLook(ctx, endpoint, endpoint.Status.LastHandledReconcileAt); looksFresh(ctx) {
		p.doubtAll(endpoint)
		p.allTokensChanged()
		r.webhooks.read.forget(request.NamespacedName)
	}
	if err := r.recheck(ctx, endpoint, p); err != nil {
		return r.notLoaded(p, request.NamespacedName, err)
	}
	if wait := p.rest(endpoint, seen, r.now()); wait > 0 {
		return ctrl.Result{RequeueAfter: wait}, nil
	}
	exposures := r.exposures.of(request.NamespacedName)
	webhooks, webhookError := r.webhooks.resolve(ctx, request.NamespacedName, exposures)
	tokens, changed, err := r.changedTokens(ctx, endpoint, p)
	if err != nil {
		return ctrl.Result{}, err
	}
	began := r.now()
	lookAgain := r.compile(endpoint, p, compile.Objects{Exposures: exposures, Tokens: tokens, Changed: changed, Webhooks: webhooks})
	p.compiledIn(r.now().Sub(began), seen, r.now())
	if wait := p.gather(r.now()); wait > 0 {
		return result(wait, webhookError)
	}
	wait, err := r.write(ctx, endpoint, p, func() bool { return r.removals(request.NamespacedName) != seen })
	return result(soonest(wait, lookAgain), errors.Join(err, webhookError))
}

// changedTokens returns the endpoint's changed tokens, and the names of the changed and the deleted ones; all tokens and
// nil if nobody knows which.
func (r *configReconciler) changedTokens(ctx context.Context, e *v1alpha1.MCPEndpoint, p *program) ([]*v1alpha1.MCPToken, []types.NamespacedName, error) {
	var tokens []*v1alpha1.MCPToken
	changed := p.takeChangedTokens(e)
	if changed == nil {
		tokens = r.tokens.of(keyOf(e))
	} else {
		tokens = r.tokens.some(keyOf(e), changed)
	}
	tokens, err := r.namespaces.admitted(ctx, e, tokens)
	if err != nil {
		p.allTokensChanged()
	}
	return tokens, changed, err
}

// removals is how many changes have come that may take something away at an endpoint.
func (r *configReconciler) removals(endpoint types.NamespacedName) int {
	return r.exposures.removalsOf(endpoint) + r.tokens.removalsOf(endpoint)
}

func (r *configReconciler) forget(endpoint types.NamespacedName) {
	if p := r.store.drop(endpoint); p != nil {
		for _, name := range p.secretNames(endpoint.Name) {
			r.secrets.forget(endpoint.Namespace, name)
		}
	}
	r.webhooks.read.forget(endpoint)
	r.exposures.forget(endpoint)
	r.tokens.forget(endpoint)
}

// load reads the stored Config, once.
func (r *configReconciler) load(ctx context.Context, e *v1alpha1.MCPEndpoint, p *program) error {
	if p.isLoaded() {
		return nil
	}
	base := e.ConfigSecretName()
	stored := compile.Stored{Floor: r.floor(e), StatusKey: rand.Text(), SealKey: contract.NewSealKey()}
	main, err := r.secrets.read(ctx, e, contract.MainSecret(base))
	if err != nil {
		return err
	}
	parts := 1
	if main.part != nil {
		if stored.Main, err = contract.DecodeMain(main.part); err != nil {
			stored.Floor = max(stored.Floor, main.part.Revision())
			ctrl.LoggerFrom(ctx).Info("A stored Config cannot be read; it is made anew", "reason", err.Error())
		} else {
			parts = stored.Main.Layout.Parts
		}
	}
	for i := range parts {
		read, err := r.secrets.read(ctx, e, contract.TokensSecret(base, i))
		if err != nil {
			return err
		}
		if read.part == nil {
			continue
		}
		if part, err := contract.DecodeTokens(read.part, i); err == nil {
			stored.Parts = append(stored.Parts, part)
		} else {
			stored.Floor = max(stored.Floor, read.part.Revision())
		}
	}
	p.start(compile.NewCompiler(stored))
	return nil
}

// recheck reads the parts that somebody else may have changed or deleted.
func (r *configReconciler) recheck(ctx context.Context, e *v1alpha1.MCPEndpoint, p *program) error {
	doubts := p.doubted()
	if len(doubts) == 0 {
		return nil
	}
	for index := range p.parts() {
		name := partName(e, index)
		if !doubts[name] {
			continue
		}
		read, err := r.secrets.read(ctx, e, name)
		if err != nil {
			p.doubt(name)
			return err
		}
		p.found(index, read)
	}
	return nil
}

// notLoaded is the result if a Secret of the Config could not be read.
func (r *configReconciler) notLoaded(p *program, endpoint types.NamespacedName, err error) (ctrl.Result, error) {
	var foreign ownershipConflict
	if !errors.As(err, &foreign) {
		return result(0, err)
	}
	if p.setProblem(new(fails(v1alpha1.ReasonOwnershipConflict, foreign.Error()))) {
		r.store.endpoints.wake(endpoint)
		for _, t := range r.tokens.of(endpoint) {
			r.store.tokens.wake(keyOf(t))
		}
	}
	return result(foreignRetry, nil)
}

// floor is the highest revision that was ever written, as far as the objects' statuses still tell. A new Config continues
// above it; otherwise the pods' old revision would look like the new one.
func (r *configReconciler) floor(e *v1alpha1.MCPEndpoint) int64 {
	floor := e.Status.Revision
	for _, exposure := range r.exposures.of(keyOf(e)) {
		floor = max(floor, exposure.Status.Revision)
	}
	for _, token := range r.tokens.of(keyOf(e)) {
		floor = max(floor, token.Status.Revision)
	}
	return floor
}

// compile compiles what has changed, and wakes the reconcilers of the objects that it concerns. It returns how long that
// holds; 0 is forever.
func (r *configReconciler) compile(e *v1alpha1.MCPEndpoint, p *program, objects compile.Objects) time.Duration {
	defer timeStep("Config", stepCompile)()
	now := r.now()
	objects.Endpoint, objects.Credential, objects.Now = e, r.store.credential, now
	outcome := p.update(objects)
	r.store.tokens.wake(outcome.Tokens...)
	if outcome.Main {
		r.store.endpoints.wake(keyOf(e))
	} else if len(outcome.Tokens) > 0 {
		r.store.endpoints.wakeAfter(countDelay, keyOf(e))
	}
	if outcome.LookAgain.IsZero() {
		return 0
	}
	return max(outcome.LookAgain.Sub(now), time.Millisecond)
}

// countDelay is how long the number of tokens in an endpoint's status may be out of date: it is not worth a write for each
// of many tokens.
const countDelay = 5 * time.Second
