package compile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// PolicyForce says whether the API server checks who decides, and since when.
type PolicyForce struct {
	// Problem says why it does not; "" if it does.
	Problem string
	// Since is the moment from which nothing can have been decided unchecked.
	Since time.Time
}

// covers reports whether no decision about an approval can have been made unchecked: it is younger than the check.
func (f PolicyForce) covers(a *v1alpha1.MCPApproval) bool {
	return f.Problem == "" && !a.CreationTimestamp.Time.Before(f.Since)
}

// Ruling is what people's decisions make of an approval.
type Ruling struct {
	State v1alpha1.ApprovalState
	// Reason and Message are those of the condition that tells the state.
	Reason, Message string
	// By are the users whose decisions made it so, Comment is what they said.
	By      []string
	Comment string
	// Decisions say of each decision whether it counts, in their order.
	Decisions []v1alpha1.ApprovalDecisionReason
	// Allowed says how many people have allowed what still waits, by policy; nil if nobody has.
	Allowed map[string]int
}

// Rule tells what the decisions make of an approval, by the endpoint's policies as they are now. token is nil if it is gone. What has ended
// stays ended.
func Rule(a *v1alpha1.MCPApproval, e *v1alpha1.MCPEndpoint, token *v1alpha1.MCPToken, force PolicyForce, now time.Time) Ruling {
	if a.Ended() {
		return ended(a)
	}
	request := &a.Spec.Request
	ruling := Ruling{Decisions: make([]v1alpha1.ApprovalDecisionReason, len(a.Spec.Decisions))}
	for i := range a.Spec.Decisions {
		ruling.Decisions[i] = judgeDecision(a, &a.Spec.Decisions[i], force)
	}
	if token == nil || string(token.UID) != request.TokenUID {
		return ruling.end(v1alpha1.ApprovalSuperseded, v1alpha1.ApprovalReasonTokenGone, "the MCPToken is gone, or another one has its name")
	}
	if !request.GuardsSecretOf(token) { // the manager makes it anew, for decisions that are checked against that Secret
		return ruling.end(v1alpha1.ApprovalWaiting, v1alpha1.ApprovalReasonWaiting, "the token's text is in another Secret by now: decisions are taken anew")
	}
	for i := range request.Policies {
		p := e.Spec.FindApproval(request.Policies[i].Name)
		if p == nil || ApprovalSum(p) != request.Policies[i].Sum {
			return ruling.end(v1alpha1.ApprovalSuperseded, v1alpha1.ApprovalReasonPolicyChanged,
				fmt.Sprintf("the policy %s says something else by now; the call has to be made again", request.Policies[i].Name))
		}
	}
	if by, comment := ruling.counted(a, v1alpha1.VerdictDeny); len(by) > 0 {
		ruling.By, ruling.Comment = by, comment
		return ruling.end(v1alpha1.ApprovalDenied, v1alpha1.ApprovalReasonDenied, "denied by "+strings.Join(by, ", "))
	}
	if !now.Before(request.ExpiryTime.Time) {
		return ruling.end(v1alpha1.ApprovalExpired, v1alpha1.ApprovalReasonExpired, "nobody allowed it in time, or it did not run in time")
	}
	if by, comment := ruling.counted(a, v1alpha1.VerdictOverride); len(by) > 0 {
		ruling.By, ruling.Comment = by, "against the policies: "+comment
		return ruling.end(v1alpha1.ApprovalApproved, v1alpha1.ApprovalReasonOverridden, "allowed by "+strings.Join(by, ", ")+" against the policies (override)")
	}
	missing, have := ruling.missing(a)
	if missing != "" {
		ruling.Allowed = have
		if force.Problem != "" {
			missing = "no decision is taken: " + force.Problem
		}
		return ruling.end(v1alpha1.ApprovalWaiting, v1alpha1.ApprovalReasonWaiting, missing)
	}
	ruling.By, ruling.Comment = ruling.counted(a, v1alpha1.VerdictApprove)
	return ruling.end(v1alpha1.ApprovalApproved, v1alpha1.ApprovalReasonApproved, "allowed by "+strings.Join(ruling.By, ", "))
}

func (r Ruling) end(state v1alpha1.ApprovalState, reason, message string) Ruling {
	r.State, r.Reason, r.Message = state, reason, message
	return r
}

// judgeDecision tells whether a decision counts.
func judgeDecision(a *v1alpha1.MCPApproval, d *v1alpha1.ApprovalDecision, force PolicyForce) v1alpha1.ApprovalDecisionReason {
	switch {
	case !force.covers(a):
		return v1alpha1.DecisionPolicyNotInForce
	case a.Spec.Request.IsOwnCall(d.DecidedBy):
		return v1alpha1.DecisionOwnCall
	case d.Decision == v1alpha1.VerdictApprove && !slices.ContainsFunc(a.Spec.Request.Policies, func(p v1alpha1.ApprovalAsker) bool { return p.Takes(d) }):
		return v1alpha1.DecisionNotAnApprover
	}
	return v1alpha1.DecisionCounted
}

// counted are the users whose decisions count and are of a kind, and what they said.
func (r Ruling) counted(a *v1alpha1.MCPApproval, kind v1alpha1.ApprovalVerdict) (by []string, comment string) {
	var comments []string
	for i := range a.Spec.Decisions {
		d := &a.Spec.Decisions[i]
		if r.Decisions[i] != v1alpha1.DecisionCounted || d.Decision != kind {
			continue
		}
		by = append(by, d.DecidedBy)
		if d.Comment != "" {
			comments = append(comments, d.Comment)
		}
	}
	return by, strings.Join(comments, "; ")
}

// missing says what the policies still ask for, "" if nothing, and how many people have allowed it, by policy; nil if nobody has.
func (r Ruling) missing(a *v1alpha1.MCPApproval) (text string, allowed map[string]int) {
	var missing []string
	for i := range a.Spec.Request.Policies {
		p := &a.Spec.Request.Policies[i]
		have := int32(0)
		for at := range a.Spec.Decisions {
			d := &a.Spec.Decisions[at]
			if r.Decisions[at] == v1alpha1.DecisionCounted && d.Decision == v1alpha1.VerdictApprove && p.Takes(d) {
				have++
			}
		}
		if have > 0 {
			if allowed == nil {
				allowed = map[string]int{}
			}
			allowed[p.Name] = int(have)
		}
		if have >= p.MinApprovals {
			continue
		}
		text := fmt.Sprintf("policy %s has %d of %d approvals", p.Name, have, p.MinApprovals)
		if len(p.ApproverGroups) > 0 {
			text += " of people in " + strings.Join(p.ApproverGroups, " or ")
		}
		missing = append(missing, text)
	}
	return strings.Join(missing, "; "), allowed
}

// ended is the ruling about an approval that has ended, as its status has it.
func ended(a *v1alpha1.MCPApproval) Ruling {
	ruling := Ruling{State: a.Status.State, Decisions: make([]v1alpha1.ApprovalDecisionReason, len(a.Spec.Decisions))}
	for i := range a.Spec.Decisions {
		ruling.Decisions[i] = v1alpha1.DecisionTooLate
		for _, seen := range a.Status.Decisions {
			if seen.DecidedBy == a.Spec.Decisions[i].DecidedBy {
				ruling.Decisions[i] = seen.Reason
			}
		}
	}
	kinds := []v1alpha1.ApprovalVerdict{v1alpha1.VerdictApprove, v1alpha1.VerdictOverride}
	if a.Status.State == v1alpha1.ApprovalDenied {
		kinds = []v1alpha1.ApprovalVerdict{v1alpha1.VerdictDeny}
	}
	for _, kind := range kinds {
		by, comment := ruling.counted(a, kind)
		ruling.By, ruling.Comment = append(ruling.By, by...), strings.Trim(ruling.Comment+"; "+comment, "; ")
	}
	return ruling
}

// Decisions are what a Config says of approvals, by token, the oldest first.
func Decisions(approvals []*v1alpha1.MCPApproval, e *v1alpha1.MCPEndpoint, token func(types.NamespacedName) *v1alpha1.MCPToken, force PolicyForce, now time.Time) map[types.NamespacedName][]contract.Decision {
	var all map[types.NamespacedName][]contract.Decision
	approvals = slices.Clone(approvals)
	slices.SortFunc(approvals, func(a, b *v1alpha1.MCPApproval) int {
		if order := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); order != 0 {
			return order
		}
		return strings.Compare(a.Name, b.Name)
	})
	for _, a := range approvals {
		request := &a.Spec.Request
		key := types.NamespacedName{Namespace: request.TokenRef.Namespace, Name: request.TokenRef.Name}
		t := token(key)
		if t == nil || string(t.UID) != request.TokenUID || !a.DeletionTimestamp.IsZero() {
			continue
		}
		d, decided := decisionOf(a, Rule(a, e, t, force, now))
		if !decided {
			continue
		}
		if all == nil {
			all = map[types.NamespacedName][]contract.Decision{}
		}
		all[key] = append(all[key], d)
	}
	for _, decisions := range all { // the first are left out if there are too many
		slices.SortStableFunc(decisions, func(a, b contract.Decision) int { return waitsFirst(a) - waitsFirst(b) })
	}
	return all
}

func waitsFirst(d contract.Decision) int {
	if d.State == contract.ApprovalWaiting {
		return 0
	}
	return 1
}

// decisionStates are the states that servers are told, and what of them. A call that ran stays allowed: it is told that it ran. One that
// waits is told if somebody has allowed it.
var decisionStates = map[v1alpha1.ApprovalState]string{
	v1alpha1.ApprovalApproved: contract.ApprovalApproved, v1alpha1.ApprovalExecuted: contract.ApprovalApproved,
	v1alpha1.ApprovalDenied: contract.ApprovalDenied, v1alpha1.ApprovalExpired: contract.ApprovalExpired, v1alpha1.ApprovalWaiting: contract.ApprovalWaiting,
}

// decisionOf is the decision that servers are told; false if there is none.
func decisionOf(a *v1alpha1.MCPApproval, r Ruling) (contract.Decision, bool) {
	state, decided := decisionStates[r.State]
	request := &a.Spec.Request
	if !decided || contract.ApprovalName(request.Digest) != a.ShortName() || r.State == v1alpha1.ApprovalWaiting && len(r.Allowed) == 0 {
		return contract.Decision{}, false
	}
	comment := []rune(r.Comment)
	return contract.Decision{
		Name: a.ShortName(), Digest: request.Digest, Caller: request.Caller, Tool: request.Tool, State: state,
		By: r.By, Comment: string(comment[:min(len(comment), contract.MaxApprovalReason)]), Expires: request.ExpiryTime.UTC(),
		Allowed: r.Allowed,
	}, true
}
