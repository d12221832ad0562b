package admin

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// list answers {count, total_count, results}, and next_cursor where there is more.
func (c *call) list() ([]byte, error) {
	args, err := parseArguments(c.raw, "limit", "offset", "cursor", "total", "search", "order_by", "filters", "fields")
	if err != nil {
		return nil, err
	}
	plan, err := planList(c.scope, args)
	if err != nil {
		return nil, err
	}
	if plan.After, err = c.openCursor(plan, args); err != nil {
		return nil, err
	}
	return c.answerPage("{", c.scope, plan, func(last []database.Value) (string, error) { return c.nextCursor(plan, args, last) })
}

// planList reads list_'s arguments, but for the cursor.
func planList(scope access.Scope, args arguments) (*database.Select, error) {
	plan, err := planPage(scope, args)
	if err != nil {
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
	if plan.Total, err = planTotal(scope, args, plan.Where); err != nil {
		return nil, err
	}
	names, err := args.texts("order_by")
	if err != nil {
		return nil, err
	}
	if plan.Order, err = planOrder(scope, names); err != nil {
		return nil, err
	}
	if m := scope.Model(); m.UniqueKey {
		plan.Cursor = orderColumns(plan.Order)
	}
	subset, err := args.texts("fields")
	if err != nil {
		return nil, err
	}
	plan.Output, err = planOutput(scope, subset)
	return plan, err
}

// planPage begins the plan of a page of a scope's rows: it reads limit and offset.
func planPage(scope access.Scope, args arguments) (*database.Select, error) {
	m := scope.Model()
	limit, err := args.count("limit", m.DefaultPageSize)
	if err != nil {
		return nil, err
	}
	offset, err := args.count("offset", 0)
	if err != nil {
		return nil, err
	}
	return &database.Select{From: scope.Source(), Limit: min(limit, m.MaxPageSize), Offset: offset, More: true}, nil
}

// planOrder reads order_by, or takes the model's ordering where it is empty. The key is appended in the last column's
// direction, so that pages never overlap.
func planOrder(scope access.Scope, names []string) ([]database.Order, error) {
	m := scope.Model()
	order := make([]database.Order, 0, len(names)+len(m.Ordering)+len(m.Key))
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
		f := comparedField(scope, name)
		if f == nil || !f.Column.Ordered() {
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

func orderColumns(order []database.Order) []*database.Column {
	columns := make([]*database.Column, len(order))
	for i, o := range order {
		columns[i] = o.Column
	}
	return columns
}

func orderedFields(scope access.Scope) []string {
	var names []string
	for _, f := range scope.Fields() {
		if f.Column.Ordered() && !f.Masked {
			names = append(names, f.Name)
		}
	}
	return names
}

// comparedField returns the field of that name that filters and order_by may use, or nil: a masked one, whose value could
// be found out that way, looks like one that does not exist.
func comparedField(scope access.Scope, name string) *catalog.Field {
	if f := scope.Field(name); f != nil && !f.Masked {
		return f
	}
	return nil
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
	columns := make([]*database.Column, len(fields)) // one piece of memory for the columns of all members
	if m.KeyName != "" {
		output = append(output, keyOutput(m, m.KeyName))
	}
	for i, f := range fields {
		wholeKey := m.KeyName == "" && f.PrimaryKey
		if len(subset) == 0 || wanted[f] || wholeKey {
			columns[i] = f.Column
			output = append(output, database.Output{Name: f.Name, Columns: columns[i : i+1 : i+1], Mask: f.Masked, KeepLast: f.KeepLast})
		}
	}
	return output, nil
}

// keyOutput is a row's whole key, under a name.
func keyOutput(m *catalog.Model, name string) database.Output {
	return database.Output{Name: name, Columns: keyColumns(m), Composite: len(m.Key) > 1}
}

func fieldNames(scope access.Scope) []string {
	fields := scope.Fields()
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}
