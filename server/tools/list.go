package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

var listOperation = withArguments(operation{
	name: "list", may: has(access.View), label: "view", hints: reads,
	description: func(m *catalog.Model) string {
		if m == nil {
			return "List rows of a model, a page at a time."
		}
		return fmt.Sprintf("List %s.%s Fields: %s.", many(m), sentence(describeModel(m)), fieldList(m))
	},
	advice: "narrow with filters and search, order with order_by, go on with next_cursor, and ask only for the fields that you need",
}, (*call).list,
	argument[listArguments]{name: "limit", into: func(a *listArguments) any { return &a.limit }, schema: pageSchema},
	argument[listArguments]{name: "offset", into: func(a *listArguments) any { return &a.offset }},
	argument[listArguments]{name: "cursor", into: func(a *listArguments) any { return &a.cursor }, common: true,
		offered: func(m *catalog.Model) bool { return m.UniqueKey },
		help:    "next_cursor of the page before, all but limit unchanged; instead of offset"},
	argument[listArguments]{name: "total", into: func(a *listArguments) any { return &a.total }, common: true,
		schema: func(*catalog.Model) schema { return schema{Enum: []any{totalExact, totalNone}} },
		help:   "exact counts however long it takes; none leaves total_count out"},
	argument[listArguments]{name: "search", into: func(a *listArguments) any { return &a.search }, common: true,
		offered: func(m *catalog.Model) bool { return len(m.Search) > 0 },
		help:    "words that must all be found, in the search_fields of describe"},
	argument[listArguments]{name: "order_by", into: func(a *listArguments) any { return &a.orderBy }, common: true,
		help: "field names; a leading - is descending"},
	argument[listArguments]{name: "filters", into: func(a *listArguments) any { return &a.filters },
		help: "field or relation__field, then __ and a lookup (ne, in, range, gt, gte, lt, lte, isnull, icontains, istartswith, year, …) or none, " +
			"to value; all must hold",
		brief: "{field__lookup: value}",
		names: func(s access.Scope) string {
			return namesOf("; relations: ", s.Relations(), func(r *catalog.Relation) string { return r.Name })
		}},
	argument[listArguments]{name: "fields", into: func(a *listArguments) any { return &a.fields }, common: true,
		help: "only these; all without it"},
)

type listArguments struct {
	limit, offset   count
	cursor          pageCursor
	total, search   string
	orderBy, fields []string
	filters         json.RawMessage
}

// list answers {count, total_count, results}, and next_cursor if there is more.
func (c *call) list(a *listArguments) ([]byte, error) {
	plan, err := planList(c.scope, a)
	if err != nil {
		return nil, err
	}
	if plan.After, err = c.openCursor(plan, a); err != nil {
		return nil, err
	}
	return c.answerPage("{", c.scope, plan, func(last []database.Value) (string, error) { return c.nextCursor(plan, a, last) })
}

// planList makes the plan of list_, but for where its cursor says to go on.
func planList(scope access.Scope, a *listArguments) (*database.Select, error) {
	plan := planPage(scope, a.limit, a.offset)
	var where database.And
	var err error
	if where, err = appendFilters(where, scope, a.filters); err != nil {
		return nil, err
	}
	if where, err = appendSearch(where, scope, a.search); err != nil {
		return nil, err
	}
	if len(where) > 0 {
		plan.Where = where
	}
	if plan.Total, err = planTotal(scope, a.total, plan.Where); err != nil {
		return nil, err
	}
	if plan.Order, err = planOrder(scope, a.orderBy); err != nil {
		return nil, err
	}
	if m := scope.Model(); m.UniqueKey {
		plan.Cursor = orderRefs(plan.Order)
	}
	plan.Output, err = planOutput(scope, a.fields)
	return plan, err
}

// planPage begins the plan of a page of a scope's rows.
func planPage(scope access.Scope, limit, offset count) *database.Select {
	m := scope.Model()
	return &database.Select{From: scope.Source(), Limit: min(limit.or(m.Declared.DefaultPageSize), m.Declared.MaxPageSize), Offset: offset.or(0), More: true}
}

// planOrder reads order_by, or takes the model's ordering if it is empty. The key is appended in the last column's
// direction, so that pages never overlap.
func planOrder(scope access.Scope, names []string) ([]database.Order, error) {
	m := scope.Model()
	order := make([]database.Order, 0, len(names)+len(m.Ordering)+len(m.Key))
	add := func(f *catalog.Field, descending bool) {
		if !ordersBy(order, f.Column) {
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
			return nil, invalid("order_by: cannot order by %q; the fields to order by are %s", name, strings.Join(orderedFields(scope), ", "))
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
	if !m.UniqueKey {
		order = appendAll(order, scope)
	}
	return order, nil
}

// appendAll appends what else tells rows apart if no key does: every field that the token may order by, and then the
// engine's own name of a row. Rows that are equal in all of this look equal to the token, too, or isDistinct says that they
// may not.
func appendAll(order []database.Order, scope access.Scope) []database.Order {
	for _, f := range scope.Fields() {
		if f.Column.Ordered() && !f.Masked && !ordersBy(order, f.Column) {
			order = append(order, database.Order{Column: f.Column})
		}
	}
	if row := scope.Model().Table.RowID; row != nil && !ordersBy(order, row) {
		order = append(order, database.Order{Column: row})
	}
	return order
}

func ordersBy(order []database.Order, c *database.Column) bool {
	return slices.ContainsFunc(order, func(o database.Order) bool { return o.Column == c })
}

// isDistinct reports whether rows that differ in what the token sees are never equal in an order that planOrder made: if
// so, pages by offset show each row once.
func isDistinct(scope access.Scope, order []database.Order) bool {
	m := scope.Model()
	if m.UniqueKey || m.Table.RowID != nil && ordersBy(order, m.Table.RowID) {
		return true
	}
	return !slices.ContainsFunc(scope.Fields(), func(f *catalog.Field) bool {
		return !ordersBy(order, f.Column) || looksAlike(f.Column)
	})
}

// looksAlike reports whether values of a column that differ may be equal in its order.
func looksAlike(c *database.Column) bool {
	return c.Loose || c.LooseCollation || c.Kind == database.Decimal && c.Scale < 0
}

func orderRefs(order []database.Order) []database.Ref {
	refs := make([]database.Ref, len(order))
	for i, o := range order {
		refs[i] = database.Ref{Join: o.Join, Column: o.Column}
	}
	return refs
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

// fieldList names the model's fields, for a description.
func fieldList(m *catalog.Model) string {
	names := make([]string, len(m.Fields))
	for i, f := range m.Fields {
		names[i] = f.Name
	}
	return strings.Join(names, ", ")
}
