package database

import (
	"slices"
	"strconv"
	"time"
)

// Grouping turns the rows of a source into one row for each group of them. It is read through its own Source, as a table
// is: the rows of a Select from it are groups, and its conditions and orders are about groups. Such a Select asks for
// TotalExact or TotalNone: the planners' estimates tell nothing about groups.
type Grouping struct {
	From Source
	// Joins are the joins that Where, Keys and Measures use. Each comes after the join that it goes through.
	Joins []*Join
	// Where says which rows of From are in the groups; nil is every row.
	Where Condition
	// Keys are the values that the rows of a group have in common. Without keys there is one group, which may be empty.
	Keys []GroupKey
	// Measures are computed for each group.
	Measures []Measure
	// MinRows leaves out groups of fewer rows; 0 leaves out none.
	MinRows int
}

// GroupKey is a column whose equal values make a group (docs/design/aggregates.md, "Groups"). NULL equals NULL.
type GroupKey struct {
	Ref
	// Part is the piece of the value that makes the group; WholeValue is the value itself.
	Part GroupPart
	// Zone is the zone of a piece of a timestamp; nil is UTC.
	Zone *time.Location
	// Length is how many characters a PrefixPart has.
	Length int
}

// GroupPart is a piece of a date or timestamp, or of a text.
type GroupPart uint8

// The pieces, with the values of their keys.
const (
	WholeValue        GroupPart = iota
	YearPart                    // the integer 2026
	QuarterPart                 // the text 2026-Q2
	MonthPart                   // the text 2026-04
	WeekPart                    // the text 2026-W14, by ISO 8601
	DayPart                     // the text 2026-04-05
	HourPart                    // the text 2026-04-05T13
	WeekdayPart                 // an integer from 1 (Monday) to 7
	QuarterOfYearPart           // an integer from 1 to 4
	MonthOfYearPart             // an integer from 1 to 12
	HourOfDayPart               // an integer from 0 to 23
	PrefixPart                  // the first characters of a text
)

// MeasureFunc is a way to compute a measure.
type MeasureFunc uint8

// The functions (docs/design/aggregates.md, "Measures"). They pass over NULLs, and all but the counts are NULL if nothing
// is left.
const (
	// CountRows counts rows; it has no column.
	CountRows MeasureFunc = iota
	Count
	CountDistinct
	// Sum is of a column that is Summable, Avg also of dates and timestamps, Min and Max of a column that HasExtremes.
	Sum
	Avg
	Min
	Max
	// Deviation is the standard deviation of a sample, of a column that is Summable. It is NULL for fewer than two values.
	Deviation
	// Percentile is the value below which a Fraction of the values lie, of a column that is Summable. Between two values it is
	// interpolated. Texts are the distinct values of a text or enum column in one text.
	Percentile
	Texts
	// Ratio divides one measure by another. It is NULL if one of them is, or if the divisor is 0.
	Ratio
)

// Measure is one number, or least or greatest value, of a group.
type Measure struct {
	Func MeasureFunc
	// Ref is the column that is counted or summed up.
	Ref Ref
	// Part is the piece of the values that CountDistinct counts, Zone its zone, as a GroupKey has them.
	Part GroupPart
	Zone *time.Location
	// Where says which rows of the group it is about; nil is all.
	Where Condition
	// Fraction is that of a Percentile: a decimal from 0 to 1.
	Fraction string
	// Dividend and Divisor are the places in Measures of the two that a Ratio is of. Neither is a Ratio.
	Dividend, Divisor int
	// Place and Among are the columns that a Percentile and Texts find in their rows (see placing).
	Place, Among *Column
}

// QuotientDigits are the digits behind the point of an average and a ratio. Halves are rounded away from zero.
const QuotientDigits = 12

// Source returns the groups as a source. Its table's columns are the keys, and then the measures, in their order.
func (g *Grouping) Source() Source {
	if slices.ContainsFunc(g.Measures, Measure.needsPlaces) {
		g = g.placed()
	}
	t := &Table{Name: "groups", Kind: View}
	for i := range g.Keys {
		c := g.Keys[i].column()
		c.Name = "k" + strconv.Itoa(i)
		t.Columns = append(t.Columns, c)
	}
	for i := range g.Measures {
		c := g.measureColumn(i)
		c.Name = "m" + strconv.Itoa(i)
		t.Columns = append(t.Columns, c)
	}
	return Source{table: t, groups: g}
}

// column describes the key's values. Texts are compared by their bytes, whatever the collation of the column is.
func (k *GroupKey) column() *Column {
	switch k.Part {
	case WholeValue:
		c := *k.Column
		c.Expression = nil
		c.Nullable = true // an outer row may be missing
		c.Padded, c.LooseCollation = false, false
		return &c
	case YearPart, WeekdayPart, QuarterOfYearPart, MonthOfYearPart, HourOfDayPart:
		return derived(Integer)
	}
	return derived(Text)
}

// derived is a column of a kind that no table declares.
func derived(kind Kind) *Column {
	c := &Column{Kind: kind, Computed: Picked, Nullable: true, Scale: -1, Precision: -1, FractionDigits: -1, Privileges: MaySelect}
	if kind == Integer {
		c.Bits = 64
	}
	return c
}

// measureColumn describes the values of the i-th measure.
func (g *Grouping) measureColumn(i int) *Column {
	m := &g.Measures[i]
	c := m.column()
	if m.Where != nil && g.MinRows > 1 {
		c.Nullable = true // too few rows
	}
	return c
}

func (m *Measure) column() *Column {
	of := m.Ref.Column
	switch {
	case m.Func == Min, m.Func == Max, m.Func == Avg && of.HasMean() && !of.Summable():
		c := *of
		c.Nullable, c.Expression, c.Computed = true, nil, max(c.Computed, Picked)
		return &c
	case m.Func == Sum:
		c := derived(of.Kind)
		c.Bits, c.Scale = 0, of.Scale
		if of.Bits > 64 {
			c.Bits = of.Bits
		}
		if c.Kind != Float {
			c.Computed = max(Digits, of.Computed)
		}
		return c
	case m.Func == Deviation:
		return derived(Float)
	case m.Func == Texts:
		return derived(Text)
	case m.Func == Avg, m.Func == Percentile, m.Func == Ratio:
		if m.Func != Ratio && of.Kind == Float {
			return derived(Float)
		}
		return quotient()
	}
	c := derived(Integer)
	c.Nullable = false
	return c
}
