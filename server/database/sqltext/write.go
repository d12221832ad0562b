package sqltext

import (
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// BuildInsert writes the statement that adds a row. An error is a *database.Error.
func (s *Statement) BuildInsert(d Dialect, plan *database.Insert) error {
	w := s.write(d, unaliased)
	w.text("INSERT INTO ")
	w.table(plan.Into.Table())
	if len(plan.Set) == 0 {
		w.text(d.noValues())
	} else {
		w.text(" (")
		for i, a := range plan.Set {
			if i > 0 {
				w.text(", ")
			}
			w.identifier(a.Column.Name)
		}
		w.text(") VALUES (")
		for i, a := range plan.Set {
			if i > 0 {
				w.text(", ")
			}
			if a.How == database.AssignNext {
				return unwritable("a new row has no version that could be moved")
			}
			w.assigned(a)
		}
		w.text(")")
	}
	s.Returns = len(plan.Returning) > 0 && d.returning()
	if s.Returns {
		w.returning(plan.Into.Table(), plan.Returning, plan.Meets)
	}
	return s.written(w)
}

// returning writes what a write of a table returns, and behind it whether the row meets a condition, if that is not nil. SQLite
// knows the table by its own name only, and takes a name alone that is no column's for a text.
func (w *writer) returning(table *database.Table, outputs []database.Output, condition database.Condition) {
	if _, ok := w.dialect.(sqlite); ok {
		w.alias, w.base, w.own = 0, 0, table
	}
	w.text(" RETURNING ")
	w.outputs(outputs, nil)
	if condition == nil {
		return
	}
	w.text(", CASE WHEN ")
	w.condition(condition, precedenceTop)
	w.text(" THEN 1 ELSE 0 END")
}

// BuildUpdate writes the statement that changes rows. An error is a *database.Error. It refuses an update that sets
// nothing, and one for which neither the plan nor its source's policy has a condition.
func (s *Statement) BuildUpdate(d Dialect, plan *database.Update) error {
	condition := fenced(plan.In, plan.Where)
	switch {
	case always(condition):
		return unwritable("an update without a condition would change every row")
	case len(plan.Set) == 0:
		return unwritable("an update sets nothing")
	}
	w := s.write(d, 0)
	w.written = plan.In.Table()
	w.text("UPDATE ")
	w.changed(plan.In.Table())
	for i, a := range plan.Set {
		if i == 0 {
			w.text(" SET ")
		} else {
			w.text(", ")
		}
		w.identifier(a.Column.Name)
		w.text(" = ")
		w.assigned(a)
	}
	w.text(" WHERE ")
	w.condition(condition, precedenceTop)
	if len(plan.Returning) > 0 {
		w.returning(plan.In.Table(), plan.Returning, plan.Meets)
	}
	return s.written(w)
}

// BuildDelete writes the statement that removes rows. An error is a *database.Error. It refuses a delete for which
// neither the plan nor its source's policy has a condition.
func (s *Statement) BuildDelete(d Dialect, plan *database.Delete) error {
	condition := fenced(plan.From, plan.Where)
	if always(condition) {
		return unwritable("a deletion without a condition would remove every row")
	}
	w := s.write(d, 0)
	w.written = plan.From.Table()
	w.text(d.deleteFrom())
	w.changed(plan.From.Table())
	w.text(" WHERE ")
	w.condition(condition, precedenceTop)
	return s.written(w)
}

// NoDeletion writes a deletion that removes nothing. If an engine can prepare it, the engine would accept another
// deletion too.
func NoDeletion(d Dialect, table *database.Table) string {
	return "DELETE FROM " + TableName(d, table) + " WHERE FALSE"
}

// TableName writes a table's name, in quotes.
func TableName(d Dialect, table *database.Table) string {
	w := writer{dialect: d}
	w.table(table)
	return string(w.buf)
}

// BuildDeclared puts together the statement that an administrator wrote. An error is a *database.Error.
func (s *Statement) BuildDeclared(d Dialect, statement *database.Declared) error {
	w := s.write(d, unaliased)
	for _, piece := range statement.Pieces {
		switch {
		case !piece.Bound:
			w.text(piece.SQL)
		case len(piece.Values) == 0:
			w.text("NULL")
		}
		for i, value := range piece.Values {
			if i > 0 {
				w.text(", ")
			}
			d.declared(w, Arg{Kind: piece.Kind, Value: value})
		}
	}
	return s.written(w)
}

// changed writes the table whose rows are changed or removed. SQLite knows no alias for a view there.
func (w *writer) changed(table *database.Table) {
	if _, ok := w.dialect.(sqlite); ok && table.Kind == database.View {
		w.own = table
		w.table(table)
		return
	}
	w.aliased(table)
}

func (s *Statement) write(d Dialect, alias int) *writer {
	s.Returns = false
	return s.begin(writer{dialect: d, buf: s.Text[:0], alias: alias, base: alias})
}

func (s *Statement) written(w *writer) error {
	s.Text, s.Args, s.CountArgs, s.SelectFrom = w.buf, w.args, 0, 0
	return w.err
}

// assigned writes what a column is given. A moment in SQLite, which keeps it as a text, has the form of the replaced one: with
// or without a zone.
func (w *writer) assigned(a database.Assignment) {
	_, isText := a.Value.(string)
	_, keepsTexts := w.dialect.(sqlite)
	switch {
	case a.Kept:
		w.bind(Arg{Kind: database.Other, Value: a.Value})
	case !keepsTexts || !a.Column.Kind.IsMoment() || !isText && a.How == database.AssignValue:
		w.given(a)
	case w.written != nil:
		w.text(SQLiteForm + "(")
		w.given(a)
		w.text(", ")
		w.column(a.Column)
		w.text(")")
	default:
		w.given(a)
	}
}

func (w *writer) given(a database.Assignment) {
	switch {
	case a.How == database.AssignNow:
		w.dialect.now(w, a.Column)
	case a.How == database.AssignNext && a.Column.Kind == database.Integer:
		w.text("coalesce(")
		w.column(a.Column)
		w.text(", 0) + 1")
	case a.How == database.AssignNext:
		w.dialect.next(w, a.Column)
	default:
		w.dialect.value(w, a.Column, a.Value)
	}
}

// smallestStep is the smallest step of a timestamp column, in seconds; most is the engine's own number of digits.
func smallestStep(c *database.Column, most int) string {
	digits := c.FractionDigits
	if digits < 0 || digits > most {
		digits = most
	}
	if digits == 0 {
		return "1"
	}
	return "0." + strings.Repeat("0", digits-1) + "1"
}

// always reports whether a condition holds for every row, whatever the row holds. Such a condition must be a mistake
// and is refused.
func always(condition database.Condition) bool {
	switch c := condition.(type) {
	case nil:
		return true
	case database.And:
		for _, part := range c {
			if !always(part) {
				return false
			}
		}
		return true
	case database.Or:
		for _, part := range c {
			if always(part) {
				return true
			}
		}
	case database.Not:
		return never(c.Condition)
	}
	return false
}

// never reports whether a condition holds for no row, whatever the row holds.
func never(condition database.Condition) bool {
	switch c := condition.(type) {
	case database.And:
		for _, part := range c {
			if never(part) {
				return true
			}
		}
	case database.Or:
		for _, part := range c {
			if !never(part) {
				return false
			}
		}
		return true
	case database.Not:
		return always(c.Condition)
	case database.Compare:
		return c.Value == nil
	case database.In:
		return len(c.Values) == 0
	}
	return false
}

func unwritable(why string) error {
	return &database.Error{Code: database.Failed, Reason: contract.ReasonDatabaseError, Message: why}
}
