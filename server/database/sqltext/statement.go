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
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Arg is a value to bind.
type Arg struct {
	// Kind is that of the column which the value is compared with.
	Kind database.Kind
	// Value is the value; List, where it is not nil, stands for it: the values of an array.
	Value database.Value
	List  []database.Value
}

// Statement is a plan as SQL. Its zero value is ready, and Build may be called again and again: what it returned before
// is then overwritten.
type Statement struct {
	// Select reads the rows; its columns are those of the plan's outputs, one after the other.
	Select []byte
	// Count counts all matching rows; it is empty where the plan does not ask for them.
	Count []byte
	// Args are those of Select; Count takes the first CountArgs of them.
	Args      []Arg
	CountArgs int

	where []byte
}

// Build writes the plan's statements. An error is a *database.Error of the code Invalid: a value is none of its
// column's kind.
func (s *Statement) Build(d Dialect, plan *database.Select) error {
	w := writer{dialect: d, buf: s.where[:0], args: s.Args[:0]}
	condition := and(plan.From.Policy(), plan.Where)
	if condition != nil {
		w.text(" WHERE ")
		w.condition(condition, precedenceTop)
	}
	s.where, s.CountArgs = w.buf, len(w.args)

	w.buf = s.Select[:0]
	w.text(d.selectPrefix(plan))
	w.text("SELECT ")
	separator := ""
	for _, output := range plan.Output {
		for _, column := range output.Columns {
			w.text(separator)
			d.output(&w, column)
			separator = ", "
		}
	}
	if separator == "" {
		w.text("1")
	}
	w.from(plan.From.Table())
	w.buf = append(w.buf, s.where...)
	for i, order := range plan.Order {
		if i == 0 {
			w.text(" ORDER BY ")
		} else {
			w.text(", ")
		}
		w.column(order.Column)
		if order.Descending {
			w.text(" DESC")
		}
	}
	// The limit stands in the text: PostgreSQL plans a bound one as a tenth of all rows. Few different ones are in use.
	w.text(" LIMIT ")
	w.buf = strconv.AppendInt(w.buf, int64(max(plan.Limit, 0)), 10)
	if plan.Offset > 0 {
		w.text(" OFFSET ")
		w.bind(Arg{Kind: database.Integer, Value: int64(plan.Offset)})
	}
	w.text(d.selectSuffix(plan))
	s.Select, s.Args = w.buf, w.args

	s.Count = s.Count[:0]
	if plan.Total {
		w.buf = s.Count
		w.text("SELECT count(*)")
		w.from(plan.From.Table())
		w.buf = append(w.buf, s.where...)
		s.Count = w.buf
	}
	return w.err
}

// Reset forgets the values, so that a Statement that is kept for later keeps none of a request's.
func (s *Statement) Reset() {
	clear(s.Args)
	s.Args = s.Args[:0]
}

// writer writes one statement.
type writer struct {
	dialect Dialect
	buf     []byte
	args    []Arg
	// alias is the number of the source that is being written about, aliases that of the latest one.
	alias, aliases int
	err            error
}

func (w *writer) text(s string) { w.buf = append(w.buf, s...) }

func (w *writer) identifier(name string) { w.buf = w.dialect.quote(w.buf, name) }

func (w *writer) from(table *database.Table) {
	w.text(" FROM ")
	if table.Schema != "" {
		w.identifier(table.Schema)
		w.text(".")
	}
	w.identifier(table.Name)
	w.text(" AS ")
	w.aliasName(w.alias)
}

func (w *writer) aliasName(alias int) {
	w.text("t")
	w.buf = strconv.AppendInt(w.buf, int64(alias), 10)
}

func (w *writer) column(c *database.Column) { w.columnOf(w.alias, c) }

func (w *writer) columnOf(alias int, c *database.Column) {
	w.aliasName(alias)
	w.text(".")
	w.identifier(c.Name)
}

// bind writes a placeholder and keeps the value for it.
func (w *writer) bind(arg Arg) {
	w.args = append(w.args, arg)
	w.buf = w.dialect.placeholder(w.buf, len(w.args))
}

// invalid notes the first value that cannot be compared with its column.
func (w *writer) invalid(c *database.Column, format string, args ...any) {
	if w.err == nil {
		w.err = &database.Error{Code: database.Invalid, Message: "the value for " + c.Name + " " + fmt.Sprintf(format, args...)}
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
