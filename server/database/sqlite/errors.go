package sqlite

import (
	"context"
	"errors"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/connpool"
)

const reasonError = contract.ReasonDatabaseError

// resultCode returns SQLite's primary result code, or 0 if the error is not SQLite's.
func resultCode(err error) int { return extendedCode(err) & 0xff }

// extendedCode returns SQLite's extended result code, or 0 if the error is not SQLite's.
func extendedCode(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code()
}

func (d *db) unreachable(why string, cause error) *database.Error {
	return &database.Error{
		Code: database.Unreachable, Reason: contract.ReasonUnreachable, Cause: cause,
		Message: "the SQLite file " + d.settings.SQLitePath + " cannot be opened: " + why,
	}
}

func cancelled(cause error) *database.Error {
	return &database.Error{Code: database.Cancelled, Reason: reasonError, Message: "the call was cancelled", Cause: cause}
}

// openError says why there is no connection.
func (d *db) openError(ctx context.Context, err error) *database.Error {
	switch {
	case ctx.Err() != nil, d.closing.Err() != nil:
		return cancelled(err)
	case errors.Is(err, connpool.ErrBusy):
		return &database.Error{Code: database.Busy, Reason: reasonError, Message: "all database connections of this server are in use; try again", Cause: err}
	}
	if e := d.lostError(err); e != nil {
		return e
	}
	if e := d.codeError(err); e.Code != database.Failed {
		return e
	}
	return d.unreachable("SQLite refused it", err)
}

// statementError says why a statement failed; limited is the context that it ran in, ctx the caller's.
func (d *db) statementError(ctx, limited context.Context, err error) *database.Error {
	switch {
	case ctx.Err() != nil, d.closing.Err() != nil:
		return cancelled(err)
	case limited.Err() != nil:
		return &database.Error{
			Code: database.Timeout, Reason: reasonError, Cause: err,
			Message: "the statement took longer than " + time.Duration(d.settings.StatementTimeout).String(),
		}
	}
	if e := d.lostError(err); e != nil {
		return e
	}
	return d.codeError(err)
}

func (d *db) codeError(err error) *database.Error {
	e := &database.Error{Code: database.Failed, Reason: reasonError, Message: "the database could not answer", Cause: err}
	switch resultCode(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		e.Code, e.Message = database.Busy, "the database is locked by another process; try again"
	case sqlite3.SQLITE_CANTOPEN:
		return d.unreachable("it is not there, or may not be read", err)
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		e.Code, e.Message = database.Unreachable, "the file "+d.settings.SQLitePath+" is no sound SQLite database"
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL:
		e.Message = "the SQLite file " + d.settings.SQLitePath + " cannot be read or written: its volume reports an error"
	case sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_RANGE:
		e.Code, e.Message = database.Invalid, "a value is too large"
	case sqlite3.SQLITE_ERROR:
		e.Code, e.Message = statementFault(err.Error())
	}
	return e
}

// statementFault tells what is wrong with a statement. SQLite has one code for all faults, and only its words differ.
func statementFault(said string) (database.Code, string) {
	contains := func(words string) bool { return strings.Contains(said, words) }
	switch {
	case contains("no such table"), contains("no such column"), contains("has no column named"):
		return database.Changed, "the database's tables have changed"
	case contains("variable number must be"), contains("too many SQL variables"), contains("too large"), contains("too complex"):
		return database.Invalid, "the filters hold too many values"
	case contains("malformed JSON"):
		return database.Invalid, "a text that a trigger, view or computed column of the database reads as JSON is not valid JSON"
	case contains("foreign key mismatch"):
		return database.Failed, "a foreign key does not fit the table that it names, so that SQLite refuses to write"
	}
	return database.Failed, "the database could not answer"
}
