package admin

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// list answers {count, total_count, results}.
func (a *Admin) list(ctx context.Context, scope access.Scope, raw []byte) ([]byte, error) {
	plan, err := planList(scope, raw)
	if err != nil {
		return nil, err
	}
	// The rows come first, the counts are known after: room for them is left in front of the rows.
	const room = len(`{"count":,"total_count":,"results":[`) + 2*20
	out, page, err := a.db.Select(ctx, plan, make([]byte, room, 4096))
	if err != nil {
		return nil, err
	}
	head := make([]byte, 0, room)
	head = strconv.AppendInt(append(head, `{"count":`...), int64(page.Count), 10)
	head = strconv.AppendInt(append(head, `,"total_count":`...), page.Total, 10)
	head = append(head, `,"results":[`...)
	start := room - len(head)
	copy(out[start:], head)
	return append(out[start:], "]}"...), nil
}

// planList reads list_'s arguments.
func planList(scope access.Scope, raw []byte) (*database.Select, error) {
	m := scope.Model()
	args, err := parseArguments(raw, "limit", "offset", "search", "order_by", "filters", "fields")
	if err != nil {
		return nil, err
	}
	plan := &database.Select{From: scope.Source(), Total: true}
	if plan.Limit, err = args.count("limit", m.DefaultPageSize); err != nil {
		return nil, err
	}
	plan.Limit = min(plan.Limit, m.MaxPageSize)
	if plan.Offset, err = args.count("offset", 0); err != nil {
		return nil, err
	}
	var where database.And
	if where, err = appendFilters(where, scope, args["filters"]); err != nil {
		return nil, err
	}
	search, err := args.text("search")
	if err != nil {
		return nil, err
	}
	if where, err = appendSearch(where, scope, search); err != nil {
		return nil, err
	}
	if len(where) > 0 {
		plan.Where = where
	}
	names, err := args.texts("order_by")
	if err != nil {
		return nil, err
	}
	if plan.Order, err = planOrder(scope, names); err != nil {
		return nil, err
	}
	subset, err := args.texts("fields")
	if err != nil {
		return nil, err
	}
	plan.Output, err = planOutput(scope, subset)
	return plan, err
}

// planOrder reads order_by, or takes the model's ordering where it is empty. The key is appended in the last column's
// direction, so that pages never overlap.
func planOrder(scope access.Scope, names []string) ([]database.Order, error) {
	m := scope.Model()
	var order []database.Order
	add := func(f *catalog.Field, descending bool) {
		if !slices.ContainsFunc(order, func(o database.Order) bool { return o.Column == f.Column }) {
			order = append(order, database.Order{Column: f.Column, Descending: descending})
		}
	}
	descending := false
	for _, text := range names {
		var name string
		name, descending = strings.CutPrefix(text, "-")
		if isKeyName(m, name) {
			for _, f := range m.Key {
				add(f, descending)
			}
			continue
		}
		f := scope.Field(name)
		if f == nil || !f.Column.Kind.Ordered() {
			return nil, invalid("order_by: cannot order by %q; the fields are %s", name, strings.Join(orderedFields(scope), ", "))
		}
		add(f, descending)
	}
	if len(names) == 0 {
		for _, o := range m.Ordering {
			descending = o.Descending
			add(o.Field, descending)
		}
	}
	for _, f := range m.Key {
		add(f, descending)
	}
	return order, nil
}

func orderedFields(scope access.Scope) []string {
	var names []string
	for _, f := range scope.Fields() {
		if f.Column.Kind.Ordered() {
			names = append(names, f.Name)
		}
	}
	return names
}

// planOutput says which members a row has: all visible fields, or the subset, and always the key.
func planOutput(scope access.Scope, subset []string) ([]database.Output, error) {
	m := scope.Model()
	wanted := map[*catalog.Field]bool{}
	for _, name := range subset {
		f := scope.Field(name)
		if f == nil && !isKeyName(m, name) {
			return nil, invalid("fields: %s has no field %q; the fields are %s", m.Name, name, strings.Join(fieldNames(scope), ", "))
		}
		wanted[f] = true
	}
	fields := scope.Fields()
	output := make([]database.Output, 0, len(fields)+1)
	if m.KeyName != "" {
		output = append(output, database.Output{Name: m.KeyName, Columns: keyColumns(m), Composite: len(m.Key) > 1})
	}
	for _, f := range fields {
		wholeKey := m.KeyName == "" && f.PrimaryKey
		if len(subset) == 0 || wanted[f] || wholeKey {
			output = append(output, database.Output{Name: f.Name, Columns: []*database.Column{f.Column}})
		}
	}
	return output, nil
}

func fieldNames(scope access.Scope) []string {
	fields := scope.Fields()
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}
