package read

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// besideOthers returns the groups with all members, read through a windowing. Its windows are in the order of the call, as far as that
// does not depend on them.
func (g *groupReader) besideOthers(groups *groupLayer, orderBy []string) (*groupLayer, error) {
	order, _, err := g.order(groups.set, slices.DeleteFunc(slices.Clone(orderBy), func(text string) bool {
		name, _ := readOrder(text)
		return g.looksBack(name, 0)
	}))
	if err != nil {
		return nil, err
	}
	w := &windowReader{g: g, groups: groups, order: order, places: map[string]int{}}
	w.windowing = &database.Windowing{From: groups.source, Joins: groups.set.joins, Columns: groups.refs()}
	for _, d := range g.derived {
		if d.looksBack() {
			w.add(d)
		}
	}
	return w.layer(), nil
}

// first returns the first groups of those that meet a condition, and the condition by which they are the first.
func (g *groupReader) first(groups *groupLayer, where database.And, a *aggregateArguments) (*groupLayer, database.And, error) {
	top, err := readTop(a.top)
	if err != nil {
		return nil, nil, err
	}
	order, asked, err := g.order(groups.set, a.orderBy)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range top.per {
		if !slices.Contains(g.keys(), name) {
			return nil, nil, call.Invalid("top: per: %s is not in group_by", name)
		}
	}
	windowing := &database.Windowing{From: groups.source, Joins: groups.set.joins, Columns: groups.refs(), Windows: []database.Window{top.window(order, asked, groups.keys(top.per))}}
	if len(where) > 0 {
		windowing.Where = where
	}
	l := newLayer(windowing.Source(), groups.set)
	columns := l.source.Table().Columns
	for i, f := range groups.set.members {
		l.add(f.Name, columns[i])
	}
	return l, database.And{top.condition(columns[len(columns)-1])}, nil
}

// windowReader makes a windowing of groups.
type windowReader struct {
	g      *groupReader
	groups *groupLayer
	// order is the order of the groups, by members that depend on no other group.
	order     []database.Order
	windowing *database.Windowing
	// places are the places of the windows of each measure that looks at other groups: of its first, the others follow.
	places map[string]int
}

// add adds the windows of a measure.
func (w *windowReader) add(d *derivedMeasure) {
	of := database.Ref{Column: w.groups.member(d.of[0])}
	window := database.Window{Of: of, Order: w.order, Per: w.groups.keys(d.per), Last: d.groups}
	w.places[d.name] = len(w.windowing.Windows)
	switch d.function {
	case "running":
		window.Func, window.Last = database.WindowSum, 0
	case "moving", "mean":
		window.Func = database.WindowSum
		count := window
		count.Func = database.WindowCount
		if d.function == "mean" {
			window.Func, count.Func = database.WholeSum, database.WholeCount
			window.Order, count.Order = nil, nil
		}
		w.windowing.Windows = append(w.windowing.Windows, window, count)
		return
	case "share":
		window.Func, window.Order = database.WholeSum, nil
	case "rank":
		window.Func = database.Rank
		window.Order = []database.Order{{Column: of.Column, Descending: true, NullsLast: true}}
	default:
		window.Func = database.Previous
		if len(window.Order) == 0 { // a single group; MariaDB looks back in an order alone
			window.Order = []database.Order{{Column: of.Column}}
		}
	}
	w.windowing.Windows = append(w.windowing.Windows, window)
}

// keys are members of group_by as what the groups of a window have in common.
func (l *groupLayer) keys(names []string) []database.GroupKey {
	keys := make([]database.GroupKey, len(names))
	for i, name := range names {
		keys[i].Column = l.member(name)
	}
	return keys
}

// layer returns the groups with all members.
func (w *windowReader) layer() *groupLayer {
	l := newLayer(w.windowing.Source(), w.groups.set)
	known := map[string]*database.Column{}
	for i, f := range w.groups.set.members {
		known[f.Name] = l.source.Table().Columns[i]
	}
	for _, name := range w.g.members {
		l.add(name, w.column(l, known, name))
	}
	return l
}

// column returns the column of a member, which may depend on other groups.
func (w *windowReader) column(l *groupLayer, known map[string]*database.Column, name string) *database.Column {
	if c := known[name]; c != nil {
		return c
	}
	d := w.g.find(name)
	var of []database.Ref
	for _, other := range d.of {
		of = append(of, database.Ref{Column: w.column(l, known, other)})
	}
	window := func(i int) database.Operand {
		return database.Operand{Ref: database.Ref{Column: l.source.Table().Columns[len(w.windowing.Columns)+w.places[name]+i]}}
	}
	switch d.function {
	case "running", "rank", "previous":
		known[name] = window(0).Column
	case "moving", "mean":
		known[name] = database.Arithmetic{Operator: database.Divide, Left: window(0), Right: window(1)}.Column(name)
	case "change":
		more := database.Arithmetic{Operator: database.Subtract, Left: database.Operand{Ref: of[0]}, Right: window(0)}.Column(name)
		known[name] = database.Arithmetic{Operator: database.Divide, Left: database.Operand{Ref: database.Ref{Column: more}}, Right: window(0)}.Column(name)
	case "share":
		known[name] = d.arithmetic([]database.Ref{of[0], window(0).Ref})
	default:
		known[name] = d.arithmetic(of)
	}
	return known[name]
}
