// Package database is the server's way to its database: what introspection finds (Schema), what can be asked (Select),
// and the DB that answers. Its subpackages speak to one engine each.
//
// SQL is built in one place per dialect, below this package. Identifiers in it come from a Schema only, never from a
// request; values are only ever bound. A plan can be made only over a Source, and only package access mints those.
//
// Everything that plans or runs statements imports it, and the commands that look at a database. Begin with DB, then plan.go.
package database

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// DB is one database. It is safe for concurrent use. It connects when it is first asked, and again after the database
// went away. Only Close ends it.
type DB interface {
	// Introspect reads the present schema.
	Introspect(ctx context.Context) (*Schema, error)
	// Select answers a plan made from a Schema of this DB. It appends the rows to out, in the plan's Form, joined by
	// commas (no brackets), and returns the extended slice. The values come straight from the wire. Any error is an *Error.
	Select(ctx context.Context, plan *Select, out []byte) ([]byte, Page, error)
	// Report answers a query that an administrator declared, as Select answers a plan.
	Report(ctx context.Context, report *Report, out []byte) ([]byte, Reported, error)
	// Transact runs do in one transaction. It commits if do returns nil; if do returns an error, it rolls back and
	// returns that error unchanged. If no connection can be had, do does not run. Transact never runs do twice; the
	// function Transact of this package may. It must not be used on a database whose settings say ReadOnly.
	Transact(ctx context.Context, do func(Tx) error) error
	// Writers returns how many transactions can be open at once.
	Writers() int
	// Ping asks the database for a sign of life.
	Ping(ctx context.Context) error
	// Close ends all connections. Calls under way are cancelled.
	Close()
}

// SchemaLister is a DB of an engine in whose databases tables lie in several schemas.
type SchemaLister interface {
	// ReadableSchemas returns, by name, the schemas in which the user may read something, whatever the settings say.
	ReadableSchemas(ctx context.Context) ([]string, error)
}

// Watched is a DB that can tell at little cost that its schema is still the same.
type Watched interface {
	// Unchanged reports whether Introspect would certainly find what it found last. In doubt it is false.
	Unchanged(ctx context.Context) (bool, error)
}

// Resizable is a DB whose number of connections may change while it is used.
type Resizable interface {
	// Resize bounds the connections to fewer than it was opened for, or to as many again. Those that are too many are closed once
	// their calls have ended.
	Resize(connections int)
}

// Retirable is a DB with a pool of connections.
type Retirable interface {
	// Retire keeps no connection open that no call uses, as another pool takes the place of this one. It is closed later.
	Retire()
}

// Estimator is a DB whose planner can tell about how many rows a plan reads.
type Estimator interface {
	// Estimate asks the planner. It returns -1 if that does not tell.
	Estimate(ctx context.Context, plan *Select) (int64, error)
}

// Page tells about the rows that a Select wrote.
type Page struct {
	// Count is the number of rows written.
	Count int
	// More reports whether there are more rows: beyond the plan's Limit, or because MaxBytes ended the page, which Cut
	// reports.
	More, Cut bool
	// Shortened reports whether a value was cut at the plan's MaxValue.
	Shortened bool
	// Last are the last row's values of the plan's Cursor columns; nil if there is no row or none was asked for.
	Last []Value
	// Total is the number of all rows that match, beyond the page too; -1 if the plan did not ask for it, or it is not
	// known.
	Total int64
	// Precision says how exact Total is.
	Precision Precision
}

// Ends reports whether the page ends before the next row, and sets More and Cut. An engine calls it before it writes
// each row; size is the number of bytes of out so far. The first row is always written, however large it is, so that
// every page makes progress.
func (p *Page) Ends(plan *Select, size int) bool {
	limited := p.Count >= plan.Limit
	p.Cut = !limited && p.Count > 0 && plan.MaxBytes > 0 && size >= plan.MaxBytes
	p.More = limited || p.Cut
	return p.More
}

// Shows returns how many rows match if the page alone tells that; else it returns false.
func (p *Page) Shows(plan *Select) (total int64, ok bool) {
	offset := max(plan.Offset, 0)
	full := p.More || !plan.More && p.Count >= plan.Limit
	if plan.After != nil || full || offset > 0 && p.Count == 0 {
		return -1, false
	}
	return int64(offset + p.Count), true
}

// NeedsNoCount sets Total, and reports whether nothing has to be counted for it: nobody wants it, which is -1, or the page alone tells it.
func (p *Page) NeedsNoCount(plan *Select) bool {
	p.Total = -1
	if plan.Total == TotalNone {
		return true
	}
	var ok bool
	p.Total, ok = p.Shows(plan)
	return ok
}

// AtLeast returns the least number of matching rows, as the page shows it.
func (p *Page) AtLeast(plan *Select) int64 {
	n := p.Count
	if p.More {
		n++
	}
	if n > 0 {
		n += max(plan.Offset, 0)
	}
	return int64(n)
}

// Precision is how exact a Total is.
type Precision uint8

// The precisions.
const (
	TotalIsExact Precision = iota
	// TotalIsEstimated: the planner's estimate.
	TotalIsEstimated
	// TotalIsAtLeast: counting stopped there.
	TotalIsAtLeast
)

// Code says what kind of Error it is.
type Code string

// The codes.
const (
	// Unreachable: no connection can be had; Reason says why in contract's words.
	Unreachable Code = "unreachable"
	// Busy: all connections of the pool were in use for too long.
	Busy Code = "busy"
	// Timeout: the statement ran longer than it may.
	Timeout Code = "timeout"
	// Cancelled: the caller went away.
	Cancelled Code = "cancelled"
	// Changed: a table or column of the plan is no longer there. The schema should be read again.
	Changed Code = "changed"
	// Unfit: a statement that an administrator declared names what is not there. The schema should be read again, which helps only if
	// the database has changed since.
	Unfit Code = "unfit"
	// Invalid: a bound value is not of its column's type, though it looked like one. Message is fit for the caller.
	Invalid Code = "invalid"
	// Violated: a constraint does not allow the write; the Error's Violation says which.
	Violated Code = "violated"
	// Locked: another transaction holds a lock that the statement needs, or both waited for each other.
	Locked Code = "locked"
	// Contended: other transactions got in the way each time that this one ran.
	Contended Code = "contended"
	// Refused: the database's user may not do that, or the database is used for reading only.
	Refused Code = "refused"
	// Unready: the table has no data to read now: an administrator must fill it (a materialized view), or the server or the files that
	// have its rows cannot be read. Message is fit for the caller.
	Unready Code = "unready"
	// Undivided: no part of the transaction can be undone alone, as it has read or changed a table whose storage engine has no
	// savepoints. Nothing failed: the transaction can go on as a whole. Message is fit for the caller.
	Undivided Code = "undivided"
	// Full: the database has no room left for the write.
	Full Code = "full"
	// Uncertain: the connection broke while the transaction was being committed; nobody knows whether it was.
	Uncertain Code = "uncertain"
	// Unconfirmed: the transaction was committed, and no standby has confirmed that it has it, though one should. A failover may
	// lose it.
	Unconfirmed Code = "unconfirmed"
	// Partly: a part of the transaction was committed and the rest was not, or will be later, as its rows lie on several servers.
	Partly Code = "partly"
	// Failed: anything else.
	Failed Code = "failed"
)

// Error is a failure of the database. Message names no secret and no SQL. Cause is for the log: it may hold the
// driver's words but never a credential.
type Error struct {
	Code Code
	// Reason is one of contract's Reason… for a DatabaseStatus.
	Reason  string
	Message string
	Cause   error
	// Violation is set if the code is Violated; nil otherwise.
	Violation *Violation
	// Column is the column with the wrong value, if the code is Invalid and the engine says which; else nil.
	Column *Column
	// Again reports that the transaction failed only because of others that ran at the same time (a serialization
	// failure, a deadlock), and that all of it was undone. Running it once more may succeed.
	Again bool
	// Whole reports, if the code is Uncertain, that the transaction is in the database as a whole or not at all, so that a key in it tells
	// whether it is.
	Whole bool
	// Ended reports that the database has ended the transaction, and undone all of it.
	Ended bool
	// NotBegun reports that the transaction could not begin, which an engine may find out with its first statement.
	NotBegun bool
}

// Committed reports whether a transaction that ended so is in the database: without an error, or without a standby that has it, too.
func Committed(err error) bool {
	var e *Error
	return err == nil || errors.As(err, &e) && e.Code == Unconfirmed
}

// CouldNotBegin reports whether an error says that a transaction could not begin.
func CouldNotBegin(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.NotBegun
}

func (e *Error) Error() string {
	if e.Cause == nil {
		return e.Message
	}
	return fmt.Sprintf("%s: %v", e.Message, e.Cause)
}

func (e *Error) Unwrap() error { return e.Cause }

// AsError returns err as an *Error. It wraps any other error as Failed.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: Failed, Message: "the database could not answer", Cause: err}
}

// AcquireTimeout is how long a call waits for a free connection before it is refused as Busy.
const AcquireTimeout = 5 * time.Second
