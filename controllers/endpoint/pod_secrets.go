package endpoint

import (
	"context"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/child"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// checkAddedSecrets notes, if Secrets must name the endpoints that may use them, the first Secret of the pods that does
// not. One that does not exist yet holds the pods up, too: nobody could check it before they have it.
func (r *Reconciler) checkAddedSecrets(ctx context.Context, s *endpointScope) error {
	if !r.Secrets {
		return nil
	}
	for _, name := range child.AddedSecrets(s.endpoint) {
		secret := cluster.MetadataOf("Secret")
		err := r.Client.Get(ctx, client.ObjectKey{Namespace: s.endpoint.Namespace, Name: name}, secret)
		switch {
		case apierrors.IsNotFound(err):
			s.workloadProblem = new(condition.Fails(v1alpha1.ReasonSecretNotFound, "Secret "+cluster.Quote(name)+" does not exist"))
			return nil
		case err != nil:
			return err
		case !r.Secrets.Allows(secret, s.endpoint.Name):
			s.workloadProblem = new(r.Secrets.Refusal(name, s.endpoint.Name))
			return nil
		}
	}
	return nil
}
