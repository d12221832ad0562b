package compile

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// ApprovalSum stands for all that a policy says about who must allow what: approvals of one that says something else are good for nothing.
func ApprovalSum(p *v1alpha1.ApprovalPolicy) string {
	said := *p
	said.KeepFor, said.Notify = nil, nil
	text, err := json.Marshal(&said)
	if err != nil {
		return "" // what is no JSON: no server takes a policy without a sum
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// approvalEntries are the policies of an endpoint, sorted by name.
func approvalEntries(e *v1alpha1.MCPEndpoint) []contract.ApprovalPolicy {
	var entries []contract.ApprovalPolicy
	for i := range e.Spec.Approvals {
		p := &e.Spec.Approvals[i]
		entry := contract.ApprovalPolicy{
			Name: p.Name, Description: p.Description, Models: slices.Clone(p.Match.Models), Operations: slices.Clone(p.Match.Operations),
			Groups: slices.Clone(p.Match.Groups), MinApprovals: int(p.EffectiveMinApprovals()),
			ExpiresAfter: contract.Duration(p.EffectiveExpiresAfter()), Show: string(p.EffectiveShow()), Sum: ApprovalSum(p),
		}
		for _, name := range p.Match.Tokens {
			if !strings.Contains(name, "/") {
				name = e.Namespace + "/" + name
			}
			entry.Tokens = append(entry.Tokens, name)
		}
		if when := p.Match.When; when != nil {
			if when.Rows != nil {
				entry.When.Rows = new(int(*when.Rows))
			}
			if when.Before != nil {
				entry.When.Before = slices.Clone(when.Before.Raw)
			}
			if when.After != nil {
				entry.When.After = slices.Clone(when.After.Raw)
			}
			entry.When.Changes = slices.Clone(when.Changes)
		}
		entries = append(entries, entry)
	}
	slices.SortFunc(entries, func(a, b contract.ApprovalPolicy) int { return cmp.Compare(a.Name, b.Name) })
	return entries
}

// judgeApprovals says of each policy that names what the endpoint does not have that it cannot be judged: it holds back everything of its
// operations then. What only the database knows, such as fields, each server judges.
func judgeApprovals(policies []contract.ApprovalPolicy, models []contract.Model, groups []string) {
	for i := range policies {
		p := &policies[i]
		var problems []string
		for _, name := range p.Models {
			if !slices.ContainsFunc(models, func(m contract.Model) bool { return m.Name == name }) {
				problems = append(problems, fmt.Sprintf("match.models: the endpoint serves no model %q", name))
			}
		}
		for _, operation := range p.Operations {
			if action, isAction := strings.CutPrefix(operation, contract.ApproveActionPrefix); isAction && !hasAction(models, p.Models, action) {
				problems = append(problems, fmt.Sprintf("match.operations: none of the models has an action %q", action))
			}
		}
		for _, group := range p.Groups {
			if !slices.Contains(groups, group) {
				problems = append(problems, fmt.Sprintf("match.groups: the endpoint has no group %q", group))
				p.Tokens, p.Groups = nil, nil // it is about every token then
				break
			}
		}
		p.Problem = strings.Join(problems, "; ")
	}
}

// hasAction reports whether one of the named models, of all if none is named, has an action.
func hasAction(models []contract.Model, names []string, action string) bool {
	if action == contract.DeleteSelected {
		return true
	}
	return slices.ContainsFunc(models, func(m contract.Model) bool {
		return (len(names) == 0 || slices.Contains(names, m.Name)) && slices.ContainsFunc(m.Actions, func(a contract.Action) bool { return a.Name == action })
	})
}

// maxDecisions is the most decisions about calls of one token that a Config has: the newest of them.
const maxDecisions = 200

// updateDecisions makes the parts have the decisions about their tokens' calls. What is not in force any more, and what was never known,
// is left out.
func (c *Compiler) updateDecisions(in Objects, next int64) {
	l := &c.layout
	wanted := make([][]contract.Decision, len(l.parts))
	for key, decisions := range in.Decisions {
		state := c.tokens[key]
		if state == nil || !state.entry.InForce() {
			continue
		}
		decisions = decisions[max(0, len(decisions)-maxDecisions):]
		own := partOf(state.hash, l.wanted.Parts)
		wanted[own] = append(wanted[own], decisions...)
		if before := l.wanted.Before; before > 0 && partOf(state.hash, before) != own && !l.alone(state) {
			wanted[partOf(state.hash, before)] = append(wanted[partOf(state.hash, before)], decisions...)
		}
	}
	for i := range l.parts {
		part := &l.parts[i]
		slices.SortFunc(wanted[i], func(a, b contract.Decision) int { return cmp.Compare(a.Name, b.Name) })
		if len(wanted[i]) == 0 && len(part.decisions) == 0 || equal(wanted[i], part.decisions) {
			continue
		}
		revision := next
		if part.stored >= revision || part.revision > revision {
			revision = c.counter + 1
		}
		part.changed(c.use(revision), takesBack(part.decisions, wanted[i]))
		part.decisions, part.soon = wanted[i], true
	}
}

// takesBack reports whether something that was allowed is not allowed any more.
func takesBack(before, after []contract.Decision) bool {
	allowed := make(map[string]bool, len(after))
	for i := range after {
		if after[i].State == contract.ApprovalApproved {
			allowed[after[i].Digest] = true
		}
	}
	return slices.ContainsFunc(before, func(d contract.Decision) bool { return d.State == contract.ApprovalApproved && !allowed[d.Digest] })
}
