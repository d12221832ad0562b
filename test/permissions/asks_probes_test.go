package permissions

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// Probes of questions: what a token must not know makes no difference to any answer.

// anyCursor is a cursor in an answer, which is another one each time.
var anyCursor = regexp.MustCompile(`next_cursor\\*":\\*"[\w-]+`)

// probeUnseen asks a question, changes what the token must not see, and asks again: the answers must be the same.
func (g *game) probeUnseen(i int) {
	g.Helper()
	q := g.newQuestion(i)
	i = q.by
	change, back := q.unseenChange()
	if change == "" || q.table == "tag" || q.arguments["relation"] == "tag_by_item" { // nothing but the database's own order tells all tags apart
		return
	}
	body := q.body(g)
	_, before := g.endpoint.Post(g.shown[i], body)
	g.change(change)
	_, after := g.endpoint.Post(g.shown[i], body)
	g.change(back)
	did.probes++
	asked.repeated++
	if anyCursor.ReplaceAllString(before, "") != anyCursor.ReplaceAllString(after, "") {
		g.Errorf("%s: token %+v\nmodels %+v\n%s\ntells of: %s\n%s\n%s", g.where, q.token, g.models, body, change, before, after)
	}
}

// unseenChange changes a value, or adds a row, that the token must not see, and takes it back; "" if there is none to change.
func (q *question) unseenChange() (change, back string) {
	for range 8 {
		table := pick(q.random, tableNames...)
		if len(q.measured) > 0 && chance(q.random, 50) {
			table = pick(q.random, q.measured...)
		}
		m := q.model(table)
		for _, id := range slices.Sorted(maps.Keys(q.all[table])) {
			r := q.all[table][id]
			unseen := !q.views(table) || !seesRow(q.token, m, r, q.all)
			if unseen && table != "owner" && table != "seat" && table != "tag" && chance(q.random, 30) {
				return copyOf(table, r), "delete from " + table + " where id = 777"
			}
			for _, c := range tables[table] {
				_, shown := q.shown(table, c.name)
				isMasked := shown && masked(m, c.name)
				if !c.canary && c.kind == aText || r[c.name] == "" || shown && !isMasked && !unseen || c.kind == aMoment {
					continue
				}
				other := c.kind.canonical(c.kind.random(q.random))
				if c.canary {
					other = "canary-" + fmt.Sprint(q.random.IntN(100000)) + r[c.name][max(0, len(r[c.name])-2):]
				}
				if other == "" || isMasked && c.kind != aText && len(other) != len(r[c.name]) || isMasked && c.kind == aDate || isMasked && len(r[c.name]) < 8 {
					continue
				}
				where := fmt.Sprintf(" where id = '%s'", id)
				switch table {
				case "seat":
					where = fmt.Sprintf(" where item_id = '%s' and number = '%s'", r["item_id"], r["number"])
				case "tag":
					where = fmt.Sprintf(" where %s = '%s'", c.name, r[c.name])
				}
				set := func(to, from string) string {
					if table == "tag" {
						return fmt.Sprintf("update tag set %[1]s = '%[2]s' where %[1]s = '%[3]s'", c.name, to, from)
					}
					return fmt.Sprintf("update %s set %s = '%s'%s", table, c.name, to, where)
				}
				return set(other, r[c.name]), set(r[c.name], other)
			}
		}
	}
	return "", ""
}

// probeName asks with a name that the token must not know in each place that takes names, and with one that there is not: the
// answers must be the same. That a field is masked it may know, but nothing takes its name.
func (g *game) probeName(i int) {
	g.Helper()
	q := &question{reader: g.reader(i), table: pick(g.random, tableNames...)}
	if !q.views(q.table) {
		return
	}
	var fields, relations []string
	for _, c := range tables[q.table] {
		if _, ok := q.compared(q.table, c.name); !ok {
			fields = append(fields, c.name)
		}
	}
	for _, l := range links(q.table) {
		if _, ok := q.link(q.table, l.name); !ok {
			relations = append(relations, l.name)
		}
	}
	// Through a relation, the name belongs to the row to which it leads.
	from, prefix := q.table, ""
	forms := slices.Concat(namedForms, groupedForms)
	if l, ok := q.relation(q.table, true); ok && l.many && chance(g.random, 30) {
		for _, to := range links(l.table) {
			if _, ok := q.link(l.table, to.name); ok && to.table == q.table && !to.many {
				from, prefix = l.table, to.name+"__"
			}
		}
	}
	var name, form string
	isMasked := false
	switch {
	case len(relations) > 0 && (len(fields) == 0 || chance(g.random, 50)):
		name, form = pick(g.random, relations...), pick(g.random, slices.Concat(relationForms, forms)...)
		if !strings.Contains(form, "NAME__") && chance(g.random, 50) {
			form = strings.ReplaceAll(form, "NAME", "NAME__"+pick(g.random, "id", "region", "note"))
		}
	case len(fields) > 0:
		name, form = pick(g.random, fields...), pick(g.random, forms...)
		if _, isMasked = q.shown(q.table, name); isMasked && strings.Contains(form, `"fields"`) {
			return // a masked field may be shown
		}
	default:
		return
	}
	if chance(g.random, 35) {
		form = byGenericName(form)
	}
	ask := func(name string) string {
		body := strings.NewReplacer("TABLE", from, "PATH", prefix+name, "NAME", name).Replace(strings.ReplaceAll(form, "NAME", "PATH"))
		_, answer := g.endpoint.Post(g.shown[i], body)
		answer = strings.ReplaceAll(answer, prefix+name+"__", prefix+"nowhere__")
		for _, around := range []string{`\\\"%s\\\"`, ": %s: ", ": %s__"} {
			for _, text := range []string{prefix + name, name} {
				answer = strings.ReplaceAll(answer, fmt.Sprintf(around, text), fmt.Sprintf(around, strings.TrimSuffix(text, name)+"nowhere"))
			}
		}
		return answer
	}
	did.probes++
	asked.twins++
	if real, none := ask(name), ask("nowhere"); real != none && !isMasked || !strings.Contains(real, `"isError":true`) {
		g.Errorf("%s: token %+v\nmodels %+v\n%s with %s of %s tells:\n%s\n%s", g.where, q.token, g.models, form, name, q.table, real, none)
	}
}

// probeModel compares with a measure of a model that the token must not view, and of one that there is not: the answers must
// be the same.
func (g *game) probeModel(i int) {
	g.Helper()
	o := g.reader(i)
	table, model := pick(g.random, tableNames...), pick(g.random, append(tableNames, "guest")...)
	if !o.views(table) || tables[model] != nil && o.views(model) {
		return
	}
	form := pick(g.random, measuredForms...)
	if chance(g.random, 35) {
		form = byGenericName(form)
	}
	ask := func(model string) string {
		_, answer := g.endpoint.Post(g.shown[i], strings.NewReplacer("TABLE", table, "MODEL", model).Replace(form))
		return strings.ReplaceAll(answer, `\\\"`+model+`\\\"`, "MODEL")
	}
	did.probes++
	asked.twins++
	if real, none := ask(model), ask("nowhere"); real != none || !strings.Contains(real, `"isError":true`) {
		g.Errorf("%s: token %+v\nmodels %+v\n%s with %s tells:\n%s\n%s", g.where, o.token, g.models, form, model, real, none)
	}
}

// measuredForms compare with a measure of a model.
var measuredForms = slices.Concat(
	calls("list_TABLE", `{"filters":{"region":{"_measure":{"max":"region","model":"MODEL"}}}}`, `{"filters":{"_not":{"region":{"_measure":{"max":"nowhere","model":"MODEL"}}}}}`,
		`{"filters":{"region__gt":{"_measure":{"min":"region","filters":{"region":{"_measure":{"max":"region","model":"MODEL"}}}}}}}`,
		`{"filters":{"region__in":{"_values":{"model":"MODEL","field":"region"}}}}`, `{"filters":{"region__in":{"_values":{"model":"TABLE","field":"region","filters":{"id__in":{"_values":{"model":"MODEL","field":"id"}}}}}}}`),
	calls("autocomplete_TABLE", `{"filters":{"region__ne":{"_measure":{"min":"region","model":"MODEL"}}}}`),
	calls("aggregate_TABLE", `{"group_by":["region"],"filters":{"region__lte":{"_measure":{"max":"note","model":"MODEL"}}}}`,
		`{"measures":{"m":{"count":"*","filters":{"region":{"_measure":{"max":"region","model":"MODEL"}}}}}}`,
		`{"measures":{"m":{"count":"*"}},"having":{"m__gte":{"_measure":{"count":"*","model":"MODEL"}}}}`))

// namedForms and groupedForms have a field's name, or a relation's, in each place of a question; relationForms only a relation's.
var (
	namedForms = calls("list_TABLE", `{"fields":["NAME"]}`, `{"fields":["region","NAME"]}`, `{"order_by":["NAME"]}`, `{"order_by":["region","-NAME"]}`, `{"filters":{"NAME":"x"}}`,
		`{"filters":{"NAME__gte":1}}`, `{"filters":{"NAME__isnull":true}}`, `{"filters":{"_not":{"NAME":"x"}}}`, `{"filters":{"_any":[{"region":"x"},{"NAME__ne":"x"}]}}`,
		`{"filters":{"_all":[{"_not":{"NAME__in":["x"]}}]}}`, `{"filters":{"region":{"_field":"NAME"}}}`, `{"filters":{"region__gt":{"_field":"NAME"}}}`, `{"filters":{"NAME":{"_field":"region"}}}`,
		`{"filters":{"region":{"_measure":{"max":"NAME"}}}}`, `{"filters":{"NAME__gt":{"_measure":{"min":"region"}}}}`,
		`{"filters":{"region__ne":{"_measure":{"min":"region","filters":{"NAME__isnull":true}}}}}`,
		`{"filters":{"_not":{"region":{"_measure":{"max":"region","model":"TABLE","filters":{"_any":[{"NAME":"x"}]}}}}}}`,
		`{"filters":{"region__in":{"_values":{"field":"NAME"}}}}`, `{"filters":{"NAME__in":{"_values":{"field":"region"}}}}`, `{"filters":{"region__in":{"_values":{"field":"region","filters":{"NAME":"x"}}}}}`)
	groupedForms = calls("aggregate_TABLE", `{"group_by":["NAME"]}`, `{"group_by":["region","NAME"]}`, `{"group_by":["NAME__year"]}`, `{"group_by":["NAME__prefix_1"]}`, `{"measures":{"m":{"count":"NAME"}}}`,
		`{"measures":{"m":{"count_distinct":"NAME"}}}`, `{"measures":{"m":{"max":"NAME"}}}`, `{"measures":{"m":{"min":"NAME"}}}`, `{"measures":{"m":{"sum":"NAME"}}}`,
		`{"measures":{"m":{"avg":"NAME"},"n":{"count":"*"},"r":{"ratio":["m","n"]}}}`, `{"measures":{"m":{"count":"*","filters":{"NAME":"x"}}}}`,
		`{"measures":{"m":{"sum":"id","filters":{"_not":{"NAME__isnull":true}}}}}`, `{"measures":{"m":{"count":"*"}},"filters":{"NAME__lt":"x"}}`,
		`{"measures":{"m":{"count":"*"}},"having":{"NAME":"x"}}`, `{"measures":{"m":{"count":"*"}},"having":{"m":{"_field":"NAME"}}}`,
		`{"measures":{"m":{"count":"*"}},"having":{"m__gte":{"_measure":{"count":"NAME"}}}}`,
		`{"measures":{"m":{"count":"*"}},"having":{"m":{"_measure":{"count":"*","filters":{"NAME__ne":"x"}}}}}`,
		`{"measures":{"m":{"count":"*"}},"order_by":["NAME"]}`, `{"group_by":["region"],"measures":{"m":{"count":"*"}},"order_by":["-NAME"]}`)
	relationForms = append(calls("list_TABLE", `{"filters":{"NAME__any":{}}}`, `{"filters":{"NAME__none":{}}}`, `{"filters":{"NAME__any":{"region":"north"}}}`, `{"filters":{"NAME__count":0}}`,
		`{"filters":{"NAME__count__gte":1}}`, `{"filters":{"_not":{"NAME__count__in":[1,2]}}}`, `{"filters":{"region":{"_measure":{"max":"region","filters":{"NAME__count":0}}}}}`), calls("aggregate_TABLE", `{"measures":{"m":{"count":"*","filters":{"NAME__count__gt":0}}}}`)...)
)

// perModelName is the name of a tool of one model, in a call with arguments.
var perModelName = regexp.MustCompile(`"name":"(list|aggregate|autocomplete|bulk)_(\w+)","arguments":{`)

// byGenericName is a call under the name of the generic tool.
func byGenericName(call string) string {
	return perModelName.ReplaceAllString(call, `"name":"$1","arguments":{"model":"$2",`)
}

// calls are calls of a tool with each of some arguments.
func calls(tool string, arguments ...string) []string {
	var all []string
	for _, one := range arguments {
		all = append(all, `{"method":"tools/call","name":"`+tool+`","arguments":`+one+`}`)
	}
	return all
}

// smallGroups are the sizes below which models leave groups out of aggregates.
func (w *world) smallGroups() int {
	if chance(w.random, 25) {
		return 2 + w.random.IntN(2)
	}
	return 0
}

// tooSmall is the answer to a having that asks for groups that are always left out.
func tooSmall(m contract.Model, answer map[string]any) bool {
	return m.MinGroupSize > 1 && strings.Contains(fmt.Sprint(answer["error"]), fmt.Sprintf("is at least %d in every answer", m.MinGroupSize))
}

// copyOf inserts a copy of a row, as 777.
func copyOf(table string, r row) string {
	var names, values []string
	for _, c := range tables[table] {
		value := "'" + r[c.name] + "'"
		switch {
		case c.key:
			value = "777"
		case c.name == "label":
			value = "'another'"
		case r[c.name] == "":
			value = "null"
		}
		names, values = append(names, c.name), append(values, value)
	}
	return "insert into " + table + " (" + strings.Join(names, ", ") + ") values (" + strings.Join(values, ", ") + ")"
}
