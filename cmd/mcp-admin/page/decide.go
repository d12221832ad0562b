package page

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	actions "github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/acts"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
)

// deciding is what a person can decide about a call, and why not more.
type deciding struct {
	// Allow, Deny and Override say what can be decided.
	Allow, Deny, Override bool
	// Why says why nothing can be decided; Missing are the rights that the person lacks.
	Why     string
	Missing []*refusal
	// NoOverride is the right that is missing to override; nil if it is there, or was not asked about.
	NoOverride *refusal
	// Note says what the person's approval would not do.
	Note string
	// The commands do the same in a terminal.
	AllowCommand, DenyCommand, OverrideCommand string
}

// Can reports whether anything can be decided.
func (d *deciding) Can() bool { return d.Allow || d.Deny || d.Override }

// takes reports whether a decision is one that is offered.
func (d *deciding) takes(verdict v1alpha1.ApprovalVerdict) bool {
	switch verdict {
	case v1alpha1.VerdictApprove:
		return d.Allow
	case v1alpha1.VerdictDeny:
		return d.Deny
	case v1alpha1.VerdictOverride:
		return d.Override
	}
	return false
}

// user is the person as the API server knows them, with their groups.
func (q *request) user() (name string, groups []string, err error) {
	k := q.source().Cluster()
	if k == nil {
		return q.source().Person(), nil, nil
	}
	review := &authenticationv1.SelfSubjectReview{}
	if err := k.Create(q.Context(), review); err != nil {
		return "", nil, fmt.Errorf("who you are is not known: %w", cluster.Explain(err))
	}
	return review.Status.UserInfo.Username, review.Status.UserInfo.Groups, nil
}

// deciding finds out what the person can decide. What cannot be found out is not offered; the API server checks all of it again.
func (q *request) deciding(a *v1alpha1.MCPApproval) *deciding {
	d := &deciding{}
	name, groups, err := q.user()
	if err == nil {
		err = actions.Undecided(a, name, q.page.now())
	}
	switch {
	case err != nil:
		d.Why = Sentence(err)
	case a.Spec.Request.IsOwnCall(name):
		d.Why = "this call is your own; somebody else has to decide"
	default:
		if err := q.tellRights(d, a); err != nil {
			*d = deciding{Why: "your rights are not known: " + Sentence(err)}
		}
	}
	if a.EffectiveState() == v1alpha1.ApprovalApproved { // it needs nobody more, and can still be denied
		d.Allow, d.Override = false, false
	}
	if d.Allow && q.source().Cluster() != nil {
		q.tellGroups(d, a, name, groups)
	}
	q.tellCommands(d, a)
	return d
}

// tellRights says what the person's rights let them decide.
func (q *request) tellRights(d *deciding, a *v1alpha1.MCPApproval) error {
	if q.source().Cluster() == nil { // whoever sees the page may decide
		d.Allow, d.Deny, d.Override = true, true, true
		return nil
	}
	ask := func(verb, resource, name string) (*refusal, error) {
		return q.may(&authorizationv1.ResourceAttributes{Verb: verb, Group: v1alpha1.GroupVersion.Group, Resource: resource, Namespace: a.Namespace, Name: name})
	}
	writes, err := ask("update", "mcpapprovals", a.Name)
	if err != nil {
		return err
	}
	approves, err := ask("approve", "mcpendpoints", a.Spec.EndpointRef.Name)
	if err != nil {
		return err
	}
	if d.NoOverride, err = ask("override", "mcpendpoints", a.Spec.EndpointRef.Name); err != nil {
		return err
	}
	if ref := a.Spec.Request.TokenSecretRef; ref != nil && a.Spec.Request.Strict() {
		for _, verb := range []string{"get", "list", "watch"} {
			cannot, err := q.may(&authorizationv1.ResourceAttributes{Verb: verb, Resource: "secrets", Namespace: a.Spec.Request.TokenRef.Namespace, Name: ref.Name})
			if err != nil {
				return err
			}
			if cannot == nil {
				d.Why = fmt.Sprintf("a policy says fourEyes: Strict, and you have the right to %s the token's Secret %s, so the call may be your own; somebody without that right has to decide", verb, ref.Name)
				return nil
			}
		}
	}
	for _, missing := range []*refusal{writes, approves} {
		if missing != nil {
			d.Missing = append(d.Missing, missing)
		}
	}
	d.Allow, d.Deny, d.Override = len(d.Missing) == 0, len(d.Missing) == 0, writes == nil && d.NoOverride == nil
	return nil
}

// tellGroups says for which policies an approval of somebody in these groups would not count. If for none, it is not offered: a decision
// cannot be changed, and they can still deny.
func (q *request) tellGroups(d *deciding, a *v1alpha1.MCPApproval, name string, groups []string) {
	own := &v1alpha1.ApprovalDecision{DecidedBy: name, Groups: groups}
	var others []string
	for i := range a.Spec.Request.Policies {
		if p := &a.Spec.Request.Policies[i]; !p.Takes(own) {
			who := "policy " + p.Name + ", which asks for people"
			if len(p.ApproverGroups) > 0 {
				who += " in " + strings.Join(p.ApproverGroups, " or ")
			}
			others = append(others, who)
		}
	}
	if len(others) == 0 {
		return
	}
	d.Note = "Your approval does not count for " + strings.Join(others, ", nor for ") + "."
	if len(others) == len(a.Spec.Request.Policies) {
		d.Allow = false
		d.Note += " You can deny."
	}
}

// tellCommands names the commands that do what is offered.
func (q *request) tellCommands(d *deciding, a *v1alpha1.MCPApproval) {
	command := func(offered bool, name string, args ...string) string {
		if !offered {
			return ""
		}
		return q.source().Command(name, q.key(), append(append([]string{a.Name}, args...), "--comment", "why")...)
	}
	d.AllowCommand = command(d.Allow, "approve")
	d.DenyCommand = command(d.Deny, "deny")
	d.OverrideCommand = command(d.Override, "approve", "--override")
}

// verdicts are the decisions that the form of an approval's screen sends.
var verdicts = []v1alpha1.ApprovalVerdict{v1alpha1.VerdictApprove, v1alpha1.VerdictDeny}

// decide allows or denies a call, as the person.
func (q *request) decide() (string, error) {
	verdict := v1alpha1.ApprovalVerdict(q.PostFormValue("verdict"))
	if !slices.Contains(verdicts, verdict) {
		return "", errors.New("choose Allow or Deny")
	}
	return q.decideAs(verdict)
}

// override allows a call against the policies, as the person.
func (q *request) override() (string, error) { return q.decideAs(v1alpha1.VerdictOverride) }

// decideAs adds a decision, if the approval is still what the person saw.
func (q *request) decideAs(verdict v1alpha1.ApprovalVerdict) (string, error) {
	a, err := q.theApproval()
	if err != nil {
		return "", err
	}
	path := q.pathOfApproval(a)
	not := func(format string, args ...any) error {
		return &notDone{why: fmt.Sprintf(format, args...) + ". Nothing was decided.", path: path, label: "Look at it again"}
	}
	comment := strings.TrimSpace(strings.ReplaceAll(q.PostFormValue("comment"), "\r\n", "\n"))
	d := q.deciding(a)
	switch seen := q.PostFormValue("seen"); {
	case a.Ended():
		return "", not("%s", d.Why)
	case seen == "" || seen != seenOf(a):
		return "", not("somebody else decided about %s, or the agent said something else, since you loaded the page", a.Name)
	case !d.takes(verdict) && d.Why != "":
		return "", not("%s", d.Why)
	case !d.takes(verdict) && len(d.Missing) > 0:
		return "", not("%s", strings.TrimSuffix(d.Missing[0].Why, "."))
	case !d.takes(verdict):
		return "", not("you cannot decide this about %s", a.Name)
	case verdict == v1alpha1.VerdictOverride && comment == "":
		return "", not("Override needs a comment that says why")
	}
	if err := q.source().Decide(q.Context(), cluster.Key(a), verdict, comment); err != nil {
		if missingRight(err) != nil {
			return "", err
		}
		return "", not("%s", strings.TrimSuffix(err.Error(), "."))
	}
	return path, nil
}

// overriding is what allowing a call against its policies would do.
type overriding struct {
	*deciding
	Name, What, Token, Seen string
	// Asked says what the policies still ask for.
	Asked string
}

// overridePlan says what allowing a call against its policies means.
func (q *request) overridePlan() (any, error) {
	q.Title = "Override: allow it against the policies"
	a, err := q.theApproval()
	if err != nil {
		return nil, err
	}
	o := &overriding{deciding: q.deciding(a), Name: a.Name, What: whatOfApproval(&a.Spec.Request), Token: tokenOfApproval(a), Seen: seenOf(a), Asked: missingOf(a)}
	if o.NoOverride != nil {
		o.Missing = append(o.Missing, o.NoOverride)
	}
	if o.Why == "" && !waits(a) {
		o.Why = fmt.Sprintf("%s needs no approval more: it is %s", a.Name, a.EffectiveState())
	}
	q.alike(o.OverrideCommand)
	return o, nil
}
