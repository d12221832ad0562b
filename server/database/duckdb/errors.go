package duckdb

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/connpool"
)

const reasonError = contract.ReasonDatabaseError

// unreachable says why there is no database. why is one of this package's own errors, or tells nothing of the files' rows.
func (d *db) unreachable(why error) *database.Error {
	return &database.Error{
		Code: database.Unreachable, Reason: contract.ReasonUnreachable,
		Message: "DuckDB cannot open " + d.settings.DuckDBPath + ": " + why.Error(),
	}
}

func cancelled(cause error) *database.Error {
	return &database.Error{Code: database.Cancelled, Reason: reasonError, Message: "the call was cancelled", Cause: cause}
}

// openError says why there is no connection.
func (d *db) openError(ctx context.Context, err error) *database.Error {
	switch {
	case ctx.Err() != nil, d.closing.Err() != nil:
		return cancelled(failure(err))
	case errors.Is(err, connpool.ErrBusy):
		return &database.Error{Code: database.Busy, Reason: reasonError, Message: "all database connections of this server are in use; try again", Cause: err}
	}
	return d.unreachable(failure(err))
}

// failure is the kind of a failure in DuckDB's words ("Binder Error"). What follows it may hold values of rows, and parts of SQL.
func failure(err error) error {
	kind, _, found := strings.Cut(err.Error(), ":")
	if !found || len(kind) > 60 || strings.ContainsAny(kind, "'\"\n") {
		return errors.New("an error of DuckDB")
	}
	return errors.New(kind)
}

// statementError says why a statement failed; limited is the context that it ran in, ctx the caller's.
func (d *db) statementError(ctx, limited context.Context, err error) *database.Error {
	var told *database.Error
	switch {
	case ctx.Err() != nil, d.closing.Err() != nil:
		return cancelled(failure(err))
	case errors.As(err, &told):
		return told
	case limited.Err() != nil:
		return &database.Error{
			Code: database.Timeout, Reason: reasonError, Cause: failure(err),
			Message: "the statement took longer than " + time.Duration(d.settings.StatementTimeout).String(),
		}
	}
	e := &database.Error{Code: database.Failed, Reason: reasonError, Message: "the database could not answer", Cause: failure(err)}
	switch kind := e.Cause.Error(); kind {
	case "Catalog Error", "Binder Error":
		e.Code, e.Message = database.Changed, "the database's tables have changed"
	case "Out of Range Error":
		e.Code, e.Message = database.Invalid, "a number is beyond the 38 digits that DuckDB computes with"
		if strings.Contains(err.Error(), "STDDEV") {
			e.Message = "values have no deviation if one of them is NaN or infinite; leave those out by a filter"
		}
	case "Out of Memory Error":
		e.Code, e.Message = database.Invalid, "the answer needs more memory than the server has for it; ask for fewer rows or groups"
	case "Invalid Input Error":
		if strings.Contains(err.Error(), unendedMark) {
			return errUnended()
		}
		e.Cause = unsound{kind, err}
	case conversion, "IO Error", "Invalid Error", "Serialization Error":
		e.Cause = unsound{kind, err}
	}
	return e
}

// conversion is the kind of a failure to read a text as a value of another type.
const conversion = "Conversion Error"

// unsound is the cause of a failure that may come of a file, and of a value that cannot be converted. It tells the failure's kind only.
type unsound struct {
	kind  string
	words error
}

func (u unsound) Error() string { return u.kind }
