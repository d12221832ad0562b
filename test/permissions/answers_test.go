package permissions

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// cell is the value that a member of an answer must have.
type cell struct {
	text string
	kind kind
	// masked shows the last two characters, or none.
	masked bool
	// near says that an engine may round in another way.
	near bool
}

// wanted is the answer that a question must get.
type wanted struct {
	// rows are all there are; the answer has at most limit of them, from offset on; total is how many there are.
	rows          []map[string]cell
	offset, limit int
	// total is the name of the member that counts all rows, "" if it is not there.
	total string
	// anyOrder says that nothing but the database's own order tells the rows apart.
	anyOrder bool
	// single says that the answer is a row itself, limited that a policy narrows what is seen, ids that rows have no other
	// member that counts.
	single, limited, ids bool
}

// integer reads a number of the arguments.
func integer(arguments map[string]any, name string, otherwise int) int {
	if n, ok := arguments[name].(int); ok {
		return n
	}
	return otherwise
}

func texts(arguments map[string]any, name string) []string {
	list, _ := arguments[name].([]string)
	return list
}

// condition reads an argument that is a condition object.
func (o *reader) condition(s shape, arguments map[string]any, name string) (test, error) {
	if arguments[name] == nil {
		return func(row) bool { return true }, nil
	}
	return o.object(s, arguments[name], 1)
}

// answer is the answer that a question must get.
func (o *reader) answer(tool, table string, arguments map[string]any) (*wanted, error) {
	o.conditions, o.reached = 0, nil
	m := o.model(table)
	if !o.views(table) || !offers(m, tool) || table == "tag" && (tool == "get" || tool == "related" || tool == "autocomplete") {
		return nil, refuse("%s is not offered", tool)
	}
	switch tool {
	case "list":
		w := &wanted{total: "total_count"}
		if arguments["total"] == "none" {
			w.total = ""
		}
		return w, o.page(w, table, o.rows(table), arguments)
	case "get":
		shown, err := o.output(table, texts(arguments, "fields"))
		if err != nil {
			return nil, err
		}
		r := o.row(table, arguments["id"])
		if r == nil {
			return nil, refuse("there is no such row")
		}
		return &wanted{rows: []map[string]cell{shown(r)}, single: true, limit: 1}, nil
	case "related":
		r := o.row(table, arguments["id"])
		l, ok := o.link(table, fmt.Sprint(arguments["relation"]))
		if r == nil || !ok {
			return nil, refuse("there is no such row, or relation")
		}
		w := &wanted{total: "total_count"}
		if !l.many {
			w.single, w.total = true, ""
		}
		return w, o.page(w, l.table, o.related(l, r), arguments)
	}
	if tool == "autocomplete" {
		w := &wanted{ids: true}
		return w, o.page(w, table, o.rows(table), map[string]any{"filters": arguments["filters"], "fields": []string{"id"}})
	}
	return o.aggregate(table, arguments)
}

// row is the row that an id names, if the token sees it.
func (o *reader) row(table string, id any) row {
	for _, r := range o.rows(table) {
		if r["id"] == fmt.Sprint(id) {
			return r
		}
	}
	return nil
}

// page is the answer of list_ and related_ about some rows.
func (o *reader) page(w *wanted, table string, rows []row, arguments map[string]any) error {
	meets, err := o.condition(shape{table: table}, arguments, "filters")
	if err != nil {
		return err
	}
	steps, err := o.steps(table, texts(arguments, "order_by"))
	if err != nil {
		return err
	}
	shown, err := o.output(table, texts(arguments, "fields"))
	if err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(r row) bool { return !meets(r) })
	o.sort(rows, steps)
	for _, r := range rows {
		w.rows = append(w.rows, shown(r))
	}
	w.limited = o.narrowed(table)
	w.offset, w.limit, w.anyOrder = integer(arguments, "offset", 0), integer(arguments, "limit", 100), table == "tag"
	return nil
}

// output is a row as an answer shows it: all fields, or some; and always the key.
func (o *reader) output(table string, fields []string) (func(row) map[string]cell, error) {
	var paths []path
	masks := map[string]bool{}
	add := func(p path) {
		paths = append(paths, p)
		masks[p.text] = masked(o.model(p.table), p.name)
	}
	for _, text := range fields {
		p, err := o.path(table, text, true)
		if err != nil {
			return nil, err
		}
		add(p)
	}
	if table != "tag" {
		add(path{text: "id", table: table, name: "id", whole: table == "seat", kind: anInteger})
	}
	for _, c := range tables[table] {
		if _, ok := o.shown(table, c.name); ok && len(fields) == 0 {
			add(path{text: c.name, table: table, name: c.name, kind: c.values()})
		}
	}
	return func(r row) map[string]cell {
		members := map[string]cell{}
		for _, p := range paths {
			of := p.kind
			if p.whole {
				of = aText
			}
			members[p.text] = cell{text: o.value(p, r), kind: of, masked: masks[p.text]}
		}
		return members
	}, nil
}

// is reports whether an answer's value is as it must be.
func (c cell) is(value any) bool {
	if c.text == "" || value == nil {
		return c.text == "" && value == nil
	}
	text := fmt.Sprint(value)
	_, isText := value.(string)
	switch {
	case c.masked && c.kind == aText:
		shown := "****"
		if len(c.text) >= 8 {
			shown += c.text[len(c.text)-2:]
		}
		return text == shown
	case c.masked:
		return strings.HasPrefix(text, "****") && len(text) <= 6
	case c.near || c.kind == aFloat:
		number, ok := parse(text)
		return ok && near(number, rational(c.text))
	case c.kind.isNumber():
		number, ok := parse(text)
		return ok && number.Cmp(rational(c.text)) == 0 && (c.kind != anInteger || !isText)
	}
	return isText && c.kind.canonical(text) == c.text
}

// payload returns the content of an answer, and whether it is an error.
func payload(answer string) (map[string]any, bool, error) {
	var outer struct {
		Content           []struct{ Text string }
		IsError           bool
		StructuredContent json.RawMessage
	}
	if err := json.Unmarshal([]byte(answer), &outer); err != nil || len(outer.Content) != 1 {
		return nil, false, fmt.Errorf("no answer: %s", answer)
	}
	if structured := string(outer.StructuredContent); structured != "" && structured != outer.Content[0].Text {
		return nil, false, fmt.Errorf("the structured content is another one: %s", structured)
	}
	decoder := json.NewDecoder(strings.NewReader(outer.Content[0].Text))
	decoder.UseNumber()
	var members map[string]any
	err := decoder.Decode(&members)
	return members, outer.IsError, err
}

// differs says how an answer is not what it must be; "" if it is.
func (w *wanted) differs(answer map[string]any) string {
	if w.single {
		got, isRelated := answer["result"]
		if !isRelated && answer["type"] == nil {
			got = answer
		}
		if len(w.rows) == 0 {
			if got != nil {
				return "there is no row"
			}
			return ""
		}
		members, _ := got.(map[string]any)
		return unlike(members, w.rows[0])
	}
	if w.ids {
		w.anyOrder = true // the order of names
	}
	policy := answer["rows"] == "policy" || answer["limited"] == "policy"
	if w.limited != policy && !w.ids {
		return fmt.Sprintf("that a policy narrows is said: %v, want %v", policy, w.limited)
	}
	if n, ok := answer[w.total]; w.total != "" && (!ok || fmt.Sprint(n) != fmt.Sprint(len(w.rows))) {
		return fmt.Sprintf("%s is %v, want %d", w.total, n, len(w.rows))
	}
	got := resultsOf(answer)
	from := min(w.offset, len(w.rows))
	expected := w.rows[from:min(len(w.rows), from+w.limit)]
	if len(got) != len(expected) || fmt.Sprint(answer["count"]) != fmt.Sprint(len(expected)) {
		return fmt.Sprintf("%d rows (count %v), want %d", len(got), answer["count"], len(expected))
	}
	left := slices.Clone(expected)
	for i, r := range got {
		if w.ids {
			r = map[string]any{"id": r["id"]}
		}
		if w.anyOrder {
			at := slices.IndexFunc(left, func(wanted map[string]cell) bool { return unlike(r, wanted) == "" })
			if at < 0 {
				return fmt.Sprintf("row %d: there is no such row, or not so often", i)
			}
			left = slices.Delete(left, at, at+1)
		} else if difference := unlike(r, expected[i]); difference != "" {
			return fmt.Sprintf("row %d: %s", i, difference)
		}
	}
	return ""
}

// resultsOf are the rows of an answer, in either form.
func resultsOf(answer map[string]any) []map[string]any {
	var all []map[string]any
	list, _ := answer["results"].([]any)
	for _, r := range list {
		members, _ := r.(map[string]any)
		all = append(all, members)
	}
	columns, ok := answer["columns"].([]any)
	if !ok {
		return all
	}
	list, _ = answer["rows"].([]any)
	for _, r := range list {
		values, _ := r.([]any)
		members := map[string]any{}
		for i, name := range columns {
			if i < len(values) {
				members[fmt.Sprint(name)] = values[i]
			}
		}
		all = append(all, members)
	}
	return all
}

// unlike says how a row's members are not what they must be; "" if they are.
func unlike(got map[string]any, expected map[string]cell) string {
	if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(expected))) {
		return fmt.Sprintf("its members are %v, want %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(expected)))
	}
	for name, c := range expected {
		if !c.is(got[name]) {
			return fmt.Sprintf("%s is %v, want %+v", name, got[name], c)
		}
	}
	return ""
}
