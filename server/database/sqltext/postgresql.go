package sqltext

import (
	"strconv"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// PostgreSQL is the dialect of PostgreSQL.
//
// Values are bound without a cast, so that the server gives them the type of the column that they are compared with
// (enum, citext, inet, …), and its indexes apply. Integers are bound as bigint, which every integer index can be
// searched for. A value beyond the column's range then matches nothing and is not an error.
var PostgreSQL Dialect = postgresql{}

type postgresql struct{}

func (postgresql) quote(dst []byte, name string) []byte { return quoteStandard(dst, name) }

func (postgresql) placeholder(dst []byte, n int) []byte {
	return strconv.AppendInt(append(dst, '$'), int64(n), 10)
}

func (postgresql) numbered() bool { return true }

func (postgresql) selectPrefix(int) string { return "" }
func (postgresql) selectSuffix(int) string { return "" }
func (postgresql) lock() string            { return " FOR UPDATE" }
func (postgresql) nullsFirst() bool        { return false }
func (postgresql) random() string          { return "random()" }
func (postgresql) rowComparison() bool     { return true }
func (postgresql) noValues() string        { return " DEFAULT VALUES" }
func (postgresql) returning() bool         { return true }
func (postgresql) readsWritten() bool      { return true }
func (postgresql) gathers() bool           { return false }
func (postgresql) deleteFrom() string      { return "DELETE FROM " }

// output casts character columns, because the cast removes the blanks that pad them.
func (postgresql) output(w *writer, c *database.Column) {
	w.column(c)
	if c.Padded {
		w.text("::text")
	}
}

func (postgresql) slice(w *writer, c *database.Column, first, length int) {
	w.substring(first, length, func() {
		w.column(c)
		if c.Kind != database.Bytes {
			w.text("::text")
		}
	})
}

func (d postgresql) compare(w *writer, c database.Compare) {
	d.compared(w, c.Column)
	w.text(" " + string(c.Op) + " ")
	w.bind(argOf(c.Column, c.Value))
	if isPlainInteger(c.Column) {
		w.text("::bigint")
	}
}

// compared writes a column so that it can be compared with a value. A caller's value does not become a regclass: the error would
// tell which tables and roles there are.
func (postgresql) compared(w *writer, c *database.Column) {
	w.column(c)
	if c.ByText {
		w.text("::text")
	}
}

// in compares with an array, so that the statement's text does not depend on the number of values.
func (d postgresql) in(w *writer, c database.In) {
	d.compared(w, c.Column)
	w.text(" = ANY(")
	w.bind(Arg{Kind: c.Column.Kind, Element: c.Column.Element, Column: c.Column, List: c.Values})
	if isPlainInteger(c.Column) {
		w.text("::bigint[]")
	}
	w.text(")")
}

func (postgresql) sortKey(_ *writer, _ *database.Column, write func()) { write() }

// value is bound without a cast as well: the server gives it the column's type, and refuses to write a value beyond its
// range. Next to an operator it would not be of the type of a column that is found by its text.
func (postgresql) value(w *writer, c *database.Column, value database.Value) {
	w.bind(argOf(c, value))
	if c.ByText {
		w.text("::" + c.NativeType)
	}
}

func (postgresql) declared(w *writer, arg Arg) { w.bind(arg) }

// now is the present time, not the beginning of the transaction; for types without a zone it is in UTC.
func (postgresql) now(w *writer, c *database.Column) {
	switch c.Kind {
	case database.Date, database.Time, database.Timestamp:
		w.text("clock_timestamp() AT TIME ZONE 'UTC'")
	default:
		w.text("clock_timestamp()")
	}
}

// next relies on greatest, which ignores NULLs.
func (d postgresql) next(w *writer, c *database.Column) {
	w.text("greatest(")
	d.now(w, c)
	w.text(", ")
	w.column(c)
	w.text(" + interval '" + smallestStep(c, 6) + " seconds')")
}

func (postgresql) auditTable(table, byObject, byCall string) []string {
	return []string{"CREATE TABLE IF NOT EXISTS " + table + ` (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  token text NOT NULL,
  action text NOT NULL,
  model text NOT NULL,
  table_schema text NOT NULL,
  table_name text NOT NULL,
  object_id text NOT NULL,
  object_repr text NOT NULL,
  message text NOT NULL,
  changes jsonb NOT NULL,
  "call" text
)`, "CREATE INDEX IF NOT EXISTS " + byObject + " ON " + table + " (table_schema, table_name, object_id, id)",
		"CREATE INDEX IF NOT EXISTS " + byCall + " ON " + table + ` ("call")`}
}

func (postgresql) idempotencyTable(table, byTime string) []string {
	return []string{"CREATE TABLE IF NOT EXISTS " + table + ` (
  id text PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  token text NOT NULL,
  "call" text NOT NULL,
  request text NOT NULL,
  answer text
)`, "CREATE INDEX IF NOT EXISTS " + byTime + " ON " + table + " (at)"}
}

func isPlainInteger(c *database.Column) bool {
	switch c.NativeType {
	case "smallint", "integer", "bigint":
		return true
	}
	return false
}

// match uses LIKE and ILIKE, which indexes of the operator classes text_pattern_ops and gin_trgm_ops serve. The
// database's locale says how letters are folded.
func (d postgresql) match(w *writer, m database.Match) {
	bind := func(text string) { w.bind(Arg{Kind: database.Text, Value: text}) }
	switch {
	case m.Op == database.TextEquals && m.FoldCase:
		w.text("lower(")
		d.subject(w, m)
		w.text(") = lower(")
		bind(m.Text)
		w.text("::text)")
	case m.Op == database.TextEquals:
		d.subject(w, m)
		w.text(" = ")
		bind(m.Text)
	case m.FoldCase:
		d.subject(w, m)
		w.text(" ILIKE ")
		bind(likePattern(m.Op, m.Text))
	default:
		d.subject(w, m)
		w.text(" LIKE ")
		bind(likePattern(m.Op, m.Text))
	}
}

// subject writes the column so that it is compared byte by byte, or folded by the database's own locale. It writes a
// collation only if the column has another one, since an index has the column's collation.
func (postgresql) subject(w *writer, m database.Match) {
	w.column(m.Column)
	switch {
	case m.Column.LooseCollation && m.FoldCase:
		w.text(`::text COLLATE "default"`)
	case m.Column.LooseCollation:
		w.text(`::text COLLATE "C"`)
	case m.Column.Kind == database.Enum, m.Column.Padded:
		w.text("::text")
	}
}

// part writes days and years as ranges, which an index can serve.
func (d postgresql) part(w *writer, p database.PartEquals) {
	switch p.Part {
	case database.WholeDate:
		if day, ok := partDay(w, p); ok {
			dateRange(w, p.Column, day, day.AddDate(0, 0, 1))
		}
	case database.Year:
		n, ok := partNumber(w, p)
		if !ok {
			return
		}
		if n < 1 || n > 9999 {
			w.text("FALSE")
			return
		}
		year := time.Date(int(n), 1, 1, 0, 0, 0, 0, time.UTC)
		dateRange(w, p.Column, year, year.AddDate(1, 0, 0))
	default:
		n, ok := partNumber(w, p)
		if !ok {
			return
		}
		w.text("extract(" + postgresParts[p.Part] + " FROM ")
		if p.Zone == nil && p.Column.Kind != database.TimestampTZ {
			w.column(p.Column)
		} else {
			d.clock(w, p.Column, p.Zone)
		}
		w.text(") = ")
		w.bind(Arg{Kind: database.Integer, Value: n})
		w.text("::bigint")
	}
}

// postgresParts are the names of parts for extract.
var postgresParts = map[database.DatePart]string{
	database.Month: "month", database.Day: "day", database.Quarter: "quarter", database.Week: "week", database.Weekday: "isodow",
	database.Hour: "hour",
}

// dateRange writes that a column lies in [from, to).
func dateRange(w *writer, c *database.Column, from, to time.Time) {
	layout := time.DateOnly
	if c.Kind == database.TimestampTZ {
		layout = time.RFC3339
	}
	w.text("(")
	w.column(c)
	w.text(" >= ")
	w.bind(Arg{Kind: c.Kind, Value: from.Format(layout)})
	w.text(" AND ")
	w.column(c)
	w.text(" < ")
	w.bind(Arg{Kind: c.Kind, Value: to.Format(layout)})
	w.text(")")
}
