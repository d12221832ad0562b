package sqltext

import (
	"strconv"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// The names of the SQL functions and of the collation for exact numbers and for moments. SQLite's own sums are floats,
// or fail beyond 64 bits. Sums and quotients are texts of decimal digits, which the collation compares as numbers.
const (
	// SQLiteSum is an aggregate function of a value and of the number of digits behind the point that it shows at least.
	SQLiteSum = "mcp_sum"
	// SQLiteAverage is an aggregate function of a value.
	SQLiteAverage = "mcp_avg"
	// SQLiteFraction is an aggregate function of a value: its average as sum/count, which is not rounded.
	SQLiteFraction = "mcp_fraction"
	// SQLiteRatio is a function of a dividend and a divisor, each a number or a fraction.
	SQLiteRatio = "mcp_ratio"
	// SQLiteNumber is a function of a value: the text of the number that it is, NULL if it is none.
	SQLiteNumber = "mcp_number"
	// SQLiteCompute is a function of an operator (+, -, *, bucket), two numbers, and the number of digits behind the point that the result
	// shows at least. SQLiteRound is a function of a number and of the number of digits to round it to.
	SQLiteCompute = "mcp_compute"
	SQLiteRound   = "mcp_round"
	// SQLiteFinite is a function of a float: an error if it is infinite.
	SQLiteFinite = "mcp_finite"
	// SQLiteElapsed is a function of two moments, of a unit's microseconds, and of the number of digits behind the point: the time
	// between the moments.
	SQLiteElapsed = "mcp_elapsed"
	// SQLiteRead is a function of the name of a kind and of a value: what the value is as one of that kind, NULL if it is none.
	SQLiteRead = "mcp_read"
	// SQLiteDeviation is an aggregate function of a value: the standard deviation. SQLiteWeight is a function of a fraction, of how
	// many values there are, and of the place of one, counted from the greatest: its weight in the percentile.
	SQLiteDeviation = "mcp_deviation"
	SQLiteWeight    = "mcp_weight"
	// SQLiteMean is an aggregate function of a moment, as strftime writes it: the average, rounded down to a second.
	SQLiteMean = "mcp_mean"
	// SQLiteTimestamp and SQLiteInstant are functions of a value: a timestamp, without and with a zone, as rows show it;
	// any other value unchanged.
	SQLiteTimestamp = "mcp_timestamp"
	SQLiteInstant   = "mcp_instant"
	// SQLiteLocal is a function of a timestamp in UTC, as strftime writes it, and of the name of a zone: what its clocks show.
	SQLiteLocal = "mcp_local"
	// SQLiteForm is a function of two timestamps: the first in the form of the second.
	SQLiteForm = "mcp_form"
	// SQLiteDecimal is the collation.
	SQLiteDecimal = "mcp_decimal"
)

func (sqlite) filters() bool                          { return true }
func (sqlite) groupsBeginnings(*database.Column) bool { return false }
func (sqlite) countsGroups() bool                     { return false }
func (sqlite) groupsEnd() string                      { return "" }

func (d sqlite) groupKey(w *writer, key database.GroupKey) {
	column := func() { w.column(key.Column) }
	format := func(pattern string) { d.format(w, pattern, key.Column, key.Zone) }
	number := func(pattern string) { w.around("CAST(", func() { format(pattern) }, " AS INTEGER)") }
	switch key.Part {
	case database.WholeValue:
		switch key.Column.Kind {
		case database.Timestamp:
			w.around(SQLiteTimestamp+"(", column, ")")
		case database.TimestampTZ:
			w.around(SQLiteInstant+"(", column, ")")
		default:
			if key.Column.Exact() {
				w.around("", column, " COLLATE "+SQLiteDecimal)
				return
			}
			w.around("", column, " COLLATE BINARY")
		}
	case database.YearPart:
		number("%Y")
	case database.QuarterPart:
		format("%Y")
		w.around(" || '-Q' || ((", func() { number("%m") }, " + 2) / 3)")
	case database.MonthPart:
		format("%Y-%m")
	case database.WeekPart:
		format("%G-W%V")
	case database.DayPart:
		format("%Y-%m-%d")
	case database.HourPart:
		format("%Y-%m-%dT%H")
	case database.WeekdayPart:
		number("%u")
	case database.QuarterOfYearPart:
		w.around("(", func() { number("%m") }, " + 2) / 3")
	case database.MonthOfYearPart:
		number("%m")
	case database.HourOfDayPart:
		number("%H")
	case database.PrefixPart:
		w.around("substr(", column, ", 1, "+strconv.Itoa(key.Length)+") COLLATE BINARY")
	}
}

// format writes a part of a column's moment as the clocks of a zone show it; nil is UTC.
func (sqlite) format(w *writer, pattern string, c *database.Column, zone *time.Location) {
	w.text("strftime('" + pattern + "', ")
	if zone == nil {
		w.column(c)
		w.text(", 'auto')")
		return
	}
	w.around(SQLiteLocal+"("+comparableTimestamp, func() { w.column(c) }, ", 'auto'), ")
	w.bind(Arg{Kind: database.Text, Value: zone.String()})
	w.text("))")
}

func (d sqlite) sum(w *writer, m *database.Measure) {
	c := m.Ref.Column
	if c.Kind == database.Float {
		d.floats(w, m, "sum(")
		return
	}
	w.aggregate(m, SQLiteSum+"(", func() {
		w.column(c)
		w.text(", ")
		w.buf = strconv.AppendInt(w.buf, int64(max(c.Scale, 0)), 10)
	})
	w.text(" COLLATE " + SQLiteDecimal)
}

func (d sqlite) average(w *writer, m *database.Measure) {
	if !m.Ref.Column.Summable() {
		d.averageMoment(w, m)
		return
	}
	if m.Ref.Column.Kind == database.Float {
		d.floats(w, m, "avg(")
		return
	}
	w.ofColumn(m, SQLiteAverage+"(")
	w.text(" COLLATE " + SQLiteDecimal)
}

// floats passes over what is not a number, which SQLite takes for 0.
func (sqlite) floats(w *writer, m *database.Measure, function string) {
	w.aggregate(m, function, func() {
		w.around("CASE WHEN typeof(", func() { w.column(m.Ref.Column) }, ") IN ('integer', 'real') THEN ")
		w.around("CAST(", func() { w.column(m.Ref.Column) }, " AS REAL) END")
	})
}

func (sqlite) ratio(w *writer, dividend, divisor term) {
	operand := func(t term) func() {
		if t.average == nil {
			return t.write
		}
		return func() {
			w.ofColumn(t.average, SQLiteFraction+"(")
		}
	}
	w.around(SQLiteRatio+"(", operand(dividend), ", ")
	w.around("", operand(divisor), ") COLLATE "+SQLiteDecimal)
}

func (sqlite) extreme(w *writer, m *database.Measure, function string) { w.ofColumn(m, function) }

func (sqlite) side(w *writer, column func(), c, other *database.Column, op database.CompareOp) {
	switch {
	case c.Exact() || other.Exact():
		w.around(SQLiteNumber+"(", column, ") COLLATE "+SQLiteDecimal)
	case c.Kind.IsMoment() || other.Kind.IsMoment():
		w.around(comparableTimestamp, column, ", 'auto')")
	case c.Kind.Textual() && op == database.Equal:
		w.around("", column, " COLLATE BINARY")
	default:
		column()
	}
}

// collate adds nothing: SQLite compares by the collation of the left side.
func (sqlite) collate(_ *writer, write func(), _ string) { write() }
