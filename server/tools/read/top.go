package read

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// maxTop is the most rows or groups of each that top gives.
const maxTop = 1000

// topGroups is the argument top: the first of those that have something in common.
type topGroups struct {
	per  []string
	n    int
	ties bool
}

// readTop reads the argument; nil if it was not sent.
func readTop(raw json.RawMessage) (*topGroups, error) {
	if raw == nil {
		return nil, nil
	}
	given, ok := jsontext.ReadObject(raw)
	top := &topGroups{n: 1}
	var err error
	for _, m := range given {
		switch value := m.Value; m.Name {
		case "per":
			if top.per, ok = jsontext.ReadStrings(value); !ok || len(top.per) > maxGroupKeys {
				return nil, call.Invalid("top: per must be an array of at most %d names, not %s", maxGroupKeys, lookup.Excerpt(value))
			}
		case "n":
			if top.n, err = strconv.Atoi(string(value)); err != nil || top.n < 1 || top.n > maxTop {
				return nil, call.Invalid("top: n must be from 1 to %d, not %s", maxTop, lookup.Excerpt(value))
			}
		case "ties":
			top.ties = string(value) == "true"
		default:
			ok = false
		}
	}
	if !ok || len(top.per) == 0 && !top.ties {
		return nil, call.Invalid(`top must be {"per": [names], "n": 3}, perhaps with "ties": true, not %s; for the first of all rows send order_by and limit, or {"n": 3, "ties": true}`, strings.TrimSpace(lookup.Excerpt(raw)))
	}
	return top, nil
}

// window gives rows their place among those with which they have something in common. asked is how many steps of their order were
// asked for: rows that are equal in these are equal.
func (t *topGroups) window(order []database.Order, asked int, per []database.GroupKey) database.Window {
	if t.ties {
		return database.Window{Func: database.Rank, Order: order[:max(1, asked)], Per: per}
	}
	return database.Window{Func: database.RowNumber, Order: order, Per: per}
}

// condition holds for the first rows, by the column that has their places.
func (t *topGroups) condition(place *database.Column) database.Condition {
	return database.Compare{Column: place, Op: database.LessOrEqual, Value: int64(t.n)}
}

// planTop makes the plan of list_ with top: of the rows that the other arguments mean, the first of each. They are found by their
// keys in a windowing of those rows, to which each row is joined.
func planTop(rows *RowSet, a *listArguments) (*database.Select, error) {
	top, err := readTop(a.top)
	if err != nil {
		return nil, err
	}
	m := rows.Scope.Model()
	if !m.UniqueKey {
		return nil, call.Invalid("top: %s has no unique key by which its first rows could be found; use top of aggregate", m.Name)
	}
	matching, all := &RowSet{Scope: rows.Scope, calendar: rows.calendar, similar: rows.similar}, *a
	all.top = nil
	inner, err := planList(matching, &all)
	if err != nil {
		return nil, err
	}
	if isRandom(inner.Order) {
		return nil, call.Invalid("top: the first of each are by an order, and order_by %q has none; name a field", randomOrder)
	}
	var per []database.GroupKey
	for _, path := range top.per {
		key, err := readKey(matching, "top: per", path)
		if err != nil {
			return nil, err
		}
		per = append(per, key)
	}
	var key []*database.Column
	for _, f := range m.Key {
		key = append(key, f.Column)
	}
	first := (&database.Windowing{
		From: rows.Scope.Source(), Joins: matching.joins, Where: inner.Where, Columns: database.Refs(key...), Windows: []database.Window{top.window(inner.Order, matching.orderAsked, per)},
	}).Source()
	columns := first.Table().Columns

	plan := planPage(rows.Scope, a.limit, a.offset)
	if plan.Output, err = rows.Output(a.fields); err != nil {
		return nil, err
	}
	rows.ranking = matching.ranking
	if plan.Order, err = rows.listOrder(a.orderBy); err != nil {
		return nil, err
	}
	join, err := rows.join(&database.Join{From: first, Ours: key, Theirs: columns[:len(key)]}, nil, rows.Scope)
	if err != nil {
		return nil, err
	}
	plan.Where = database.Joined{Join: join, Condition: top.condition(columns[len(key)])}
	plan.Joins = rows.joins
	if !rows.isRanked(a) {
		plan.Cursor = orderRefs(plan.Order)
	}
	plan.Total, err = planTotal(rows.Scope, a.total, plan)
	return plan, err
}
