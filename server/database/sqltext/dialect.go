package sqltext

import (
	"strconv"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Dialect is an engine's way of writing SQL. A new engine is one file beside these that implements it.
//
// Statements call their table t0, except an INSERT, which uses the table's own name: column writes either.
type Dialect interface {
	// quote appends a quoted identifier.
	quote(dst []byte, name string) []byte
	// placeholder appends the placeholder of the nth value, counted from 1.
	placeholder(dst []byte, n int) []byte
	// numbered reports whether placeholders have numbers, so that values need not be bound in the order in which they are written.
	numbered() bool

	// selectPrefix and selectSuffix surround a statement and limit the rows that it reads.
	selectPrefix(rows int) string
	selectSuffix(rows int) string
	// output writes a column that is read.
	output(w *writer, c *database.Column)
	// slice writes a piece of a column's value that is read; first counts from 1.
	slice(w *writer, c *database.Column, first, length int)
	// lock is the clause that locks the rows which are read; "" if the engine has no such locks.
	lock() string

	// compare gets a value that is not nil; in gets at least one value; match gets a text that is not empty, except for
	// TextEquals.
	compare(w *writer, c database.Compare)
	in(w *writer, c database.In)
	match(w *writer, m database.Match)
	part(w *writer, p database.PartEquals)
	holds(w *writer, h database.Holds)
	// fullText writes a FullText, and textRank a TextRank of the row of an alias.
	fullText(w *writer, f database.FullText, around precedence)
	textRank(w *writer, alias int, r database.TextRank)
	// distance writes a Distance of the row of an alias. No index of vectors may serve it; a NaN comes last.
	distance(w *writer, alias int, d database.Distance)
	// side writes a column, which write writes, so that it can be compared with another one.
	side(w *writer, write func(), own, other *database.Column, op database.CompareOp)
	// collate writes a text, which write writes, in a collation; "" is the engine's own.
	collate(w *writer, write func(), collation string)

	// filters reports whether an aggregate function can have a FILTER.
	filters() bool
	// groupKey writes a column, or a part of it, so that values are equal only if every character is.
	groupKey(w *writer, key database.GroupKey)
	// countsGroups reports whether a statement must ask for the number of rows in each group, though nothing needs it.
	countsGroups() bool
	// groupsEnd ends the statement that computes groups.
	groupsEnd() string
	// groupsBeginnings reports whether the engine groups by the beginnings of a column's values only.
	groupsBeginnings(c *database.Column) bool
	// sum, average and extreme write a Sum, an Avg, and a Min or Max; function is "min(" or "max(". An average of moments is rounded
	// down, to a day or second.
	sum(w *writer, m *database.Measure)
	average(w *writer, m *database.Measure)
	extreme(w *writer, m *database.Measure, function string)
	// deviation, percentile and texts write a Deviation, a Percentile and Texts.
	deviation(w *writer, m *database.Measure)
	percentile(w *writer, m *database.Measure)
	texts(w *writer, m *database.Measure)
	// number writes a number as it is sorted; NULL if it is none.
	number(w *writer, c *database.Column)
	// list writes the values of a JSON array as a table of a column; zero writes a 0 as one of a column's values.
	list(w *writer, c *database.Column, values string)
	zero(w *writer, c *database.Column)
	// ratio writes a Ratio.
	ratio(w *writer, dividend, divisor term)
	// windowSum writes a sum, without its window.
	windowSum(w *writer, c *database.Column, value func())
	// wholeWindow writes what a window without an order has behind its PARTITION BY, which it has if parted is set; value is one of its rows.
	// The window has none, or there are others whose rows have more or less in common.
	wholeWindow(w *writer, parted bool, value func())
	// related finishes a value that was computed of other rows.
	related(w *writer, c *database.Column)
	// arithmetic writes an Arithmetic, whose column is c.
	arithmetic(w *writer, c *database.Column, a database.Arithmetic)

	// declared binds a value of a statement that an administrator wrote.
	declared(w *writer, arg Arg)

	// reading writes a Reading, whose column is c, of a text, which text writes.
	reading(w *writer, c *database.Column, text func())

	// sortKey writes the sorting form of a column's value, which write writes: its beginning if the engine looks no
	// further.
	sortKey(w *writer, c *database.Column, write func())
	// nullsFirst reports whether NULLs come first in an ascending order.
	nullsFirst() bool
	// random is a number that is another one for each row.
	random() string
	// rowComparison reports whether the engine uses an index for (a, b) > (x, y).
	rowComparison() bool

	// value writes a value to give to a column, or to compare with the column as it stands and is sorted.
	value(w *writer, c *database.Column, value database.Value)
	// now writes the clock's time in the type of a column.
	now(w *writer, c *database.Column)
	// next writes the next value of a timestamp: the clock's time, or the column's present value plus its smallest step
	// if the clock is not beyond that. If there is no present value it is the clock's.
	next(w *writer, c *database.Column)
	// noValues stands in an INSERT in the place of columns and values if all are defaults.
	noValues() string
	// returning reports whether an INSERT can return columns of its row.
	returning() bool
	// deleteFrom is the beginning of a DELETE, up to the table and its alias.
	deleteFrom() string

	// gathers reports whether rows lie on several servers, so that a subquery should not depend on the row of a statement.
	gathers() bool
	// readsWritten reports whether a statement may read the table that it writes to, by its own name.
	readsWritten() bool

	// auditTable returns the statements that make the audit table. Its name and the names of its indexes come in quotes.
	auditTable(table, byObject, byCall string) []string
	// idempotencyTable returns the statements that make the idempotency table.
	idempotencyTable(table, byTime string) []string
}

// quoteStandard quotes an identifier as in standard SQL.
func quoteStandard(dst []byte, name string) []byte { return quoteBy('"', dst, name) }

// quoteBy quotes an identifier by a mark, which is doubled inside.
func quoteBy(mark byte, dst []byte, name string) []byte {
	dst = append(dst, mark)
	for at := strings.IndexByte(name, mark); at >= 0; at = strings.IndexByte(name, mark) {
		dst = append(append(dst, name[:at+1]...), mark)
		name = name[at+1:]
	}
	return append(append(dst, name...), mark)
}

// quotientDigits is database.QuotientDigits as SQL.
var quotientDigits = strconv.Itoa(database.QuotientDigits)

// sameEnum reports whether two columns have the same enum type, and so an order in common.
func sameEnum(a, b *database.Column) bool {
	return a.Kind == database.Enum && b.Kind == database.Enum && a.NativeType == b.NativeType
}

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// likePattern is the LIKE pattern for a text operator, with the backslash as its escape character.
func likePattern(op database.TextOp, text string) string {
	pattern := likeEscaper.Replace(text)
	switch op {
	case database.TextContains:
		return "%" + pattern + "%"
	case database.TextStartsWith:
		return pattern + "%"
	case database.TextEndsWith:
		return "%" + pattern
	}
	return pattern
}

// partNumber returns the number that a part other than WholeDate is compared with.
func partNumber(w *writer, p database.PartEquals) (int64, bool) {
	n, ok := p.Value.(int64)
	if !ok {
		w.invalid(p.Column, "must be a whole number")
	}
	return n, ok
}

// partDay returns the day that a WholeDate is compared with.
func partDay(w *writer, p database.PartEquals) (time.Time, bool) {
	text, _ := p.Value.(string)
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		w.invalid(p.Column, "must be a date, written YYYY-MM-DD")
	}
	return day, err == nil
}
