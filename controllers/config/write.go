package config

import (
	"context"
	"errors"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	"github.com/mcp-admin/mcp-admin-operator/controllers/program"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// write writes the parts that differ from what is stored, and returns when to go on if there is more to do, else 0: what only
// adds waits for its turn after removals, and gives way to a removal that has come meanwhile. A part that cannot be written
// keeps no other from being. A larger layout is published once its parts are stored.
func (r *Reconciler) write(ctx context.Context, e *v1alpha1.MCPEndpoint, p *program.Program, removalCame func() bool) (time.Duration, error) {
	added, makesRoom := 0, false
	failed, failures := map[int]bool{}, []error{}
	for written := 0; ; written++ {
		next, ok := p.Next(failed)
		if !ok {
			break
		}
		if !next.Pending.Urgent && !next.Pending.Soon {
			if added == 0 {
				if wait := p.Gather(r.Now()); wait > 0 {
					return wait, r.notWritten(e, p, failures)
				}
				began := r.Now()
				defer func() { p.Added(r.Now().Sub(began), added) }()
			}
			if written >= writeBatch || removalCame() {
				return time.Millisecond, r.notWritten(e, p, failures)
			}
			added++
		}
		err := r.writePart(ctx, e, p, next)
		switch {
		case errors.Is(err, errMakesRoom):
			makesRoom = true
		case err != nil:
			failures = append(failures, err)
		}
		failed[next.Pending.Index] = err != nil
		if err != nil && !answered(err) {
			break
		}
	}
	switch {
	case len(failures) > 0:
		if err := r.notWritten(e, p, failures); err != nil {
			return 0, err
		}
	case !makesRoom && p.SetProblem(nil):
		r.Store.Endpoints.Wake(cluster.KeyOf(e))
	}
	if makesRoom || p.Grown() {
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
		var foreign cluster.OwnershipConflict
		return errors.Is(err, errMakesRoom) || errors.Is(err, contract.ErrTooLarge) || errors.As(err, &foreign)
	}
	return !apierrors.IsServerTimeout(err) && !apierrors.IsTimeout(err) && !apierrors.IsTooManyRequests(err) && !apierrors.IsServiceUnavailable(err)
}

// writePart writes one part.
func (r *Reconciler) writePart(ctx context.Context, e *v1alpha1.MCPEndpoint, p *program.Program, next program.NextPart) error {
	defer cluster.TimeStep("Config", cluster.StepWriteConfig)()
	name := cluster.PartName(e, next.Pending.Index)
	part, err := next.Encode()
	if errors.Is(err, contract.ErrTooLarge) && next.Main == nil && next.Pending.Urgent {
		next, part, err = r.reduce(ctx, e, p, next)
	}
	if errors.Is(err, contract.ErrTooLarge) && p.MakeRoom(next) {
		return errMakesRoom
	}
	if err == nil {
		err = r.Secrets.Write(ctx, e, name, part)
	}
	logWrite(ctx, e, name, next, err)
	if apierrors.IsConflict(err) {
		return r.reload(ctx, e, p, next.Pending.Index, err)
	}
	if err != nil {
		return err
	}
	p.Wrote(next, r.Now())
	if next.Pending.Index == compile.MainPart {
		r.Store.Endpoints.Wake(cluster.KeyOf(e))
	}
	return nil
}

// reduce makes a token part that takes something away fit into its Secret: what is stored without what was taken away. A part
// that is not stored, or that no pod reads, has nothing to take away.
func (r *Reconciler) reduce(ctx context.Context, e *v1alpha1.MCPEndpoint, p *program.Program, next program.NextPart) (program.NextPart, contract.Part, error) {
	read, err := r.Secrets.Read(ctx, e, cluster.PartName(e, next.Pending.Index))
	if err != nil {
		return next, nil, err
	}
	if read.Part == nil {
		return next, nil, contract.ErrTooLarge
	}
	stored, err := contract.DecodeTokens(read.Part, next.Pending.Index)
	if err != nil {
		return next, nil, contract.ErrTooLarge
	}
	return p.Reduce(next, stored)
}

// reload reads a part again that is not the known one. If it holds our text, nothing has to be done; anything else is
// written over.
func (r *Reconciler) reload(ctx context.Context, e *v1alpha1.MCPEndpoint, p *program.Program, index int, cause error) error {
	read, err := r.Secrets.Read(ctx, e, cluster.PartName(e, index))
	if err != nil {
		return err
	}
	p.Found(index, read)
	return cause
}

// notWritten notes why parts could not be written, and returns the error for which they are tried again; nil if none is.
func (r *Reconciler) notWritten(e *v1alpha1.MCPEndpoint, p *program.Program, failures []error) error {
	var worst *condition.Finding
	var retried []error
	for _, err := range failures {
		var foreign cluster.OwnershipConflict
		problem := condition.Fails(v1alpha1.ReasonConfigNotWritten, "the Config could not be written; it is tried again")
		switch {
		case apierrors.IsConflict(err):
			retried = append([]error{err}, retried...)
			continue
		case cluster.EndsWithNamespace(err):
			retried = append(retried, err)
			continue
		case errors.As(err, &foreign):
			problem = condition.Fails(v1alpha1.ReasonOwnershipConflict, foreign.Error())
			retried = append(retried, err)
		case errors.Is(err, contract.ErrTooLarge):
			problem = condition.Fails(v1alpha1.ReasonConfigTooLarge, err.Error()+"; give the tokens fewer attributes and rules of their own, and more groups")
		default:
			retried = append(retried, err)
		}
		if worst == nil {
			worst = &problem
		}
	}
	if worst != nil && p.SetProblem(worst) {
		r.Store.Endpoints.Wake(cluster.KeyOf(e))
	}
	return errors.Join(retried...)
}

// logWrite records the result of writing a part in the log and the metrics.
func logWrite(ctx context.Context, e *v1alpha1.MCPEndpoint, name string, next program.NextPart, err error) {
	log := ctrl.LoggerFrom(ctx).WithValues("endpoint", klog.KObj(e), "secret", name, "revision", next.Revision)
	switch {
	case err == nil:
		log.Info("A Config was written", "takesAway", next.Pending.Urgent, "lacksAdditions", next.Reduced)
		cluster.ConfigWrites.WithLabelValues("written").Inc()
	case apierrors.IsConflict(err):
		cluster.ConfigWrites.WithLabelValues("refused").Inc()
	case cluster.EndsWithNamespace(err): // nobody is served there any more
	case errors.Is(err, contract.ErrTooLarge):
		log.Info("A part of a Config is too large; it stays as it is stored", "reason", err.Error())
		cluster.ConfigWrites.WithLabelValues("too_large").Inc()
	default:
		cluster.ConfigWrites.WithLabelValues("failed").Inc() // the reconcile's error is logged
	}
}
