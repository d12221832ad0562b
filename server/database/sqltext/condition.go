package sqltext

import (
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// precedence says what surrounds a condition, and so whether it needs parentheses.
type precedence int

const (
	precedenceTop precedence = iota
	precedenceAnd
	precedenceOperand
)

// condition writes a predicate. If a column is NULL it may be unknown, which WHERE treats as false. Not is written so
// that unknown becomes true.
func (w *writer) condition(c database.Condition, around precedence) {
	switch c := c.(type) {
	case database.And:
		w.join(c, " AND ", "TRUE", precedenceAnd, around == precedenceOperand)
	case database.Fenced:
		w.fence(c, around)
	case database.Joined:
		before := w.enter(c.Join)
		w.condition(c.Condition, around)
		w.alias = before
	default:
		before := w.subqueries
		w.subqueries = 0
		w.single(c, around)
		if w.dialect.gathers() && (w.subqueries > 1 || w.subqueries > 0 && w.hasJoins && isComposed(c)) {
			w.tooManySubqueries()
		}
		w.subqueries += before
	}
}

// isComposed reports whether a condition is made of others. If such a one has a subquery, vtgate (24) leaves it out of a statement with joins.
func isComposed(c database.Condition) bool {
	switch c.(type) {
	case database.Or, database.Not:
		return true
	}
	return false
}

// single writes a predicate that does not only pass on others.
func (w *writer) single(c database.Condition, around precedence) {
	switch c := c.(type) {
	case database.Or:
		if len(c) < 2 {
			w.join(c, " OR ", "FALSE", precedenceOperand, around != precedenceTop)
			return
		}
		w.either(around != precedenceTop, func() { w.join(c, " OR ", "FALSE", precedenceOperand, false) })
	case database.Not:
		w.not(c, around)
	case database.IsNull:
		w.column(c.Column)
		w.text(" IS NULL")
	case database.Compare:
		if c.Value == nil {
			w.text("FALSE")
			return
		}
		w.dialect.compare(w, c)
	case database.In:
		if len(c.Values) == 0 {
			w.text("FALSE")
			return
		}
		w.dialect.in(w, c)
	case database.Match:
		w.match(c)
	case database.PartEquals:
		before := w.subqueries
		w.dialect.part(w, c)
		w.subqueries = min(w.subqueries, before+1) // one and the same, written for both bounds
	case database.Holds:
		w.dialect.holds(w, c)
	case database.FullText:
		w.dialect.fullText(w, c, around)
	case database.CompareRefs:
		w.compareRefs(c)
	case database.Exists:
		if w.dialect.gathers() && len(c.Theirs) == 1 {
			w.gathered(c)
			return
		}
		w.text("EXISTS (")
		w.related(c, func() { w.text("1") })
		w.text(")")
	case database.InRows:
		w.inRows(c)
	default:
		panic(fmt.Sprintf("sqltext: no such condition: %T", c))
	}
}

// fence writes a condition that is asked only of rows that meet another one. A gateway over shards is asked both beside each other, if there
// are subqueries, whose empty lists it takes for a 0 within a CASE: the caller's condition may be asked of hidden rows then.
func (w *writer) fence(c database.Fenced, around precedence) {
	if !w.dialect.gathers() {
		w.guarded(c)
		return
	}
	before := *w
	w.subqueries = 0
	if w.guarded(c); w.subqueries > 0 && !w.within {
		*w = before
		w.condition(database.And{c.Fence, c.Condition}, around)
		return
	}
	w.subqueries += before.subqueries
}

func (w *writer) guarded(c database.Fenced) {
	w.text("CASE WHEN ")
	w.condition(c.Fence, precedenceTop)
	w.text(" THEN ")
	w.condition(c.Condition, precedenceTop)
	w.text(" ELSE FALSE END")
}

// chooses writes the condition on the rows that a measure takes. A gateway over shards takes no subquery there: it takes an empty list for
// a 0, or looks into another keyspace.
func (w *writer) chooses(c database.Condition) {
	before := w.subqueries
	w.subqueries = 0
	w.condition(c, precedenceTop)
	if w.subqueries > 0 && w.dialect.gathers() {
		w.tooManySubqueries()
	}
	w.subqueries += before
}

// planned writes a value in which conditions may stand. A gateway over shards plans all of it as one.
func (w *writer) planned(write func()) {
	before, within := w.subqueries, w.within
	w.subqueries, w.within = 0, true
	write()
	if w.subqueries > 1 && w.dialect.gathers() {
		w.tooManySubqueries()
	}
	w.subqueries, w.within = w.subqueries+before, within
}

// tooManySubqueries refuses an expression with several subqueries. As soon as a shard can compute one of them by itself, vtgate (24) has
// each shard compute the whole expression, and the other subqueries see the rows of that shard alone.
func (w *writer) tooManySubqueries() {
	if w.err == nil {
		w.err = &database.Error{Code: database.Invalid, Message: "the database keeps these rows on several servers, and does not look for related rows in such a condition: " +
			"not for two kinds of them in one _any or _not, not in one beside fields of other rows, and not in a measure's filters; list the ids first and filter by them"}
	}
}

// either writes conditions that are joined by OR. Rows from other servers are looked for without ranges of an index: MariaDB's Spider
// (10.11) gives some of them twice or not at all if it merges indexes, or looks for NULL and a range at once. IS TRUE hides the OR from
// the optimizer, and the other servers are asked the same.
func (w *writer) either(parentheses bool, write func()) {
	w.surrounded(parentheses || w.elsewhere, write)
	if w.elsewhere {
		w.text(" IS TRUE")
	}
}

// maxChain is how many conditions are joined without parentheses. Each makes an expression one level deeper, and SQLite
// accepts at most a thousand levels.
const maxChain = 100

func (w *writer) join(all []database.Condition, operator, none string, inside precedence, parentheses bool) {
	if len(all) == 0 {
		w.text(none)
		return
	}
	if len(all) == 1 {
		inside = precedenceOperand
		parentheses = false
	}
	if parentheses {
		w.text("(")
	}
	if half := len(all) / 2; half > maxChain {
		w.join(all[:half], operator, none, inside, true)
		w.text(operator)
		w.join(all[half:], operator, none, inside, true)
	} else {
		for i, c := range all {
			if i > 0 {
				w.text(operator)
			}
			w.condition(c, inside)
		}
	}
	if parentheses {
		w.text(")")
	}
}

func (w *writer) not(c database.Not, around precedence) {
	if w.elsewhere {
		if other := denied(c.Condition); other != nil {
			w.condition(other, around)
			return
		}
	}
	switch inner := c.Condition.(type) {
	case database.IsNull:
		w.column(inner.Column)
		w.text(" IS NOT NULL")
	case database.Exists:
		w.text("NOT ")
		w.condition(inner, precedenceOperand)
	default:
		w.text("(")
		w.condition(inner, precedenceTop)
		w.text(") IS NOT TRUE")
	}
}

// denied is the denial of a condition that has others, for rows from other servers; nil if it has none. Spider (10.11) asks these for what
// it can write of conditions that all must hold, and leaves the others out: that asks for more rows than it should, and within a NOT for
// fewer. So only single conditions are denied. Wherever a condition stands, unknown counts as false.
func denied(c database.Condition) database.Condition {
	switch c := c.(type) {
	case database.And:
		return database.Or(deniedEach(c))
	case database.Or:
		return database.And(deniedEach(c))
	case database.Not:
		return c.Condition
	case database.Joined:
		return database.Joined{Join: c.Join, Condition: database.Not{Condition: c.Condition}}
	}
	return nil
}

func deniedEach(all []database.Condition) []database.Condition {
	each := make([]database.Condition, len(all))
	for i, c := range all {
		each[i] = database.Not{Condition: c}
	}
	return each
}

func (w *writer) match(m database.Match) {
	if m.Text == "" && m.Op != database.TextEquals {
		w.column(m.Column)
		w.text(" IS NOT NULL")
		return
	}
	w.dialect.match(w, m)
}

func (w *writer) compareRefs(c database.CompareRefs) {
	left, right := c.Left.Column, c.Right.Column
	w.dialect.side(w, func() { w.ref(c.Left) }, left, right, c.Op)
	w.text(" " + string(c.Op) + " ")
	w.dialect.side(w, func() { w.ref(c.Right) }, right, left, c.Op)
}

// inRows writes a subquery that does not depend on the row, so that an engine may read it once.
func (w *writer) inRows(c database.InRows) {
	ours, theirs := c.Column, c.Theirs.Column
	sides := differ(ours, theirs) || ours.Kind.IsMoment()
	if sides {
		w.dialect.side(w, func() { w.column(ours) }, ours, theirs, database.Equal)
	} else {
		w.column(ours)
	}
	w.text(" IN (SELECT ")
	w.nested(c.Joins, func() {
		value := func() { w.ref(c.Theirs) }
		switch {
		case sides:
			w.dialect.side(w, value, theirs, ours, database.Equal)
		case ours.Collation != theirs.Collation:
			w.dialect.collate(w, value, ours.Collation)
		default:
			value()
		}
		w.fromOther(c.From.Table())
		w.joinAll(c.Joins)
		w.text(" WHERE ")
		value()
		w.text(" IS NOT NULL")
		if condition := fenced(c.From, c.Where); condition != nil {
			w.text(" AND ")
			w.condition(condition, precedenceAnd)
		}
	})
	w.text(")")
	w.subqueries++
}

// gathered asks whether a column has one of the values that rows have for which Exists looks.
func (w *writer) gathered(e database.Exists) {
	if e.Ours[0].Nullable {
		w.text("(")
		w.column(e.Ours[0])
		w.text(" IS NOT NULL AND ")
	}
	w.inRows(database.InRows{Column: e.Ours[0], From: e.From, Theirs: database.Ref{Column: e.Theirs[0]}, Joins: e.Joins, Where: e.Where})
	if e.Ours[0].Nullable {
		w.text(")")
	}
}

// related reads the rows for which Exists looks; what writes what is read of them.
func (w *writer) related(e database.Exists, what func()) {
	outer := w.alias
	w.nested(e.Joins, func() {
		w.text("SELECT ")
		what()
		w.fromOther(e.From.Table())
		w.joinAll(e.Joins)
		w.text(" WHERE ")
		w.equalColumns(e.Theirs, e.Ours, outer)
		if condition := fenced(e.From, e.Where); condition != nil {
			if len(e.Theirs) > 0 {
				w.text(" AND ")
			}
			w.condition(condition, precedenceAnd)
		} else if len(e.Theirs) == 0 {
			w.text("TRUE")
		}
	})
	w.subqueries++
}
