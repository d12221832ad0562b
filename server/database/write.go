package database

import "context"

// Tx is a transaction on one connection. One goroutine uses it, and only until the function that got it returns. Any
// error of its methods is an *Error. After an error the transaction can go on only if Savepoint undid the failed part.
type Tx interface {
	// Select is like DB's, within the transaction. With plan.Lock the rows that it reads stay locked until the end.
	Select(ctx context.Context, plan *Select, out []byte) ([]byte, Page, error)
	// Insert adds a row and appends what Returning asks for as one JSON object. It appends nothing if the database
	// stored no such row, because a trigger or rule silently refused it or replaced the statement.
	Insert(ctx context.Context, plan *Insert, out []byte) ([]byte, error)
	// InsertLater adds a row that the rest of the transaction does not need: an engine that can sends it with the next
	// statements, or with the commit, which then have its error.
	InsertLater(ctx context.Context, plan *Insert) error
	// Update changes rows and returns how many matched. A row counts even if its values stay the same. Only in a Batch does it
	// return what Returning asks for.
	Update(ctx context.Context, plan *Update) (int64, error)
	// Delete removes rows and returns how many, without rows that the database itself removed with them.
	Delete(ctx context.Context, plan *Delete) (int64, error)
	// Execute runs a statement that an administrator declared and returns how many rows it is about.
	Execute(ctx context.Context, statement *Declared) (int64, error)
	// Savepoint runs do. If do returns an error, Savepoint undoes what do did and returns that error; the transaction
	// can go on. So it can if the error's code is Undivided: then do was not run.
	Savepoint(ctx context.Context, do func() error) error
	// Run runs the statements of a batch, in as few round trips as the engine can, and ends with the first error.
	Run(ctx context.Context, batch *Batch) error
	// CheckConstraints checks now what the database would check at the commit.
	CheckConstraints(ctx context.Context) error
}

// Insert adds one row to a source. It does not check that the row meets the source's policy. The caller must read the
// row back through the source in the same transaction, because triggers may change it after the statement.
type Insert struct {
	Into Source
	// Set may be empty: every column then gets its default.
	Set []Assignment
	// Returning are the members of the new row to return, as far as they are known: usually its key. Table.InsertReturns
	// reports whether they are what a read would show. MaxValue is that of Select.
	Returning []Output
	MaxValue  int
	// Meets is a condition on the row's own columns, or nil. "null" is returned of a row that does not meet it.
	Meets Condition
}

// Update changes those rows of a source that meet its policy and Where. There is no update without a condition.
type Update struct {
	In    Source
	Set   []Assignment
	Where Condition
	// Returning, MaxValue and Meets are those of Insert. Returning must be empty unless Table.UpdateReturns is set.
	Returning []Output
	MaxValue  int
	Meets     Condition
}

// Delete removes those rows of a source that meet its policy and Where. There is no delete without a condition.
type Delete struct {
	From  Source
	Where Condition
}

// Assignment gives a column a value.
type Assignment struct {
	Column *Column
	// How says what the value is. Value is used with AssignValue only.
	How   AssignHow
	Value Value
	// Kept reports that Value is one that the engine kept (see ParseKept): it is stored as it is, whatever the column's kind.
	Kept bool
}

// AssignHow says where an assignment's value comes from.
type AssignHow uint8

// The ways of an Assignment. AssignNow is the database's clock. AssignNext moves a version, in an Update only: it adds
// one to an integer, and sets a timestamp to the clock. If the clock is not beyond the present value, the timestamp
// moves by its type's smallest step.
const (
	AssignValue AssignHow = iota
	AssignNow
	AssignNext
)

// Declared is a statement that an administrator wrote, cut at its parameters. It never comes from a caller's text.
type Declared struct {
	Pieces []Piece
}

// Piece is a piece of a Declared statement: SQL as it was written, or, if Bound is set, one value to bind, or several
// joined by commas.
type Piece struct {
	SQL    string
	Bound  bool
	Kind   Kind
	Values []Value
}

// Violation says which constraint a write violated. The columns are the constraint's, of Table; none if the engine does
// not tell.
type Violation struct {
	Kind  ViolationKind
	Table *Table
	// Columns are nil if the database does not tell which.
	Columns []*Column
	// Constraint is its name in the database; "" if it has none.
	Constraint string
	// Message is the text of an error that a trigger or procedure of the database raised itself (SQLSTATE P0001 or a
	// class that only applications use, 45000, SQLite's RAISE). People wrote it for people. "" for the engine's own
	// constraints.
	Message string
}

// ViolationKind is a kind of constraint.
type ViolationKind uint8

// The kinds. Referenced: other rows point at the row, so it may not go. Exclusion: an exclusion constraint does not
// allow the row beside another one. Partition: there is no partition for the row. Other: a trigger refused it.
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
