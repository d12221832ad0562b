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

// resolve checks what the endpoint depends on. There is no workload if the Config could not be stored because somebody
// else has its name.
func (r *Reconciler) resolve(ctx context.Context, s *endpointScope) error {
	if problem := s.config.Problem; problem != nil && problem.Reason == v1alpha1.ReasonOwnershipConflict {
		s.workloadProblem = problem
	}
	if err := r.resolveDatabase(ctx, s); err != nil {
		return err
	}
	if err := r.resolveCollectors(ctx, s); err != nil {
		return err
	}
	return r.resolveCertificate(ctx, s)
}

// resolveCollectors checks that the Secrets of the headers for the collectors of traces and of audit lines exist. Without them the
// endpoint answers all the same.
func (r *Reconciler) resolveCollectors(ctx context.Context, s *endpointScope) error {
	observability := &s.endpoint.Spec.Observability
	for _, to := range []struct {
		secret  string
		problem **condition.Finding
	}{{observability.Tracing.HeadersSecret(), &s.tracingProblem}, {observability.Audit.OTLP.HeadersSecret(), &s.auditProblem}} {
		if to.secret == "" {
			continue
		}
		if err := r.require(ctx, s, "Secret", to.secret, v1alpha1.ReasonSecretNotFound, to.problem); err != nil {
			return err
		}
	}
	return nil
}

// resolveDatabase checks that the user's objects exist that the server needs to reach its database. Only the server
// reads their content.
func (r *Reconciler) resolveDatabase(ctx context.Context, s *endpointScope) error {
	for _, name := range child.DatabaseSecrets(s.endpoint) {
		if err := r.require(ctx, s, "Secret", name, v1alpha1.ReasonSecretNotFound, &s.connectionProblem); err != nil {
			return err
		}
	}
	if sqlite := s.endpoint.Spec.Database.SQLite; sqlite != nil && sqlite.InitConfigMapRef != nil {
		return r.require(ctx, s, "ConfigMap", sqlite.InitConfigMapRef.Name, v1alpha1.ReasonConfigMapNotFound, &s.connectionProblem)
	}
	return nil
}

// resolveCertificate checks that the Secret of the endpoint's own certificate exists.
func (r *Reconciler) resolveCertificate(ctx context.Context, s *endpointScope) error {
	tls := s.endpoint.Spec.Server.TLS
	if tls == nil {
		return nil
	}
	return r.require(ctx, s, "Secret", tls.CertificateSecretRef.Name, v1alpha1.ReasonSecretNotFound, &s.certificateProblem)
}

// require looks for an object of the user's, and notes the first one that does not exist.
func (r *Reconciler) require(ctx context.Context, s *endpointScope, kind, name, reason string, missing **condition.Finding) error {
	object := cluster.MetadataOf(kind)
	reader := client.Reader(r.Client)
	if cluster.LooksFresh(ctx) {
		reader = r.Children.Live
	}
	err := reader.Get(ctx, client.ObjectKey{Namespace: s.endpoint.Namespace, Name: name}, object)
	if apierrors.IsNotFound(err) && *missing == nil {
		*missing = new(condition.Fails(reason, kind+" "+cluster.Quote(name)+" does not exist"))
	}
	if err == nil && kind == "Secret" && !r.Secrets.Allows(object, s.endpoint.Name) {
		*missing = new(r.Secrets.Refusal(name, s.endpoint.Name))
		s.workloadProblem = *missing // its pods would have the Secret
	}
	return client.IgnoreNotFound(err)
}
