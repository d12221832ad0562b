package sqltext

import (
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func (mysql) filters() bool { return false }

// countsGroups is true of MySQL, whose plan for groups without a count (a skip scan) leaves groups out if there is an
// antijoin beside it (9.7).
func (d mysql) countsGroups() bool { return !d.mariaDB }

// groupsEnd keeps vtgate from taking the order of groups for one of the rows that they consist of, whose columns it then does not
// find.
func (d mysql) groupsEnd() string {
	if d.shards {
		return " LIMIT 9223372036854775807"
	}
	return ""
}

// sortedLength is how many characters of a text MariaDB sorts at least, and groups by: its max_sort_length is 1,024 bytes.
const sortedLength = 255

func (d mysql) groupsBeginnings(c *database.Column) bool {
	return d.mariaDB && (c.Kind == database.Text || c.Kind == database.Bytes) && (c.MaxLength == 0 || c.MaxLength > sortedLength)
}

func (d mysql) groupKey(w *writer, key database.GroupKey) {
	column := func() { d.clock(w, key.Column, key.Zone) }
	format := func(pattern string) { w.around("DATE_FORMAT(", column, ", '"+pattern+"')") }
	switch key.Part {
	case database.WholeValue:
		if key.Column.Kind == database.Text && key.Column.LooseCollation {
			d.binary(w, column)
			return
		}
		if key.Column.Kind == database.Integer || key.Column.Kind == database.Boolean {
			d.number64(w, key.Column.Unsigned, column)
			return
		}
		column()
	case database.YearPart:
		d.number64(w, false, func() { w.around("YEAR(", column, ")") })
	case database.QuarterPart:
		w.text("CONCAT(")
		format("%Y")
		w.around(", '-Q', QUARTER(", column, "))")
	case database.MonthPart:
		format("%Y-%m")
	case database.WeekPart:
		format("%x-W%v")
	case database.DayPart:
		format("%Y-%m-%d")
	case database.HourPart:
		format("%Y-%m-%dT%H")
	case database.WeekdayPart:
		d.number64(w, false, func() { w.around("WEEKDAY(", column, ") + 1") })
	case database.QuarterOfYearPart:
		d.number64(w, false, func() { w.around("NULLIF(QUARTER(", column, "), 0)") })
	case database.MonthOfYearPart:
		d.number64(w, false, func() { w.around("NULLIF(MONTH(", column, "), 0)") })
	case database.HourOfDayPart:
		d.number64(w, false, func() { w.around("HOUR(", column, ")") })
	case database.PrefixPart:
		d.binary(w, func() { w.around("LEFT(", column, ", "+strconv.Itoa(key.Length)+")") })
	}
}

// number64 gives a whole number the type that vtgate takes it for: it writes the values of rows in the types that servers give them,
// and names its own in what it puts together of several shards, so that a client reads the wrong bytes where the two differ in length.
func (d mysql) number64(w *writer, unsigned bool, write func()) {
	switch {
	case !d.shards:
		write()
	case unsigned:
		w.around("CAST(", write, " AS UNSIGNED)")
	default:
		w.around("CAST(", write, " AS SIGNED)")
	}
}

// around writes something between two texts.
func (w *writer) around(before string, write func(), after string) {
	w.text(before)
	write()
	w.text(after)
}

// binary writes a text so that it is compared byte by byte, blanks at its end included.
func (d mysql) binary(w *writer, value func()) {
	collation := "utf8mb4_0900_bin"
	if d.mariaDB {
		collation = "utf8mb4_nopad_bin"
	}
	w.around("CONVERT(", value, " USING utf8mb4) COLLATE "+collation)
}

func (mysql) sum(w *writer, m *database.Measure) { w.ofColumn(m, "sum(") }

func (d mysql) average(w *writer, m *database.Measure) {
	if !m.Ref.Column.Summable() {
		d.averageMoment(w, m)
		return
	}
	if m.Ref.Column.Kind == database.Float {
		w.ofColumn(m, "avg(")
		return
	}
	d.quotient(w, wideNumber(max(m.Ref.Column.Scale, 0)), func() { d.sum(w, m) }, func() { w.ofColumn(m, "count(") })
}

func (d mysql) ratio(w *writer, dividend, divisor term) {
	write := func(t term) func() {
		switch {
		case t.average != nil:
			return func() { d.sum(w, t.average) }
		case !t.float:
			return t.write
		}
		return func() { // a float that a decimal cannot be would become the greatest decimal
			w.around("CASE WHEN abs(", t.write, ") < 1e35 THEN ")
			w.around("", t.write, " END")
		}
	}
	d.quotient(w, wideNumber(0), w.times(write(dividend), divisor), w.times(func() {
		if divisor.float {
			w.around("CAST(", write(divisor), " AS DECIMAL(65,30))")
			return
		}
		write(divisor)()
	}, dividend))
}

// wideNumber is the decimal type of a dividend: a division adds four digits to its fraction, which then has all of the
// thirty digits that a fraction can have.
func wideNumber(scale int) string {
	const fraction = 26
	return "DECIMAL(65," + strconv.Itoa(min(max(fraction, scale), 30)) + ")"
}

// quotient relies on a division by 0 being NULL.
func (mysql) quotient(w *writer, as string, dividend, divisor func()) {
	w.around("round(CAST(", dividend, " AS "+as+") / ")
	w.around("", divisor, ", "+quotientDigits+")")
}

// extreme compares enums by their places: min itself compares them as texts.
func (mysql) extreme(w *writer, m *database.Measure, function string) {
	w.aggregate(m, function, func() {
		if m.Ref.Column.Kind != database.Enum {
			w.column(m.Ref.Column)
			return
		}
		w.around("CAST(", func() { w.column(m.Ref.Column) }, " AS UNSIGNED)")
	})
}

// choice writes a text column, or the text of an enum that is the least or greatest of several, and so a place.
func (mysql) choice(w *writer, c *database.Column) {
	if c.Kind != database.Enum || c.Computed == database.Stored {
		w.column(c)
		return
	}
	w.around("ELT(", func() { w.column(c) }, "")
	for _, choice := range c.Choices {
		w.text(", ")
		w.bind(Arg{Kind: database.Text, Value: choice})
	}
	w.text(")")
}

func (d mysql) side(w *writer, column func(), c, other *database.Column, op database.CompareOp) {
	switch {
	case d.shards && c.Kind != other.Kind && (c.Kind == database.Integer || c.Kind == database.Decimal):
		w.around("(", column, " + 0)") // else it would look for a 7.0 where 7.0 would lie, and not where 7 does
	case c.Kind == database.Float && other.Kind != database.Float:
		w.around("CAST(", column, " AS DECIMAL(65,30))")
	case sameEnum(c, other):
		w.around("CAST(", column, " AS UNSIGNED)")
	case !c.Kind.Textual():
		column()
	case op == database.Equal:
		d.binary(w, column)
	default:
		w.around("CONVERT(", column, " USING utf8mb4) COLLATE utf8mb4_unicode_ci")
	}
}

// collate also converts the text: the first word of a collation is its character set.
func (mysql) collate(w *writer, write func(), collation string) {
	if collation == "" {
		write()
		return
	}
	set, _, _ := strings.Cut(collation, "_")
	w.around("CONVERT(", write, " USING "+set+") COLLATE "+collation)
}
