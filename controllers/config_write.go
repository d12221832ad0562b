package controllers

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// write writes the parts that differ from what is stored, and returns when to go on if there is more to do, else 0: what only
// adds waits for its turn after removals, and gives way to a removal that has come meanwhile. A part that cannot be written
// keeps no other from being. A larger layout is published once its parts are stored.
func (r *configReconciler) write(ctx context.Context, e *v1alpha1.MCPEndpoint, p *program, removalCame func() bool) (time.Duration, error) {
	adding, makesRoom := false, false
	failed, failures := map[int]bool{}, []error{}
	for written := 0; ; written++ {
		next, ok := p.next(failed)
		if !ok {
			break
		}
		if !next.pending.Urgent && !adding {
			if wait := p.gather(r.now()); wait > 0 {
				return wait, r.notWritten(e, p, failures)
			}
			adding = true
			began := r.now()
			defer func() { p.added(r.now().Sub(began)) }()
		}
		if !next.pending.Urgent && (written >= writeBatch || removalCame()) {
			return time.Millisecond, r.notWritten(e, p, failures)
		}
		err := r.writePart(ctx, e, p, next)
		switch {
		case errors.Is(err, errMakesRoom):
			makesRoom = true
		case err != nil:
			failures = append(failures, err)
		}
		failed[next.pending.Index] = err != nil
		if err != nil && !answered(err) {
			break
		}
	}
	switch {
	case len(failures) > 0:
		if err := r.notWritten(e, p, failures); err != nil {
			return 0, err
		}
	case !makesRoom && p.setProblem(nil):
		r.store.endpoints.wake(keyOf(e))
	}
	if makesRoom || p.grown() {
		return time.Millisecond, nil
	}
	return 0, nil
}

// errMakesRoom is the error of a part that does not fit into a Secret, and will when it is compiled again.
var errMakesRoom = errors.New("the part does not fit, and is made smaller")

// answered reports whether an error is about one part, and not about an API server that is away or has too much to do.
func answered(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		var foreign ownershipConflict
		return errors.Is(err, errMakesRoom) || errors.Is(err, contract.ErrTooLarge) || errors.As(err, &foreign)
	}
	return !apierrors.IsServerTimeout(err) && !apierrors.IsTimeout(err) && !apierrors.IsTooManyRequests(err) && !apierrors.IsServiceUnavailable(err)
}

// writePart writes one part.
func (r *configReconciler) writePart(ctx context.Context, e *v1alpha1.MCPEndpoint, p *program, next nextPart) error {
	defer timeStep("Config", stepWriteConfig)()
	name := partName(e, next.pending.Index)
	part, err := next.encode()
	if errors.Is(err, contract.ErrTooLarge) && next.main == nil && next.pending.Urgent {
		next, part, err = r.reduce(ctx, e, p, next)
	}
	if errors.Is(err, contract.ErrTooLarge) && p.makeRoom(next) {
		return errMakesRoom
	}
	if err == nil {
		err = r.secrets.write(ctx, e, name, part)
	}
	logWrite(ctx, e, name, next, err)
	if apierrors.IsConflict(err) {
		return r.reload(ctx, e, p, next.pending.Index, err)
	}
	if err != nil {
		return err
	}
	p.wrote(next, r.now())
	if next.pending.Index == compile.MainPart {
		r.store.endpoints.wake(keyOf(e))
	}
	return nil
}

// reduce makes a token part that takes something away fit into its Secret: what is stored without what was taken away. A part
// that is not stored, or that no pod reads, has nothing to take away.
func (r *configReconciler) reduce(ctx context.Context, e *v1alpha1.MCPEndpoint, p *program, next nextPart) (nextPart, contract.Part, error) {
	read, err := r.secrets.read(ctx, e, partName(e, next.pending.Index))
	if err != nil {
		return next, nil, err
	}
	if read.part == nil {
		return next, nil, contract.ErrTooLarge
	}
	stored, err := contract.DecodeTokens(read.part, next.pending.Index)
	if err != nil {
		return next, nil, contract.ErrTooLarge
	}
	return p.reduce(next, stored)
}

// reload reads a part again that is not the known one. If it holds our text, nothing has to be done; anything else is
// written over.
func (r *configReconciler) reload(ctx context.Context, e *v1alpha1.MCPEndpoint, p *program, index int, cause error) error {
	read, err := r.secrets.read(ctx, e, partName(e, index))
	if err != nil {
		return err
	}
	p.found(index, read)
	return cause
}

// notWritten notes why parts could not be written, and returns the error for which they are tried again; nil if none is.
func (r *configReconciler) notWritten(e *v1alpha1.MCPEndpoint, p *program, failures []error) error {
	var worst *finding
	var retried []error
	for _, err := range failures {
		var foreign ownershipConflict
		problem := fails(v1alpha1.ReasonConfigNotWritten, "the Config could not be written; it is tried again")
		switch {
		case apierrors.IsConflict(err):
			retried = append([]error{err}, retried...)
			continue
		case endsWithNamespace(err):
			retried = append(retried, err)
			continue
		case errors.As(err, &foreign):
			problem = fails(v1alpha1.ReasonOwnershipConflict, foreign.Error())
			retried = append(retried, err)
		case errors.Is(err, contract.ErrTooLarge):
			problem = fails(v1alpha1.ReasonConfigTooLarge, err.Error()+"; give the tokens fewer attributes and rules of their own, and more groups")
		default:
			retried = append(retried, err)
		}
		if worst == nil {
			worst = &problem
		}
	}
	if worst != nil && p.setProblem(worst) {
		r.store.endpoints.wake(keyOf(e))
	}
	return errors.Join(retried...)
}

// partName is the name of a part's Secret.
func partName(e *v1alpha1.MCPEndpoint, index int) string {
	if index == compile.MainPart {
		return contract.MainSecret(e.ConfigSecretName())
	}
	return contract.TokensSecret(e.ConfigSecretName(), index)
}

// logWrite records the result of writing a part in the log and the metrics.
func logWrite(ctx context.Context, e *v1alpha1.MCPEndpoint, name string, next nextPart, err error) {
	log := ctrl.LoggerFrom(ctx).WithValues("endpoint", klog.KObj(e), "secret", name, "revision", next.revision)
	switch {
	case err == nil:
		log.Info("A Config was written", "takesAway", next.pending.Urgent, "lacksAdditions", next.reduced)
		configWrites.WithLabelValues("written").Inc()
	case apierrors.IsConflict(err):
		configWrites.WithLabelValues("refused").Inc()
	case endsWithNamespace(err): // nobody is served there any more
	case errors.Is(err, contract.ErrTooLarge):
		log.Info("A part of a Config is too large; it stays as it is stored", "reason", err.Error())
		configWrites.WithLabelValues("too_large").Inc()
	default:
		configWrites.WithLabelValues("failed").Inc() // the reconcile's error is logged
	}
}
