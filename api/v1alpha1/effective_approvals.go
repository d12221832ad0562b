package v1alpha1

import (
	"slices"
	"strings"
	"time"
)

// What an absent field of an ApprovalPolicy means.
const (
	DefaultExpiresAfter = time.Hour
	DefaultKeepFor      = time.Hour
)

// EffectiveMinApprovals is how many people must allow a call.
func (p *ApprovalPolicy) EffectiveMinApprovals() int32 { return positiveOr(p.MinApprovals, 1) }

// EffectiveExpiresAfter is how long a call waits.
func (p *ApprovalPolicy) EffectiveExpiresAfter() time.Duration {
	if p.ExpiresAfter != nil {
		return p.ExpiresAfter.Duration
	}
	return DefaultExpiresAfter
}

// EffectiveKeepFor is how long an MCPApproval stays after it ended.
func (p *ApprovalPolicy) EffectiveKeepFor() time.Duration {
	if p.KeepFor != nil {
		return p.KeepFor.Duration
	}
	return DefaultKeepFor
}

// EffectiveShow is what an MCPApproval tells of the rows.
func (p *ApprovalPolicy) EffectiveShow() ApprovalShow {
	if p.Show != "" {
		return p.Show
	}
	return ApprovalShowFields
}

// EffectiveApproverGroups are the groups of users who may decide; nil is everybody with the verb approve.
func (p *ApprovalPolicy) EffectiveApproverGroups() []string {
	if p.Approvers == nil {
		return nil
	}
	return p.Approvers.Groups
}

// EffectiveStates are the states of calls for which the webhook gets an event.
func (n *ApprovalNotify) EffectiveStates() []ApprovalState {
	if len(n.States) > 0 {
		return n.States
	}
	return []ApprovalState{ApprovalWaiting}
}

// FindApproval is the endpoint's policy of a name; nil if it has none.
func (s *MCPEndpointSpec) FindApproval(name string) *ApprovalPolicy {
	for i := range s.Approvals {
		if s.Approvals[i].Name == name {
			return &s.Approvals[i]
		}
	}
	return nil
}

// Strict reports whether a policy says that nobody decides who can read the token's Secret.
func (r *ApprovalRequest) Strict() bool {
	return slices.ContainsFunc(r.Policies, func(p ApprovalAsker) bool { return p.FourEyes == FourEyesStrict })
}

// GuardsSecretOf reports whether who decides is checked against the Secret that a token has now.
func (r *ApprovalRequest) GuardsSecretOf(t *MCPToken) bool {
	if !r.Strict() {
		return true
	}
	guarded := ""
	if r.TokenSecretRef != nil {
		guarded = r.TokenSecretRef.Name
	}
	return guarded == t.CredentialSecretName()
}

// serviceAccountPrefix begins the user names of ServiceAccounts.
const serviceAccountPrefix = "system:serviceaccount:"

// Takes reports whether the policy takes the approval of who decided: it asks for no group, or for one of that user's. ServiceAccounts are
// no people, and anybody may make some: without groups none is taken.
func (p *ApprovalAsker) Takes(d *ApprovalDecision) bool {
	if len(p.ApproverGroups) == 0 {
		return !strings.HasPrefix(d.DecidedBy, serviceAccountPrefix)
	}
	return slices.ContainsFunc(d.Groups, func(group string) bool { return slices.Contains(p.ApproverGroups, group) })
}

// EffectiveState is the approval's state.
func (a *MCPApproval) EffectiveState() ApprovalState {
	if a.Status.State != "" {
		return a.Status.State
	}
	return ApprovalWaiting
}

// Ended reports whether nothing more can become of the approval.
func (a *MCPApproval) Ended() bool {
	state := a.EffectiveState()
	return state != ApprovalWaiting && state != ApprovalApproved
}

// ApprovalName is the object's name of the approval that callers know by a name.
func ApprovalName(endpoint, approval string) string { return endpoint + "-" + approval }

// ShortName is the name by which callers know the approval.
func (a *MCPApproval) ShortName() string {
	return strings.TrimPrefix(a.Name, a.Spec.EndpointRef.Name+"-")
}

// IsOwnCall reports whether a user is whom the caller's issuer names: the cluster may know that person by a name with a prefix, which
// ends with a colon or '#'.
func (r *ApprovalRequest) IsOwnCall(user string) bool {
	subject := r.Subject
	return subject != "" && (user == subject || strings.HasSuffix(user, ":"+subject) || strings.HasSuffix(user, "#"+subject))
}
