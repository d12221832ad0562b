package read

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
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
	Stale: true, Admit: AdmitExports, Note: "(count, sum, top lists: no lists for that)",
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
}, aggregate, withZone(func(a *aggregateArguments) *zoneArgument { return &a.zoneArgument }, WithRowsForm(func(a *aggregateArguments) *RowsForm { return &a.RowsForm },
	call.Argument[aggregateArguments]{Name: "measures", Into: func(a *aggregateArguments) any { return &a.measures },
		Help: `{n: {count: "*"}, s: {sum: field, filters: {…}}, r: {ratio: [s, n]}}; count_distinct, avg, min, max…`},
	call.Argument[aggregateArguments]{Name: "group_by", Into: func(a *aggregateArguments) any { return &a.groupBy },
		Help: "fields, relation__field; dates __month, __weekday, …"},
	call.Argument[aggregateArguments]{Name: "filters", Into: func(a *aggregateArguments) any { return &a.filters }, Common: true,
		Help: "as in list"},
	segmentsArgument(func(a *aggregateArguments) *[]string { return &a.segments }),
	call.Argument[aggregateArguments]{Name: "search", Into: func(a *aggregateArguments) any { return &a.search },
		Offered: func(m *catalog.Model) bool { return len(m.Search) > 0 }, Lacks: "search fields", Common: true, Help: "as in list"},
	call.Argument[aggregateArguments]{Name: "having", Into: func(a *aggregateArguments) any { return &a.having },
		Help: "{n__gte: 2}: any member"},
	call.Argument[aggregateArguments]{Name: "order_by", Into: func(a *aggregateArguments) any { return &a.orderBy },
		Help: "[-n]: as in having"},
	call.Argument[aggregateArguments]{Name: "top", Into: func(a *aggregateArguments) any { return &a.top }, Unlisted: true},
	call.Argument[aggregateArguments]{Name: "fill", Into: func(a *aggregateArguments) any { return &a.fill }, Unlisted: true},
	call.Argument[aggregateArguments]{Name: "limit", Into: func(a *aggregateArguments) any { return &a.limit }, Schema: call.LimitSchema},
	call.Argument[aggregateArguments]{Name: "offset", Into: func(a *aggregateArguments) any { return &a.offset }},
	call.Argument[aggregateArguments]{Name: "total", Into: func(a *aggregateArguments) any { return &a.total },
		Schema: func(*catalog.Model) call.Schema {
			return call.Schema{Type: call.Types{"string"}, Enum: []any{totalExact, totalNone}}
		},
		Help: "exact: count all"},
))...)

type aggregateArguments struct {
	measures, filters, having json.RawMessage
	top                       json.RawMessage
	search, total             string
	groupBy                   call.Items
	orderBy, segments         []string
	limit, offset             call.Count
	fill                      bool
	RowsForm
	zoneArgument
}

// aggregate answers {count, total_groups, results}: what the rows come to, in all or for each group.
func aggregate(c *call.Call, a *aggregateArguments) ([]byte, error) {
	rows := &RowSet{Scope: c.Scope}
	var err error
	if rows.calendar, err = a.calendar(c); err != nil {
		return nil, err
	}
	export, err := a.Exporting(c, c.Scope, a.limit, false)
	if err != nil {
		return nil, err
	}
	plan, notes, err := planAggregate(c, rows, a)
	if err != nil {
		return nil, err
	}
	if export != nil {
		return export.Page(plan)
	}
	if err := a.Apply(plan, c.Settings.MaxResultBytes); err != nil {
		return nil, err
	}
	return answerPage(c, "{", c.Scope, plan, nil, notes...)
}

// planAggregate makes the plan of aggregate_, a read of the groups of the model's rows, and says what a caller may take for something
// else in its answer.
func planAggregate(c *call.Call, rows *RowSet, a *aggregateArguments) (*database.Select, []string, error) {
	g := newGroupReader(rows)
	if err := g.readKeys(a.groupBy); err != nil { // first: other arguments may use the values that it names
		return nil, nil, err
	}
	where, err := rows.where(a.filters, a.segments)
	if err != nil {
		return nil, nil, err
	}
	if where, err = rows.search(where, a.search); err != nil {
		return nil, nil, err
	}
	if len(where) > 0 {
		g.grouping.Where = where
	}
	if err := g.readMeasures(a.measures); err != nil {
		return nil, nil, err
	}
	if len(g.members) == 0 {
		return nil, nil, call.Invalid(`measures or group_by must be there, or both; such as measures {"n": {"count": "*"}}`)
	}
	g.grouping.Joins = rows.joins
	g.groups = g.grouping.Source()
	if a.fill {
		if g.groups, err = g.filled(c); err != nil {
			return nil, nil, err
		}
	}
	plan, having, err := g.plan(a)
	if err != nil {
		return nil, nil, err
	}
	return plan, g.notes(a, having), nil
}

// groupReader reads what rows are grouped by and what is computed of them.
type groupReader struct {
	rows     *RowSet
	grouping *database.Grouping
	// groups are the groups of the grouping, perhaps with empty ones, once all of it is read.
	groups database.Source
	// members names the members of the answer: the keys of the grouping, and then the measures.
	members []string
	// ofRows names the grouping's measures, in their order. derived are the measures of other measures.
	ofRows  []string
	derived []*derivedMeasure
	// hasGaps is set if fill adds groups.
	hasGaps bool
}

func newGroupReader(rows *RowSet) *groupReader {
	return &groupReader{rows: rows, grouping: &database.Grouping{From: rows.Scope.Source(), MinRows: rows.Scope.Model().Declared.MinGroupSize}}
}

// comparedAs is a column as conditions take it: an integer that was computed has no bound, as a decimal has none.
func comparedAs(c *database.Column) *database.Column {
	if c.Kind != database.Integer || !c.Exact() {
		return c
	}
	wide := *c
	wide.Kind, wide.Scale = database.Decimal, 0
	return &wide
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
	"quarter_of_year": database.QuarterOfYearPart, "month_of_year": database.MonthOfYearPart, "hour_of_day": database.HourOfDayPart,
}

// prefixPart is the beginning of a text's group: __prefix_1 groups by its first letter.
const prefixPart = "prefix_"

// maxPrefix is the most letters of a prefix.
const maxPrefix = 100

// readPart reads the piece of a column's values that a name means; false if it has no such piece.
func readPart(c *database.Column, name string) (key database.GroupKey, ok bool) {
	key.Column = c
	if digits, ok := strings.CutPrefix(name, prefixPart); ok {
		n, err := strconv.Atoi(digits)
		key.Part, key.Length = database.PrefixPart, n
		return key, err == nil && n >= 1 && n <= maxPrefix && strconv.Itoa(n) == digits && c.Kind == database.Text
	}
	key.Part, ok = groupParts[name]
	return key, ok && hasPart(c, key.Part)
}

// readKeys reads group_by.
func (g *groupReader) readKeys(items call.Items) error {
	if len(items) > maxGroupKeys {
		return call.Invalid("group_by: at most %d members, not %d; leave some out", maxGroupKeys, len(items))
	}
	for _, item := range items {
		name := item.Text
		if item.Object != nil {
			value, err := g.rows.named("group_by", item.Object)
			if err != nil {
				return err
			}
			name = value.Name
		}
		if slices.Contains(g.members, name) {
			return call.Invalid("group_by: %s is there twice; name it once", name)
		}
		key, err := readKey(g.rows, "group_by", name)
		if err != nil {
			return err
		}
		g.grouping.Keys, g.members = append(g.grouping.Keys, key), append(g.members, name)
	}
	return nil
}

// readKey reads a path to group by, which may end in a piece of a date.
func readKey(rows *RowSet, argument, path string) (key database.GroupKey, err error) {
	at, _, err := rows.lead(argument, path, func(at place, rest string) bool {
		key = database.GroupKey{}
		if f := singleField(at, rest); f != nil {
			key.Column = f.Column
			return true
		}
		if i := strings.LastIndex(rest, "__"); i > 0 {
			if f := singleField(at, rest[:i]); f != nil {
				if part, ok := readPart(f.Column, rest[i+2:]); ok {
					key = part
				}
			}
		}
		return key.Column != nil
	})
	if none, ok := errors.AsType[errNoPath](err); ok {
		return key, noKey(none, argument, path)
	}
	if err != nil {
		return key, err
	}
	key.Join = at.join
	if key.Part != database.WholeValue && key.Column.Kind.IsMoment() {
		key.Zone = rows.calendar.Zone
	}
	if !lookup.HasEquality(key.Column) {
		return key, call.Invalid("%s: values of %s, of type %s, cannot be compared, so they make no groups; the fields to group by are %s", argument, path, key.Column.Kind, strings.Join(GroupedFields(at.scope), ", "))
	}
	return key, nil
}

// noKey says what to group by instead of a path that is no key.
func noKey(none errNoPath, argument, path string) error {
	if i := strings.LastIndex(none.rest, "__"); i > 0 {
		if f := singleField(none.at, none.rest[:i]); f != nil {
			var parts []string
			for _, name := range slices.Sorted(maps.Keys(groupParts)) {
				if hasPart(f.Column, groupParts[name]) {
					parts = append(parts, name)
				}
			}
			if f.Column.Kind == database.Text {
				parts = append(parts, fmt.Sprintf("%s1 to %s%d (its first letters)", prefixPart, prefixPart, maxPrefix))
			}
			if len(parts) > 0 {
				return call.Invalid("%s: %s: %s has no part %q; its parts are %s", argument, path, f.Name, none.rest[i+2:], strings.Join(parts, ", "))
			}
		}
	}
	return none.unknown(argument, path, " to group by", GroupedFields(none.at.scope))
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
		return part != database.HourPart && part != database.HourOfDayPart
	case database.Timestamp, database.TimestampTZ:
		return true
	}
	return false
}

// GroupedFields are the names of the fields to group by.
func GroupedFields(scope access.Scope) []string {
	var names []string
	for _, f := range scope.Fields() {
		if !f.Masked && lookup.HasEquality(f.Compared().Column) {
			names = append(names, f.Name)
		}
	}
	return names
}
