package controllers

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// resolve reads all that the endpoint depends on.
func (r *endpointReconciler) resolve(ctx context.Context, s *endpointScope) error {
	referring := client.MatchingFields{endpointIndex: keyOf(s.endpoint).String()}
	var exposures v1alpha1.MCPModelExposureList
	if err := r.client.List(ctx, &exposures, referring); err != nil {
		return err
	}
	var tokens v1alpha1.MCPTokenList
	err := r.client.List(ctx, &tokens, referring)
	if err != nil {
		return err
	}
	s.exposures, s.tokens = exposures.Items, tokens.Items
	if s.namespaceLabels, err = r.namespaces.ofTokens(ctx, s.endpoint, s.tokens); err != nil {
		return err
	}
	s.webhookSecrets, s.webhookError = r.webhooks.resolve(ctx, keyOf(s.endpoint), s.exposures)

	s.floor = r.floor(s)
	stored, err := r.configs.read(ctx, s.endpoint, s.floor)
	var foreign ownershipConflict
	if errors.As(err, &foreign) {
		s.foreignConfig(foreign)
	} else if err != nil {
		return err
	}
	s.stored = stored
	if err := r.resolveDatabase(ctx, s); err != nil {
		return err
	}
	return r.resolveCertificate(ctx, s)
}

// foreignConfig notes that the Config's Secret belongs to somebody else. No workload is made then, because its pods
// would read that Secret.
func (s *endpointScope) foreignConfig(conflict ownershipConflict) {
	s.configProblem = new(fails(v1alpha1.ReasonOwnershipConflict, conflict.Error()))
	s.workloadProblem = s.configProblem
	s.wakeIn(foreignRetry)
}

// resolveDatabase checks that the user's objects exist that the server needs to reach its database. Only the server
// reads their content.
func (r *endpointReconciler) resolveDatabase(ctx context.Context, s *endpointScope) error {
	for _, name := range databaseSecrets(s.endpoint) {
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
func (r *endpointReconciler) resolveCertificate(ctx context.Context, s *endpointScope) error {
	tls := s.endpoint.Spec.Server.TLS
	if tls == nil {
		return nil
	}
	return r.require(ctx, s, "Secret", tls.CertificateSecretRef.Name, v1alpha1.ReasonSecretNotFound, &s.certificateProblem)
}

// require looks for an object of the user's, and notes the first one that does not exist.
func (r *endpointReconciler) require(ctx context.Context, s *endpointScope, kind, name, reason string, missing **finding) error {
	object := metadataOf(kind)
	err := r.client.Get(ctx, client.ObjectKey{Namespace: s.endpoint.Namespace, Name: name}, object)
	if apierrors.IsNotFound(err) && *missing == nil {
		*missing = new(fails(reason, kind+" "+quote(name)+" does not exist"))
	}
	if err == nil && kind == "Secret" && !r.secrets.allows(object, s.endpoint.Name) {
		*missing = new(r.secrets.refusal(name, s.endpoint.Name))
		s.workloadProblem = *missing // its pods would have the Secret
	}
	return client.IgnoreNotFound(err)
}
