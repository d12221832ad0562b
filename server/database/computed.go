package database

import "strings"

// Computed says how the values of a column that no table has came about.
type Computed uint8

// The ways.
const (
	// Stored: the column is a table's.
	Stored Computed = iota
	// Picked: a count, a float, or one of several stored values.
	Picked
	// Digits: an exact number.
	Digits
	// Quotient: an exact number that was rounded to QuotientDigits, or one computed of such. Rows show it without zeros at its end.
	Quotient
)

// Expression computes the values of a column that no table has. A Ref to such a column has no join: the expression itself says which
// rows it looks at.
type Expression interface{ expression() }

// RelatedValue is what the rows that belong to a row come to: how many there are, or the sum of a column of theirs.
type RelatedValue struct {
	// Rows are the rows. The measure's column is one of From, or of one of Joins.
	Rows    Exists
	Measure Measure
	// Of is the join to whose row they belong; nil is the statement's own source.
	Of *Join
	// MinRows makes the value NULL if there are fewer rows; 0 is no bound.
	MinRows int
}

// Operator is what Arithmetic does with its operands.
type Operator uint8

// The operators. Numbers are exact unless an operand is a Float.
const (
	Add Operator = iota
	Subtract
	Multiply
	// Divide rounds to QuotientDigits. It is NULL if the divisor is 0.
	Divide
	// Round rounds Left, an exact number, to Digits behind the point, halves away from zero. It has no Right.
	Round
	// Bucket is the greatest multiple of Right, a Number above 0, that is not above Left. A float stands for its shortest decimal.
	Bucket
	// Elapsed is the time from Left to Right, both dates or timestamps, in a Unit.
	Elapsed
)

// Unit is a unit of Elapsed.
type Unit uint8

// The units.
const (
	Seconds Unit = iota
	Hours
	Days
)

// Microseconds are how many there are in one of the unit.
func (u Unit) Microseconds() int64 { return [...]int64{1e6, 3600e6, 86400e6}[u] }

// Operand is a column of the statement's own source or of one of its joins, a number, or a moment.
type Operand struct {
	Ref
	// Number is the number if there is no column: digits, with a point or without, and perhaps a minus sign. Moment is the timestamp in
	// UTC if there is neither.
	Number, Moment string
}

// Arithmetic computes with values of the row and of rows to which its joins lead. It is NULL if one of them is.
type Arithmetic struct {
	Operator    Operator
	Left, Right Operand
	Digits      int
	Unit        Unit
}

// Chosen is the value of a column in rows that meet a condition, and NULL in others; if there is no column, it is 1.
type Chosen struct {
	Of Ref
	// Where may be nil.
	Where Condition
	// As is Float or Decimal for a number, NULL if the value is none, and Text for the first TextLength characters of a text.
	As Kind
}

// Random is another number for each row, and each time.
type Random struct{}

// RandomColumn returns the column of such numbers.
func RandomColumn() *Column {
	c := derived(Float)
	c.Name, c.Expression = "random", Random{}
	return c
}

// Outer is the value of a column of the row outside: of the row for which an Exists or a RelatedValue reads its rows. Only what they
// read has such columns.
type Outer struct{ Of Ref }

func (Chosen) expression()       {}
func (RelatedValue) expression() {}
func (Arithmetic) expression()   {}
func (Outer) expression()        {}
func (Random) expression()       {}

// Column returns the column of the value.
func (o Outer) Column() *Column {
	c := *o.Of.Column
	c.Expression = o
	return &c
}

// Column returns the column of the value.
func (v RelatedValue) Column(name string) *Column {
	c := v.Measure.column()
	c.Name, c.Expression = name, v
	c.Nullable = c.Nullable || v.MinRows > 1
	return c
}

// Column returns the column of the result.
func (a Arithmetic) Column(name string) *Column {
	c := a.column()
	if c.Exact() && a.Operator != Round && a.Operator != Bucket && a.Operator != Elapsed {
		c.Computed = max(c.Computed, a.Left.column().Computed, a.Right.column().Computed)
	}
	c.Name, c.Expression = name, a
	return c
}

func (a Arithmetic) column() *Column {
	left, right := a.Left.column(), a.Right.column()
	switch {
	case a.Operator == Round:
		return digits(Decimal, a.Digits)
	case a.Operator == Bucket && right.Kind == Integer:
		return digits(Integer, -1)
	case a.Operator == Bucket:
		return digits(Decimal, right.scale())
	case a.Operator == Elapsed && a.Unit == Seconds:
		return digits(Decimal, momentDigits)
	case a.Operator == Elapsed && a.Unit == Days && left.Kind == Date && right.Kind == Date:
		return derived(Integer)
	case a.Operator == Elapsed:
		return quotient()
	case left.Kind == Float || right.Kind == Float:
		return derived(Float)
	case a.Operator == Divide:
		return quotient()
	case left.Kind == Integer && right.Kind == Integer:
		return digits(Integer, -1)
	case left.scale() < 0 || right.scale() < 0:
		return digits(Decimal, -1)
	case a.Operator == Multiply:
		return digits(Decimal, min(left.scale()+right.scale(), maxScale))
	}
	return digits(Decimal, max(left.scale(), right.scale()))
}

// momentDigits are the digits of a second's fraction that a time between two moments has.
const momentDigits = 6

// digits is a column that is computed in decimal digits.
func digits(kind Kind, scale int) *Column {
	c := derived(kind)
	c.Computed, c.Scale, c.Bits = Digits, scale, 0
	return c
}

// quotient is the column of an average, a ratio or another division.
func quotient() *Column {
	c := digits(Decimal, QuotientDigits)
	c.Computed = Quotient
	return c
}

// column describes the operand's values.
func (o Operand) column() *Column {
	if o.Column != nil {
		return o.Column
	}
	if o.Moment != "" {
		return derived(Timestamp)
	}
	_, fraction, isDecimal := strings.Cut(o.Number, ".")
	if !isDecimal {
		return digits(Integer, -1)
	}
	return digits(Decimal, len(fraction))
}

// scale is the number of digits behind the point of a number; -1 if nothing bounds them.
func (c *Column) scale() int {
	if c.Kind == Integer {
		return 0
	}
	return c.Scale
}

// maxScale is the most digits behind the point that every engine computes with.
const maxScale = 30

// Reads visits the columns that a computed column is computed from, and the columns by which other rows belong to the row; none if
// the column is stored.
func (c *Column) Reads(visit func(Ref)) {
	switch e := c.Expression.(type) {
	case RelatedValue:
		for _, own := range e.Rows.Ours {
			visit(Ref{Join: e.Of, Column: own})
		}
		e.Rows.EachOuter(visit)
	case Reading, TextRank, Distance: // of the row itself
	case Outer: // of another row
	case Random:
	case Chosen:
		if e.Of.Column != nil {
			visit(e.Of)
			e.Of.Column.Reads(visit)
		}
	case Arithmetic:
		for _, o := range []Operand{e.Left, e.Right} {
			if o.Column != nil {
				visit(o.Ref)
				o.Column.Reads(visit)
			}
		}
	}
}

// EachOuter visits what the conditions ask of the row outside, and the columns that this is computed from.
func (e Exists) EachOuter(visit func(Ref)) {
	var column func(*Column)
	column = func(c *Column) {
		if outer, ok := c.Expression.(Outer); ok {
			visit(outer.Of)
			outer.Of.Column.Reads(visit)
			return
		}
		c.Reads(func(r Ref) { column(r.Column) })
	}
	EachColumn(e.Where, column)
}

// EachColumn visits the columns that a condition asks for: of the row and of joins, but not of the rows for which an Exists looks.
func EachColumn(c Condition, visit func(*Column)) {
	switch c := c.(type) {
	case Exists:
		c.EachOuter(func(r Ref) { visit(r.Column) })
	case And:
		for _, part := range c {
			EachColumn(part, visit)
		}
	case Or:
		for _, part := range c {
			EachColumn(part, visit)
		}
	case Not:
		EachColumn(c.Condition, visit)
	case Fenced:
		EachColumn(c.Fence, visit)
		EachColumn(c.Condition, visit)
	case Joined:
		EachColumn(c.Condition, visit)
	case IsNull:
		visit(c.Column)
	case Compare:
		visit(c.Column)
	case In:
		visit(c.Column)
	case InRows:
		visit(c.Column)
	case Match:
		visit(c.Column)
	case PartEquals:
		visit(c.Column)
	case Holds:
		visit(c.Column)
	case CompareRefs:
		visit(c.Left.Column)
		visit(c.Right.Column)
	}
}
