package compile

import (
	"fmt"
	"maps"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// WebhookSecret holds the known facts about a Secret that a webhook names.
type WebhookSecret struct {
	// Host is the value of its annotation v1alpha1.WebhookHostAnnotation; "" if it has none.
	Host string
	// Data are header values by name, and the value of v1alpha1.WebhookSigningKey.
	Data map[string][]byte
	// Unsure reports whether it could not be read, so that nothing speaks against what the previous Config has.
	Unsure bool
}

// ownHeaders are the headers that the server itself sets, or that belong to the connection.
var ownHeaders = []string{"Connection", "Content-Length", "Content-Type", "Host", "Keep-Alive", "Mcp-Admin-Signature",
	"Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent"}

// webhooks finds what the webhooks of an endpoint send along.
type webhooks struct {
	secrets map[string]WebhookSecret
	// previous is the main part from before; nil if there is none.
	previous *contract.Config
}

func newWebhooks(secrets map[string]WebhookSecret, previous *contract.Config) webhooks {
	return webhooks{secrets: secrets, previous: previous}
}

// actionEntries are the entries of an exposure's actions, and what the first of them lacks that lacks something.
func (w webhooks) actionEntries(e *v1alpha1.MCPModelExposure) ([]contract.Action, Lack) {
	var all []contract.Action
	var lack Lack
	for i := range e.Spec.Actions {
		a := &e.Spec.Actions[i]
		if a.Report != nil {
			continue
		}
		entry := actionEntry(a)
		if a.Webhook != nil {
			var missing Lack
			entry.Webhook, missing = w.entry(e, a)
			if lack == (Lack{}) && missing != (Lack{}) {
				lack = Lack{missing.Reason, fmt.Sprintf("action %q: %s", a.Name, missing.Message)}
			}
		}
		all = append(all, entry)
	}
	return all, lack
}

// actionEntry is the entry of an action, but for its webhook.
func actionEntry(a *v1alpha1.ActionSpec) contract.Action {
	entry := contract.Action{Name: a.Name, Description: a.Description}
	for _, verb := range a.EffectiveRequires() {
		entry.Requires = append(entry.Requires, string(verb))
	}
	if a.Confirm != nil {
		entry.Confirm = &contract.Confirmation{
			Message: a.Confirm.Message, TokenRequired: a.Confirm.Token == v1alpha1.ConfirmationTokenRequired,
		}
	}
	entry.Parameters = parameterEntries(a.Parameters)
	if a.Update != nil {
		entry.Update = &contract.UpdateAction{Where: rowFilterEntries(a.Update.Where)}
		for _, s := range a.Update.Set {
			entry.Update.Set = append(entry.Update.Set, contract.ActionAssignment{
				Field: s.Field, Source: string(s.Source), Value: textOf(s.Value), Parameter: s.Parameter,
			})
		}
	}
	if a.SQL != nil {
		statements := a.SQL.All()
		entry.SQL = &contract.SQLAction{Statement: statements[0]}
		if len(statements) > 1 {
			entry.SQL.More = statements[1:]
		}
	}
	return entry
}

// entry is the entry of an action's webhook.
func (w webhooks) entry(e *v1alpha1.MCPModelExposure, a *v1alpha1.ActionSpec) (*contract.Webhook, Lack) {
	entry := &contract.Webhook{}
	lack := w.fill(entry, a.Webhook, func(old *contract.Config) *contract.Webhook {
		model := old.FindModel(e.Name, string(e.UID))
		if model == nil {
			return nil
		}
		i := slices.IndexFunc(model.Actions, func(old contract.Action) bool { return old.Name == a.Name })
		if i < 0 {
			return nil
		}
		return model.Actions[i].Webhook
	})
	return entry, lack
}

// notifyEntries gives the entries of an endpoint's policies the webhooks that are told of calls that wait, and returns what the first of
// them lacks that lacks something: nobody is told then, and the policy holds back what it always does.
func (w webhooks) notifyEntries(e *v1alpha1.MCPEndpoint, policies []contract.ApprovalPolicy) Lack {
	var lack Lack
	for i := range policies {
		p := &policies[i]
		spec := e.Spec.FindApproval(p.Name)
		if spec == nil || spec.Notify == nil {
			continue
		}
		p.Notify = &contract.ApprovalNotify{PageURL: spec.Notify.PageURL}
		for _, state := range spec.Notify.EffectiveStates() {
			p.Notify.States = append(p.Notify.States, string(state))
		}
		slices.Sort(p.Notify.States)
		missing := w.fill(&p.Notify.Webhook, &spec.Notify.WebhookSpec, func(old *contract.Config) *contract.Webhook {
			for j := range old.Endpoint.Approvals {
				if before := &old.Endpoint.Approvals[j]; before.Name == p.Name && before.Notify != nil {
					return &before.Notify.Webhook
				}
			}
			return nil
		})
		if lack == (Lack{}) && missing != (Lack{}) {
			lack = Lack{missing.Reason, fmt.Sprintf("the webhook of the approval policy %s cannot be called: %s", p.Name, missing.Message)}
		}
	}
	return lack
}

// fill makes the entry of a webhook, with the headers and the key of its Secret, or with the problem that keeps it from being called.
// before finds the entry in a Config.
func (w webhooks) fill(entry *contract.Webhook, spec *v1alpha1.WebhookSpec, before func(*contract.Config) *contract.Webhook) Lack {
	entry.URL, entry.Timeout = spec.URL, contract.Duration(spec.EffectiveTimeout())
	ref := spec.HeadersSecretRef
	if ref == nil {
		return Lack{}
	}
	secret, exists := w.secrets[ref.Name]
	lack := Lack{}
	switch {
	case secret.Unsure:
		if w.previous != nil { // the same URL, which could be called
			if old := before(w.previous); old != nil && old.URL == spec.URL && old.Problem == "" {
				entry.Headers, entry.SigningKey = old.Headers, old.SigningKey
				return Lack{}
			}
		}
		lack = Lack{v1alpha1.ReasonSecretNotFound, fmt.Sprintf("Secret %q could not be read; it is tried again", ref.Name)}
	case !exists:
		lack = Lack{v1alpha1.ReasonSecretNotFound, fmt.Sprintf("Secret %q does not exist", ref.Name)}
	default:
		var problem string
		if entry.Headers, entry.SigningKey, problem = secret.headers(entry.URL); problem != "" {
			lack = Lack{v1alpha1.ReasonWebhookSecretInvalid, fmt.Sprintf("Secret %q %s", ref.Name, problem)}
		}
	}
	entry.Problem = lack.Message
	return lack
}

// headers are the headers and the signing key of a webhook's Secret, or what is wrong with it. What is wrong names keys
// at most, never a value.
func (s WebhookSecret) headers(webhook string) (headers map[string]string, signingKey, problem string) {
	u, err := url.Parse(webhook)
	if err != nil || !strings.EqualFold(s.Host, u.Host) {
		return nil, "", fmt.Sprintf("must carry the annotation %s: %q", v1alpha1.WebhookHostAnnotation, u.Host)
	}
	headers = map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(s.Data)) {
		value := strings.TrimRight(string(s.Data[key]), "\r\n") // whoever makes a Secret of a file has the line end in it
		name := textproto.CanonicalMIMEHeaderKey(key)
		_, twice := headers[name]
		switch {
		case key == v1alpha1.WebhookSigningKey && value == "":
			return nil, "", fmt.Sprintf("has an empty key %q", key)
		case key == v1alpha1.WebhookSigningKey:
			signingKey = value
		case slices.Contains(ownHeaders, name):
			return nil, "", fmt.Sprintf("has the key %q, a header that the server sets itself", key)
		case twice:
			return nil, "", fmt.Sprintf("has the header %q twice", name)
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			return nil, "", fmt.Sprintf("has a key %q whose value cannot stand in a header", key)
		default:
			headers[name] = value
		}
	}
	if len(headers) == 0 {
		headers = nil
	}
	return headers, signingKey, ""
}
