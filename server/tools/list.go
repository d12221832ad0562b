package tools

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

var _ = withArguments("list", operation{
	stale: true, admit: admitted,
	description: func(m *catalog.Model) string {
		if m == nil {
			return "List rows of a model, a page at a time."
		}
		return fmt.Sprintf("List %s.%s Fields: %s.", many(m), sentence(m.Description()), fieldList(m))
	},
	outputSchema: func(m *catalog.Model) schema { return rowsSchema(listedRow(m), "total_count") },
	advice:       "narrow with filters and search, order with order_by, go on with next_cursor, and ask only for the fields that you need",
}, (*call).list, withRowsForm(func(a *listArguments) *rowsForm { return &a.rowsForm },
	argument[listArguments]{name: "limit", into: func(a *listArguments) any { return &a.limit }, schema: limitSchema},
	argument[listArguments]{name: "offset", into: func(a *listArguments) any { return &a.offset }},
	argument[listArguments]{name: "cursor", into: func(a *listArguments) any { return &a.cursor }, common: true,
		offered: func(m *catalog.Model) bool { return m.UniqueKey }, lacks: "unique key",
		help: "next_cursor of the page before, all but limit unchanged; instead of offset"},
	argument[listArguments]{name: "total", into: func(a *listArguments) any { return &a.total }, unlisted: true,
		schema: func(*catalog.Model) schema { return schema{Type: types{"string"}, Enum: []any{totalExact, totalNone}} },
		help:   "exact counts however long it takes; none leaves total_count out"},
	argument[listArguments]{name: "search", into: func(a *listArguments) any { return &a.search }, common: true,
		offered: func(m *catalog.Model) bool { return len(m.Search) > 0 }, lacks: "search fields",
		help: "words that must all be in the search_fields of describe"},
	argument[listArguments]{name: "order_by", into: func(a *listArguments) any { return &a.orderBy }, common: true,
		help: "fields or relation__field; - descends"},
	argument[listArguments]{name: "filters", into: func(a *listArguments) any { return &a.filters },
		help: "{field__lookup: value}, ANDed; relation__field; lookups ne, in, range, gt, gte, lt, lte, isnull, icontains, year, …; " +
			"also {_field: other}, {_measure: {avg: field}}; _any, _all: [{}], _not: {}; relation__any, __none: {}, __count__gte: n",
		names: func(s access.Scope) string {
			return namesOf("; relations: ", s.Relations(), func(r *catalog.Relation) string { return r.Name }) +
				namesOf("; contains, overlap, contained_by (JSON also has_key): ", lookedInto(s), func(f *catalog.Field) string { return f.Name })
		}},
	argument[listArguments]{name: "fields", into: func(a *listArguments) any { return &a.fields }, common: true,
		help: "these or relation__field only"},
)...)

type listArguments struct {
	limit, offset   count
	cursor          pageCursor
	total, search   string
	orderBy, fields []string
	filters         json.RawMessage
	rowsForm
}

// list answers {count, total_count, results}, and next_cursor if there is more.
func (c *call) list(a *listArguments) ([]byte, error) {
	rows := &rowSet{scope: c.scope}
	plan, err := planList(rows, a)
	if err != nil {
		return nil, err
	}
	if plan.After, err = c.openCursor(rows, plan, a); err != nil {
		return nil, err
	}
	if err := a.apply(plan, c.settings.MaxResultBytes); err != nil {
		return nil, err
	}
	c.lock(plan)
	return c.answerPage("{", c.scope, plan, func(last []database.Value) (string, error) { return c.nextCursor(rows, plan, a, last) })
}

// planList makes the plan of list_, but for where its cursor says to go on.
func planList(rows *rowSet, a *listArguments) (*database.Select, error) {
	plan := planPage(rows.scope, a.limit, a.offset)
	where, err := rows.conditions("filters", a.filters)
	if err != nil {
		return nil, err
	}
	if where, err = appendSearch(where, rows.scope, a.search); err != nil {
		return nil, err
	}
	if len(where) > 0 {
		plan.Where = where
	}
	if plan.Order, err = rows.order(a.orderBy); err != nil {
		return nil, err
	}
	if rows.scope.Model().UniqueKey {
		plan.Cursor = orderRefs(plan.Order)
	}
	if plan.Output, err = rows.output(a.fields); err != nil {
		return nil, err
	}
	plan.Joins = rows.joins
	plan.Total, err = planTotal(rows.scope, a.total, plan)
	return plan, err
}

// planPage begins the plan of a page of a scope's rows.
func planPage(scope access.Scope, limit, offset count) *database.Select {
	m := scope.Model()
	return &database.Select{From: scope.Source(), Limit: min(limit.or(m.Declared.DefaultPageSize), m.Declared.MaxPageSize), Offset: offset.or(0), More: true}
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
