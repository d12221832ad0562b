package database

import "context"

// Tx is a transaction on one connection. It is used by one goroutine, and not after the function that got it returned.
// Any error of its methods is an *Error. After one, only what Savepoint undoes lets the transaction go on.
type Tx interface {
	// Select is DB's, within the transaction. With plan.Lock the rows that it reads are locked until the end.
	Select(ctx context.Context, plan *Select, out []byte) ([]byte, Page, error)
	// Insert adds a row and appends what Returning asks for as one JSON object. It appends nothing if the database stored no
	// such row: a trigger or rule refused it silently, or made another statement of it.
	Insert(ctx context.Context, plan *Insert, out []byte) ([]byte, error)
	// Update changes rows and returns how many matched, whether or not their values were others before.
	Update(ctx context.Context, plan *Update) (int64, error)
	// Delete removes rows and returns how many, without those that the database itself removed with them.
	Delete(ctx context.Context, plan *Delete) (int64, error)
	// Execute runs a statement that an administrator declared and returns how many rows it is about.
	Execute(ctx context.Context, statement *Declared) (int64, error)
	// Savepoint runs do; if it returns an error, what it did is undone, the error returned, and the transaction can
	// go on.
	Savepoint(ctx context.Context, do func() error) error
	// CheckConstraints checks now what the database would check when the transaction is committed.
	CheckConstraints(ctx context.Context) error
}

// Insert adds one row to a source. That the row meets the source's policy is for the caller to see to, within the
// transaction, by reading it back through the source: triggers may change it after the statement.
type Insert struct {
	Into Source
	// Set may be empty: the row then is all defaults.
	Set []Assignment
	// Returning are members of the new row, as far as they are known: usually its key.
	Returning []Output
}

// Update changes those rows of a source that meet its policy and Where. There is no update without a condition.
type Update struct {
	In    Source
	Set   []Assignment
	Where Condition
}

// Delete removes those rows of a source that meet its policy and Where. There is no delete without a condition.
type Delete struct {
	From  Source
	Where Condition
}

// Assignment gives a column a value.
type Assignment struct {
	Column *Column
	// How says what the value is; Value is that of AssignValue.
	How   AssignHow
	Value Value
}

// AssignHow says where an assignment's value comes from.
type AssignHow uint8

// The ways of an Assignment. AssignNow is the database's clock. AssignNext moves a version, in an Update only: an integer
// by one, a timestamp to the clock, or beyond its present value by the type's smallest step if the clock is not.
const (
	AssignValue AssignHow = iota
	AssignNow
	AssignNext
)

// Declared is a statement that an administrator wrote, cut at its parameters. It is never made of a caller's text.
type Declared struct {
	Pieces []Piece
}

// Piece is a piece of a Declared statement: SQL as it was written, or, if Bound, values to bind in its place: one, or
// several that are joined by commas.
type Piece struct {
	SQL    string
	Bound  bool
	Kind   Kind
	Values []Value
}

// Violation says which constraint a write met. The columns are the constraint's, of Table; none if the engine does
// not tell.
type Violation struct {
	Kind  ViolationKind
	Table *Table
	// Columns are nil if the database does not tell which.
	Columns []*Column
	// Constraint is its name in the database; "" if it has none.
	Constraint string
	// Message is what a trigger or procedure of the database said with an error of its own (SQLSTATE P0001 or a class that
	// only applications use, 45000, SQLite's RAISE): text that people wrote for people. "" for the engine's own constraints.
	Message string
}

// ViolationKind is a kind of constraint.
type ViolationKind uint8

// The kinds. Referenced is a row that others point at, so that it may not go; Exclusion is a row that an exclusion
// constraint does not allow beside another one; Partition a row for which there is no partition; Other is whatever a trigger
// refuses.
const (
	OtherViolation ViolationKind = iota
	UniqueViolation
	ForeignKeyViolation
	ReferencedViolation
	NotNullViolation
	CheckViolation
	ExclusionViolation
	PartitionViolation
)
