package compile

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// Credential is what is known of a token's text: its hashes, or why there are none.
type Credential struct {
	// Hashes are hex SHA-256 sums of texts, any of which is the token.
	Hashes []string
	// PublicID is the part of the text that may be shown; "" if there is none.
	PublicID string
	// Reason is one of v1alpha1.Reason… if there are no hashes, Message what is missing; neither names a secret.
	Reason, Message string
	// Unsure reports whether the text could not be looked up, so that nothing speaks against what the previous Config has.
	Unsure bool
}

// UnsureCredential is the credential of a token whose Secret could not be read: that the API server does not answer must
// not take a living token away.
func UnsureCredential() Credential {
	return Credential{Reason: v1alpha1.ReasonWaitingForToken, Message: "the token's Secret could not be read; it is tried again", Unsure: true}
}

// NoCredential is the credential of a Secret that holds no token. One message says all that may be the matter: who may
// write an MCPToken learns nothing of Secrets that he may not read.
func NoCredential(ref v1alpha1.SecretKeyReference, hashed bool) Credential {
	wanted := fmt.Sprintf("a text of at least %d characters", contract.MinTokenLength)
	if hashed {
		wanted = "the 64 hexadecimal digits of a SHA-256 sum"
	}
	return Credential{
		Reason:  v1alpha1.ReasonSecretNotFound,
		Message: fmt.Sprintf("no token was found: Secret %q must exist, and its key %q must hold %s", ref.Name, ref.Key, wanted),
	}
}

// TextCredential is the credential of a plain text (docs/design/rights.md, "Tokens"). Line ends at its end are no part
// of it.
func TextCredential(text string) Credential {
	text = strings.TrimRight(text, "\r\n")
	if len(text) < contract.MinTokenLength {
		return Credential{
			Reason:  v1alpha1.ReasonTokenTooShort,
			Message: fmt.Sprintf("the token must have at least %d characters", contract.MinTokenLength),
		}
	}
	return Credential{Hashes: []string{contract.HashToken(text)}, PublicID: contract.PublicTokenID(text)}
}

// HashCredential is the credential of a token of which only the hex SHA-256 is known.
func HashCredential(hash string) Credential {
	hash = strings.ToLower(strings.TrimSpace(hash))
	if raw, err := hex.DecodeString(hash); err != nil || len(raw) != 32 {
		return Credential{Reason: v1alpha1.ReasonInvalid, Message: "the hash must be the 64 hexadecimal digits of a SHA-256 sum"}
	}
	return Credential{Hashes: []string{hash}}
}

// compileTokens writes an entry for every token, in force or not: an entry without hashes has a revision too, which
// tells when the pods began to refuse the token.
func compileTokens(in Inputs, verdicts *Verdicts) []contract.Token {
	var tokens []*v1alpha1.MCPToken
	admits := in.admission()
	for i := range in.Tokens {
		t := &in.Tokens[i]
		if t.DeletionTimestamp.IsZero() && t.Endpoint() == in.key() && admits(t.Namespace) {
			tokens = append(tokens, t)
		}
	}
	slices.SortFunc(tokens, func(a, b *v1alpha1.MCPToken) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})

	known := in.knownCredentials()
	entries := []contract.Token{}
	owners := map[string]*v1alpha1.MCPToken{}
	for _, t := range tokens {
		credential := known(t)
		verdict := judgeToken(in, t, credential, owners)
		// An older token owns its hashes even while it is not in force: a younger one must not revive a revoked text.
		for _, hash := range credential.Hashes {
			if owners[hash] == nil {
				owners[hash] = t
			}
		}
		verdicts.Tokens[types.NamespacedName{Namespace: t.Namespace, Name: t.Name}] = verdict
		entries = append(entries, tokenEntry(in, t, credential, verdict))
		if expiry := t.EffectiveExpiry(); expiry != nil && t.Spec.EffectiveActive() && in.Now.Before(*expiry) {
			verdicts.LookAgain = earliest(verdicts.LookAgain, *expiry)
		}
	}
	slices.SortFunc(entries, func(a, b contract.Token) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return entries
}

// knownCredentials returns what gives each token's credential: what the caller found, else what the previous Config has.
func (in Inputs) knownCredentials() func(*v1alpha1.MCPToken) Credential {
	var old entries
	if in.Previous != nil {
		old = indexed(in.Previous)
	}
	return func(t *v1alpha1.MCPToken) Credential {
		found, known := in.Credentials[types.NamespacedName{Namespace: t.Namespace, Name: t.Name}]
		if known && !found.Unsure {
			return found
		}
		if entry := old.tokens[[3]string{t.Namespace, t.Name, string(t.UID)}]; len(entry.Hashes) > 0 {
			return Credential{Hashes: entry.Hashes, PublicID: entry.PublicID}
		}
		if known {
			return found
		}
		return Credential{Reason: v1alpha1.ReasonWaitingForToken, Message: "the token has not been looked up yet"}
	}
}

// judgeToken tells what becomes of a token. owners are the older tokens that have each hash.
func judgeToken(in Inputs, t *v1alpha1.MCPToken, credential Credential, owners map[string]*v1alpha1.MCPToken) TokenVerdict {
	if errs := v1alpha1.ValidateMCPToken(t); len(errs) > 0 {
		return TokenVerdict{Verdict: invalid(errs)}
	}
	if !t.Spec.EffectiveActive() {
		return TokenVerdict{Verdict: Verdict{Accepted: true, Reason: v1alpha1.ReasonInactive, Message: "spec.active is false"}}
	}
	if t.Expired(in.Now) {
		// To expire is what was asked for: like a token that is not active, it is as it should be.
		return TokenVerdict{Verdict: Verdict{
			Accepted: true,
			Reason:   v1alpha1.ReasonExpired,
			Message:  "the token expired at " + t.EffectiveExpiry().UTC().Format(time.RFC3339),
		}}
	}
	if refused := in.refuseGroups(t); refused != nil {
		return TokenVerdict{Verdict: *refused}
	}
	for _, group := range t.Spec.Groups {
		if findGroup(in.Endpoint, group) == nil {
			return TokenVerdict{Verdict: Verdict{
				Reason:  v1alpha1.ReasonGroupNotFound,
				Message: fmt.Sprintf("MCPEndpoint %s has no group %q", in.Endpoint.Name, group),
			}}
		}
	}
	for _, hash := range credential.Hashes {
		if owner := owners[hash]; owner != nil {
			return TokenVerdict{Verdict: conflicted("the token has the same text as " + nameFor(owner, t) + ", which is older")}
		}
	}
	return TokenVerdict{Verdict: accepted(), InForce: len(credential.Hashes) > 0}
}

func tokenEntry(in Inputs, t *v1alpha1.MCPToken, credential Credential, verdict TokenVerdict) contract.Token {
	entry := contract.Token{Namespace: t.Namespace, Name: t.Name, UID: string(t.UID)}
	if !verdict.InForce {
		return entry
	}
	entry.PublicID = credential.PublicID
	entry.Hashes = slices.Sorted(slices.Values(credential.Hashes))
	entry.Groups = slices.Sorted(slices.Values(t.Spec.Groups))
	for name, value := range t.Spec.Attributes {
		if entry.Attributes == nil {
			entry.Attributes = map[string]string{}
		}
		entry.Attributes[name] = string(value)
	}
	entry.Rules = appendRules(nil, t.Spec.Permissions)
	for _, group := range entry.Groups {
		entry.Rules = appendRules(entry.Rules, findGroup(in.Endpoint, group).Permissions)
	}
	if expiry := t.EffectiveExpiry(); expiry != nil {
		entry.Expiry = new(expiry.UTC())
	}
	return entry
}

func findGroup(e *v1alpha1.MCPEndpoint, name string) *v1alpha1.Group {
	i := slices.IndexFunc(e.Spec.Groups, func(g v1alpha1.Group) bool { return g.Name == name })
	if i < 0 {
		return nil
	}
	return &e.Spec.Groups[i]
}

// appendRules adds the rules of a token or group. One that names no models, which only an endpoint that bypassed the
// API's validation can have, grants nothing.
func appendRules(rules []contract.Rule, permissions []v1alpha1.PermissionRule) []contract.Rule {
	for _, p := range permissions {
		if len(p.Models) == 0 {
			continue
		}
		rule := contract.Rule{Models: slices.Clone(p.Models), Actions: slices.Clone(p.Actions)}
		if !slices.Contains(p.Modules, contract.Wildcard) {
			rule.Modules = slices.Clone(p.Modules)
		}
		for _, verb := range p.Verbs {
			rule.Verbs = append(rule.Verbs, string(verb))
		}
		rules = append(rules, rule)
	}
	return rules
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
