package sqltext

import (
	"slices"
	"strconv"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// MySQL and MariaDB are the dialects of the two. Their sessions are in UTC, and use utf8mb4.
//
// A value is cast if the server would otherwise compare it as a float (decimals), or as a text (dates).
var (
	MySQL   Dialect = mysql{}
	MariaDB Dialect = mysql{mariaDB: true}
	// MySQLShards is what a gateway takes (vtgate) that puts answers of several MySQL servers together.
	MySQLShards Dialect = mysql{shards: true}
)

type mysql struct{ mariaDB, shards bool }

func (mysql) quote(dst []byte, name string) []byte { return quoteBy('`', dst, name) }

func (mysql) placeholder(dst []byte, _ int) []byte { return append(dst, '?') }

func (mysql) numbered() bool { return false }

func (mysql) selectPrefix(int) string { return "" }
func (mysql) selectSuffix(int) string { return "" }
func (mysql) lock() string            { return " FOR UPDATE" }
func (mysql) nullsFirst() bool        { return true }
func (mysql) random() string          { return "rand()" }
func (mysql) rowComparison() bool     { return false }
func (mysql) noValues() string        { return " () VALUES ()" }
func (d mysql) returning() bool       { return d.mariaDB }
func (mysql) readsWritten() bool      { return false }
func (d mysql) gathers() bool         { return d.shards }

// deleteFrom names the alias in the only form that MariaDB before 11.6 accepts.
func (mysql) deleteFrom() string { return "DELETE t0 FROM " }

func (d mysql) output(w *writer, c *database.Column) {
	if c.Kind == database.Integer || c.Kind == database.Boolean {
		column := func() { w.column(c) }
		if d.shards && c.Exact() { // a sum, say, which may need more than 64 bits
			w.around("CAST(", column, " AS DECIMAL(65,0))")
			return
		}
		d.number64(w, c.Unsigned, column)
		return
	}
	if isGeometry(c) {
		w.text("CONCAT(CASE ST_SRID(")
		w.column(c)
		w.text(") WHEN 0 THEN '' ELSE CONCAT('SRID=', ST_SRID(")
		w.column(c)
		w.text("), ';') END, ST_AsText(")
		w.column(c)
		w.text("))")
		return
	}
	w.column(c)
}

func (mysql) slice(w *writer, c *database.Column, first, length int) {
	w.substring(first, length, func() { w.column(c) })
}

func (d mysql) compare(w *writer, c database.Compare) {
	w.column(c.Column)
	w.text(" " + string(c.Op) + " ")
	d.value(w, c.Column, c.Value)
}

func (d mysql) in(w *writer, c database.In) {
	w.column(c.Column)
	w.text(" IN (")
	for i, value := range c.Values {
		if i > 0 {
			w.text(", ")
		}
		d.value(w, c.Column, value)
	}
	w.text(")")
}

func (mysql) sortKey(w *writer, c *database.Column, write func()) {
	if c.SortedLength == 0 {
		write()
		return
	}
	w.around("LEFT(", write, ", "+strconv.Itoa(c.SortedLength)+")")
}

// now writes the clock's time in UTC, which is the session's zone.
func (mysql) now(w *writer, c *database.Column) {
	switch c.Kind {
	case database.Date:
		w.text("UTC_DATE()")
	case database.Time:
		w.text("UTC_TIME(6)")
	default:
		w.text("UTC_TIMESTAMP(6)")
	}
}

// next allows for greatest, which is NULL if any of its values is.
func (d mysql) next(w *writer, c *database.Column) {
	w.text("coalesce(greatest(")
	d.now(w, c)
	w.text(", ")
	w.column(c)
	w.text(" + INTERVAL " + smallestStep(c, 6) + " SECOND), ")
	d.now(w, c)
	w.text(")")
}

// auditTable stores the time as a datetime in UTC, since a timestamp ends in the year 2038. Only the beginning of an id
// is in the index, since the whole might be too long for one.
func (mysql) auditTable(table, byObject, byCall string) []string {
	return []string{"CREATE TABLE IF NOT EXISTS " + table + ` (
  id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
  at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  token text NOT NULL,
  action varchar(255) NOT NULL,
  model varchar(64) NOT NULL,
  table_schema varchar(64) NOT NULL,
  table_name varchar(64) NOT NULL,
  object_id text NOT NULL,
  object_repr text NOT NULL,
  message text NOT NULL,
  changes json NOT NULL,
  ` + "`call`" + ` varchar(32),
  KEY ` + byObject + ` (table_schema, table_name, object_id(191), id),
  KEY ` + byCall + " (`call`)" + `
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`}
}

func (mysql) idempotencyTable(table, byTime string) []string {
	return []string{"CREATE TABLE IF NOT EXISTS " + table + ` (
  id varchar(64) NOT NULL PRIMARY KEY,
  at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  token text NOT NULL,
  ` + "`call`" + ` varchar(32) NOT NULL,
  request varchar(64) NOT NULL,
  answer longtext,
  KEY ` + byTime + ` (at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`}
}

// BuildInserted writes the statement that reads what an Insert returns, for an engine that cannot return it. It finds
// the new row by its key: the plan's values, or counted, the number that the server gave (0 if it gave none). It
// reports whether the key is known.
func (s *Statement) BuildInserted(d Dialect, plan *database.Insert, counted int64) (known bool, err error) {
	w := s.write(d, 0)
	w.text("SELECT ")
	w.outputs(plan.Returning, nil)
	w.from(plan.Into.Table())
	key := plan.Into.Table().PrimaryKey
	for i, c := range key {
		if i == 0 {
			w.text(" WHERE ")
		} else {
			w.text(" AND ")
		}
		given := slices.IndexFunc(plan.Set, func(a database.Assignment) bool { return a.Column == c })
		switch {
		case given >= 0 && plan.Set[given].How == database.AssignValue && plan.Set[given].Value != nil:
			w.compareWith(c, database.Equal, plan.Set[given].Value)
		case given < 0 && c.Kind == database.Integer && counted != 0:
			w.compareWith(c, database.Equal, counted)
		default:
			return false, nil
		}
	}
	return len(key) > 0, s.written(w)
}

// match compares byte by byte, whatever the column's collation, and folds letters as Unicode does. If the text's
// beginning is known, the column's own comparison comes first: it matches more rows, and an index serves it.
func (d mysql) match(w *writer, m database.Match) {
	bind := func(text string) { w.bind(Arg{Kind: database.Text, Value: text}) }
	operator, text := " LIKE ", likePattern(m.Op, m.Text)
	if m.Op == database.TextEquals {
		operator, text = " = ", m.Text
	}
	narrowed := !m.FoldCase && (m.Op == database.TextEquals || m.Op == database.TextStartsWith) && m.Column.Kind == database.Text
	if narrowed {
		w.text("(")
		w.column(m.Column)
		w.text(operator)
		bind(text)
		w.text(" AND ")
	}
	folded, end := "", ""
	if m.FoldCase {
		folded, end = "LOWER(", ")"
	}
	w.text("CAST(" + folded + "CONVERT(")
	d.choice(w, m.Column)
	w.text(" USING utf8mb4)" + end + " AS BINARY)" + operator + "CAST(" + folded)
	bind(text)
	w.text(end + " AS BINARY)")
	if narrowed {
		w.text(")")
	}
}

// part writes days and years as ranges, which an index can serve.
func (d mysql) part(w *writer, p database.PartEquals) {
	switch p.Part {
	case database.WholeDate:
		if day, ok := partDay(w, p); ok {
			d.dateRange(w, p.Column, day, day.AddDate(0, 0, 1))
		}
	case database.Year:
		n, ok := partNumber(w, p)
		switch {
		case !ok:
		case n < 1 || n > 9999:
			w.text("FALSE")
		default:
			year := time.Date(int(n), 1, 1, 0, 0, 0, 0, time.UTC)
			d.dateRange(w, p.Column, year, year.AddDate(1, 0, 0))
		}
	default:
		n, ok := partNumber(w, p)
		if !ok {
			return
		}
		around := mysqlParts[p.Part]
		w.text(around[0])
		d.clock(w, p.Column, p.Zone)
		w.text(around[1] + " = ")
		w.bind(Arg{Kind: database.Integer, Value: n})
	}
}

// mysqlParts stand before and behind a column. Mode 3 of WEEK is ISO 8601's week; WEEKDAY counts from 0 (Monday).
var mysqlParts = map[database.DatePart][2]string{
	database.Month: {"MONTH(", ")"}, database.Day: {"DAYOFMONTH(", ")"}, database.Quarter: {"QUARTER(", ")"},
	database.Week: {"WEEK(", ", 3)"}, database.Weekday: {"WEEKDAY(", ") + 1"}, database.Hour: {"HOUR(", ")"},
}

// dateRange writes that a column lies in [from, to). The calendar ends with the year 9999.
func (d mysql) dateRange(w *writer, c *database.Column, from, to time.Time) {
	w.text("(")
	w.column(c)
	w.text(" >= ")
	d.value(w, c, from.Format(time.DateOnly))
	if to.Year() <= 9999 {
		w.text(" AND ")
		w.column(c)
		w.text(" < ")
		d.value(w, c, to.Format(time.DateOnly))
	}
	w.text(")")
}
