package child

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	applyrbac "k8s.io/client-go/applyconfigurations/rbac/v1"
)

// serviceAccount is the identity of the server's pods. Its token is mounted only by pods that ask for it.
func serviceAccount(e *v1alpha1.MCPEndpoint) *applycore.ServiceAccountApplyConfiguration {
	return applycore.ServiceAccount(e.ServiceName(), e.Namespace).
		WithLabels(cluster.ChildLabels(e, cluster.ComponentServer)).
		WithOwnerReferences(cluster.OwnerReference(e, "MCPEndpoint")).
		WithAutomountServiceAccountToken(false)
}

// role lets the server read its own Secrets, by name, and nothing else. parts is how many token parts there may be.
func role(e *v1alpha1.MCPEndpoint, parts int) *applyrbac.RoleApplyConfiguration {
	return applyrbac.Role(e.ServiceName(), e.Namespace).
		WithLabels(cluster.ChildLabels(e, cluster.ComponentServer)).
		WithOwnerReferences(cluster.OwnerReference(e, "MCPEndpoint")).
		WithRules(applyrbac.PolicyRule().
			WithAPIGroups(corev1.GroupName).WithResources("secrets").WithVerbs("get", "list", "watch").
			WithResourceNames(append(configSecretNames(e, parts), ServerSecrets(e)...)...))
}

// configSecretNames are the Secrets of the Config's parts.
func configSecretNames(e *v1alpha1.MCPEndpoint, parts int) []string {
	names := []string{contract.MainSecret(e.ConfigSecretName())}
	for i := range parts {
		names = append(names, contract.TokensSecret(e.ConfigSecretName(), i))
	}
	return names
}

func roleBinding(e *v1alpha1.MCPEndpoint) *applyrbac.RoleBindingApplyConfiguration {
	return applyrbac.RoleBinding(e.ServiceName(), e.Namespace).
		WithLabels(cluster.ChildLabels(e, cluster.ComponentServer)).
		WithOwnerReferences(cluster.OwnerReference(e, "MCPEndpoint")).
		WithSubjects(applyrbac.Subject().WithKind(rbacv1.ServiceAccountKind).WithName(e.ServiceName()).WithNamespace(e.Namespace)).
		WithRoleRef(applyrbac.RoleRef().WithAPIGroup(rbacv1.GroupName).WithKind("Role").WithName(e.ServiceName()))
}

// ServerSecrets names all of the user's Secrets that the server reads.
func ServerSecrets(e *v1alpha1.MCPEndpoint) []string {
	names := DatabaseSecrets(e)
	if tls := e.Spec.Server.TLS; tls != nil && !slices.Contains(names, tls.CertificateSecretRef.Name) {
		names = append(names, tls.CertificateSecretRef.Name)
	}
	for _, name := range []string{e.Spec.Observability.Tracing.HeadersSecret(), e.Spec.Observability.Audit.OTLP.HeadersSecret()} {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// DatabaseSecrets names the user's Secrets that the server reads to reach its database, each once.
func DatabaseSecrets(e *v1alpha1.MCPEndpoint) []string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	d := &e.Spec.Database
	if ref := d.ConnectionSecretRef; ref != nil {
		add(ref.Name)
	}
	if tls := d.TLS; tls != nil && tls.CASecretRef != nil {
		add(tls.CASecretRef.Name)
	}
	if tls := d.TLS; tls != nil && tls.ClientCertificateSecretRef != nil {
		add(tls.ClientCertificateSecretRef.Name)
	}
	if d.Replicas != nil {
		add(d.Replicas.ConnectionSecretRef.Name)
	}
	return names
}
