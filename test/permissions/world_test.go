// Package permissions makes random worlds of rules, tokens, row policies and fields, calls every tool at random in them,
// and holds what each call showed and changed against an oracle of its own, which knows nothing of the server's code:
// no call ever shows or changes what the oracle forbids.
package permissions

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools"
)

// The tables of every world: a chain of foreign keys, of which one sets null and two cascade, and one to itself; one key
// of two columns, and one value that must be unique. All other columns are texts, each with a value that stands nowhere
// else.
const script = `
create table owner (id int primary key, name varchar(60), region varchar(60), note varchar(60), boss_id int, foreign key (boss_id) references owner (id) on delete set null);
create table item (id int primary key, title varchar(60), region varchar(60), note varchar(60), owner_id int, foreign key (owner_id) references owner (id) on delete set null);
create table part (id int primary key, label varchar(60) unique, region varchar(60), note varchar(60), item_id int not null, foreign key (item_id) references item (id) on delete cascade);
create table seat (item_id int not null, number int not null, label varchar(60), region varchar(60), note varchar(60), primary key (item_id, number), foreign key (item_id) references item (id) on delete cascade);
`

var regions = []string{"north", "south", "west"}

// column is a column of a world's table. Texts hold canaries; region, keys and foreign keys are what policies and
// relations go by.
type column struct {
	name        string
	canary, key bool
	// refers is the table that a foreign key leads to.
	refers string
}

var tables = map[string][]column{
	"owner": {{name: "id", key: true}, {name: "name", canary: true}, {name: "region"}, {name: "note", canary: true}, {name: "boss_id", refers: "owner"}},
	"item":  {{name: "id", key: true}, {name: "title", canary: true}, {name: "region"}, {name: "note", canary: true}, {name: "owner_id", refers: "owner"}},
	"part":  {{name: "id", key: true}, {name: "label", canary: true}, {name: "region"}, {name: "note", canary: true}, {name: "item_id", refers: "item"}},
	"seat":  {{name: "item_id", key: true, refers: "item"}, {name: "number", key: true}, {name: "label", canary: true}, {name: "region"}, {name: "note", canary: true}},
}

var tableNames = []string{"item", "owner", "part", "seat"}

// operations are what an exposure may list.
var operations = tools.Operations()

// row is a row by column, and by "id" if its key is of several; NULL is "".
type row map[string]string

// data are the rows of all tables, by table and id.
type data map[string]map[string]row

// world is one random configuration: what the server is told, and what the oracle goes by.
type world struct {
	random *rand.Rand
	models []contract.Model
	tokens []contract.Token
}

// pick returns one of some.
func pick[T any](r *rand.Rand, some ...T) T { return some[r.IntN(len(some))] }

// chance is true so many times in a hundred.
func chance(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

func newWorld(r *rand.Rand) *world {
	w := &world{random: r}
	for _, name := range tableNames {
		m := contract.Model{Name: name, Table: name, Expose: chance(r, 80), Module: pick(r, "one", "two")}
		for _, c := range tables[name] {
			if c.key || !c.canary && c.refers == "" {
				continue
			}
			switch {
			case chance(r, 20):
				m.Exclude = append(m.Exclude, c.name)
			case c.canary && chance(r, 20):
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
		m.Actions = []contract.Action{
			{Name: "stamp", Requires: []string{"change"}, Update: &contract.UpdateAction{Set: []contract.ActionAssignment{{Field: "note", Source: contract.SourceValue, Value: "stamped"}}}},
			{Name: "wipe", SQL: &contract.SQLAction{Statement: "update " + name + " set note = 'wiped' where id in (:ids)"}},
		}
		if chance(r, 40) {
			m.Actions[0].Confirm = &contract.Confirmation{TokenRequired: chance(r, 50)}
		}
		if name == "seat" {
			m.Actions = m.Actions[:1] // an sql action needs a key of one column
		}
		w.models = append(w.models, m)
	}
	w.models[0].Inlines = []contract.Inline{{Model: "part", Max: 100}}
	if hidden(w.models[2], "item_id") {
		w.models[0].Inlines = nil // an inline must show its foreign key
	}
	for i := range 4 {
		w.tokens = append(w.tokens, w.newToken(i))
	}
	return w
}

func (w *world) newPolicy(table, name string) contract.RowPolicy {
	p := contract.RowPolicy{Name: name}
	field := "region"
	if chance(w.random, 30) {
		field = parents[table] + "__region"
	}
	if chance(w.random, 30) {
		p.Everyone = true
	} else {
		p.Groups = []string{pick(w.random, "a", "b", "c")}
	}
	switch {
	case chance(w.random, 20):
		p.AllRows = true
	case chance(w.random, 60):
		p.Filters = []contract.Filter{{Field: field, Lookup: pick(w.random, "", "exact", "ne"), TokenAttribute: "region"}}
	default:
		p.Filters = []contract.Filter{{Field: field, Lookup: "in", Values: []string{regions[0], pick(w.random, regions...)}}}
	}
	return p
}

// parents are the relations that foreign keys are, by their tables.
var parents = map[string]string{"owner": "boss", "item": "owner", "part": "item", "seat": "item"}

func secret(i int) string { return fmt.Sprintf("mcp_%016d.%043d", i, i) }

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
		rule := contract.Rule{Models: []string{pick(w.random, "item", "owner", "part", "seat", "*", "*")}}
		if chance(w.random, 30) {
			rule.Modules = []string{pick(w.random, "one", "two", "three")}
		}
		for _, verb := range []string{"view", "add", "change", "delete", "*"} {
			if chance(w.random, 50) {
				rule.Verbs = append(rule.Verbs, verb)
			}
		}
		if chance(w.random, 30) {
			rule.Actions = []string{pick(w.random, "stamp", "wipe", "*", "other")}
		}
		t.Rules = append(t.Rules, rule)
	}
	return t
}

// The oracle.

// may reports whether a token has a verb on a model.
func may(t contract.Token, m contract.Model, verb string) bool {
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
	return slices.ContainsFunc(t.Rules, func(rule contract.Rule) bool {
		return (len(rule.Modules) == 0 || slices.Contains(rule.Modules, m.Module)) &&
			(slices.Contains(rule.Models, "*") || slices.Contains(rule.Models, m.Name)) &&
			(slices.Contains(rule.Actions, "*") || slices.Contains(rule.Actions, action))
	})
}

// offers reports whether an exposure's list of operations lets rows be written that way.
func offers(m contract.Model, operation string) bool {
	return len(m.Operations) == 0 || slices.Contains(m.Operations, operation)
}

// asksFirst reports whether the action stamp wants to be confirmed.
func asksFirst(m contract.Model) bool { return m.Actions[0].Confirm != nil }

// seesRow reports whether a model's row policies let a token see a row that is among all these.
func seesRow(t contract.Token, m contract.Model, r row, all data) bool {
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

func meets(t contract.Token, f contract.Filter, table string, r row, all data) bool {
	if relation, through := strings.CutSuffix(f.Field, "__region"); through {
		i := slices.IndexFunc(tables[table], func(c column) bool { return c.name == relation+"_id" })
		if r = all[tables[table][i].refers][r[relation+"_id"]]; r == nil {
			return false
		}
	}
	if f.Lookup == "in" {
		return slices.Contains(f.Values, r["region"])
	}
	attribute, there := t.Attributes["region"]
	if !there {
		return false
	}
	return (r["region"] == attribute) != (f.Lookup == "ne")
}

func hidden(m contract.Model, name string) bool { return slices.Contains(m.Exclude, name) }

func masked(m contract.Model, name string) bool {
	return slices.ContainsFunc(m.Masked, func(f contract.MaskedField) bool { return f.Name == name })
}

func readOnly(m contract.Model, name string) bool {
	return hidden(m, name) || masked(m, name) || slices.Contains(m.ReadOnly, name)
}

func (w *world) model(name string) contract.Model {
	return w.models[slices.IndexFunc(w.models, func(m contract.Model) bool { return m.Name == name })]
}

// shows reports whether a token may be shown what a row holds in a column.
func shows(t contract.Token, m contract.Model, r row, column string, all data) bool {
	return may(t, m, "view") && seesRow(t, m, r, all) && !hidden(m, column) && !masked(m, column)
}

// canaries says of each unique text whether a token may be shown it.
func (w *world) canaries(t contract.Token, all data) map[string]bool {
	shown := map[string]bool{}
	for table, rows := range all {
		m := w.model(table)
		for _, r := range rows {
			for _, c := range tables[table] {
				if c.canary && strings.HasPrefix(r[c.name], "canary") {
					shown[r[c.name]] = shown[r[c.name]] || shows(t, m, r, c.name, all)
				}
			}
		}
	}
	return shown
}

// read reads all rows by plain SQL.
func read(t *testing.T, db *sql.DB) data {
	t.Helper()
	all := data{}
	for _, table := range tableNames {
		all[table] = map[string]row{}
		for _, r := range readTable(t, db, table) {
			all[table][r["id"]] = r
		}
	}
	return all
}

func readTable(t *testing.T, db *sql.DB, table string) (all []row) {
	t.Helper()
	var names []string
	for _, c := range tables[table] {
		names = append(names, c.name)
	}
	rows, err := db.Query("select " + strings.Join(names, ", ") + " from " + table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		values := make([]sql.NullString, len(names))
		targets := make([]any, len(names))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		r := row{}
		for i, name := range names {
			r[name] = values[i].String
		}
		if r["id"] == "" {
			r["id"] = r["item_id"] + "," + r["number"]
		}
		all = append(all, r)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
