package lint

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/manifests"
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
	o := l.objects
	o.Endpoints = slices.DeleteFunc(o.Endpoints, func(e v1alpha1.MCPEndpoint) bool { return l.refuses("MCPEndpoint", &e, "") })
	o.Exposures = slices.DeleteFunc(o.Exposures, func(e v1alpha1.MCPModelExposure) bool {
		return l.refuses("MCPModelExposure", &e, e.Spec.EndpointRef.Name)
	})
	for i := range o.Endpoints {
		l.compileEndpoint(&o.Endpoints[i])
	}
	known := func(of types.NamespacedName) bool {
		return slices.ContainsFunc(o.Endpoints, func(e v1alpha1.MCPEndpoint) bool { return client.ObjectKeyFromObject(&e) == of })
	}
	for i := range o.Exposures {
		e := &o.Exposures[i]
		if of := (types.NamespacedName{Namespace: e.Namespace, Name: e.Spec.EndpointRef.Name}); !known(of) {
			l.noEndpoint(nameOf("MCPModelExposure", client.ObjectKeyFromObject(e)), of)
		}
	}
	for i := range o.Tokens {
		if of := o.Tokens[i].Endpoint(); !known(of) {
			l.noEndpoint(nameOf("MCPToken", client.ObjectKeyFromObject(&o.Tokens[i])), of)
		}
	}
}

// refuses adds an error for each thing in an object that no schema can say, and reports whether there is any.
func (l *linter) refuses(kind string, object client.Object, endpoint string) bool {
	key := client.ObjectKeyFromObject(object)
	errs := v1alpha1.Validate(object)
	for _, e := range errs {
		l.at(nameOf(kind, key), severityError, e.Field, e.ErrorBody())
	}
	if len(errs) > 0 {
		l.objects.Refused = append(l.objects.Refused, manifests.Refused{Kind: kind, Key: key, Endpoint: endpoint})
	}
	return len(errs) > 0
}

// incomplete reports whether an endpoint lacks exposures that cannot be used: then that a name does not exist means nothing.
func (l *linter) incomplete(of types.NamespacedName) bool {
	return slices.ContainsFunc(l.objects.Refused, func(r manifests.Refused) bool {
		return r.Kind == "MCPModelExposure" && r.Key.Namespace == of.Namespace && r.Endpoint == of.Name
	})
}

func nameOf(kind string, key types.NamespacedName) string { return kind + " " + key.String() }

func (l *linter) compileEndpoint(e *v1alpha1.MCPEndpoint) {
	in := compile.Inputs{
		Endpoint: e, Exposures: l.objects.Exposures, Tokens: l.objects.Tokens, NamespaceLabels: l.objects.NamespaceLabels, Now: time.Now(),
		Credentials: map[types.NamespacedName]compile.Credential{}, Webhooks: l.objects.Webhooks(e.Namespace),
	}
	for i := range l.objects.Tokens {
		// A token's text is no part of manifests: it is taken as one that no other has.
		key := client.ObjectKeyFromObject(&l.objects.Tokens[i])
		in.Credentials[key] = compile.Credential{Hashes: []string{contract.HashToken(key.String())}}
	}
	config, verdicts := compile.Compile(in)
	l.hint(e, config)
	of := client.ObjectKeyFromObject(e)
	if l.incomplete(of) {
		forgetNotes(&verdicts)
	} else if config != nil {
		l.policies(e, config)
	}
	l.verdict(nameOf("MCPEndpoint", of), verdicts.Endpoint)
	for key, verdict := range verdicts.Exposures {
		l.verdict(nameOf("MCPModelExposure", key), verdict)
	}
	for i := range l.objects.Tokens {
		t := &l.objects.Tokens[i]
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

// policies adds a warning for each approval policy that cannot be judged, and holds back everything of its operations. The API server takes
// it, and what is missing may be in other files.
func (l *linter) policies(e *v1alpha1.MCPEndpoint, config *contract.Config) {
	for i := range e.Spec.Approvals {
		for j := range config.Endpoint.Approvals {
			if p := &config.Endpoint.Approvals[j]; p.Name == e.Spec.Approvals[i].Name && p.Problem != "" {
				l.at(nameOf("MCPEndpoint", client.ObjectKeyFromObject(e)), severityWarning, fmt.Sprintf("spec.approvals[%d].match", i),
					p.Problem+"; until then the policy holds back everything of its operations")
			}
		}
	}
}

// hint adds what is allowed in exposures, and seldom meant.
func (l *linter) hint(endpoint *v1alpha1.MCPEndpoint, config *contract.Config) {
	if config == nil {
		return
	}
	for i := range l.objects.Exposures {
		e := &l.objects.Exposures[i]
		m := config.FindModel(e.Name, string(e.UID))
		if m == nil || e.Namespace != endpoint.Namespace || e.Spec.EndpointRef.Name != endpoint.Name {
			continue
		}
		object := nameOf("MCPModelExposure", client.ObjectKeyFromObject(e))
		if e.Spec.Expose == nil && compile.ForgotToExpose(config, m) {
			l.at(object, severityWarning, "spec", compile.NotAdvertised+" If not, set expose: false.")
		}
		l.hintMeanings(object, m)
		for i, r := range m.Relations {
			if !slices.ContainsFunc(config.Models, func(other contract.Model) bool { return other.Name == r.Model }) {
				l.at(object, severityWarning, fmt.Sprintf("spec.relations[%d].model", i), fmt.Sprintf("the endpoint has no model %q, so that nobody can follow the relation.", r.Model))
			}
		}
		for _, inline := range m.Inlines {
			j := slices.IndexFunc(config.Models, func(other contract.Model) bool { return other.Name == inline.Model })
			if len(m.RowPolicies) > 0 && j >= 0 && len(config.Models[j].RowPolicies) == 0 {
				l.at(object, severityWarning, "spec.rowPolicies", fmt.Sprintf("they guard %q alone. Rows of %q belong to its rows (spec.inlines), and without row policies of their own "+
					"every token that may view %q sees all of them. Give %q a row policy along its foreign key.", m.Name, inline.Model, inline.Model, inline.Model))
			}
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
		field := fields[v.Lack.Reason]
		if strings.HasPrefix(object, "MCPEndpoint ") {
			field = "spec.approvals"
		}
		l.at(object, severityError, field, v.Lack.Message)
	}
	for _, note := range v.Notes {
		l.at(object, severityWarning, "", note)
	}
}
