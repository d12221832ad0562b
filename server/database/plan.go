package database

import "time"

// Source is a table as one caller may see it: the table and the condition that every row of it must meet. It can be
// made by NewSource only, which package access alone may call (the linter sees to it): so no statement can be made
// about a table but through the caller's scope.
type Source struct {
	table  *Table
	policy Condition
}

// NewSource returns a source; policy may be nil.
func NewSource(table *Table, policy Condition) Source { return Source{table, policy} }

// Table is the table that is read.
func (s Source) Table() *Table { return s.table }

// Policy is the condition that stands in every statement about the source; nil is none.
func (s Source) Policy() Condition { return s.policy }

// Select is a read of one source, in terms of columns and values.
type Select struct {
	From Source
	// Output are the members of each row, in order.
	Output []Output
	// Where is ANDed with the source's policy; nil is every row.
	Where Condition
	// Order must end with the columns of a key if pages are not to overlap.
	Order []Order
	// After starts behind the row that had these values of the Order's columns, one each; nil starts at the first. It
	// does not change Total.
	After []Value
	// Limit is the most rows; Offset how many matching ones are passed over first.
	Limit, Offset int
	// Cursor are the columns whose values Page.Last is to have.
	Cursor []*Column
	// More asks whether there are rows beyond Limit.
	More bool
	// MaxBytes is the size of out at which no further row is begun, MaxValue the most bytes of one text, JSON or binary
	// value, of which a longer one shows its beginning and says so; 0 is no bound.
	MaxBytes, MaxValue int
	// Total asks for the number of matching rows.
	Total Total
	// Lock locks the rows until the transaction ends.
	Lock bool
}

// Total is a way to count the matching rows (docs/design/tools.md, "Total counts").
type Total uint8

// The ways. If the page itself tells how many rows there are, nothing is counted, whatever the way.
const (
	TotalNone Total = iota
	// TotalExact is exact, or the call is a Timeout.
	TotalExact
	// TotalAuto is exact if that takes no longer than TotalBudget; else the planner's estimate, or, on an engine that
	// has none, TotalCapped.
	TotalAuto
	// TotalCapped stops counting at TotalCap.
	TotalCapped
)

// The bounds of TotalAuto and TotalCapped.
const (
	TotalBudget = 250 * time.Millisecond
	TotalCap    = 10_000
)

// Output is one member of a row's JSON object.
type Output struct {
	// Name is the member's name.
	Name string
	// Columns is the one column whose value stands there; or, with Composite, the columns of a key, whose values are
	// each percent-encoded and joined by commas into one string.
	Columns   []*Column
	Composite bool
	// Mask shows a value as "****" and its KeepLast last characters only, if it has at least twice that and four more.
	Mask     bool
	KeepLast int
	// Slice shows a piece of a Text, JSON or Bytes value only, as a string; nil is the whole value.
	Slice *Slice
}

// Slice is a piece of a value: Length characters behind the first Offset ones, or bytes if the column's kind is Bytes. It is
// empty behind the value's end.
type Slice struct{ Offset, Length int }

// Order is one step of an ordering.
type Order struct {
	Column     *Column
	Descending bool
}

// Condition is a predicate on the rows of a source. Columns in it are that source's, but inside Exists.
type Condition interface{ condition() }

// And is true if all are; an empty And is true.
type And []Condition

// Or is true if any is; an empty Or is false.
type Or []Condition

// Never is met by no row.
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

// In is true if the column equals any of the values; false if there are none.
type In struct {
	Column *Column
	Values []Value
}

// TextOp is an operator of Match.
type TextOp uint8

// The operators. The text matches itself: % and _ in it are no wildcards.
const (
	TextEquals TextOp = iota
	TextContains
	TextStartsWith
	TextEndsWith
)

// Match compares a text column with a text; without FoldCase case matters, on every engine and in every collation.
type Match struct {
	Column   *Column
	Op       TextOp
	Text     string
	FoldCase bool
}

// DatePart is a piece of a date or timestamp, in UTC.
type DatePart uint8

// The parts. WholeDate compares with a date text "YYYY-MM-DD", the others with an int64.
const (
	WholeDate DatePart = iota
	Year
	Month
	Day
)

// PartEquals is true if that part of a date or timestamp column equals the value.
type PartEquals struct {
	Column *Column
	Part   DatePart
	Value  Value
}

// Exists is true if a row of From meets Where and its Theirs columns equal this source's Ours columns, pair by pair.
type Exists struct {
	From         Source
	Ours, Theirs []*Column
	// Where may be nil.
	Where Condition
}

// Value is a bound value in the form that its column's kind has: nil, bool (Boolean), int64 (Integer; uint64 beyond its
// range), float64 (Float), string (Text, Decimal, Date, Time, Timestamp, TimestampTZ, Interval, UUID, Enum, Other),
// []byte (Bytes, JSON), []Value (Array; nested for one of several dimensions, elements in the form of the column's
// Element).
type Value any

func (And) condition()        {}
func (Or) condition()         {}
func (Not) condition()        {}
func (IsNull) condition()     {}
func (Compare) condition()    {}
func (In) condition()         {}
func (Match) condition()      {}
func (PartEquals) condition() {}
func (Exists) condition()     {}
