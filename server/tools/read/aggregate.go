package read

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// The bounds of aggregate_ (docs/design/asking.md, "Bounds").
const (
	maxMeasures  = 20
	maxGroupKeys = 6
)

var _ = call.WithArguments("aggregate", call.Operation{
	Stale: true, Admit: call.Admitted, Note: "(count, sum, top lists: no lists for that)",
	Description: func(m *catalog.Model) string {
		if m == nil {
			return "Count, sum up and group rows; count in the answer is how many groups it has."
		}
		return fmt.Sprintf("Count, sum up and group %s.", call.PluralOf(m))
	},
	OutputSchema: func(*catalog.Model) call.Schema {
		return call.RowsSchema(call.Schema{Type: call.Types{"object"}}, "total_groups")
	},
	Advice: "counts, sums, averages, top lists and distinct values: ask for them here, and do not compute them from lists",
}, aggregate, WithRowsForm(func(a *aggregateArguments) *RowsForm { return &a.RowsForm },
	call.Argument[aggregateArguments]{Name: "measures", Into: func(a *aggregateArguments) any { return &a.measures },
		Help: `{n: {count: "*"}, s: {sum: field, filters: {…}}, r: {ratio: [s, n]}}; also count_distinct, avg, min, max`},
	call.Argument[aggregateArguments]{Name: "group_by", Into: func(a *aggregateArguments) any { return &a.groupBy },
		Help: "fields, relation__field; dates __year, __month, __week, __weekday, …"},
	call.Argument[aggregateArguments]{Name: "filters", Into: func(a *aggregateArguments) any { return &a.filters }, Common: true,
		Help: "as in list"},
	call.Argument[aggregateArguments]{Name: "search", Into: func(a *aggregateArguments) any { return &a.search },
		Offered: func(m *catalog.Model) bool { return len(m.Search) > 0 }, Lacks: "search fields", Common: true, Help: "as in list"},
	call.Argument[aggregateArguments]{Name: "having", Into: func(a *aggregateArguments) any { return &a.having },
		Help: "{n__gte: 2}: measures, group_by members"},
	call.Argument[aggregateArguments]{Name: "order_by", Into: func(a *aggregateArguments) any { return &a.orderBy },
		Help: "[-n]: as in having"},
	call.Argument[aggregateArguments]{Name: "limit", Into: func(a *aggregateArguments) any { return &a.limit }, Schema: call.LimitSchema},
	call.Argument[aggregateArguments]{Name: "offset", Into: func(a *aggregateArguments) any { return &a.offset }},
	call.Argument[aggregateArguments]{Name: "total", Into: func(a *aggregateArguments) any { return &a.total },
		Schema: func(*catalog.Model) call.Schema {
			return call.Schema{Type: call.Types{"string"}, Enum: []any{totalExact, totalNone}}
		},
		Help: "exact: count all groups"},
)...)

type aggregateArguments struct {
	measures, filters, having json.RawMessage
	search, total             string
	groupBy, orderBy          []string
	limit, offset             call.Count
	RowsForm
}

// aggregate answers {count, total_groups, results}: what the rows come to, in all or for each group.
func aggregate(c *call.Call, a *aggregateArguments) ([]byte, error) {
	plan, err := planAggregate(c.Scope, a)
	if err != nil {
		return nil, err
	}
	if err := a.Apply(plan, c.Settings.MaxResultBytes); err != nil {
		return nil, err
	}
	return answerPage(c, "{", c.Scope, plan, nil)
}

// planAggregate makes the plan of aggregate_: a read of the groups of the model's rows.
func planAggregate(scope access.Scope, a *aggregateArguments) (*database.Select, error) {
	rows := &RowSet{Scope: scope}
	g := &groupReader{rows: rows, grouping: &database.Grouping{From: scope.Source(), MinRows: scope.Model().Declared.MinGroupSize}}
	where, err := rows.conditions("filters", a.filters)
	if err != nil {
		return nil, err
	}
	if where, err = appendSearch(where, scope, a.search); err != nil {
		return nil, err
	}
	if len(where) > 0 {
		g.grouping.Where = where
	}
	if err := g.readKeys(a.groupBy); err != nil {
		return nil, err
	}
	if err := g.readMeasures(a.measures); err != nil {
		return nil, err
	}
	if len(g.members) == 0 {
		return nil, call.Invalid(`measures or group_by must be there, or both; such as measures {"n": {"count": "*"}}`)
	}
	g.grouping.Joins = rows.joins
	return g.plan(a)
}

// groupReader reads what rows are grouped by and what is computed of them.
type groupReader struct {
	rows     *RowSet
	grouping *database.Grouping
	// members are the names of the answer's members: those of the grouping's keys, and then those of its measures.
	members []string
}

// plan is the read of the groups, once their members are known.
func (g *groupReader) plan(a *aggregateArguments) (*database.Select, error) {
	m := g.rows.Scope.Model()
	groups := g.grouping.Source()
	set := &RowSet{Scope: g.rows.Scope, conditionsRead: g.rows.conditionsRead, members: make([]*catalog.Field, len(g.members))}
	plan := &database.Select{From: groups, Offset: a.offset.Or(0), More: true}
	plan.Limit = min(a.limit.Or(m.Declared.DefaultPageSize), m.Declared.MaxPageSize)
	for i, name := range g.members {
		column := groups.Table().Columns[i]
		set.members[i] = &catalog.Field{Name: name, Column: comparedAs(column)}
		plan.Output = append(plan.Output, database.Output{Name: name, Columns: []*database.Column{column}})
	}
	having, err := set.conditions("having", a.having)
	if err != nil {
		return nil, err
	}
	plan.Joins = set.joins // of the measures with which having compares
	if err := g.checkSmallGroups(set, having); err != nil {
		return nil, err
	}
	if len(having) > 0 {
		plan.Where = having
	}
	if plan.Order, err = g.order(set, a.orderBy); err != nil {
		return nil, err
	}
	plan.Total, _, err = askedTotal(a.total)
	return plan, err
}

// comparedAs is a column of groups as conditions and orders take it: a sum of integers has no bound, as a decimal has none.
func comparedAs(c *database.Column) *database.Column {
	if c.Measure == nil || c.Measure.Func != database.Sum || c.Kind != database.Integer {
		return c
	}
	wide := *c
	wide.Kind, wide.Scale = database.Decimal, 0
	return &wide
}

// order reads order_by. All keys are appended, so that the answer is always the same.
func (g *groupReader) order(set *RowSet, names []string) ([]database.Order, error) {
	var order []database.Order
	add := func(c *database.Column, descending bool) {
		if !ordersBy(order, database.Ref{Column: c}) {
			order = append(order, database.Order{Column: c, Descending: descending})
		}
	}
	for _, text := range names {
		name, descending := readOrder(text)
		target, ok := set.base().target(name)
		if !ok && set.base().masks(name) {
			return nil, call.Invalid("order_by: %s", isMasked(name))
		}
		if !ok || !target.field.Column.Ordered() {
			return nil, call.Invalid("order_by: cannot order by %q; the measures and groups to order by are %s", name, strings.Join(orderedNames(set.members), ", "))
		}
		add(target.field.Column, descending)
	}
	for i := range g.grouping.Keys {
		add(set.members[i].Column, false)
	}
	return order, nil
}

// orderedNames are the names of the members to order groups by.
func orderedNames(members []*catalog.Field) []string {
	var names []string
	for _, f := range members {
		if f.Column.Ordered() {
			names = append(names, f.Name)
		}
	}
	return names
}

// groupParts are the pieces of dates and timestamps to group by.
var groupParts = map[string]database.GroupPart{
	"year": database.YearPart, "quarter": database.QuarterPart, "month": database.MonthPart, "week": database.WeekPart,
	"day": database.DayPart, "hour": database.HourPart, "weekday": database.WeekdayPart,
}

// readKeys reads group_by.
func (g *groupReader) readKeys(paths []string) error {
	if len(paths) > maxGroupKeys {
		return call.Invalid("group_by: at most %d members, not %d; leave some out", maxGroupKeys, len(paths))
	}
	for _, path := range paths {
		if slices.Contains(g.members, path) {
			return call.Invalid("group_by: %s is there twice; name it once", path)
		}
		key, err := g.readKey(path)
		if err != nil {
			return err
		}
		g.grouping.Keys, g.members = append(g.grouping.Keys, key), append(g.members, path)
	}
	return nil
}

// readKey reads a path, which may end in a piece of a date.
func (g *groupReader) readKey(path string) (key database.GroupKey, err error) {
	at, _, err := g.rows.lead("group_by", path, func(at place, rest string) bool {
		key.Part, key.Column = database.WholeValue, nil
		if f := singleField(at, rest); f != nil {
			key.Column = f.Column
			return true
		}
		if i := strings.LastIndex(rest, "__"); i > 0 {
			part := groupParts[rest[i+2:]]
			if f := singleField(at, rest[:i]); f != nil && part != database.WholeValue && hasPart(f.Column, part) {
				key.Part, key.Column = part, f.Column
			}
		}
		return key.Column != nil
	})
	if none := (errNoPath{}); errors.As(err, &none) {
		return key, noKey(none, path)
	}
	if err != nil {
		return key, err
	}
	key.Join = at.join
	if !lookup.HasEquality(key.Column) {
		return key, call.Invalid("group_by: values of %s, of type %s, cannot be compared, so they make no groups; the fields to group by are %s", path, key.Column.Kind, strings.Join(GroupedFields(at.scope), ", "))
	}
	return key, nil
}

// noKey says what to group by instead of a path that is no key.
func noKey(none errNoPath, path string) error {
	if i := strings.LastIndex(none.rest, "__"); i > 0 {
		if f := singleField(none.at, none.rest[:i]); f != nil {
			var parts []string
			for _, name := range slices.Sorted(maps.Keys(groupParts)) {
				if hasPart(f.Column, groupParts[name]) {
					parts = append(parts, name)
				}
			}
			if len(parts) > 0 {
				return call.Invalid("group_by: %s: %s has no part %q; its parts are %s", path, f.Name, none.rest[i+2:], strings.Join(parts, ", "))
			}
		}
	}
	return none.unknown("group_by", path, " to group by", GroupedFields(none.at.scope))
}

// singleField is the field that a name means at a place: the key's, if that is of one column, for its name.
func singleField(at place, name string) *catalog.Field {
	target, _ := at.target(name)
	return target.field
}

// hasPart reports whether a column's values have a part to group by.
func hasPart(c *database.Column, part database.GroupPart) bool {
	switch c.Kind {
	case database.Date:
		return part != database.HourPart
	case database.Timestamp, database.TimestampTZ:
		return true
	}
	return false
}

// GroupedFields are the names of the fields to group by.
func GroupedFields(scope access.Scope) []string {
	var names []string
	for _, f := range scope.Fields() {
		if !f.Masked && lookup.HasEquality(f.Column) {
			names = append(names, f.Name)
		}
	}
	return names
}
