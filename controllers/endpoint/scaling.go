package endpoint

import (
	"context"

	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// readAutoscaler notes why the endpoint's autoscaler does not scale.
func (r *Reconciler) readAutoscaler(ctx context.Context, s *endpointScope) error {
	if s.endpoint.Spec.Server.Autoscaling == nil {
		return nil
	}
	found := &autoscalingv2.HorizontalPodAutoscaler{}
	key := client.ObjectKey{Namespace: s.endpoint.Namespace, Name: s.endpoint.ServiceName()}
	if err := r.Children.Cached.Get(ctx, key, found); err != nil {
		return client.IgnoreNotFound(err)
	}
	s.notScaling = cluster.NotScaling(found)
	return nil
}
