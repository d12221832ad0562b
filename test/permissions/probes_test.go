package permissions

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// probe asks for one of the things that must not be told.
func (g *game) probe(i int) {
	g.Helper()
	pick(g.random, g.probeValue, g.probeValue, g.probeReference, g.probeDependents, g.probeList, g.probeUnseen, g.probeUnseen, g.probeName, g.probeName, g.probeModel)(i)
}

// probeList narrows the lists to a model on which the token has no right, and to one that there is not: the answers must be
// the same. Narrowed to another, they name nothing else.
func (g *game) probeList(i int) {
	g.Helper()
	token, table := g.tokens[i], pick(g.random, tableNames...)
	m := g.model(table)
	style := pick(g.random, "", "&tools=generic", "&tools=per-model")
	method := pick(g.random, "tools/list", "resources/list", "initialize")
	ask := func(models string) string {
		_, answer := g.endpoint.PostTo("?models="+models+style, g.shown[i], `{"jsonrpc":"2.0","id":1,"method":"`+method+`"}`)
		return strings.NewReplacer("may use: "+models+".", "may use: MODEL.", "names "+models+",", "names MODEL,").Replace(answer)
	}
	answer := ask(table)
	did.probes++
	verbs := []string{"view", "add", "change", "delete"}
	if !slices.ContainsFunc(verbs, func(verb string) bool { return may(token, m, verb) }) {
		if none := ask("nowhere"); answer != none {
			g.Errorf("%s: token %+v\nmodels %+v\n%s of %s%s tells:\n%s\n%s", g.where, token, g.models, method, table, style, answer, none)
		}
		return
	}
	for _, other := range tableNames {
		if listed := regexp.MustCompile(`"(name":"[a-z]+_|uri":"[a-z]+://)` + other + `["/]`); other != table && method != "initialize" && listed.MatchString(answer) {
			g.Errorf("%s: %s of %s%s names %s:\n%s", g.where, method, table, style, other, answer)
		}
	}
}

// probeValue asks for a value that the token must not know, and for one that is nowhere: the answers must be the same.
func (g *game) probeValue(i int) {
	g.Helper()
	token := g.tokens[i]
	table := pick(g.random, tableNames...)
	m := g.model(table)
	for _, r := range sortedRows(g.now[table]) {
		for _, c := range tables[table] {
			value := r[c.name]
			if !c.canary || !strings.HasPrefix(value, "canary") || g.shows(token, m, r, c.name, g.now) {
				continue
			}
			other := value[:len(value)-1] + "~"
			form := pick(g.random, `{"method":"tools/call","name":"list_TABLE","arguments":{"filters":{"COLUMN":"VALUE"}}}`,
				`{"method":"tools/call","name":"list_TABLE","arguments":{"filters":{"COLUMN__startswith":"VALUE"},"total":"exact"}}`,
				`{"method":"tools/call","name":"list_TABLE","arguments":{"search":"VALUE"}}`,
				`{"method":"tools/call","name":"autocomplete_TABLE","arguments":{"term":"VALUE"}}`,
				`{"method":"tools/call","name":"list_part","arguments":{"filters":{"item__COLUMN":"VALUE"}}}`,
				`{"method":"tools/call","name":"list_item","arguments":{"filters":{"part_by_item__COLUMN__contains":"VALUE"}}}`,
				`{"method":"tools/call","name":"list_item","arguments":{"filters":{"seat_by_item__COLUMN":"VALUE"},"total":"exact"}}`,
				`{"method":"tools/call","name":"bulk_TABLE","arguments":{"operation":"delete","items":["VALUE"]}}`,
				`{"method":"tools/call","name":"list_owner","arguments":{"filters":{"item_by_owner__COLUMN__icontains":"VALUE"}}}`,
				`{"method":"tools/call","name":"list_item","arguments":{"filters":{"owner__COLUMN__in":["VALUE"]}}}`,
				`{"method":"tools/call","name":"list_owner","arguments":{"filters":{"boss__COLUMN":"VALUE"}}}`,
				`{"method":"tools/call","name":"find_models","arguments":{"query":"VALUE"}}`,
				`{"method":"tools/call","name":"list_TABLE","arguments":{"filters":{"_not":{"COLUMN":"VALUE"}},"total":"exact"}}`,
				`{"method":"tools/call","name":"list_TABLE","arguments":{"filters":{"_any":[{"region":"nowhere"},{"COLUMN__lte":"VALUE"}]}}}`,
				`{"method":"tools/call","name":"autocomplete_TABLE","arguments":{"filters":{"COLUMN":"VALUE"}}}`,
				`{"method":"tools/call","name":"list_item","arguments":{"filters":{"part_by_item__any":{"COLUMN__gte":"VALUE"}}}}`,
				`{"method":"tools/call","name":"list_item","arguments":{"filters":{"seat_by_item__none":{"COLUMN":"VALUE"}}}}`,
				`{"method":"tools/call","name":"list_owner","arguments":{"filters":{"item_by_owner__part_by_item__COLUMN":"VALUE"}}}`,
				`{"method":"tools/call","name":"list_part","arguments":{"filters":{"item__owner__COLUMN__ne":"VALUE"},"order_by":["item__owner__region"]}}`,
				`{"method":"tools/call","name":"aggregate_TABLE","arguments":{"measures":{"n":{"count":"*"}},"filters":{"COLUMN":"VALUE"}}}`,
				`{"method":"tools/call","name":"aggregate_TABLE","arguments":{"measures":{"n":{"count":"*","filters":{"COLUMN__lt":"VALUE"}},"all":{"count":"*"},"share":{"ratio":["n","all"]}}}}`,
				`{"method":"tools/call","name":"aggregate_TABLE","arguments":{"measures":{"top":{"max":"COLUMN"}},"having":{"top__gte":"VALUE"}}}`,
				`{"method":"tools/call","name":"aggregate_TABLE","arguments":{"group_by":["COLUMN"],"having":{"COLUMN":"VALUE"},"total":"exact"}}`,
				`{"method":"tools/call","name":"aggregate_part","arguments":{"group_by":["item__COLUMN"],"having":{"item__COLUMN__startswith":"VALUE"}}}`,
				`{"method":"tools/call","name":"aggregate_part","arguments":{"measures":{"least":{"min":"item__owner__COLUMN"}},"having":{"least__lte":"VALUE"}}}`,
				`{"method":"tools/call","name":"list_item","arguments":{"filters":{"id__lte":{"_measure":{"count":"*","model":"TABLE","filters":{"COLUMN":"VALUE"}}}}}}`,
				`{"method":"tools/call","name":"list_TABLE","arguments":{"filters":{"region__lte":{"_measure":{"max":"region","filters":{"COLUMN__gte":"VALUE"}}}}}}`,
				`{"method":"tools/call","name":"aggregate_TABLE","arguments":{"measures":{"n":{"count":"*"}},"having":{"n__gt":{"_measure":{"count":"*","filters":{"COLUMN__startswith":"VALUE"}}}}}}`,
				`{"method":"tools/call","name":"list_part","arguments":{"filters":{"item__id__gt":{"_measure":{"count":"*","model":"item","filters":{"owner__COLUMN":"VALUE"}}}}}}`)
			if chance(g.random, 35) {
				form = byGenericName(form)
			}
			ask := func(text string) string {
				body := strings.NewReplacer("TABLE", table, "COLUMN", c.name, "VALUE", text).Replace(form)
				_, answer := g.endpoint.Post(g.shown[i], body)
				return strings.ReplaceAll(answer, text, "VALUE")
			}
			did.probes++
			if real, none := ask(value), ask(other); real != none {
				g.Errorf("%s: token %+v\nmodels %+v\n%s of %s %s: %s tells:\n%s\n%s", g.where, token, g.models, c.name, table, r["id"], form, real, none)
			}
			return
		}
	}
}

// numbers are left out when answers are compared: what a call asked for stands in them.
var numbers = regexp.MustCompile(`[0-9]+`)

// asGiven is a value in the form in which calls give it.
func asGiven(value string) any {
	if numbers.FindString(value) == value {
		return json.Number(value)
	}
	return value
}

// probeReference tries to have a row name one that is out of sight, and one that is nowhere, in one column of the foreign
// key, as a call may give a part of it: the answers must be the same.
func (g *game) probeReference(i int) {
	g.Helper()
	token := g.tokens[i]
	table := pick(g.random, byDependence[:len(byDependence)-1]...) // all but tag, which has no key
	to, m := references[table][0], g.model(table)
	target := g.model(to.table)
	part := g.random.IntN(len(to.columns))
	name := to.columns[part]
	for _, id := range slices.Sorted(maps.Keys(g.now[table])) {
		r := g.now[table][id]
		if !seesRow(token, m, r, g.now) || readOnly(m, name) || slices.ContainsFunc(tables[table], func(c column) bool { return c.name == name && c.key }) {
			continue
		}
		for _, hidden := range sortedRows(g.now[to.table]) {
			wanted := row{}
			for n, ours := range to.columns {
				wanted[ours] = r[ours]
				if n == part {
					wanted[ours] = hidden[to.to[n]]
				}
			}
			_, led := g.now.target(to, wanted)
			if led == nil || seesRow(token, target, led, g.now) || wanted[name] == r[name] {
				continue
			}
			ask := func(value string) string {
				body, err := json.Marshal(map[string]any{"method": "tools/call", "name": "update_" + table,
					"arguments": map[string]any{"id": asGiven(id), "data": map[string]any{name: asGiven(value)}, "dry_run": true}})
				if err != nil {
					g.Fatal(err)
				}
				_, answer := g.endpoint.Post(g.shown[i], string(body))
				if value != numbers.FindString(value) {
					answer = strings.ReplaceAll(answer, value, "VALUE")
				}
				return numbers.ReplaceAllString(answer, "N")
			}
			nowhere := "k99"
			if wanted[name] == numbers.FindString(wanted[name]) {
				nowhere = "99"
			}
			did.probes++
			if real, none := ask(wanted[name]), ask(nowhere); real != none {
				g.Errorf("%s: token %+v\nmodels %+v\n%s of %s %s: %s, which is out of sight, is told of:\n%s\n%s", g.where, token, g.models, name, table, id, wanted[name], real, none)
			}
			return
		}
	}
}

// probeDependents tries what a row's dependents keep from happening or go along with, and again with one more of the
// dependents out of sight: the answers must be the same.
func (g *game) probeDependents(i int) {
	g.Helper()
	token := g.tokens[i]
	table := pick(g.random, "part", "badge", "ticket", "pledge", "lease", "booking", "vault")
	to, m := references[table][0], g.model(table)
	for _, dependent := range sortedRows(g.now[table]) {
		id, target := g.now.target(to, dependent)
		if target == nil || seesRow(token, m, dependent, g.now) || !seesRow(token, g.model(to.table), target, g.now) {
			continue
		}
		arguments := map[string]any{"id": asGiven(id), "dry_run": true}
		tool := "delete_"
		if to.table == "owner" && to.to[0] == "code" && chance(g.random, 50) {
			tool, arguments["data"] = "update_", map[string]any{"code": "k50"}
		}
		body, err := json.Marshal(map[string]any{"method": "tools/call", "name": tool + to.table, "arguments": arguments})
		if err != nil {
			g.Fatal(err)
		}
		_, with := g.endpoint.Post(g.shown[i], string(body))
		g.change(copyOf(table, dependent))
		_, withMore := g.endpoint.Post(g.shown[i], string(body))
		g.change("delete from " + table + " where id = 777")
		did.probes++
		if with != withMore {
			g.Errorf("%s: token %+v\nmodels %+v\n%s tells of rows of %s that are out of sight:\n%s\n%s", g.where, token, g.models, body, table, with, withMore)
		}
		return
	}
}

func (g *game) change(statement string) {
	g.Helper()
	if _, err := g.store.Exec(statement); err != nil {
		g.Fatalf("%s: %v", statement, err)
	}
}
