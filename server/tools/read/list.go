package read

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

var _ = call.WithArguments("list", call.Operation{
	Stale: true, Admit: AdmitExports,
	Description: func(m *catalog.Model) string {
		if m == nil {
			return "List rows of a model, a page at a time."
		}
		return fmt.Sprintf("List %s.%s Fields: %s.", call.PluralOf(m), call.Sentence(m.Description()), fieldList(m))
	},
	OutputSchema: func(m *catalog.Model) call.Schema { return call.RowsSchema(call.ListedRow(m), "total_count") },
	Advice:       "narrow with filters and search, order with order_by, go on with next_cursor, and ask only for the fields that you need",
}, list, withZone(func(a *listArguments) *zoneArgument { return &a.zoneArgument }, WithRowsForm(func(a *listArguments) *RowsForm { return &a.RowsForm },
	call.Argument[listArguments]{Name: "limit", Into: func(a *listArguments) any { return &a.limit }, Schema: call.LimitSchema},
	call.Argument[listArguments]{Name: "offset", Into: func(a *listArguments) any { return &a.offset }},
	call.Argument[listArguments]{Name: "cursor", Into: func(a *listArguments) any { return &a.cursor }, Common: true,
		Offered: func(m *catalog.Model) bool { return m.UniqueKey }, Lacks: "unique key",
		Help: "next_cursor of the page before, all but limit unchanged; instead of offset"},
	call.Argument[listArguments]{Name: "total", Into: func(a *listArguments) any { return &a.total }, Unlisted: true,
		Schema: func(*catalog.Model) call.Schema {
			return call.Schema{Type: call.Types{"string"}, Enum: []any{totalExact, totalNone}}
		},
		Help: "exact counts however long it takes; none leaves total_count out"},
	call.Argument[listArguments]{Name: "search", Into: func(a *listArguments) any { return &a.search }, Common: true,
		Offered: func(m *catalog.Model) bool { return len(m.Search) > 0 }, Lacks: "search fields",
		Help: "words that must all be in the search_fields of describe"},
	call.Argument[listArguments]{Name: "order_by", Into: func(a *listArguments) any { return &a.orderBy }, Common: true,
		Help: "fields or relation__field; - descends"},
	call.Argument[listArguments]{Name: "top", Into: func(a *listArguments) any { return &a.top }, Unlisted: true},
	call.Argument[listArguments]{Name: "similar_to", Into: func(a *listArguments) any { return &a.similarTo }, Unlisted: true,
		Offered: func(m *catalog.Model) bool { return len(m.Vectors) > 0 }, Lacks: "vectors"},
	segmentsArgument(func(a *listArguments) *[]string { return &a.segments }),
	call.Argument[listArguments]{Name: "filters", Into: func(a *listArguments) any { return &a.filters },
		Help: "{field__lookup: value}, ANDed; relation__field; lookups ne, in, range, gt, gte, isnull, icontains…; dates 2026-04, {_now: -7d}; " +
			"{_field: other}, {_measure: {avg: field}}; _any, _all: [{}], _not: {}; relation__any, __none: {}, __count__gte: n",
		Names: func(s access.Scope) string {
			return call.NamesOf("; relations: ", s.Relations(), func(r *catalog.Relation) string { return r.Name }) +
				call.NamesOf("; contains, overlap, contained_by (JSON also has_key): ", lookedInto(s), func(f *catalog.Field) string { return f.Name })
		}},
	call.Argument[listArguments]{Name: "fields", Into: func(a *listArguments) any { return &a.fields }, Common: true,
		Help: "these or relation__field only; more in describe"},
))...)

type listArguments struct {
	limit, offset call.Count
	cursor        call.PageCursor
	total, search string
	orderBy       []string
	segments      []string
	fields        call.Items
	filters, top  json.RawMessage
	similarTo     json.RawMessage
	RowsForm
	zoneArgument
}

// list answers {count, total_count, results}, and next_cursor if there is more.
func list(c *call.Call, a *listArguments) ([]byte, error) {
	rows := &RowSet{Scope: c.Scope}
	var err error
	if rows.calendar, err = a.calendar(c); err != nil {
		return nil, err
	}
	if err := rows.similarTo(c, a.similarTo); err != nil {
		return nil, err
	}
	export, err := a.Exporting(c, c.Scope, a.limit, a.cursor != "")
	if err != nil {
		return nil, err
	}
	plan, err := planList(rows, a)
	if err != nil {
		return nil, err
	}
	if export != nil {
		return export.Page(plan)
	}
	if plan.After, err = openCursor(c, rows, plan, a); err != nil {
		return nil, err
	}
	if err := a.Apply(plan, c.Settings.MaxResultBytes); err != nil {
		return nil, err
	}
	c.Lock(plan)
	return answerPage(c, "{", c.Scope, plan, func(last []database.Value) (string, error) { return nextCursor(c, rows, plan, a, last) })
}

// planList makes the plan of list_, but for where its cursor says to go on.
func planList(rows *RowSet, a *listArguments) (*database.Select, error) {
	if a.top != nil {
		return planTop(rows, a)
	}
	plan := planPage(rows.Scope, a.limit, a.offset)
	var err error
	if plan.Output, err = rows.Output(a.fields); err != nil { // first: other arguments may use the values that it names
		return nil, err
	}
	where, err := rows.where(a.filters, a.segments)
	if err != nil {
		return nil, err
	}
	if where, err = rows.search(where, a.search); err != nil {
		return nil, err
	}
	if rows.similar != nil {
		if len(a.orderBy) > 0 {
			return nil, call.Invalid("order_by: similar_to is the order; send one of the two")
		}
		where = append(where, database.Not{Condition: database.IsNull{Column: rows.similar.Of}})
	}
	if len(where) > 0 {
		plan.Where = where
	}
	if plan.Order, err = rows.listOrder(a.orderBy); err != nil {
		return nil, err
	}
	if err := noPagesAtRandom(plan, a.cursor != ""); err != nil {
		return nil, err
	}
	if rows.Scope.Model().UniqueKey && !isRandom(plan.Order) && !rows.isRanked(a) {
		plan.Cursor = orderRefs(plan.Order)
	}
	plan.Joins = rows.joins
	plan.Total, err = planTotal(rows.Scope, a.total, plan)
	return plan, err
}

// planPage begins the plan of a page of a scope's rows.
func planPage(scope access.Scope, limit, offset call.Count) *database.Select {
	m := scope.Model()
	return &database.Select{From: scope.Source(), Limit: min(limit.Or(m.Declared.DefaultPageSize), m.Declared.MaxPageSize), Offset: offset.Or(0), More: true}
}

// KeyOutput is a row's whole key, under a name.
func KeyOutput(m *catalog.Model, name string) database.Output { return m.KeyOutput(name) }

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
