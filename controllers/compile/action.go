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

// entry is the entry of a webhook, with the headers and the key of its Secret, or with the problem that keeps it from
// being called.
func (w webhooks) entry(e *v1alpha1.MCPModelExposure, a *v1alpha1.ActionSpec) (*contract.WebhookAction, Lack) {
	entry := &contract.WebhookAction{URL: a.Webhook.URL, Timeout: contract.Duration(a.Webhook.EffectiveTimeout())}
	ref := a.Webhook.HeadersSecretRef
	if ref == nil {
		return entry, Lack{}
	}
	secret, exists := w.secrets[ref.Name]
	lack := Lack{}
	switch {
	case secret.Unsure:
		if before := w.before(e, a); before != nil {
			entry.Headers, entry.SigningKey = before.Headers, before.SigningKey
			return entry, Lack{}
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
	return entry, lack
}

// before is the webhook's entry in the previous Config, where it went to the same URL and could be called.
func (w webhooks) before(e *v1alpha1.MCPModelExposure, a *v1alpha1.ActionSpec) *contract.WebhookAction {
	if w.previous == nil {
		return nil
	}
	model := w.previous.FindModel(e.Name, string(e.UID))
	if model == nil {
		return nil
	}
	i := slices.IndexFunc(model.Actions, func(old contract.Action) bool { return old.Name == a.Name })
	if i < 0 {
		return nil
	}
	if old := model.Actions[i].Webhook; old != nil && old.URL == a.Webhook.URL && old.Problem == "" {
		return old
	}
	return nil
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
