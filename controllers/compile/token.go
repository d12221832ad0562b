package compile

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// Credential holds the known facts about a token's text: its hashes, or why there are none.
type Credential struct {
	// Hashes are hex SHA-256 sums of texts; any of these texts is the token.
	Hashes []string
	// PublicID is the part of the text that may be shown; "" if there is none.
	PublicID string
	// Reason is one of v1alpha1.Reason… if there are no hashes, Message what is missing; neither names a secret.
	Reason, Message string
	// Unsure reports whether the text could not be looked up, so that nothing speaks against what the previous Config has.
	Unsure bool
	// refusedSums are those of the previous Config, if the text was not looked up yet.
	refusedSums []string
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

// HashCredential is the credential of a token if only its hex SHA-256 is known.
func HashCredential(hash string) Credential {
	hash = strings.ToLower(strings.TrimSpace(hash))
	if raw, err := hex.DecodeString(hash); err != nil || len(raw) != 32 {
		return Credential{Reason: v1alpha1.ReasonInvalid, Message: "the hash must be the 64 hexadecimal digits of a SHA-256 sum"}
	}
	return Credential{Hashes: []string{hash}}
}

// knownCredential is the credential that counts: the found one, else the stored Config's.
func knownCredential(state *tokenState, t *v1alpha1.MCPToken) *Credential {
	if state.given != nil && !state.given.Unsure {
		return state.given
	}
	entry := &state.entry
	isOurs := entry.UID == string(t.UID)
	if isOurs && len(entry.Hashes) > 0 {
		return &Credential{Hashes: entry.Hashes, PublicID: entry.PublicID}
	}
	unknown := Credential{Reason: v1alpha1.ReasonWaitingForToken, Message: "the token has not been looked up yet"}
	if state.given != nil {
		unknown = *state.given
	}
	if isOurs { // an entry that lets nobody in has the public part, too
		unknown.PublicID, unknown.refusedSums = entry.PublicID, entry.RefusedSums
	}
	return &unknown
}

// judgeToken tells what becomes of a token.
func (c *Compiler) judgeToken(in Objects, state *tokenState) TokenVerdict {
	e, t := in.Endpoint, state.object
	if len(state.problems) > 0 {
		return TokenVerdict{Verdict: invalid(state.problems.ToAggregate())}
	}
	if refused := refuseOwnRights(t); refused != nil {
		return TokenVerdict{Verdict: *refused}
	}
	if !t.Spec.EffectiveActive() {
		return TokenVerdict{Verdict: Verdict{Accepted: true, Reason: v1alpha1.ReasonInactive, Message: "the token is not active"}}
	}
	if t.Expired(in.Now) {
		// Expiry was asked for: like a token that is not active, the token is as it should be.
		return TokenVerdict{Verdict: Verdict{
			Accepted: true,
			Reason:   v1alpha1.ReasonExpired,
			Message:  "the token expired at " + t.EffectiveExpiry().UTC().Format(time.RFC3339),
		}}
	}
	for _, refused := range []*Verdict{refuseGroups(e, t), c.missingGroup(e, t), c.refuseIssuer(e, t)} {
		if refused != nil {
			return TokenVerdict{Verdict: *refused}
		}
	}
	if first := c.firstOwner(state); first != nil {
		return TokenVerdict{Verdict: conflict(t, first)}
	}
	if waits := held(e, "MCPToken", t, c.inForce(state)); waits != nil {
		return TokenVerdict{Verdict: *waits}
	}
	return TokenVerdict{Verdict: accepted(), InForce: len(state.known.Hashes) > 0 || t.Spec.IssuedElsewhere()}
}

// missingGroup is the verdict on a token that names a group which the endpoint does not have; nil if it has all.
func (c *Compiler) missingGroup(e *v1alpha1.MCPEndpoint, t *v1alpha1.MCPToken) *Verdict {
	for _, group := range t.Spec.NamedGroups() {
		if !slices.Contains(c.groups, group) {
			return &Verdict{
				Reason:  v1alpha1.ReasonGroupNotFound,
				Message: fmt.Sprintf("MCPEndpoint %s has no group %q", e.Name, group),
			}
		}
	}
	return nil
}

// tokenEntry is the entry of a token. One that is not in force has no hashes and no identity: it has a revision all the same,
// which tells when the pods began to refuse the token. issuers are the URLs of the endpoint's, by name.
func tokenEntry(t *v1alpha1.MCPToken, credential *Credential, verdict TokenVerdict, issuers map[string]string) contract.Token {
	entry := contract.Token{Namespace: t.Namespace, Name: t.Name, UID: string(t.UID)}
	if !verdict.InForce {
		if entry.PublicID = credential.PublicID; verdict.Reason != v1alpha1.ReasonAccepted {
			entry.Refused = verdict.Reason
		}
		if verdict.Accepted && (verdict.Reason == v1alpha1.ReasonInactive || verdict.Reason == v1alpha1.ReasonExpired) {
			entry.RefusedSums = refusedSums(t, credential, issuers)
		}
		return entry
	}
	entry.PublicID = credential.PublicID
	entry.Hashes = slices.Sorted(slices.Values(credential.Hashes))
	if entry.Identity = identityEntry(t); entry.Identity != nil {
		entry.Identity.Issuer = issuers[entry.Identity.Issuer]
	}
	entry.Groups = slices.Sorted(slices.Values(t.Spec.Groups))
	entry.Attributes = texts(t.Spec.Attributes)
	entry.Rules = appendRules(nil, t.Spec.Permissions)
	if expiry := t.EffectiveExpiry(); expiry != nil {
		entry.Expiry = new(expiry.UTC())
		entry.ShortLived = t.ShortLived()
	}
	return entry
}

// refusedSums tell the server whose text it refuses. Callers of an issuer that are told apart by claims alone have none.
func refusedSums(t *v1alpha1.MCPToken, credential *Credential, issuers map[string]string) []string {
	if identity := identityEntry(t); identity != nil {
		if identity.ServiceAccount == "" && identity.Subject == "" {
			return nil
		}
		if identity.Issuer != "" {
			if identity.Issuer = issuers[identity.Issuer]; identity.Issuer == "" {
				return nil
			}
		}
		return []string{contract.RefusedSum(contract.HashToken(identity.Key()))}
	}
	if len(credential.Hashes) == 0 {
		return credential.refusedSums
	}
	sums := make([]string, len(credential.Hashes))
	for i, hash := range credential.Hashes {
		sums[i] = contract.RefusedSum(hash)
	}
	slices.Sort(sums)
	return sums
}

// appendRules adds the rules of a token or group.
func appendRules(rules []contract.Rule, permissions []v1alpha1.PermissionRule) []contract.Rule {
	for _, p := range permissions {
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

// earliest is the earlier of two moments; a zero time is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
