package read

import (
	"errors"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// order reads order_by, or takes the model's ordering if it is empty. The key is appended in the last column's direction,
// so that pages never overlap.
func (s *RowSet) order(names []string) ([]database.Order, error) {
	m := s.Scope.Model()
	order := make([]database.Order, 0, len(names)+len(m.Ordering)+len(m.Key))
	add := func(at place, c *database.Column, descending bool) {
		if !ordersBy(order, at.ref(c)) {
			order = append(order, database.Order{Join: at.join, Column: c, Descending: descending})
		}
	}
	if slices.Contains(names, randomOrder) {
		if len(names) > 1 {
			return nil, call.Invalid("order_by: %q brings rows at random, and goes alone", randomOrder)
		}
		return append(order, database.Order{Column: database.RandomColumn()}), nil
	}
	descending := false
	for _, text := range names {
		var path string
		path, descending = readOrder(text)
		at, name, err := s.lead("order_by", path, func(at place, rest string) bool {
			return at.value == nil && at.scope.Model().IsKeyName(rest) || at.ordered(rest) != nil
		})
		if none, ok := errors.AsType[errNoPath](err); ok {
			return nil, none.unordered(path)
		}
		if err != nil {
			return nil, err
		}
		if at.value == nil && at.scope.Model().IsKeyName(name) {
			for _, f := range at.scope.Model().Key {
				add(at, f.Column, descending)
			}
			continue
		}
		add(at, at.ordered(name).Column, descending)
	}
	if len(names) == 0 {
		for _, o := range m.Ordering {
			descending = o.Descending
			add(s.base(), o.Field.Column, descending)
		}
	}
	s.orderAsked = len(order)
	for _, f := range m.Key {
		add(s.base(), f.Column, descending)
	}
	if !m.UniqueKey {
		order = appendAll(order, s.Scope)
	}
	return order, nil
}

// listOrder is the order of a list: by distance if it is of similar rows, and by rank if a search ranks, and no other order is asked for.
func (s *RowSet) listOrder(names []string) ([]database.Order, error) {
	if s.similar != nil {
		return s.similarOrder(), nil
	}
	if s.ranking != nil && len(names) == 0 {
		return s.rankOrder()
	}
	return s.order(names)
}

// randomOrder is the name of order_by that brings rows at random.
const randomOrder = "?"

// isRandom reports whether an order is another one each time.
func isRandom(order []database.Order) bool {
	if len(order) == 0 || order[0].Column == nil {
		return false
	}
	_, random := order[0].Column.Expression.(database.Random)
	return random
}

// noPagesAtRandom refuses a page of rows in a random order other than the first: it would have rows again.
func noPagesAtRandom(plan *database.Select, cursor bool) error {
	if isRandom(plan.Order) && (plan.Offset > 0 || cursor) {
		return call.Invalid("order_by: %q brings rows at random, so there are no pages: leave offset and cursor out", randomOrder)
	}
	return nil
}

// readOrder reads one name of order_by: -name, or "name desc" as SQL has it.
func readOrder(text string) (path string, descending bool) {
	if path, descending = strings.CutPrefix(text, "-"); descending {
		return path, true
	}
	if words := strings.Fields(text); len(words) == 2 {
		switch strings.ToLower(words[1]) {
		case "desc":
			return words[0], true
		case "asc":
			return words[0], false
		}
	}
	return text, false
}

// unordered says what to order by instead of a path.
func (e errNoPath) unordered(path string) error {
	if e.at.masks(e.rest) {
		return call.Invalid("order_by: %s", isMasked(path))
	}
	message := "order_by: cannot order by %q; the fields of %s to order by are " + strings.Join(orderedFields(e.at.scope), ", ")
	if relations := relationsTo(e.at.scope, false); len(relations) > 0 {
		message += "; relations to one row (as relation__field) are " + strings.Join(relations, ", ")
	}
	return call.Invalid(message, path, e.at.scope.Model().Name)
}

// planOrder is the model's own order of a scope's rows.
func planOrder(scope access.Scope) []database.Order {
	order, _ := (&RowSet{Scope: scope}).order(nil) // no name: it cannot fail
	return order
}

// appendAll appends what else tells rows apart if no key does: every field that the token may order by, and then the
// engine's own name of a row. Rows that are equal in all of this look equal to the token, too, or isDistinct says that they
// may not.
func appendAll(order []database.Order, scope access.Scope) []database.Order {
	for _, f := range scope.Fields() {
		if f.Column.Ordered() && !f.Masked && !ordersBy(order, database.Ref{Column: f.Column}) {
			order = append(order, database.Order{Column: f.Column})
		}
	}
	if row := scope.Model().Table.RowID; row != nil && !ordersBy(order, database.Ref{Column: row}) {
		order = append(order, database.Order{Column: row})
	}
	return order
}

func ordersBy(order []database.Order, by database.Ref) bool {
	return slices.ContainsFunc(order, func(o database.Order) bool { return o.Column == by.Column && o.Join == by.Join })
}

// isDistinct reports whether rows that differ in what the token sees are never equal in an order that planOrder made: if
// so, pages by offset show each row once.
func isDistinct(scope access.Scope, order []database.Order) bool {
	m := scope.Model()
	if m.UniqueKey || m.Table.RowID != nil && ordersBy(order, database.Ref{Column: m.Table.RowID}) {
		return true
	}
	return !slices.ContainsFunc(scope.Fields(), func(f *catalog.Field) bool {
		return !ordersBy(order, database.Ref{Column: f.Column}) || looksAlike(f.Column)
	})
}

// looksAlike reports whether values of a column that differ may be equal in its order.
func looksAlike(c *database.Column) bool {
	return c.Loose || c.LooseCollation || c.SortedLength > 0 || c.Kind == database.Decimal && c.Scale < 0
}

func orderRefs(order []database.Order) []database.Ref {
	refs := make([]database.Ref, len(order))
	for i, o := range order {
		refs[i] = database.Ref{Join: o.Join, Column: o.Column}
	}
	return refs
}

// ordered returns the field of that name that order_by may use, or nil.
func (p place) ordered(name string) *catalog.Field {
	f := p.computed(name)
	if f == nil && p.value == nil {
		f = comparedField(p.scope, name)
	}
	if f != nil && f.Column.Ordered() {
		return f
	}
	return nil
}

func orderedFields(scope access.Scope) []string {
	var names []string
	for _, f := range scope.Fields() {
		if f.Compared().Column.Ordered() && !f.Masked {
			names = append(names, f.Name)
		}
	}
	return names
}

// comparedField returns the field of that name that filters and order_by may use, or nil: a masked one, whose value could
// be found out that way, looks like one that does not exist. It is the field's Reading if its texts hold something else.
func comparedField(scope access.Scope, name string) *catalog.Field {
	if f := scope.Field(name); f != nil && !f.Masked {
		return f.Compared()
	}
	return nil
}
