package dev

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page/pagetest"
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

// The page and the command foretell what the server does with a token that has these claims.
func TestClaimsAreAnsweredForAsTheServerDoes(t *testing.T) {
	issuer := harness.NewIssuer(t)
	folder := write(t, map[string]string{"notes.yaml": callersYAML(issuer)})
	out, _ := start(t, "-f", folder, "--state", t.TempDir())
	printed := out.waitFor(t, "claude mcp add")
	b := pagetest.Open(t, pageLink.FindString(printed))
	if _, text := b.Get("e/default/notes/see-as"); !strings.Contains(text, "type the claims") {
		t.Errorf("See as does not lead to claims:\n%s", text)
	}
	for claims, want := range map[string]string{
		`{"sub": "ann"}`: "default/ann", `{"sub": "ben", "org": "shop"}`: "default/staff", `{"sub": "ann", "org": "shop"}`: "default/ann",
		`{"sub": "eve"}`: "", `{"sub": "eve", "org": ["shops"]}`: "", `{"sub": "<script>", "org": ["x", "shop"]}`: "default/staff",
		`{"sub": "ann", "aud": "https://other.example"}`: "", `{"sub": "ann", "exp": 1}`: "",
	} {
		var given map[string]any
		if err := json.Unmarshal([]byte(claims), &given); err != nil {
			t.Fatal(err)
		}
		status, _ := ask(t, printed, issuer.Token(given["sub"].(string), given))
		code, text := b.Get("e/default/notes/see-as-caller?claims=" + url.QueryEscape(claims))
		if (status == http.StatusOK) != (want != "") || code != http.StatusOK {
			t.Errorf("%s: the server answers %d, the page %d, want %q", claims, status, code, want)
		}
		says := []string{"Not let in"}
		if want != "" {
			says = []string{"is let in by MCPToken <strong><bdi>" + want + "</bdi>", `data-cell="v----"`, "<bdi>list_note</bdi>", "mcp-admin can --claims claims.json"}
		}
		for _, say := range says {
			if !strings.Contains(text, say) || strings.Contains(text, "<script>") {
				t.Errorf("%s: the page lacks %q:\n%s", claims, say, text)
			}
		}
	}
	for claims, want := range map[string]string{"[1]": "must be a JSON object", "aa.bb.cc": "This is a whole token", `{"iss": "https://other.example"}`: "no issuer with the URL"} {
		if code, text := b.Get("e/default/notes/see-as-caller?claims=" + url.QueryEscape(claims)); code != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%s: %d, without %q\n%s", claims, code, want, text)
		}
	}
}
