package sqltext

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// SQLite is the dialect of SQLite. Its connections need the function SQLiteFold.
//
// Timestamps are compared by what they mean, to the millisecond. SQLite has no type for them, and files hold them as
// texts of several forms and as numbers. A column's index does not serve such a comparison.
var SQLite Dialect = sqlite{}

// SQLiteFold is the name of the SQL function of one text that Fold must implement. SQLite's own LIKE, lower and NOCASE
// fold only ASCII's letters. The function is used only if the text that is looked for has other letters.
const SQLiteFold = "mcp_fold"

// Fold returns a text with its letters folded, so that texts that differ in case only become equal.
func Fold(text string) string {
	return strings.Map(func(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }, text)
}

// maxPattern is the longest text, in bytes, that LIKE or GLOB looks for. SQLite refuses patterns over 50,000 bytes, and
// escaping can make a text three times as long.
const maxPattern = 10_000

type sqlite struct{}

func (sqlite) quote(dst []byte, name string) []byte { return quoteStandard(dst, name) }

// placeholder has no number: SQLite compares each numbered one with all others, which takes seconds for a long list of
// values, and no timeout ends it.
func (sqlite) placeholder(dst []byte, _ int) []byte { return append(dst, '?') }

func (sqlite) numbered() bool { return false }

// again is the placeholder of a value that stands in another place already.
func (sqlite) again(dst []byte, n int) []byte {
	return strconv.AppendInt(append(dst, '?'), int64(n), 10)
}

// selectPrefix makes SQLite compute the whole page before it returns the first row: the driver can interrupt a
// cancelled statement only while it waits for the first row.
func (sqlite) selectPrefix(rows int) string {
	if rows > 1 {
		return "WITH sqlite_page AS MATERIALIZED ("
	}
	return ""
}

func (sqlite) selectSuffix(rows int) string {
	if rows > 1 {
		return ") SELECT * FROM sqlite_page"
	}
	return ""
}

func (sqlite) lock() string        { return "" }
func (sqlite) nullsFirst() bool    { return true }
func (sqlite) random() string      { return "random()" }
func (sqlite) rowComparison() bool { return true }
func (sqlite) noValues() string    { return " DEFAULT VALUES" }
func (sqlite) returning() bool     { return true }
func (sqlite) readsWritten() bool  { return true }
func (sqlite) gathers() bool       { return false }
func (sqlite) deleteFrom() string  { return "DELETE FROM " }

// output hides the column's declared type, because the driver would use it to turn texts into times.
func (sqlite) output(w *writer, c *database.Column) {
	w.text("+")
	w.column(c)
}

func (sqlite) sortKey(_ *writer, _ *database.Column, write func()) { write() }

// slice casts, since a column may hold values that are not of its kind.
func (sqlite) slice(w *writer, c *database.Column, first, length int) {
	w.substring(first, length, func() {
		w.text("CAST(")
		w.column(c)
		if c.Kind == database.Bytes {
			w.text(" AS BLOB)")
		} else {
			w.text(" AS TEXT)")
		}
	})
}

func (d sqlite) compare(w *writer, c database.Compare) {
	d.subject(w, c.Column, c.Value)
	w.text(" " + string(c.Op) + " ")
	d.comparable(w, c.Column, c.Value)
}

// in compares a column with values by what they mean. It compares values that have no meaning in the column's type as
// they are stored.
func (d sqlite) in(w *writer, c database.In) {
	meant := c.Values
	var plain []database.Value
	if c.Column.Kind.IsMoment() {
		meant = nil
		for _, value := range c.Values {
			if hasMoment(c.Column, value) {
				meant = append(meant, value)
			} else {
				plain = append(plain, value)
			}
		}
	}
	if len(meant) == 0 || len(plain) == 0 {
		d.inAlike(w, c.Column, c.Values)
		return
	}
	w.text("(")
	d.inAlike(w, c.Column, meant)
	w.text(" OR ")
	d.inAlike(w, c.Column, plain)
	w.text(")")
}

// inAlike is in for values that are all compared in the same way as the first.
func (d sqlite) inAlike(w *writer, c *database.Column, values []database.Value) {
	d.subject(w, c, values[0])
	w.text(" IN (")
	for i, value := range values {
		if i > 0 {
			w.text(", ")
		}
		d.comparable(w, c, value)
	}
	w.text(")")
}

const comparableTimestamp = "strftime('%Y-%m-%d %H:%M:%f', "

// subject writes a column in the form in which it is compared with a value.
func (sqlite) subject(w *writer, c *database.Column, value database.Value) {
	if hasMoment(c, value) {
		w.text(comparableTimestamp)
		w.column(c)
		w.text(", 'auto')")
		return
	}
	w.column(c)
}

func (sqlite) comparable(w *writer, c *database.Column, value database.Value) {
	if hasMoment(c, value) {
		w.text(comparableTimestamp)
		w.bind(Arg{Kind: c.Kind, Value: value})
		w.text(", 'auto')")
		return
	}
	w.bind(argOf(c, value))
}

// hasMoment reports whether a value of a column is a timestamp that SQLite's functions of time understand. They take
// numbers for days or seconds.
func hasMoment(c *database.Column, value database.Value) bool {
	if !c.Kind.IsMoment() {
		return false
	}
	switch v := value.(type) {
	case string:
		return SQLiteMoment(v)
	case int64:
		return isClockNumber(float64(v))
	case float64:
		return isClockNumber(v)
	}
	return false
}

// isClockNumber reports whether SQLite takes a number for a day (of the Julian calendar) or for seconds since 1970.
func isClockNumber(f float64) bool { return f >= -210866760000 && f <= 253402300799 }

// momentLayouts are the forms of timestamps that SQLite's functions of time understand, in the order of their use.
var momentLayouts = []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", time.RFC3339, "2006-01-02 15:04:05Z07:00",
	"2006-01-02", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02T15:04Z07:00", "2006-01-02 15:04Z07:00"}

// SQLiteMoment reports whether SQLite's functions of time understand a text as the timestamp that it is.
func SQLiteMoment(text string) bool {
	if len(text) < len("2006-01-02") {
		return false
	}
	for _, layout := range momentLayouts {
		if _, err := time.Parse(layout, text); err == nil {
			return !strings.Contains(text, ",") // which Go takes for the point of a fraction
		}
	}
	return false
}

// value stays in its bound form: columns are sorted by what they store, whatever that means.
func (sqlite) value(w *writer, c *database.Column, value database.Value) { w.bind(argOf(c, value)) }

func (sqlite) declared(w *writer, arg Arg) { w.bind(arg) }

// now writes the clock's time in UTC, to the millisecond, which is SQLite's precision.
func (sqlite) now(w *writer, c *database.Column) {
	switch c.Kind {
	case database.Date:
		w.text("date('now')")
	case database.Time:
		w.text("strftime('%H:%M:%f', 'now')")
	default:
		w.text(comparableTimestamp + "'now')")
	}
}

// next compares texts of the same form, which sort in the order of their times.
func (d sqlite) next(w *writer, c *database.Column) {
	w.text("max(")
	d.now(w, c)
	w.text(", coalesce(" + comparableTimestamp)
	w.column(c)
	w.text(", 'auto', '+" + smallestStep(c, 3) + " seconds'), ''))")
}

func (sqlite) auditTable(table, byObject, byCall string) []string {
	return []string{"CREATE TABLE IF NOT EXISTS " + table + ` (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TIMESTAMP NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now')),
  token TEXT NOT NULL,
  action TEXT NOT NULL,
  model TEXT NOT NULL,
  table_schema TEXT NOT NULL,
  table_name TEXT NOT NULL,
  object_id TEXT NOT NULL,
  object_repr TEXT NOT NULL,
  message TEXT NOT NULL,
  changes JSON NOT NULL,
  "call" TEXT
)`, "CREATE INDEX IF NOT EXISTS " + byObject + " ON " + table + " (table_schema, table_name, object_id, id)",
		"CREATE INDEX IF NOT EXISTS " + byCall + " ON " + table + ` ("call")`}
}

func (sqlite) idempotencyTable(table, byTime string) []string {
	return []string{"CREATE TABLE IF NOT EXISTS " + table + ` (
  id TEXT NOT NULL PRIMARY KEY,
  at TIMESTAMP NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now')),
  token TEXT NOT NULL,
  "call" TEXT NOT NULL,
  request TEXT NOT NULL,
  answer TEXT
)`, "CREATE INDEX IF NOT EXISTS " + byTime + " ON " + table + " (at)"}
}

func (sqlite) match(w *writer, m database.Match) {
	bind := func(text string) { w.bind(Arg{Kind: database.Text, Value: text}) }
	switch {
	case m.FoldCase && isASCII(m.Text) && m.Op == database.TextEquals:
		w.column(m.Column)
		w.text(" = ")
		bind(m.Text)
		w.text(" COLLATE NOCASE")
	case m.FoldCase && isASCII(m.Text) && len(m.Text) <= maxPattern:
		w.column(m.Column)
		w.text(" LIKE ")
		bind(likePattern(m.Op, m.Text))
		w.text(` ESCAPE '\'`)
	case m.FoldCase:
		sqlitePlace(w, m.Op, Fold(m.Text), func() {
			w.text(SQLiteFold + "(")
			w.column(m.Column)
			w.text(")")
		})
	case m.Op == database.TextEquals:
		// An index of a case-sensitive column serves this too: it is BINARY.
		w.column(m.Column)
		w.text(" = ")
		bind(m.Text)
		w.text(" COLLATE BINARY")
	case m.Op == database.TextStartsWith && len(m.Text) <= maxPattern:
		// GLOB is case-sensitive, and an index serves a pattern that starts with letters.
		w.column(m.Column)
		w.text(" GLOB ")
		bind(globEscaper.Replace(m.Text) + "*")
	default:
		sqlitePlace(w, m.Op, m.Text, func() { w.column(m.Column) })
	}
}

var globEscaper = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")

// sqlitePlace writes a text operator by functions that compare byte by byte, whatever the column's collation.
func sqlitePlace(w *writer, op database.TextOp, text string, subject func()) {
	arg := Arg{Kind: database.Text, Value: text}
	switch op {
	case database.TextContains:
		w.text("instr(")
		subject()
		w.text(", ")
		w.bind(arg)
		w.text(") > 0")
	case database.TextStartsWith:
		w.text("substr(")
		subject()
		w.text(", 1, ")
		w.buf = strconv.AppendInt(w.buf, int64(utf8.RuneCountInString(text)), 10)
		w.text(") = ")
		w.bind(arg)
	case database.TextEndsWith:
		w.text("substr(")
		subject()
		w.text(", -")
		w.buf = strconv.AppendInt(w.buf, int64(utf8.RuneCountInString(text)), 10)
		w.text(") = ")
		w.bind(arg)
	default:
		subject()
		w.text(" = ")
		w.bind(arg)
	}
}

func isASCII(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func (d sqlite) part(w *writer, p database.PartEquals) {
	if p.Part == database.WholeDate {
		if day, ok := partDay(w, p); ok {
			w.text("date(")
			w.column(p.Column)
			w.text(", 'auto') = ")
			w.bind(Arg{Kind: database.Text, Value: day.Format("2006-01-02")})
		}
		return
	}
	if n, ok := partNumber(w, p); ok {
		format, behind := sqliteParts[p.Part], ""
		if p.Part == database.Quarter {
			format, behind = sqliteParts[database.Month], " + 2) / 3"
			w.text("(")
		}
		w.text("CAST(")
		d.format(w, format, p.Column, p.Zone)
		w.text(" AS INTEGER)" + behind + " = ")
		w.bind(Arg{Kind: database.Integer, Value: n})
	}
}

// sqliteParts are the formats of parts. There is none for a quarter, which is computed of the month.
var sqliteParts = map[database.DatePart]string{
	database.Year: "%Y", database.Month: "%m", database.Day: "%d", database.Week: "%V", database.Weekday: "%u", database.Hour: "%H",
}
