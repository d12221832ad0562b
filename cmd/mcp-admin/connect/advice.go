package connect

import (
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
)

// howToSet says how the client gets the token.
func howToSet(t *v1alpha1.MCPToken, variable string, c client) string {
	ref, err := cluster.TextSecret(t)
	switch {
	case err != nil:
		return fmt.Sprintf("\n# The token: %v. Set %s to it before you start %s.\n", err, variable, c.title)
	case c.name == "vscode":
		return fmt.Sprintf("\n# The token, for when VS Code asks:\n%s\n", readSecret(t.Namespace, ref))
	}
	return fmt.Sprintf("\n# The token, for the shell that starts %s:\nexport %s=\"$(%s)\"\n", c.title, variable, readSecret(t.Namespace, ref))
}

// readSecret is the command that prints a key of a Secret.
func readSecret(namespace string, ref v1alpha1.SecretKeyReference) string {
	return fmt.Sprintf("kubectl get secret %s -n %s -o go-template='{{index .data %q | base64decode}}'", ref.Name, namespace, ref.Key)
}

// howToReach warns of a URL that is the cluster's own.
func howToReach(t *v1alpha1.MCPToken, e *v1alpha1.MCPEndpoint) string {
	if e.Public() {
		return ""
	}
	return fmt.Sprintf("\n# %s is answered within the cluster only. For a client outside of it add --port-forward, or give MCPEndpoint %s\n"+
		"# a spec.network.ingress, httpRoute or externalURL.\n", e.EffectiveURL(), t.Endpoint())
}

// instead says what to do with a token that has no text.
func instead(t *v1alpha1.MCPToken, e *v1alpha1.MCPEndpoint) string {
	if t.Spec.ServiceAccountRef == nil {
		return fmt.Sprintf("MCPToken %q has no text: it is for callers of the identity provider %q. Give the client the URL %s alone; one that "+
			"speaks OAuth logs in there, and a program shows a token that the provider issued to it for the endpoint's audience (docs/identity.md)",
			t.Name, t.Spec.OIDC.Issuer, e.EffectiveURL())
	}
	account := t.ServiceAccount()
	audience := e.EffectiveURL() // always one of the endpoint's audiences
	return strings.Join([]string{
		fmt.Sprintf("MCPToken %q has no text: it is for the ServiceAccount %s. Its pods call %s with a token that a volume projects:", t.Name, account, e.EffectiveURL()),
		fmt.Sprintf("  volumes: [{name: mcp, projected: {sources: [{serviceAccountToken: {audience: %q, path: token}}]}}]", audience),
		"To try it from here, let the cluster issue one for an hour:",
		fmt.Sprintf("  kubectl create token %s -n %s --audience %s --duration 1h", account.Name, account.Namespace, audience),
	}, "\n")
}
