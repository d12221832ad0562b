package ui

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/acts"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page"
)

// Approvals implements page.Source.
func (s *source) Approvals(ctx context.Context) ([]v1alpha1.MCPApproval, error) {
	all, unseen, err := everywhere(s, func(namespace string) ([]v1alpha1.MCPApproval, error) { return s.cluster.Approvals(ctx, namespace) })
	if err == nil && len(unseen) > 0 {
		s.narrowApprovals.Store(true)
		err = page.Unseen(unseen)
	}
	return all, err
}

// Decide implements page.Source.
func (s *source) Decide(ctx context.Context, approval types.NamespacedName, verdict v1alpha1.ApprovalVerdict, comment string) error {
	k := s.cluster.In(approval.Namespace)
	a, err := k.Approval(ctx, approval.Name)
	if err != nil {
		return err
	}
	return acts.Decide(ctx, k, a, verdict, comment, time.Now())
}
