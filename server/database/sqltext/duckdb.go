package sqltext

import (
	"slices"
	"strconv"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// DuckDB is the dialect of DuckDB, which is only read. Its instance needs the macros DuckDBMacros, and NULLs behind all values in an
// ascending order.
//
// Values are bound as texts and cast to the type that they are compared in, but for booleans, floats and bytes: the driver takes none of
// another type. What is read comes as text likewise.
var DuckDB Dialect = duckdb{}

// What they have in common is PostgreSQL's.
type duckdb struct{ postgresql }

// mostDuckDBDigits are the digits of DuckDB's widest decimal.
const mostDuckDBDigits = 38

func (duckdb) lock() string        { return "" }
func (duckdb) rowComparison() bool { return false }

// output reads what the driver would give as a type of its own as text. Lists, structs and maps are documents.
func (d duckdb) output(w *writer, c *database.Column) {
	w.text("(")
	w.column(c)
	w.text(")" + DuckDBShown(c))
}

// DuckDBShown is the cast to the type in which a column is read; "" if it is read as it is.
func DuckDBShown(c *database.Column) string {
	switch c.Kind {
	case database.Boolean, database.Bytes:
		return ""
	case database.Float:
		if c.NativeType == "FLOAT" {
			return ""
		}
		return "::DOUBLE"
	case database.JSON:
		return "::JSON::VARCHAR"
	}
	return "::VARCHAR"
}

func (d duckdb) slice(w *writer, c *database.Column, first, length int) {
	if c.Kind == database.Bytes { // substr has no bytes
		w.text("unhex(")
		w.substring(2*first-1, min(2*length, longestValue), func() { w.around("hex(", func() { w.column(c) }, ")") })
		w.text(")")
		return
	}
	w.substring(first, length, func() { w.around("(", func() { w.column(c) }, ")"+duckdbText(c)) })
}

// duckdbText is the cast of a column's value to its text.
func duckdbText(c *database.Column) string {
	if c.Kind == database.JSON {
		return "::JSON::VARCHAR"
	}
	return "::VARCHAR"
}

func (d duckdb) compare(w *writer, c database.Compare) {
	switch {
	case c.Column.Kind == database.Enum && c.Op != database.Equal:
		w.around("enum_code(", func() { w.column(c.Column) }, ") "+string(c.Op)+" ")
		w.text(strconv.FormatInt(d.place(w, c.Column, c.Value), 10))
	default:
		op, value, ok := d.comparable(c.Column, c.Op, c.Value)
		if !ok {
			w.text("FALSE")
			return
		}
		d.compared(w, c.Column)
		if c.Column.NativeType == duckdbNanos && !hasNanos(value) {
			w.text("::TIMESTAMP")
		}
		w.text(" " + string(op) + " ")
		d.bound(w, c.Column, value)
	}
}

// place is the place of a value among those of an enum, counted from 0.
func (duckdb) place(w *writer, c *database.Column, value database.Value) int64 {
	text, _ := value.(string)
	at := slices.Index(c.Choices, text)
	if at < 0 {
		w.invalid(c, "must be one of its values")
	}
	return int64(at)
}

// compared writes a column so that it can be compared with a value.
func (duckdb) compared(w *writer, c *database.Column) {
	w.column(c)
	if c.ByText || c.Kind == database.Enum {
		w.text("::VARCHAR")
	}
}

// bound binds a value to compare a column with.
func (d duckdb) bound(w *writer, c *database.Column, value database.Value) {
	w.text("CAST(")
	w.bind(argOf(c, value))
	w.text(" AS " + d.typeOf(c, value) + ")")
}

func (d duckdb) in(w *writer, c database.In) {
	var equal []database.Value
	for _, value := range c.Values {
		if _, value, ok := d.comparable(c.Column, database.Equal, value); ok {
			equal = append(equal, value)
		}
	}
	if len(equal) == 0 {
		w.text("FALSE")
		return
	}
	d.compared(w, c.Column)
	w.text(" IN (")
	for i, value := range equal {
		w.separate(i)
		d.bound(w, c.Column, value)
	}
	w.text(")")
}

// sortKey orders an enum by the places of its values, also beside a value that is bound.
func (duckdb) sortKey(w *writer, c *database.Column, write func()) {
	if c.Kind == database.Enum {
		w.around("enum_code(", write, ")")
		return
	}
	write()
}

// value has an enum's own type, as sortKey needs it.
func (d duckdb) value(w *writer, c *database.Column, value database.Value) {
	if c.Kind == database.Enum {
		d.place(w, c, value)
		w.text("CAST(")
		w.bind(argOf(c, value))
		w.text(" AS " + c.NativeType + ")")
		return
	}
	d.bound(w, c, value)
}

// declared casts a value: DuckDB takes no text for a number or a date.
func (d duckdb) declared(w *writer, arg Arg) {
	d.bound(w, &database.Column{Kind: arg.Kind}, arg.Value)
}

// match compares letters of either case as DuckDB's own ILIKE and lower do, by Unicode.
func (d duckdb) match(w *writer, m database.Match) {
	column := func() { w.around("", func() { w.column(m.Column) }, "::VARCHAR") }
	text := func(text string) {
		w.text("CAST(")
		w.bindText(text)
		w.text(" AS VARCHAR)")
	}
	switch {
	case m.FoldCase && m.Op == database.TextEquals:
		w.around("lower(", column, ") = lower(")
		text(m.Text)
		w.text(")")
	case m.FoldCase:
		w.around("", column, " ILIKE ")
		text(likePattern(m.Op, m.Text))
		w.text(` ESCAPE '\'`)
	case m.Op == database.TextEquals:
		w.around("", column, " = ")
		text(m.Text)
	default:
		w.around(duckdbPlaces[m.Op]+"(", column, ", ")
		text(m.Text)
		w.text(")")
	}
}

// duckdbPlaces are the functions that look for a text, character by character.
var duckdbPlaces = map[database.TextOp]string{
	database.TextContains: "contains", database.TextStartsWith: "starts_with", database.TextEndsWith: "ends_with",
}

// part writes days and years as ranges, by which DuckDB passes over parts of a file.
func (d duckdb) part(w *writer, p database.PartEquals) {
	between := func(from, to time.Time) {
		layout := time.DateOnly
		if p.Column.Kind == database.TimestampTZ {
			layout = time.RFC3339
		}
		w.text("(")
		d.compare(w, database.Compare{Column: p.Column, Op: database.GreaterOrEqual, Value: from.Format(layout)})
		w.text(" AND ")
		d.compare(w, database.Compare{Column: p.Column, Op: database.Less, Value: to.Format(layout)})
		w.text(")")
	}
	if p.Part == database.WholeDate {
		if day, ok := partDay(w, p); ok {
			between(day, day.AddDate(0, 0, 1))
		}
		return
	}
	n, ok := partNumber(w, p)
	switch {
	case !ok:
	case p.Part != database.Year:
		w.around("extract("+postgresParts[p.Part]+" FROM ", func() { d.clock(w, p.Column, p.Zone) }, ") = "+strconv.FormatInt(n, 10))
	case n < 1 || n > 9999:
		w.text("FALSE")
	default:
		year := time.Date(int(n), 1, 1, 0, 0, 0, 0, time.UTC)
		between(year, year.AddDate(1, 0, 0))
	}
}

// distance, fullText and textRank are never asked of DuckDB: it is served without vectors and full-text indexes.
func (duckdb) distance(w *writer, _ int, d database.Distance) { w.invalid(d.Of, "has no distance") }

func (duckdb) fullText(w *writer, _ database.FullText, _ precedence) { w.text("FALSE") }

func (duckdb) textRank(w *writer, _ int, _ database.TextRank) { w.text("NULL") }

// reading has TRY_CAST, as DuckDB may compute what stands behind THEN for all rows.
func (duckdb) reading(w *writer, c *database.Column, column func()) {
	text := func() { w.around("(", column, ")::VARCHAR") }
	if c.Kind == database.Text {
		text()
		return
	}
	matches := func(pattern string) { w.around("regexp_full_match(", text, ", '"+pattern+"', 's')") }
	cast := func(as string) { w.around("TRY_CAST(trim(", text, ", ' ') AS "+as+")") }
	w.readIf(matches, func() { w.around("strlen(", text, ")") }, database.ReadPattern(c.Kind), func() {
		switch c.Kind {
		case database.Integer:
			cast("BIGINT")
		case database.Decimal:
			cast(duckdbExact(c.Precision, c.Scale))
		case database.Boolean:
			matches(" *" + database.ReadTrue + " *")
		case database.Date:
			cast("DATE")
		default:
			w.around("CASE WHEN regexp_matches(", text, ", '"+database.ReadZone+"') THEN ")
			cast("TIMESTAMPTZ")
			w.text(" AT TIME ZONE 'UTC' ELSE ")
			cast("TIMESTAMP")
			w.text(" END")
		}
	})
}
