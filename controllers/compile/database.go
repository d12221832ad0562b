package compile

import (
	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

func connectionParts(c v1alpha1.DatabaseConnection) contract.ConnectionParts {
	return contract.ConnectionParts{Host: c.Host, Port: int(c.Port), Database: c.Name, User: c.User}
}

// replicasEntry is nil if the endpoint has no replicas.
func replicasEntry(r *v1alpha1.DatabaseReplicas) *contract.Replicas {
	if r == nil {
		return nil
	}
	return &contract.Replicas{
		ConnectionKey:  r.ConnectionSecretRef.Key,
		Connection:     connectionParts(r.Connection),
		MaxStaleness:   contract.Duration(r.EffectiveMaxStaleness()),
		MaxConnections: int(r.Pool.EffectiveMaxConnections()),
	}
}
