package token

import (
	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"k8s.io/apimachinery/pkg/api/equality"
)

// withRights returns a status with the earlier count of rights if nothing else has to be written: a group that thousands of
// tokens have is one write, and no status of theirs.
func withRights(t *v1alpha1.MCPToken, status v1alpha1.MCPTokenStatus) v1alpha1.MCPTokenStatus {
	told := status
	told.Rights = t.Status.Rights
	if told.Rights != nil && status.Rights != nil && equality.Semantic.DeepEqual(t.Status, told) {
		return told
	}
	return status
}

// rights count what the token may do at present; nil if it is not in force.
func (r *Reconciler) rights(t *v1alpha1.MCPToken) *v1alpha1.RightsStatus {
	rights, revision, inForce := r.Store.Program(t.Endpoint()).Rights(cluster.KeyOf(t))
	if !inForce {
		return nil
	}
	return &v1alpha1.RightsStatus{Models: new(int32(rights.Models)), Verbs: rights.Verbs, Tools: new(int32(rights.Tools)), Revision: revision}
}
