package endpoint

import (
	"context"
	"errors"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/child"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
)

// applyWorkload applies the server's objects as the endpoint wants them. It leaves the objects of an invalid endpoint
// alone.
func (r *Reconciler) applyWorkload(ctx context.Context, s *endpointScope) error {
	defer cluster.TimeStep("MCPEndpoint", cluster.StepApplyWorkload)()
	defer func() {
		if !s.rolloutWaits {
			r.Rollouts.notWaiting(cluster.KeyOf(s.endpoint))
		}
	}()
	if !s.config.Endpoint.Accepted || !s.config.Stored || s.workloadProblem != nil {
		return nil
	}
	e := s.endpoint
	if !r.Pod.HasImage(e) {
		message := "spec.database.duckdb needs a server with DuckDB, and the manager's --duckdb-server-image (the chart's duckdbServerImage) names none; name its image there, or in spec.server.image"
		s.workloadProblem = new(condition.Fails(v1alpha1.ReasonDuckDBImageMissing, message))
		return nil
	}
	if !r.Pod.Allows(e) {
		message := "the manager's --allow-server-image does not allow the image " + cluster.Quote(e.Spec.Server.Image) + "; name an allowed image, or none"
		s.workloadProblem = new(condition.Fails(v1alpha1.ReasonImageNotAllowed, message))
		return nil
	}
	children, err := child.WorkloadChildren(e, s.config.Parts, r.Pod)
	var fault child.TemplateFault
	if errors.As(err, &fault) {
		s.workloadProblem = new(condition.Fails(v1alpha1.ReasonPodTemplateInvalid, fault.Error()))
		return nil
	} else if err != nil {
		return err
	}
	if err := r.checkAddedSecrets(ctx, s); err != nil || s.workloadProblem != nil {
		return err
	}
	return r.applyChildren(ctx, s, children)
}

// applyChildren removes what is no longer wanted, then applies what is. An autoscaler is gone before the number of pods
// is somebody else's again.
func (r *Reconciler) applyChildren(ctx context.Context, s *endpointScope, children []child.Object) error {
	for _, child := range children {
		if !child.Wanted() {
			if err := r.Children.Remove(ctx, r.Children.Cached, s.endpoint, child.Have); err != nil {
				return s.notApplied(r, child, err)
			}
		}
	}
	for _, child := range children {
		if !child.Wanted() {
			continue
		}
		err := r.Children.ApplyIf(ctx, s.endpoint, child.Have, child.Want, func() error { return r.pace(ctx, s, child.Have) })
		switch {
		case errors.Is(err, errRolloutWaits):
			s.rolloutWaits = true
			s.wakeIn(rolloutRecheck)
		case err != nil:
			r.Rollouts.forget(cluster.KeyOf(s.endpoint))
			return s.notApplied(r, child, err)
		}
	}
	return nil
}

// notApplied notes why a child could not be applied, and returns the error if it has to be tried again.
func (s *endpointScope) notApplied(r *Reconciler, c child.Object, err error) error {
	var other cluster.OtherManager
	if errors.As(err, &other) {
		return other
	}
	problem, retried := s.childProblem(err)
	s.workloadProblem = problem
	if problem.Reason == v1alpha1.ReasonOwnershipConflict {
		r.Conflicts.watch(cluster.KeyOf(s.endpoint), c.Have)
	}
	return retried
}
