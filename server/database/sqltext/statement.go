// Package sqltext turns a plan into SQL text and the values to bind. It is the one place where SQL is written; what
// differs between engines stands in one file per dialect.
//
// Identifiers come from the plan's tables and columns only, and are always quoted; values are only ever bound. The
// policy of a source stands in every statement about it.
//
// The engines below package database import it.
package sqltext

import (
	"fmt"
	"math"
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Arg is a value to bind.
type Arg struct {
	// Kind is the kind of the column that the value is compared with or given to; Element is the kind of an array's
	// elements.
	Kind, Element database.Kind
	// Column is that column; nil if there is none.
	Column *database.Column
	// Value is the value. If List is not nil it replaces Value: several values of that kind, bound as one array.
	Value database.Value
	List  []database.Value
}

// argOf returns a value of a column as an Arg.
func argOf(c *database.Column, value database.Value) Arg {
	return Arg{Kind: c.Kind, Element: c.Element, Column: c, Value: value}
}

// Statement is a plan as SQL. Its zero value is ready. It can be built again and again; each build overwrites the one
// before. Build fills Select and Count; the other methods fill Text.
type Statement struct {
	// Select reads the rows. Its columns are the columns of the plan's outputs, one after the other, and then the columns
	// of its Cursor. If the plan asks for More, it reads one row beyond the limit.
	Select []byte
	// Count counts all matching rows, or those up to one beyond TotalCap; it is empty if the plan does not ask for
	// them.
	Count []byte
	// Text writes rows, or is a statement that an administrator declared. It returns the columns of an Insert's outputs.
	// Returns reports whether it returns any: an engine that cannot must find the new row itself.
	Text    []byte
	Returns bool
	// Args are the values of Select or of Text. Count takes the first CountArgs of them, Select those from SelectFrom on.
	Args                  []Arg
	CountArgs, SelectFrom int

	// rows has the part that Select and Count have in common: FROM and WHERE.
	rows []byte
	// writer is the latest build's.
	writer writer
}

// Build writes the statements of a read. An error is a *database.Error of the code Invalid: a value is none of its
// column's kind, or After does not fit Order.
func (s *Statement) Build(d Dialect, plan *database.Select) error {
	if plan.After != nil && len(plan.After) != len(plan.Order) {
		return &database.Error{Code: database.Invalid, Message: "the cursor does not fit the order"}
	}
	w := s.begin(writer{dialect: d, buf: s.rows[:0]})
	around := precedenceTop
	if len(plan.After) > 0 {
		around = precedenceAnd
	}
	w.number(plan.Joins)
	conditional := w.rowsOf(plan.From, plan.Joins, plan.Where, around)
	s.rows, s.CountArgs = w.buf, len(w.args)

	w.buf = s.Select[:0]
	rows := max(plan.Limit, 0)
	if plan.More {
		rows++
	}
	w.text(d.selectPrefix(rows))
	w.text("SELECT ")
	begin := len(w.buf)
	w.outputs(plan.Output, plan.Cursor)
	if s.SelectFrom = 0; len(w.args) > s.CountArgs && !d.numbered() {
		// The outputs bind values, which come before the rows' in the text: Select gets values of its own.
		s.SelectFrom, w.first = s.CountArgs, s.CountArgs
		w.buf, w.args = w.buf[:begin], w.args[:s.CountArgs]
		w.outputs(plan.Output, plan.Cursor)
		w.rowsOf(plan.From, plan.Joins, plan.Where, around)
	} else {
		w.buf = append(w.buf, s.rows...)
	}
	if len(plan.After) > 0 {
		if conditional {
			w.text(" AND ")
		} else {
			w.text(" WHERE ")
		}
		w.after(plan.Order, plan.After)
	}
	w.order(plan.Order, plan.From.Groups() != nil)
	// The limit is part of the text: PostgreSQL plans a bound limit as a tenth of all rows. Few different limits are in
	// use.
	w.text(" LIMIT ")
	w.buf = strconv.AppendInt(w.buf, int64(rows), 10)
	if plan.Offset > 0 {
		w.text(" OFFSET ")
		w.bind(Arg{Kind: database.Integer, Value: min(int64(plan.Offset), math.MaxInt64-int64(rows))}) // a gateway adds the two
	}
	if plan.Lock {
		w.text(d.lock())
	}
	w.text(d.selectSuffix(rows))
	s.Select, s.Args = w.buf, w.args

	w.buf = s.Count[:0]
	switch {
	case plan.Total == database.TotalNone:
	case plan.Total != database.TotalCapped, d.gathers(): // a gateway would gather the rows up to the bound, and each server counts its own at once
		w.text("SELECT count(*)")
		w.buf = append(w.buf, s.rows...)
	default:
		w.text("SELECT count(*) FROM (SELECT 1")
		w.buf = append(w.buf, s.rows...)
		w.text(" LIMIT ")
		w.buf = strconv.AppendInt(w.buf, plan.Cap()+1, 10)
		w.text(") AS counted")
	}
	s.Count = w.buf
	return w.err
}

// Matching returns a statement of all matching rows of the plan that was built, without their values, for a planner to
// explain. It takes the first CountArgs of Args.
func (s *Statement) Matching() string { return "SELECT 1" + string(s.rows) }

// Ordinal is the number of the i-th of Args in its statement, counted from 1.
func (s *Statement) Ordinal(i int) int {
	if i >= s.SelectFrom {
		i -= s.SelectFrom
	}
	return i + 1
}

// Reset forgets the values. A Statement that is kept for later then holds none of a request's values.
func (s *Statement) Reset() {
	clear(s.Args)
	s.Args, s.writer = s.Args[:0], writer{}
}

// begin begins to write, in memory that is the statement's.
func (s *Statement) begin(w writer) *writer {
	w.args = s.Args[:0]
	s.writer = w
	return &s.writer
}

// writer writes one statement.
type writer struct {
	dialect Dialect
	buf     []byte
	args    []Arg
	// first is where in args the values of the statement begin.
	first int
	// alias is the number of the source or join that is being written, aliases the number of the latest one. Without an
	// alias (unaliased) columns are written by their names alone. base is the number of the statement's own source, or the
	// number of the source of the EXISTS that is being written.
	alias, aliases, base int
	// outer are the bases of the sources in which the present one is nested, the innermost last.
	outer []int
	// joins are the joins that have a number.
	joins []numberedJoin
	// written is the table that an UPDATE or DELETE writes to.
	written *database.Table
	// own, if it is not nil, is a table whose name the first source has, instead of an alias.
	own *database.Table
	surroundings
	err error
}

// surroundings are where conditions stand. Each source has its own.
type surroundings struct {
	// elsewhere reports whether the rows of a table of the present source, or of its joins, come from other servers.
	elsewhere bool
	// hasJoins reports whether the present source has joins.
	hasJoins bool
	// within reports whether conditions that are being written are a part of a value.
	within bool
	// subqueries is how many subqueries the present expression has so far.
	subqueries int
}

func (w *writer) text(s string) { w.buf = append(w.buf, s...) }

func (w *writer) identifier(name string) { w.buf = w.dialect.quote(w.buf, name) }

// unaliased is the alias of a statement whose table has none.
const unaliased = -1

func (w *writer) table(table *database.Table) {
	if table.Schema != "" {
		w.identifier(table.Schema)
		w.text(".")
	}
	w.identifier(table.Name)
}

func (w *writer) from(table *database.Table) {
	w.text(" FROM ")
	w.aliased(table)
}

// fromOther is from for a table beside the statement's own. If it is the table that is written to, and the engine does
// not allow that, the statement reads a copy. A limit beyond all rows keeps the engine from optimizing the copy away.
func (w *writer) fromOther(table *database.Table) {
	if table != w.written || w.dialect.readsWritten() {
		w.from(table)
		return
	}
	w.text(" FROM (SELECT * FROM ")
	w.table(table)
	w.text(" LIMIT 18446744073709551615) AS ")
	w.aliasName(w.alias)
}

func (w *writer) aliased(table *database.Table) {
	w.elsewhere = w.elsewhere || table.Elsewhere
	w.table(table)
	w.text(" AS ")
	w.aliasName(w.alias)
}

// outputs writes what is read: the outputs' columns, and then others. A row without columns has a 1.
func (w *writer) outputs(outputs []database.Output, others []database.Ref) {
	separator := ""
	before := w.alias
	for i := range outputs {
		w.enter(outputs[i].Join)
		for _, column := range outputs[i].Columns {
			w.text(separator)
			if slice := outputs[i].Slice; slice != nil {
				w.dialect.slice(w, column, min(max(slice.Offset, 0), longestValue)+1, min(max(slice.Length, 0), longestValue))
			} else {
				w.dialect.output(w, column)
			}
			separator = ", "
		}
	}
	for _, other := range others {
		w.text(separator)
		w.enter(other.Join)
		w.dialect.output(w, other.Column)
		separator = ", "
	}
	w.alias = before
	if separator == "" {
		w.text("1")
	}
}

// longestValue is the most characters or bytes of a value on any engine.
const longestValue = 1 << 30

// substring writes the function that all engines have for a piece of a value. Its numbers are part of the text: as values
// they would be bound before the conditions' values, which are written first.
func (w *writer) substring(first, length int, value func()) {
	w.text("substr(")
	value()
	w.text(", ")
	w.buf = strconv.AppendInt(w.buf, int64(first), 10)
	w.text(", ")
	w.buf = strconv.AppendInt(w.buf, int64(length), 10)
	w.text(")")
}

// order writes ORDER BY. Groups have no key behind their other columns: groups that begin alike are distinguished by a
// hash.
func (w *writer) order(order []database.Order, groups bool) {
	for i, step := range order {
		if i == 0 {
			w.text(" ORDER BY ")
		} else {
			w.text(", ")
		}
		column := func() { w.orderColumn(step) }
		w.dialect.sortKey(w, step.Column, column)
		if step.Descending {
			w.text(" DESC")
			if step.NullsLast && !w.dialect.nullsFirst() {
				w.text(" NULLS LAST")
			}
		}
		if groups && step.Column.SortedLength > 0 {
			w.around(", SHA2(", column, ", 256)")
		}
	}
}

func (w *writer) aliasName(alias int) {
	if alias == 0 && w.own != nil {
		w.table(w.own)
		return
	}
	w.text("t")
	w.buf = strconv.AppendInt(w.buf, int64(alias), 10)
}

func (w *writer) column(c *database.Column) { w.columnOf(w.alias, c) }

func (w *writer) columnOf(alias int, c *database.Column) {
	if c.Expression != nil {
		w.expression(alias, c)
		return
	}
	if alias != unaliased {
		w.aliasName(alias)
		w.text(".")
	}
	w.identifier(c.Name)
}

// bind writes a placeholder and keeps the value for it.
func (w *writer) bind(arg Arg) {
	w.args = append(w.args, arg)
	w.buf = w.dialect.placeholder(w.buf, w.bound())
}

// bound is the number of the latest value in its statement, counted from 1.
func (w *writer) bound() int { return len(w.args) - w.first }

// invalid notes the first value that cannot be given to its column or compared with it.
func (w *writer) invalid(c *database.Column, format string, args ...any) {
	if w.err == nil {
		w.err = &database.Error{Code: database.Invalid, Column: c, Message: "the value for " + c.Name + " " + fmt.Sprintf(format, args...)}
	}
}

func and(a, b database.Condition) database.Condition {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return database.And{a, b}
}
