package compile

import (
	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// replicasEntry is nil if the endpoint has no replicas.
func replicasEntry(r *v1alpha1.DatabaseReplicas) *contract.Replicas {
	if r == nil {
		return nil
	}
	return &contract.Replicas{
		ConnectionKey:  r.ConnectionSecretRef.Key,
		MaxStaleness:   contract.Duration(r.EffectiveMaxStaleness()),
		MaxConnections: int(r.Pool.EffectiveMaxConnections()), ConnectionsShared: r.Pool.MaxConnections > 0,
	}
}
