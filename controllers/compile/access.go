package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// Access says what a token may do to a model, and why. Which tools a table allows only the database knows: a server may
// allow less, never more.
type Access struct {
	Model string `json:"model"`
	// Verbs are view, add, change, delete and export; Actions the model's actions.
	Verbs   []Grant `json:"verbs"`
	Actions []Grant `json:"actions,omitempty"`
	// Reports are the model's reports.
	Reports []Grant    `json:"reports,omitempty"`
	Rows    RowsAccess `json:"rows"`
}

// Grant is whether a token may do something.
type Grant struct {
	Name    string `json:"name"`
	Granted bool   `json:"granted"`
	// By are the groups, and "the token" for a rule of its own, whose rules grant it, in force or not.
	By []string `json:"by,omitempty"`
	// Missing says what is missing if it is not granted.
	Missing string `json:"missing,omitempty"`
}

// RowsAccess says which rows a token sees: all, the ones that the policies show, or none.
type RowsAccess struct {
	All bool `json:"all"`
	// Policies are the names of the row policies that are for the token and can show it rows.
	Policies []string `json:"policies,omitempty"`
	// Why says more if it does not see all.
	Why string `json:"why,omitempty"`
}

// ownRules is the name of the token's own rules in Grant.By.
const ownRules = "the token"

// Explain says what a token may do to each model of a Config, as if the token were in force. Of one whose callers have groups by
// their claims it is the most that any of them may.
func Explain(config *contract.Config, t *v1alpha1.MCPToken) []Access {
	entry := tokenEntry(t, noText, TokenVerdict{InForce: true}, nil)
	return explain(config, &entry)
}

// Tools are the tools in a token's tools/list, as far as the objects show.
type Tools struct {
	// Global are the tools of no single model.
	Global []string `json:"global"`
	// Most is how many tools the list has at most, the global ones among them.
	Most int `json:"most"`
	// Names are the names of these tools.
	Names []string `json:"names"`
}

// ExplainTools says what the tools/list of a token has, as if the token were in force.
func ExplainTools(config *contract.Config, t *v1alpha1.MCPToken) Tools {
	entry := tokenEntry(t, noText, TokenVerdict{InForce: true}, nil)
	full := *atMost(&entry)
	full.Rules = config.RulesOf(&full)
	lists := newListCounter(config)
	tools := Tools{Most: lists.length(&full), Names: lists.names(&full)}
	for _, o := range lists.global(&full) {
		tools.Global = append(tools.Global, o.Name)
	}
	return tools
}

func explain(config *contract.Config, token *contract.Token) []Access {
	x := explanation{config: config, token: atMost(token)}
	all := make([]Access, len(config.Models))
	for i := range config.Models {
		all[i] = x.access(&config.Models[i])
	}
	return all
}

type explanation struct {
	config *contract.Config
	token  *contract.Token
}

func (x explanation) access(m *contract.Model) Access {
	a := Access{Model: m.Name}
	granted := verbs{}
	for _, row := range []struct {
		name string
		has  func(verbs) bool
		set  func(*verbs)
	}{
		{contract.VerbView, func(v verbs) bool { return v.view }, func(v *verbs) { v.view = true }},
		{contract.VerbAdd, func(v verbs) bool { return v.add }, func(v *verbs) { v.add = true }},
		{contract.VerbChange, func(v verbs) bool { return v.change }, func(v *verbs) { v.change = true }},
		{contract.VerbDelete, func(v verbs) bool { return v.delete }, func(v *verbs) { v.delete = true }},
		{contract.VerbExport, func(v verbs) bool { return v.export }, func(v *verbs) { v.export = true }},
	} {
		g := x.grant(m, row.name, func(rules []contract.Rule) bool { return row.has(verbsOn(&contract.Token{Rules: rules}, m)) })
		if g.Granted {
			g.Granted, g.Missing = x.reaches(m, row.name)
		}
		if g.Granted {
			row.set(&granted)
		}
		a.Verbs = append(a.Verbs, g)
	}
	for i := range m.Actions {
		a.Actions = append(a.Actions, x.action(m, &m.Actions[i], granted))
	}
	if granted.hasAll(deletesSelected) && offers(m, "action") && offers(m, "delete") {
		a.Actions = append(a.Actions, Grant{Name: contract.DeleteSelected, Granted: true, By: []string{"the verbs view, change and delete"}})
	}
	for i := range m.Reports {
		a.Reports = append(a.Reports, x.report(m, &m.Reports[i], granted))
	}
	a.Rows = x.rows(m, granted.view)
	return a
}

// grant asks each set of rules that the token has, and then the sets that it does not have.
func (x explanation) grant(m *contract.Model, what string, gives func([]contract.Rule) bool) Grant {
	g := Grant{Name: what}
	var others []string
	if gives(x.token.Rules) {
		g.By = append(g.By, ownRules)
	}
	for i := range x.config.Groups {
		switch group := &x.config.Groups[i]; {
		case !gives(group.Rules):
		case slices.Contains(x.token.Groups, group.Name):
			g.By = append(g.By, "group "+group.Name)
		default:
			others = append(others, group.Name)
		}
	}
	g.Granted = len(g.By) > 0
	if g.Granted {
		return g
	}
	g.Missing = fmt.Sprintf("no rule of the token or its groups grants %s on %s", what, m.Name)
	if len(others) > 0 {
		g.Missing += "; these groups would: " + strings.Join(others, ", ")
	}
	return g
}

// reaches reports whether a verb that is granted has an effect, or says what keeps it from having one.
func (x explanation) reaches(m *contract.Model, verb string) (bool, string) {
	endpoint := &x.config.Endpoint
	switch {
	case verb == contract.VerbView:
	case verb == contract.VerbExport:
		return x.exports(m)
	case endpoint.Database.ReadOnly:
		return false, "the endpoint's database is read-only (spec.database.access)"
	case ownTable(endpoint, m) != "":
		return false, "it is " + ownTable(endpoint, m) + ", which nobody changes"
	}
	for _, o := range contract.ModelOperations() {
		if hasEffect(endpoint, m, o, verb) {
			return true, ""
		}
	}
	return false, fmt.Sprintf("MCPModelExposure %s offers only %s (spec.operations)", m.Exposure, strings.Join(m.Operations, ", "))
}

// exports reports whether the verb export, which is granted, has an effect: the token views the model, which offers an
// operation whose rows can be exported.
func (x explanation) exports(m *contract.Model) (bool, string) {
	if !verbsOn(&contract.Token{Rules: x.config.RulesOf(x.token)}, m).view {
		return false, "an export needs the verb view, too"
	}
	if !slices.ContainsFunc(contract.ModelOperations(), func(o *contract.Operation) bool { return o.Exports && possible(&x.config.Endpoint, m, o) }) {
		return false, fmt.Sprintf("MCPModelExposure %s offers none of the operations that can be exported (spec.operations)", m.Exposure)
	}
	return true, ""
}

// action says whether a token with the verbs may run an action: a rule names it, or the token has the verbs that it
// requires; and the token views the model.
func (x explanation) action(m *contract.Model, a *contract.Action, has verbs) Grant {
	g := x.grant(m, a.Name, func(rules []contract.Rule) bool {
		return namesAction(rules, m, a.Name) || len(a.Requires) > 0 && verbsOn(&contract.Token{Rules: rules}, m).hasAll(a.Requires)
	})
	if !g.Granted && len(a.Requires) > 0 && verbsOn(&contract.Token{Rules: x.config.RulesOf(x.token)}, m).hasAll(a.Requires) {
		g.Granted, g.By, g.Missing = true, []string{"several groups together"}, ""
	}
	switch {
	case !g.Granted:
	case !has.view:
		g.Granted, g.Missing = false, "an action needs the verb view, too"
	case !fits(&x.config.Endpoint, m, a):
		g.Granted, g.Missing = false, "the endpoint's database is read-only (spec.database.access)"
	case !offers(m, "action"):
		g.Granted, g.Missing = false, notOffered(m, "action")
	}
	return g
}

// report says whether a token with the verbs may run a report: a rule names it, and the token views the model.
func (x explanation) report(m *contract.Model, r *contract.Report, has verbs) Grant {
	g := x.grant(m, r.Name, func(rules []contract.Rule) bool { return namesAction(rules, m, r.Name) })
	switch {
	case !g.Granted:
	case !has.view:
		g.Granted, g.Missing = false, "a report needs the verb view, too"
	case !offers(m, "report"):
		g.Granted, g.Missing = false, notOffered(m, "report")
	}
	return g
}

func notOffered(m *contract.Model, operation string) string {
	return fmt.Sprintf("MCPModelExposure %s does not offer the operation %s (spec.operations)", m.Exposure, operation)
}

// grantsAction reports whether rules grant an action of a model: they name it, or give all verbs that it requires; and they let
// the model be viewed.
func grantsAction(rules []contract.Rule, m *contract.Model, a *contract.Action) bool {
	has := verbsOn(&contract.Token{Rules: rules}, m)
	return has.view && (namesAction(rules, m, a.Name) || len(a.Requires) > 0 && has.hasAll(a.Requires))
}

// namesAction reports whether one of the rules grants an action or a report of a model by its name.
func namesAction(rules []contract.Rule, m *contract.Model, action string) bool {
	return slices.ContainsFunc(rules, func(r contract.Rule) bool {
		return aboutModel(r, m) && (slices.Contains(r.Actions, contract.Wildcard) || slices.Contains(r.Actions, action))
	})
}

// rows says which rows of a model the token sees.
func (x explanation) rows(m *contract.Model, views bool) RowsAccess {
	if !views {
		return RowsAccess{Why: "the token may not view " + m.Name}
	}
	if len(m.RowPolicies) == 0 {
		return RowsAccess{All: true}
	}
	var seen RowsAccess
	for i := range m.RowPolicies {
		p := &m.RowPolicies[i]
		switch {
		case !matches(x.token, *p):
		case p.AllRows:
			return RowsAccess{All: true, Policies: []string{p.Name}}
		case lackedAttribute(x.token, p) == "":
			seen.Policies = append(seen.Policies, p.Name)
		}
	}
	if len(seen.Policies) == 0 {
		seen.Why = blindTo(x.token, m)
		if offered := groupsOf(m.RowPolicies); len(offered) > 0 && !slices.ContainsFunc(m.RowPolicies, func(p contract.RowPolicy) bool { return matches(x.token, p) }) {
			seen.Why += "; they are for " + strings.Join(offered, ", ")
		}
	}
	return seen
}

// groupsOf are the groups that row policies are for.
func groupsOf(policies []contract.RowPolicy) []string {
	var groups []string
	for i := range policies {
		groups = append(groups, policies[i].Groups...)
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}
