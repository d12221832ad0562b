package dev

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// allowsAll is what dev says first with --approve-all.
const allowsAll = "WARNING: --approve-all: nobody is asked. Each call that waits for an approval is allowed at once, whatever the policies say. This is for tests alone.\n\n"

// policiesTitle is the title of the report's section about approval policies.
const policiesTitle = "CALLS THAT WAIT FOR PEOPLE"

// cannotBeJudged says what follows if a policy has a problem.
const cannotBeJudged = "cannot be judged, and holds back everything of its operations: "

// policyProblems say of approval policies, by name, why they cannot be judged: what the manifests tell, and what the database does.
func (o *outcome) policyProblems(status *contract.Status) map[string]string {
	problems := map[string]string{}
	for i := range o.config.Endpoint.Approvals {
		if p := &o.config.Endpoint.Approvals[i]; p.Problem != "" {
			problems[p.Name] = p.Problem
		}
	}
	for _, told := range status.ApprovalProblems {
		if name, problem, ok := strings.Cut(told, ": "); ok && problems[name] == "" {
			problems[name] = problem
		}
	}
	return problems
}

// reportPolicies says which calls wait for people, and for whom.
func (o *outcome) reportPolicies(status *contract.Status) []entry {
	problems := o.policyProblems(status)
	var entries []entry
	for i := range o.endpoint.Spec.Approvals {
		p := &o.endpoint.Spec.Approvals[i]
		e := entry{name: p.Name, row: fmt.Sprintf("  %s\t%s\t%s", p.Name, asksOf(p), matchOf(&p.Match))}
		if problem := problems[p.Name]; problem != "" {
			e.notes = []string{fmt.Sprintf("  %s %s%s", p.Name, cannotBeJudged, problem)}
		}
		entries = append(entries, e)
	}
	if untold := o.untold(status); untold != "" {
		entries = append(entries, entry{name: "notify", notes: []string{"  " + untold}})
	}
	return entries
}

// untold says that a webhook is not told of calls that wait, and why; "" if each is.
func (o *outcome) untold(status *contract.Status) string {
	problem := cmp.Or(o.verdicts.Endpoint.Lack.Message, status.NotifyProblem)
	if problem == "" {
		return ""
	}
	return "events about calls that wait are not sent: " + problem
}

// asksOf says who must allow a call.
func asksOf(p *v1alpha1.ApprovalPolicy) string {
	asks := output.Numbered(int(p.EffectiveMinApprovals()), "approval")
	if groups := p.EffectiveApproverGroups(); len(groups) > 0 {
		asks += " of people in " + strings.Join(groups, " or ")
	}
	return asks
}

// matchOf says which calls a policy is about.
func matchOf(m *v1alpha1.ApprovalMatch) string {
	or := func(names []string, otherwise string) string {
		if len(names) == 0 {
			return otherwise
		}
		return strings.Join(names, ", ")
	}
	text := or(m.Operations, "every change") + " of " + or(m.Models, "any model")
	if callers := append(slices.Clone(m.Tokens), m.Groups...); len(callers) > 0 {
		text += " by " + strings.Join(callers, ", ")
	}
	var when []string
	if w := m.When; w != nil {
		if w.Rows != nil {
			when = append(when, "more than "+output.Numbered(int(*w.Rows), "row"))
		}
		if w.Before != nil {
			when = append(when, "before "+string(w.Before.Raw))
		}
		if w.After != nil {
			when = append(when, "after "+string(w.After.Raw))
		}
		if len(w.Changes) > 0 {
			when = append(when, "changes "+strings.Join(w.Changes, ", "))
		}
	}
	if len(when) > 0 {
		text += ", if " + strings.Join(when, " and ")
	}
	return text
}
