package tools

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/read"
)

// asking shows how to compute and how to ask of related rows, with examples made of the model's own names.
func (t *promptText) asking(scope access.Scope, ops []*call.Operation) {
	if offers(ops, "aggregate") {
		t.line("To count, sum up, rank or group, let the database compute, not yourself: %s", t.Call("aggregate", scope.Model(), exampleAggregate(scope)))
	}
	if !offers(ops, "list") {
		return
	}
	t.line("In filters, _any and _all take lists of objects and _not takes one; {\"_field\": path} as a value compares two fields, {\"_measure\": {\"avg\": field}} with what all rows come to.")
	for _, r := range scope.Relations() {
		if r.Many {
			t.line(`Of related rows, relation__any, relation__none and relation__count ask: %s`, t.Call("list", scope.Model(),
				fmt.Sprintf(`{"filters": {"_any": [{"%s__none": {}}, {"%s__count__gte": 2}]}, "limit": 10}`, r.Name, r.Name)))
			break
		}
	}
}

// exampleAggregate returns arguments that count and average a model's rows by group.
func exampleAggregate(scope access.Scope) string {
	type measures struct {
		Rows    map[string]string `json:"rows"`
		Average map[string]string `json:"average,omitempty"`
	}
	args := struct {
		GroupBy  []string `json:"group_by,omitempty"`
		Measures measures `json:"measures"`
		OrderBy  []string `json:"order_by"`
		Limit    int      `json:"limit"`
	}{Measures: measures{Rows: map[string]string{"count": read.AllRows}}, OrderBy: []string{"-rows"}, Limit: 10}
	if path := exampleGroup(scope); path != "" && path != "rows" && path != "average" { // the names of the measures
		args.GroupBy = []string{path}
	}
	keys := read.ForeignKeys(scope)
	for _, f := range scope.Fields() {
		if !f.Masked && !f.PrimaryKey && f.Compared().Column.Summable() && !slices.Contains(keys, f.Column) {
			args.Measures.Average = map[string]string{"avg": f.Name}
			break
		}
	}
	text, _ := json.Marshal(args) // numbers and strings: it cannot fail
	return string(text)
}

// exampleGroup is a path to group by: to a field of a related row if there is one, else to a field of the model.
func exampleGroup(scope access.Scope) string {
	for _, r := range scope.Relations() {
		if _, target, ok := scope.Follow(r.Name); ok && !r.Many {
			if name := groupName(target); name != "" {
				return r.Name + "__" + name
			}
		}
	}
	return groupName(scope)
}

// groupName is the name of a field that groups rows well: what rows are called, or else the first that is no key.
func groupName(scope access.Scope) string {
	names := read.GroupedFields(scope)
	if d := scope.Model().Display; d != nil && slices.Contains(names, d.Name) {
		return d.Name
	}
	keys := read.ForeignKeys(scope)
	for _, name := range names {
		if f := scope.Field(name); !f.PrimaryKey && !slices.Contains(keys, f.Column) {
			return name
		}
	}
	return ""
}
