package dev

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// callersYAML are notes for an agent with a text, for ann, for the staff, and for the pods of a ServiceAccount.
func callersYAML(issuer *harness.Issuer) string {
	settings := issuer.Settings("corp")
	const database = "{database: {sqlite: {emptyDir: {}, initConfigMapRef: {name: sql}}}}"
	authentication := fmt.Sprintf("{authentication: {oidc: [{name: corp, url: %q, algorithms: [ES256], audiences: [%q], certificateAuthority: %q}]}, ",
		settings.URL, harness.Audience, settings.CertificateAuthority)
	return strings.Replace(notes, database, authentication+database[1:], 1) + `---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPToken
metadata: {name: ann}
spec: {endpointRef: {name: notes}, oidc: {issuer: corp, subject: ann}, permissions: [{models: ["*"], verbs: [view]}]}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPToken
metadata: {name: staff}
spec: {endpointRef: {name: notes}, oidc: {issuer: corp, claims: {org: shop}}, permissions: [{models: ["*"], verbs: [view]}]}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPToken
metadata: {name: clerk}
spec: {endpointRef: {name: notes}, serviceAccountRef: {name: clerk}, permissions: [{models: ["*"], verbs: [view]}]}
`
}

func TestDevLetsInWhoComesFromAnIdentityProvider(t *testing.T) {
	issuer := harness.NewIssuer(t)
	out, _ := start(t, "-f", write(t, map[string]string{"notes.yaml": callersYAML(issuer)}), "--state", t.TempDir())
	printed := out.waitFor(t, "claude mcp add")
	for name, token := range map[string]string{"ann": issuer.Token("ann", nil), "one of the staff": issuer.Token("ben", map[string]any{"org": "shop"})} {
		if status, answer := ask(t, printed, token); status != http.StatusOK || !strings.Contains(answer, "hello") {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
	for name, token := range map[string]string{"a stranger": issuer.Token("eve", nil), "a ServiceAccount": issuer.ServiceAccountToken("default", "clerk")} {
		if status, answer := ask(t, printed, token); status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
	out.waitFor(t, "issuer corp: its keys are known")
	for _, says := range []string{
		"default/ann is for the subject ann of the issuer " + issuer.Settings("corp").URL + "\n",
		"default/staff is for callers of the issuer " + issuer.Settings("corp").URL + " with org=shop\n",
		"default/clerk is for ServiceAccount default/clerk, and lets nobody in here: it needs a cluster",
	} {
		if !strings.Contains(out.String(), says) {
			t.Errorf("%q is not in what was printed:\n%s", says, out)
		}
	}
}
