package sqltext

import (
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// mostRead is database.MostRead as SQL.
var mostRead = strconv.Itoa(database.MostRead)

// readIf writes what a text is, or NULL if it is too long or not of a pattern. That is asked in a CASE, which every engine evaluates in
// its order, so no conversion sees a text that it would fail for.
func (w *writer) readIf(matches func(pattern string), length func(), pattern string, is func()) {
	w.around("(CASE WHEN ", length, " <= "+mostRead+" AND ")
	matches(" *" + pattern + " *")
	w.around(" THEN ", is, " END)")
}

// reading casts the text first: a citext, a padded text and one of a nondeterministic collation are matched in other ways.
func (postgresql) reading(w *writer, c *database.Column, column func()) {
	if c.Kind == database.Text { // all engines order digits and signs as bytes
		w.around("(", column, `::text COLLATE "C")`)
		return
	}
	text := func() { w.around("", column, `::text COLLATE "C"`) }
	trimmed := func() { w.around("btrim(", text, ")") }
	matches := func(pattern string) { w.around("(", text, ") ~ '^"+pattern+"$'") }
	w.readIf(matches, func() { w.around("octet_length(", text, ")") }, database.ReadPattern(c.Kind), func() {
		switch c.Kind {
		case database.Integer:
			w.around("", trimmed, "::bigint")
		case database.Decimal:
			w.around("", trimmed, "::numeric("+strconv.Itoa(c.Precision)+","+strconv.Itoa(c.Scale)+")")
		case database.Boolean:
			matches(" *" + database.ReadTrue + " *")
		case database.Date:
			w.around("", trimmed, "::date")
		default: // the zone of a timestamp that has none would be the session's
			w.around("CASE WHEN (", text, ") ~ '"+database.ReadZone+"' THEN ")
			w.around("", trimmed, "::timestamptz AT TIME ZONE 'UTC' ELSE ")
			w.around("", trimmed, "::timestamp END")
		}
	})
}

// reading looks for the end of the text by (?!.): $ also matches before a line feed at the end.
func (mysql) reading(w *writer, c *database.Column, text func()) {
	if c.Kind == database.Text { // + 0, as a column with ZEROFILL would have zeros that rows do not show
		w.around("(CAST(", text, " + 0 AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_bin)")
		return
	}
	trimmed := func() { w.around("TRIM(", text, ")") }
	part := func(function, length string) func() {
		return func() { w.around(function+"(", trimmed, ", "+length+")") }
	}
	matches := func(pattern string) { w.around("", text, " REGEXP '(?s-i)^"+pattern+"(?!.)'") }
	w.readIf(matches, func() { w.around("CHAR_LENGTH(", text, ")") }, database.ReadPattern(c.Kind), func() {
		switch c.Kind {
		case database.Integer:
			w.around("CAST(", trimmed, " AS SIGNED)")
		case database.Decimal:
			w.around("CAST(", trimmed, " AS DECIMAL("+strconv.Itoa(c.Precision)+","+strconv.Itoa(c.Scale)+"))")
		case database.Boolean:
			matches(" *" + database.ReadTrue + " *")
		case database.Date:
			w.around("CAST(", trimmed, " AS DATE)")
		default: // an offset from UTC has six characters
			w.around("CASE WHEN ", text, " REGEXP '"+database.ReadZone+"' THEN CAST(LEFT(")
			w.around("", trimmed, ", CHAR_LENGTH(")
			w.around("", trimmed, ") - 6) AS DATETIME(6)) - INTERVAL (")
			w.around("(CAST(", part("RIGHT", "2"), " AS SIGNED) + 60 * CAST(LEFT(")
			w.around("", part("RIGHT", "5"), ", 2) AS SIGNED)) * CASE LEFT(")
			w.around("", part("RIGHT", "6"), ", 1) WHEN '-' THEN -1 ELSE 1 END) MINUTE ELSE CAST(TRIM(TRAILING 'Z' FROM ")
			w.around("", trimmed, ") AS DATETIME(6)) END")
		}
	})
}

func (d sqlite) reading(w *writer, c *database.Column, text func()) {
	if c.Kind == database.Text {
		w.around("CAST(", text, " AS TEXT)")
		return
	}
	w.around(SQLiteRead+"('"+c.Kind.String()+"', ", text, ")")
	d.related(w, c)
}
