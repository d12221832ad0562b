package database

import (
	"slices"
	"time"
)

// Source is a table as one caller may see it: the table and the condition that every row of it must meet. Only
// NewSource makes one, and only package access may call that (the linter checks it). So every statement about a table
// goes through the caller's scope.
type Source struct {
	table  *Table
	policy Condition
	// groups is set if the rows are not a table's, but groups of them; windows if they have values that depend on their place; filling
	// if there are empty groups among them.
	groups  *Grouping
	windows *Windowing
	filling *Filling
	// ranking is set if the rows are those that a full-text index has for a query.
	ranking *Ranking
}

// NewSource returns a source; policy may be nil.
func NewSource(table *Table, policy Condition) Source { return Source{table: table, policy: policy} }

// Table is the table that is read. A table of groups has a column for each key and measure.
func (s Source) Table() *Table { return s.table }

// Base is the table of the database from which the rows come: that of the rows that are grouped or numbered.
func (s Source) Base() *Table {
	switch {
	case s.filling != nil:
		return s.filling.From.Base()
	case s.windows != nil:
		return s.windows.From.Base()
	case s.groups != nil:
		return s.groups.From.Base()
	}
	return s.table
}

// Groups returns the grouping whose groups are read, perhaps with windows; nil if the rows are a table's.
func (s Source) Groups() *Grouping { return s.groups }

// Windows returns the windowing whose rows are read; nil if there is none.
func (s Source) Windows() *Windowing { return s.windows }

// Filling returns the filling whose groups are read; nil if there is none.
func (s Source) Filling() *Filling { return s.filling }

// Ranking returns the ranking whose rows are read; nil if there is none.
func (s Source) Ranking() *Ranking { return s.ranking }

// Policy is the condition that stands in every statement about the source; nil is none.
func (s Source) Policy() Condition { return s.policy }

// Join is the one row of another source that each row of a statement leads to: the row whose Theirs columns, which are a
// key of that source, equal the Ours columns. If there is none, or if the policy of From does not show it, its columns
// are NULL.
type Join struct {
	// Through is the join whose row has the Ours columns; nil is the statement's own source.
	Through *Join
	From    Source
	Ours    []*Column
	Theirs  []*Column
}

// Ref is a column of a statement's own source, or of a join if that is not nil.
type Ref struct {
	Join   *Join
	Column *Column
}

// Refs returns columns of a statement's own source.
func Refs(columns ...*Column) []Ref {
	refs := make([]Ref, len(columns))
	for i, c := range columns {
		refs[i].Column = c
	}
	return refs
}

// Select is a read of one source, in terms of columns and values.
type Select struct {
	From Source
	// Joins are the joins that Output, Where, Order and Cursor use. Each comes after the join that it goes through.
	Joins []*Join
	// Output are the members of each row, in order; Form is how a row is written.
	Output []Output
	Form   RowForm
	// Where is ANDed with the source's policy; nil is every row.
	Where Condition
	// Order must end with the columns of a key, or else pages may overlap.
	Order []Order
	// After holds one value for each column of Order. Reading starts behind the row with these values; nil starts at
	// the first row. It does not change Total.
	After []Value
	// Limit is the most rows; Offset is how many matching rows are skipped first.
	Limit, Offset int
	// Cursor are the columns whose values Page.Last returns.
	Cursor []Ref
	// More asks whether there are rows beyond Limit.
	More bool
	// MaxBytes ends the page: no row begins once out has that size. MaxValue is the most bytes of one text, JSON or
	// binary value; a longer one is cut, and says so. 0 is no bound.
	MaxBytes, MaxValue int
	// Total asks for the number of matching rows.
	Total Total
	// CountTo is the number at which TotalCapped stops; 0 is TotalCap.
	CountTo int
	// Lock locks the rows until the transaction ends.
	Lock bool
	// Stream takes the rows one by one; nil has them appended to out.
	Stream *Stream
}

// Cap is the number at which TotalCapped stops.
func (s *Select) Cap() int64 {
	if s.CountTo > 0 {
		return int64(s.CountTo)
	}
	return TotalCap
}

// RowForm is a way to write a row as JSON.
type RowForm uint8

// The forms.
const (
	// RowObjects: an object of the members.
	RowObjects RowForm = iota
	// RowArrays: an array of the members' values, in their order.
	RowArrays
)

// Total is a way to count the matching rows (docs/design/tools.md, "Total counts").
type Total uint8

// The ways. If the page itself tells how many rows there are, nothing is counted, whatever the way.
const (
	TotalNone Total = iota
	// TotalExact is exact; a count that takes too long is a Timeout.
	TotalExact
	// TotalAuto is exact if counting takes no longer than Settings.CountingTime; else it is the planner's estimate, or
	// TotalCapped on an engine that has no estimate.
	TotalAuto
	// TotalCapped stops counting at TotalCap.
	TotalCapped
)

// The bounds of TotalAuto and TotalCapped.
const (
	TotalBudget = 250 * time.Millisecond
	TotalCap    = 10_000
)

// Output is one member of a row.
type Output struct {
	// Name is the member's name.
	Name string
	// Join is the join that has Columns; nil is the statement's own source.
	Join *Join
	// Columns is the one column that the member shows. With Composite it is the columns of a key: their values are
	// percent-encoded and joined by commas into one string.
	Columns   []*Column
	Composite bool
	// Mask shows a value as "****" and its last KeepLast characters. A value with fewer than twice KeepLast plus four
	// characters shows as "****" alone.
	Mask     bool
	KeepLast int
	// Slice asks for a piece of a Text, JSON or Bytes value, as a string; nil is the whole value.
	Slice *Slice
	// Kept asks for the value of a Loose column as the engine keeps it (see ParseKept). It is null if an engine stores the same
	// for what rows show of the value.
	Kept bool
}

// Slice is a piece of a value: Length characters after the first Offset ones (bytes if the column's kind is Bytes).
// Beyond the value's end it is empty.
type Slice struct{ Offset, Length int }

// Order is one step of an ordering. Join is the join that has the column; nil is the statement's own source.
type Order struct {
	Join       *Join
	Column     *Column
	Descending bool
	// NullsLast puts NULLs behind all values, in a window that is Descending.
	NullsLast bool
}

// Condition is a predicate on the rows of a source. Its columns are that source's, except inside Joined, Exists and InRows.
type Condition interface{ condition() }

// And is true if all are; an empty And is true.
type And []Condition

// Or is true if any is; an empty Or is false.
type Or []Condition

// Never holds for no row.
var Never Condition = Or{}

// Not is true if the condition is not true (false or unknown).
type Not struct{ Condition Condition }

// IsNull is true if the column is NULL.
type IsNull struct{ Column *Column }

// CompareOp is an operator of Compare.
type CompareOp string

// The operators.
const (
	Equal          CompareOp = "="
	Less           CompareOp = "<"
	LessOrEqual    CompareOp = "<="
	Greater        CompareOp = ">"
	GreaterOrEqual CompareOp = ">="
)

// Compare compares a column with a value by the column's own order and collation. It is false for NULL.
type Compare struct {
	Column *Column
	Op     CompareOp
	Value  Value
}

// In is true if the column equals one of the values; false if there are none.
type In struct {
	Column *Column
	Values []Value
}

// TextOp is an operator of Match.
type TextOp uint8

// The operators. Every character of the text stands for itself: % and _ are no wildcards.
const (
	TextEquals TextOp = iota
	TextContains
	TextStartsWith
	TextEndsWith
)

// Match compares a text column with a text. Case matters on every engine and in every collation, unless FoldCase is
// set.
type Match struct {
	Column   *Column
	Op       TextOp
	Text     string
	FoldCase bool
}

// DatePart is a piece of a date or timestamp.
type DatePart uint8

// The parts. WholeDate compares with a date text "YYYY-MM-DD", the others with an int64. Week is ISO 8601's, Weekday is 1
// (Monday) to 7. A date has no Hour.
const (
	WholeDate DatePart = iota
	Year
	Month
	Day
	Quarter
	Week
	Weekday
	Hour
)

// PartEquals is true if that part of a date or timestamp column equals the value.
type PartEquals struct {
	Column *Column
	Part   DatePart
	Value  Value
	// Zone is the zone of a timestamp's part; nil is UTC. WholeDate and Year are in UTC.
	Zone *time.Location
}

// HoldsOp is an operator of Holds.
type HoldsOp uint8

// The operators. For an Array column, values are compared as the elements' type compares them. For a JSON column a value
// is in another one as documented in docs/design/tools.md, "Arrays and JSON".
const (
	// HoldsAll is true if the column holds every element (of a []Value or a JSON array), or every member of a JSON object.
	HoldsAll HoldsOp = iota
	// HoldsAny is true if the column holds one of the elements at least.
	HoldsAny
	// HoldsOnly is true if every element of the column is one of these. The elements of a JSON array are plain values.
	HoldsOnly
	// HasKey is true if the column is a JSON object that has a member of this name, a string.
	HasKey
)

// Holds looks into a column for which Contains is set: an Array, with a []Value, or a JSON document, with the bytes of a
// JSON array or object.
type Holds struct {
	Column *Column
	Op     HoldsOp
	Value  Value
}

// CompareRefs compares two columns of comparable kinds (docs/design/aggregates.md, "Compared columns"). It is false if one
// of them is NULL. Both are given from the source of the statement, or of the Exists that it is in, even
// inside Joined.
type CompareRefs struct {
	Left  Ref
	Op    CompareOp
	Right Ref
}

// Joined is true if the condition is true of the join's row. Inside Exists the join is one of its own.
type Joined struct {
	Join      *Join
	Condition Condition
}

// Exists is true if there is a row of From that meets Where and whose Theirs columns equal this source's Ours columns,
// pair by pair.
type Exists struct {
	From         Source
	Ours, Theirs []*Column
	// Joins are the joins that Where uses. Each comes after the join that it goes through.
	Joins []*Join
	// Where may be nil.
	Where Condition
}

// InRows is true if the column equals the Theirs of a row of From that meets Where. NULL equals nothing.
type InRows struct {
	Column *Column
	From   Source
	// Theirs is a column of From, or of one of Joins, of a comparable kind.
	Theirs Ref
	// Joins are the joins that Theirs and Where use. Each comes after the join that it goes through.
	Joins []*Join
	// Where may be nil.
	Where Condition
}

// Fenced is true if both conditions are. The first is of the administrator, the second of a caller, and no engine looks at the
// second before the first is known to hold, however long either takes.
type Fenced struct {
	Fence     And
	Condition Condition
}

// OwnColumns reports whether a condition is about the columns of the row itself alone, and looks at no other row. nil is.
func OwnColumns(c Condition) bool {
	switch c := c.(type) {
	case And:
		return !slices.ContainsFunc(c, func(part Condition) bool { return !OwnColumns(part) })
	case Or:
		return !slices.ContainsFunc(c, func(part Condition) bool { return !OwnColumns(part) })
	case Not:
		return OwnColumns(c.Condition)
	case CompareRefs:
		return c.Left.Join == nil && c.Right.Join == nil
	case Fenced:
		return OwnColumns(c.Fence) && OwnColumns(c.Condition)
	case Joined, Exists, InRows:
		return false
	}
	return true
}

// Value is a bound value in the Go type of its column's kind: nil, bool (Boolean), int64 (Integer; beyond its
// range uint64, or the digits as a string if the column has 128 bits), float64 (Float), string (Text, Decimal, Date, Time,
// Timestamp, TimestampTZ, Interval, UUID, Enum, Other),
// []byte (Bytes, JSON), []Value (Array, nested if it has several dimensions; elements have the type of the column's
// Element).
type Value any

func (And) condition()         {}
func (Or) condition()          {}
func (Not) condition()         {}
func (IsNull) condition()      {}
func (Compare) condition()     {}
func (In) condition()          {}
func (Match) condition()       {}
func (PartEquals) condition()  {}
func (CompareRefs) condition() {}
func (Joined) condition()      {}
func (Holds) condition()       {}
func (Exists) condition()      {}
func (InRows) condition()      {}
func (Fenced) condition()      {}
