package lint

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// fields are where the reasons of verdicts lie in an object.
var fields = map[string]string{
	v1alpha1.ReasonGroupNotFound:        "spec.groups",
	v1alpha1.ReasonGroupNotAllowed:      "spec.groups",
	v1alpha1.ReasonIssuerNotFound:       "spec.oidc.issuer",
	v1alpha1.ReasonWebhookSecretInvalid: "spec.actions",
	v1alpha1.ReasonConflicted:           "spec",
}

// compile says what the controllers would say of the objects of each endpoint.
func (l *linter) compile() {
	for _, e := range l.endpoints {
		l.compileEndpoint(e)
	}
	known := func(of types.NamespacedName) bool {
		return slices.ContainsFunc(l.endpoints, func(e *v1alpha1.MCPEndpoint) bool { return client.ObjectKeyFromObject(e) == of })
	}
	for i := range l.exposures {
		e := &l.exposures[i]
		if of := (types.NamespacedName{Namespace: e.Namespace, Name: e.Spec.EndpointRef.Name}); !known(of) {
			l.noEndpoint(nameOf("MCPModelExposure", client.ObjectKeyFromObject(e)), of)
		}
	}
	for i := range l.tokens {
		if of := l.tokens[i].Endpoint(); !known(of) {
			l.noEndpoint(nameOf("MCPToken", client.ObjectKeyFromObject(&l.tokens[i])), of)
		}
	}
}

func nameOf(kind string, key types.NamespacedName) string { return kind + " " + key.String() }

func (l *linter) compileEndpoint(e *v1alpha1.MCPEndpoint) {
	in := compile.Inputs{
		Endpoint: e, Exposures: l.exposures, Tokens: l.tokens, NamespaceLabels: l.labels, Now: time.Now(),
		Credentials: map[types.NamespacedName]compile.Credential{}, Webhooks: map[string]compile.WebhookSecret{},
	}
	for key, secret := range l.secrets {
		if key.Namespace == e.Namespace {
			in.Webhooks[key.Name] = secret
		}
	}
	for i := range l.tokens {
		// A token's text is no part of manifests: it is taken as one that no other has.
		key := client.ObjectKeyFromObject(&l.tokens[i])
		in.Credentials[key] = compile.Credential{Hashes: []string{contract.HashToken(key.String())}}
	}
	_, verdicts := compile.Compile(in)
	if of := client.ObjectKeyFromObject(e); l.incomplete[of] {
		forgetNotes(&verdicts)
	}
	l.verdict(nameOf("MCPEndpoint", client.ObjectKeyFromObject(e)), verdicts.Endpoint)
	for key, verdict := range verdicts.Exposures {
		l.verdict(nameOf("MCPModelExposure", key), verdict)
	}
	of := client.ObjectKeyFromObject(e)
	for i := range l.tokens {
		t := &l.tokens[i]
		key := client.ObjectKeyFromObject(t)
		if t.Endpoint() != of {
			continue
		}
		if verdict, admitted := verdicts.Tokens[key]; admitted {
			l.verdict(nameOf("MCPToken", key), verdict.Verdict)
		} else {
			l.at(nameOf("MCPToken", key), severityError, "spec.endpointRef.namespace",
				"MCPEndpoint "+of.String()+" does not allow tokens of namespace "+t.Namespace+"; see its spec.allowedTokens")
		}
	}
}

// forgetNotes drops what verdicts say of rights that reach nothing.
func forgetNotes(v *compile.Verdicts) {
	v.Endpoint.Notes = nil
	for key, verdict := range v.Tokens {
		verdict.Notes = nil
		v.Tokens[key] = verdict
	}
}

// verdict adds what a verdict says.
func (l *linter) verdict(object string, v compile.Verdict) {
	switch {
	case !v.Accepted:
		l.at(object, severityError, fields[v.Reason], v.Message)
	case v.Reason == v1alpha1.ReasonExpired:
		l.at(object, severityWarning, "spec.expiry", v.Message)
	}
	switch v.Lack.Reason {
	case "", v1alpha1.ReasonSecretNotFound: // Secrets are seldom among manifests
	case v1alpha1.ReasonGroupNotFound:
		l.at(object, severityError, "spec.rowPolicies", v.Lack.Message)
	default:
		l.at(object, severityError, fields[v.Lack.Reason], v.Lack.Message)
	}
	for _, note := range v.Notes {
		l.at(object, severityWarning, "", note)
	}
}
