package endpoint

import (
	"context"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
)

// checkApprovals finds out whether the endpoint's policies can be judged, and whether what people decide is taken.
func (r *Reconciler) checkApprovals(ctx context.Context, s *endpointScope) {
	if s.config.Main == nil || len(s.config.Main.Endpoint.Approvals) == 0 {
		return
	}
	s.wakeIn(r.LookAgain) // the admission policy is not watched
	var problems []string
	for i := range s.config.Main.Endpoint.Approvals {
		if p := &s.config.Main.Endpoint.Approvals[i]; p.Problem != "" {
			problems = append(problems, p.Name+": "+p.Problem)
		}
	}
	problems = append(problems, s.reports.ApprovalProblems()...)
	slices.Sort(problems)
	if problems = slices.Compact(problems); len(problems) > 0 {
		s.approvals = new(condition.Fails(v1alpha1.ReasonApprovalPolicyInvalid,
			"policies of spec.approvals cannot be judged, and hold back everything of their operations: "+strings.Join(problems, "; ")))
		return
	}
	if force := r.ApprovalPolicy.Force(ctx); force.Problem != "" {
		s.approvals = new(condition.Fails(v1alpha1.ReasonAdmissionPolicyMissing, "calls that wait cannot be allowed: "+force.Problem))
		return
	}
	s.approvals = new(condition.Holds(v1alpha1.ReasonApprovalsTaken, "what people decide is checked and taken"))
}
