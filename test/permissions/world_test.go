// Package permissions makes random worlds of rules, tokens, row policies and fields, calls every tool at random in them,
// and holds what each call showed and changed against an oracle of its own, which knows nothing of the server's code:
// no call ever shows or changes what the oracle forbids.
package permissions

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// operations are the operations that an exposure may list.
var operations = contract.OperationNames()

// world is one random configuration, for the server and for the oracle.
type world struct {
	random *rand.Rand
	// models are all of them, as the oracle knows them; a withheld one excludes the column vanished, which is nowhere.
	models   []contract.Model
	tokens   []contract.Token
	withheld []string
	// refused are the withheld models whose exposure the controllers refused: the server knows only their tables.
	refused []string
	// refusesGuest says that the exposure of the table outside was refused.
	refusesGuest bool
	// users says that the database's user may not read the columns that are unreadable.
	users bool
}

// vanished is a column that exposures exclude, and that no table has: the server withholds the model.
const vanished = "vanished"

// configure puts the world into a Config; outside is the table of a schema that is not served, "" if there is none.
func (w *world) configure(c *contract.Config, outside string) {
	c.Models, c.Tokens, c.Endpoint.WithheldTables = nil, nil, nil
	for i := range w.tokens {
		c.Tokens = append(c.Tokens, w.declared(i, c.Endpoint.Authentication.Issuers[0].URL))
	}
	c.Endpoint.Catalogue = contract.Catalogue{Style: pick(w.random, "", contract.StyleGeneric, contract.StyleAuto), MaxTools: 40}
	for _, m := range w.models {
		if slices.Contains(w.refused, m.Name) {
			c.Endpoint.WithheldTables = append(c.Endpoint.WithheldTables, contract.TableName{Name: m.Name})
		} else {
			c.Models = append(c.Models, m)
		}
	}
	if schema, name, there := strings.Cut(outside, "."); there && w.refusesGuest {
		c.Endpoint.WithheldTables = append(c.Endpoint.WithheldTables, contract.TableName{Schema: schema, Name: name})
	}
}

// pick returns one of some.
func pick[T any](r *rand.Rand, some ...T) T { return some[r.IntN(len(some))] }

// chance is true so many times in a hundred.
func chance(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

func newWorld(r *rand.Rand, users bool) *world {
	w := &world{random: r, users: users, refusesGuest: chance(r, 30)}
	for _, name := range tableNames {
		if chance(r, 6) {
			w.withheld = append(w.withheld, name)
		}
	}
	for _, name := range tableNames {
		m := contract.Model{Name: name, Table: name, Expose: chance(r, 80), Pinned: chance(r, 20), Module: pick(r, "one", "two"), MinGroupSize: w.smallGroups()}
		for _, c := range tables[name] {
			if c.key || !c.canary && c.refers == "" && c.kind == aText || c.unreadable && users {
				continue
			}
			switch {
			case chance(r, 20):
				m.Exclude = append(m.Exclude, c.name)
			case (c.canary || c.kind != aText) && chance(r, 20):
				m.Masked = append(m.Masked, contract.MaskedField{Name: c.name, KeepLast: 2})
			case chance(r, 15):
				m.ReadOnly = append(m.ReadOnly, c.name)
			}
		}
		if chance(r, 60) {
			for i := range 1 + r.IntN(2) {
				m.RowPolicies = append(m.RowPolicies, w.newPolicy(name, fmt.Sprint("p", i)))
			}
		}
		if chance(r, 15) {
			for _, operation := range operations {
				if chance(r, 70) {
					m.Operations = append(m.Operations, operation)
				}
			}
		}
		if chance(r, 8) {
			m.Operations = slices.DeleteFunc(slices.Clone(operations), func(operation string) bool { return operation == "list" || operation == "get" || chance(r, 20) })
		}
		m.Actions = w.newActions(name)
		m.Reports = []contract.Report{{Name: "peek", Statement: "select * from " + name, IgnoresPolicies: true}}
		if slices.Contains(w.withheld, name) {
			m.Exclude = append(m.Exclude, vanished)
			if chance(r, 50) {
				w.refused = append(w.refused, name)
			}
		}
		w.models = append(w.models, m)
	}
	item := &w.models[slices.Index(tableNames, "item")]
	item.Inlines = []contract.Inline{{Model: "part", Max: 100}}
	if hidden(w.model("part"), "item_id") || withheld(w.model("part")) {
		item.Inlines = nil // an inline must show its foreign key
	}
	for i := range 4 {
		w.tokens = append(w.tokens, w.newToken(i))
	}
	return w
}

// newActions are a table's actions: one that anyone who may change rows may run, one of plain SQL, and one that sets a
// column of a foreign key.
func (w *world) newActions(table string) []contract.Action {
	if table == "tag" {
		return nil // an action needs a key
	}
	set := func(field, parameter string) *contract.UpdateAction {
		return &contract.UpdateAction{Set: []contract.ActionAssignment{{Field: field, Source: contract.SourceParameter, Parameter: parameter}}}
	}
	all := []contract.Action{{Name: "stamp", Requires: []string{"change"}, Update: &contract.UpdateAction{Set: []contract.ActionAssignment{{Field: "note", Source: contract.SourceValue, Value: "stamped"}}}}}
	if chance(w.random, 40) {
		all[0].Confirm = &contract.Confirmation{TokenRequired: chance(w.random, 50)}
	}
	if table != "seat" { // an sql action needs a key of one column
		all = append(all, contract.Action{Name: "wipe", SQL: &contract.SQLAction{Statement: "update " + table + " set note = 'wiped' where id in (:ids)"}})
	}
	if field := linked[table]; field != "" {
		kind := contract.TypeString
		if field == "number" {
			kind = contract.TypeInteger
		}
		all = append(all, contract.Action{Name: "link", Requires: []string{"change"}, Parameters: []contract.Parameter{{Name: "to", Type: kind}}, Update: set(field, "to")})
	}
	return all
}

// linked are the columns that the action link sets: each is a part of a foreign key.
var linked = map[string]string{"booking": "number", "lease": "home_region", "badge": "code_id"}

func (w *world) newPolicy(table, name string) contract.RowPolicy {
	p := contract.RowPolicy{Name: name}
	if chance(w.random, 30) {
		p.Everyone = true
	} else {
		p.Groups = []string{pick(w.random, "a", "b", "c")}
	}
	switch {
	case chance(w.random, 20):
		p.AllRows = true
	case chance(w.random, 30):
		p.Filters = []contract.Filter{{Any: []contract.Filter{w.newFilter(table), w.newFilter(table)}}}
	default:
		p.Filters = []contract.Filter{w.newFilter(table)}
	}
	return p
}

// newFilter is a filter by the region of a row, or of one that at most two relations lead to.
func (w *world) newFilter(table string) contract.Filter {
	field := "region"
	if chance(w.random, 45) {
		field = w.newPath(table, 1+w.random.IntN(2)) + field
	}
	if chance(w.random, 60) {
		return contract.Filter{Field: field, Lookup: pick(w.random, "", "exact", "ne"), TokenAttribute: "region"}
	}
	return contract.Filter{Field: field, Lookup: "in", Values: []string{regions[0], pick(w.random, regions...)}}
}

// newPath is that many relations, or fewer if no more lead on: to the row that a foreign key names, or to rows that name one.
// What the server knows as tables alone has no names for relations of several columns.
func (w *world) newPath(table string, steps int) string {
	if steps == 0 || slices.Contains(w.withheld, table) {
		return ""
	}
	var names, targets []string
	if parent := references[table][0].table; parents[table] != "" && !slices.Contains(w.withheld, parent) {
		names, targets = append(names, parents[table]), append(targets, parent)
	}
	for _, child := range tableNames {
		if parents[child] != "" && references[child][0].table == table && !slices.Contains(w.withheld, child) {
			names, targets = append(names, child+"_by_"+parents[child]), append(targets, child)
		}
	}
	if len(names) == 0 {
		return ""
	}
	i := w.random.IntN(len(names))
	return names[i] + "__" + w.newPath(targets[i], steps-1)
}

func (w *world) newToken(i int) contract.Token {
	t := contract.Token{Namespace: "test", Name: fmt.Sprint("t", i), Hashes: []string{contract.HashToken(secret(i))}}
	for _, group := range []string{"a", "b", "c"} {
		if chance(w.random, 40) {
			t.Groups = append(t.Groups, group)
		}
	}
	if chance(w.random, 80) {
		t.Attributes = map[string]string{"region": pick(w.random, regions...)}
	}
	for range 1 + w.random.IntN(4) {
		rule := contract.Rule{Models: []string{pick(w.random, append(tableNames, "*", "*", "*", "*", "*", "*")...)}}
		if chance(w.random, 30) {
			rule.Modules = []string{pick(w.random, "one", "two", "three")}
		}
		for _, verb := range []string{"view", "add", "change", "delete", "*", contract.VerbExport} {
			if chance(w.random, 50) {
				rule.Verbs = append(rule.Verbs, verb)
			}
		}
		if chance(w.random, 30) {
			rule.Actions = []string{pick(w.random, "stamp", "wipe", "link", "peek", "*", "other")}
		}
		t.Rules = append(t.Rules, rule)
	}
	return t
}

// The oracle.

// may reports whether a token has a verb on a model.
func may(t contract.Token, m contract.Model, verb string) bool {
	if withheld(m) {
		return false
	}
	for _, rule := range t.Rules {
		if len(rule.Modules) > 0 && !slices.Contains(rule.Modules, m.Module) || !slices.Contains(rule.Models, "*") && !slices.Contains(rule.Models, m.Name) {
			continue
		}
		if slices.Contains(rule.Verbs, "*") || slices.Contains(rule.Verbs, verb) || verb == "view" && slices.Contains(rule.Verbs, "change") {
			return true
		}
	}
	return false
}

// named reports whether a rule of the token names an action.
func named(t contract.Token, m contract.Model, action string) bool {
	return !withheld(m) && slices.ContainsFunc(t.Rules, func(rule contract.Rule) bool {
		return (len(rule.Modules) == 0 || slices.Contains(rule.Modules, m.Module)) &&
			(slices.Contains(rule.Models, "*") || slices.Contains(rule.Models, m.Name)) &&
			(slices.Contains(rule.Actions, "*") || slices.Contains(rule.Actions, action))
	})
}

// offers reports whether an exposure's list of operations lets rows be written that way.
func offers(m contract.Model, operation string) bool {
	return len(m.Operations) == 0 || slices.Contains(m.Operations, operation)
}

// showsRows reports whether rows of a model are to be seen: if neither of these is offered, no other model's tool shows them.
func showsRows(m contract.Model) bool { return offers(m, "list") || offers(m, "get") }

// asksFirst is whether the action stamp wants to be confirmed.
func asksFirst(m contract.Model) bool { return len(m.Actions) > 0 && m.Actions[0].Confirm != nil }

// seesRow reports whether a model's row policies let a token see a row that is among all these.
func seesRow(t contract.Token, m contract.Model, r row, all data) bool {
	if withheld(m) {
		return false
	}
	if len(m.RowPolicies) == 0 {
		return true
	}
	for _, p := range m.RowPolicies {
		if !p.Everyone && !slices.ContainsFunc(p.Groups, func(g string) bool { return slices.Contains(t.Groups, g) }) {
			continue
		}
		if p.AllRows || meets(t, p.Filters[0], m.Name, r, all) {
			return true
		}
	}
	return false
}

// seesAll reports whether no row policy stands between a token and a model's rows.
func seesAll(t contract.Token, m contract.Model) bool {
	return len(m.RowPolicies) == 0 || slices.ContainsFunc(m.RowPolicies, func(p contract.RowPolicy) bool {
		return p.AllRows && (p.Everyone || slices.ContainsFunc(p.Groups, func(g string) bool { return slices.Contains(t.Groups, g) }))
	})
}

// meets reports whether a row meets a filter: one of several, or of the rows that its field's relations lead to one has the
// region that it asks for.
func meets(t contract.Token, f contract.Filter, table string, r row, all data) bool {
	if f.Any != nil {
		return slices.ContainsFunc(f.Any, func(one contract.Filter) bool { return meets(t, one, table, r, all) })
	}
	attribute, there := t.Attributes["region"]
	return slices.ContainsFunc(all.follow(table, strings.TrimSuffix(f.Field, "region"), []row{r}), func(r row) bool {
		if f.Lookup == "in" {
			return slices.Contains(f.Values, r["region"])
		}
		return there && (r["region"] == attribute) != (f.Lookup == "ne")
	})
}

// follow returns the rows to which relations lead from rows of a table.
func (all data) follow(table, path string, from []row) []row {
	relation, rest, through := strings.Cut(path, "__")
	if !through {
		return from
	}
	var to []row
	child, _, back := strings.Cut(relation, "_by_")
	for _, r := range from {
		if !back {
			if _, target := all.target(references[table][0], r); target != nil {
				to = append(to, target)
			}
			continue
		}
		for _, other := range all[child] {
			if _, target := all.target(references[child][0], other); target != nil && target["id"] == r["id"] {
				to = append(to, other)
			}
		}
	}
	if back {
		return all.follow(child, rest, to)
	}
	return all.follow(references[table][0].table, rest, to)
}

func hidden(m contract.Model, name string) bool { return slices.Contains(m.Exclude, name) }

// withheld is whether the server serves a model not at all: nobody has rights on its rows, and nobody sees them.
func withheld(m contract.Model) bool { return hidden(m, vanished) }

func masked(m contract.Model, name string) bool {
	return slices.ContainsFunc(m.Masked, func(f contract.MaskedField) bool { return f.Name == name })
}

func readOnly(m contract.Model, name string) bool {
	return hidden(m, name) || masked(m, name) || slices.Contains(m.ReadOnly, name)
}

func (w *world) model(name string) contract.Model {
	return w.models[slices.IndexFunc(w.models, func(m contract.Model) bool { return m.Name == name })]
}

// shows is whether a token may be shown what a row holds in a column.
func (w *world) shows(t contract.Token, m contract.Model, r row, name string, all data) bool {
	unreadable := slices.ContainsFunc(tables[m.Name], func(c column) bool { return c.name == name && c.unreadable })
	return (!unreadable || !w.users) && may(t, m, "view") && seesRow(t, m, r, all) && !hidden(m, name) && !masked(m, name)
}

// canaries says of each unique text whether a tool of a table may show it to a token; "" is a tool of no single table.
func (w *world) canaries(t contract.Token, tool string, all data) map[string]bool {
	shown := map[string]bool{}
	for _, r := range all["guest"] {
		shown[r["label"]] = false
	}
	for _, table := range tableNames {
		rows, m := all[table], w.model(table)
		seen := tool == "" || tool == table || showsRows(m)
		for _, r := range rows {
			for _, c := range tables[table] {
				if c.canary && strings.HasPrefix(r[c.name], "canary") {
					shown[r[c.name]] = shown[r[c.name]] || seen && w.shows(t, m, r, c.name, all)
				}
			}
		}
	}
	return shown
}
