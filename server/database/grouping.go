package database

import "strconv"

// Grouping is what the rows of a source come to: one row for each group of them. It is read through its own Source, as a
// table is: the rows of a Select from it are groups, and its conditions and orders are about groups.
type Grouping struct {
	From Source
	// Joins are the joins that Where, Keys and Measures use. Each comes after the one that it goes through.
	Joins []*Join
	// Where says which rows of From are in the groups; nil is every row.
	Where Condition
	// Keys are what the rows of a group have in common. Without keys there is one group, which may be empty.
	Keys []GroupKey
	// Measures are computed for each group.
	Measures []Measure
	// MinRows leaves out groups of fewer rows; 0 leaves out none.
	MinRows int
}

// GroupKey is a column whose equal values make a group. NULL equals NULL; texts are equal only if every character is.
type GroupKey struct {
	Ref
	// Part is the piece of a date or timestamp that makes the group; WholeValue is the value itself.
	Part GroupPart
}

// GroupPart is a piece of a date or timestamp, in UTC.
type GroupPart uint8

// The pieces, with the values of their keys.
const (
	WholeValue  GroupPart = iota
	YearPart              // the integer 2026
	QuarterPart           // the text 2026-Q2
	MonthPart             // the text 2026-04
	WeekPart              // the text 2026-W14, by ISO 8601
	DayPart               // the text 2026-04-05
	HourPart              // the text 2026-04-05T13
	WeekdayPart           // an integer from 1 (Monday) to 7
)

// MeasureFunc is a way to compute a measure.
type MeasureFunc uint8

// The functions. They pass over NULLs, and all but the counts are NULL if nothing is left.
const (
	// CountRows counts rows; it has no column.
	CountRows MeasureFunc = iota
	Count
	CountDistinct
	Sum
	Avg
	Min
	Max
	// Ratio divides one measure by another. It is NULL if one of them is, or if the divisor is 0.
	Ratio
)

// Measure is one number, or least or greatest value, of a group.
type Measure struct {
	Func MeasureFunc
	// Ref is the column that is counted or summed up.
	Ref Ref
	// Where says which rows of the group it is about; nil is all.
	Where Condition
	// Dividend and Divisor are the places in Measures of the two that a Ratio is of. Neither is a Ratio.
	Dividend, Divisor int
}

// QuotientDigits are the digits behind the point of an average and a ratio. Halves are rounded away from zero.
const QuotientDigits = 12

// Source returns the groups as a source. Its table's columns are the keys, and then the measures, in their order.
func (g *Grouping) Source() Source {
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

// column is what the key's values are.
func (k *GroupKey) column() *Column {
	switch k.Part {
	case WholeValue:
		c := *k.Column
		c.Nullable = true // an outer row may be missing
		return &c
	case YearPart, WeekdayPart:
		return &Column{Kind: Integer, Bits: 64, Nullable: true, Scale: -1, Precision: -1, FractionDigits: -1, Privileges: MaySelect}
	}
	return &Column{Kind: Text, Nullable: true, Scale: -1, Precision: -1, FractionDigits: -1, Privileges: MaySelect}
}

// measureColumn is what the values of the i-th measure are.
func (g *Grouping) measureColumn(i int) *Column {
	m := &g.Measures[i]
	c := &Column{Kind: Integer, Bits: 64, Nullable: true, Scale: -1, Precision: -1, FractionDigits: -1, Privileges: MaySelect}
	switch m.Func {
	case CountRows, Count, CountDistinct:
		c.Nullable = g.MinRows > 1 && m.Where != nil
	case Min, Max:
		*c = *m.Ref.Column
		c.Nullable = true
	case Avg, Ratio:
		c.Kind, c.Bits, c.Scale = Decimal, 0, QuotientDigits
		if m.Func == Avg && m.Ref.Column.Kind == Float {
			c.Kind, c.Scale = Float, -1
		}
	case Sum:
		switch m.Ref.Column.Kind {
		case Integer:
			c.Bits = 0
		default:
			c.Kind, c.Bits, c.Scale = m.Ref.Column.Kind, 0, m.Ref.Column.Scale
		}
	}
	return c
}
