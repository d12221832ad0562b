package page

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
)

// approvalView is one call that waits, or waited: all that somebody who decides has to know.
type approvalView struct {
	approvalRow
	Tool, Ended, Call, SupersededBy string
	Policies                        []policyView
	Decisions                       []decisionView
	Conditions                      []metav1.Condition
	Changes                         []changeView
	Notice                          string
	// Unobserved says that the manager has not looked at the newest decision yet.
	Unobserved bool
	// Waits says that it can still be decided about. Deciding says whether the person can, and Seen stands for what they saw.
	Waits    bool
	Deciding *deciding
	Seen     string
}

// policyView is a policy that asks for the approval.
type policyView struct {
	Name, Description, Groups string
	Needs, Has                int
	// Missing says what it still asks for.
	Missing string
}

// decisionView is what somebody decided.
type decisionView struct{ Who, Verdict, Comment, Counts string }

// changeView is what would become of some rows. Values says whether the fields have values; else their names are told alone.
type changeView struct {
	What   string
	Fields []fieldChange
	Values bool
}

var errNoApproval = errors.New("there is no such MCPApproval here. One is removed some time after it ended")

// theApproval is the approval that the path names, by its own name or by the one that callers know.
func (q *request) theApproval() (*v1alpha1.MCPApproval, error) {
	name := q.PathValue("approval")
	if k := q.source().Cluster(); k != nil {
		a, err := k.In(q.key().Namespace).Approval(q.Context(), name)
		if err == nil && endpointOf(a) != q.key() {
			err = errNoApproval
		}
		return a, err
	}
	all, err := q.allApprovals()
	if i := slices.IndexFunc(all, func(a v1alpha1.MCPApproval) bool { return a.Name == name || a.ShortName() == name }); i >= 0 {
		return &all[i], nil
	}
	if err == nil {
		err = errNoApproval
	}
	return nil, err
}

// approval shows one call.
func (q *request) approval() (any, error) {
	q.Title = "Approval"
	a, err := q.theApproval()
	if err != nil {
		return nil, err
	}
	q.Title = "Approval " + a.Name
	q.command("approvals", a.Name)
	r := &a.Spec.Request
	v := &approvalView{
		approvalRow: rowOfApproval(a, q.page.now()), Tool: r.Tool, Call: a.Status.Call, SupersededBy: a.Status.SupersededBy, Conditions: a.Status.Conditions, Notice: r.Notice,
		Unobserved: a.Status.ObservedGeneration < a.Generation && len(a.Spec.Decisions) > 0, Waits: !a.Ended(), Seen: seenOf(a),
	}
	if at := endOf(a); !at.IsZero() {
		v.Ended = moment(at)
	}
	for i := range r.Policies {
		v.Policies = append(v.Policies, policyOf(a, &r.Policies[i]))
	}
	for i := range a.Spec.Decisions {
		d := &a.Spec.Decisions[i]
		v.Decisions = append(v.Decisions, decisionView{Who: d.DecidedBy, Verdict: string(d.Decision), Comment: d.Comment, Counts: countsOf(a, d)})
	}
	for i := range r.Changes {
		v.Changes = append(v.Changes, changeOf(&r.Changes[i]))
	}
	q.Refresh = v.Unobserved
	if v.Waits {
		v.Deciding = q.deciding(a)
	}
	return v, nil
}

// policyOf is a policy with what it has and what it still asks for, by the decisions that the manager counts.
func policyOf(a *v1alpha1.MCPApproval, p *v1alpha1.ApprovalAsker) policyView {
	v := policyView{Name: p.Name, Description: p.Description, Groups: strings.Join(p.ApproverGroups, " or "), Needs: int(p.MinApprovals)}
	for i := range a.Spec.Decisions {
		d := &a.Spec.Decisions[i]
		if d.Decision == v1alpha1.VerdictApprove && p.Takes(d) && reasonOf(a, d) == v1alpha1.DecisionCounted {
			v.Has++
		}
	}
	if v.Missing = "nothing"; v.Has < v.Needs {
		v.Missing = output.Numbered(v.Needs-v.Has, "approval")
		if v.Groups != "" {
			v.Missing += " of people in " + v.Groups
		}
	}
	return v
}

// reasonOf is whether a decision counts, as the manager says; "" if it has not looked at it yet.
func reasonOf(a *v1alpha1.MCPApproval, d *v1alpha1.ApprovalDecision) v1alpha1.ApprovalDecisionReason {
	for i := range a.Status.Decisions {
		if a.Status.Decisions[i].DecidedBy == d.DecidedBy {
			return a.Status.Decisions[i].Reason
		}
	}
	return ""
}

// countsOf says in words whether a decision counts.
func countsOf(a *v1alpha1.MCPApproval, d *v1alpha1.ApprovalDecision) string {
	switch reason := reasonOf(a, d); reason {
	case v1alpha1.DecisionCounted:
		return "yes"
	case "":
		return "not looked at yet"
	case v1alpha1.DecisionNotAnApprover:
		return "no: in none of the groups that a policy asks for"
	case v1alpha1.DecisionOwnCall:
		return "no: the call is this person's own"
	case v1alpha1.DecisionTooLate:
		return "no: it came too late"
	case v1alpha1.DecisionPolicyNotInForce:
		return "no: nobody checked who decided, as the admission policy is not installed"
	default:
		return "no: " + string(reason)
	}
}

// changeOf is what would become of some rows, in the words of "mcp-admin approvals NAME".
func changeOf(c *v1alpha1.ApprovalChange) changeView {
	v := changeView{What: strings.ToLower(string(c.Change)) + " "}
	switch {
	case c.Model == "":
		v.What += "rows of tables that are no model: " + output.Numbered(int(c.Rows), "row")
	case c.ID == "":
		v.What += c.Model + ": " + output.Numbered(int(c.Rows), "row")
	default:
		v.What += c.Model + " " + c.ID
	}
	for _, f := range c.Fields {
		change := fieldChange{f.Name, f.Before, f.After}
		if v.Values = v.Values || f.Before != "" || f.After != ""; f.Before == "" && f.After == "" {
			change.Before, change.After = "not shown", "not shown"
		}
		if change.After == "" && c.Change != v1alpha1.ApprovalDeletes {
			change.After = "not known yet"
		}
		v.Fields = append(v.Fields, change)
	}
	return v
}

// seenOf stands for all of an approval that a person decides about: it differs if somebody decided since, or the agent said something else.
func seenOf(a *v1alpha1.MCPApproval) string {
	text, err := json.Marshal([]any{a.UID, a.Spec, a.EffectiveState(), a.Status.Reason})
	if err != nil {
		return "" // it always is JSON; an empty text is never taken
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// pathOfApproval is the path of an approval's screen, below the root.
func (q *request) pathOfApproval(a *v1alpha1.MCPApproval) string {
	return fmt.Sprintf("e/%s/%s/approvals/%s", a.Namespace, a.Spec.EndpointRef.Name, a.Name) // names of objects need no escape
}
