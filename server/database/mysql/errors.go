package mysql

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/connpool"
	"github.com/mcp-admin/mcp-admin-operator/server/database/dial"
)

const reasonError = contract.ReasonDatabaseError

// number returns the server's number of an error; 0 if the error is not the server's.
func number(err error) uint16 {
	var answer *mysql.MySQLError
	if errors.As(err, &answer) {
		return answer.Number
	}
	return 0
}

// acquireError says why there is no connection.
func (d *db) acquireError(ctx context.Context, err error) *database.Error {
	switch {
	case ctx.Err() != nil, d.closing.Err() != nil:
		return dial.Cancelled(err)
	case errors.Is(err, connpool.ErrBusy):
		return &database.Error{
			Code: database.Busy, Reason: reasonError, Cause: err,
			Message: "all " + strconv.Itoa(d.pool.Size()) + " database connections of this server are in use; try again",
		}
	}
	return d.connectError(err)
}

// connectError says why a connection, or its session, could not be made.
func (d *db) connectError(err error) *database.Error {
	var known *database.Error
	if errors.As(err, &known) {
		return known
	}
	return connectFailure("", err)
}

func connectFailure(address string, err error) *database.Error {
	var answer *mysql.MySQLError
	if errors.As(err, &answer) {
		return refusal(address, answer)
	}
	return dial.Failure(address, err, errors.Is(err, mysql.ErrNoTLS))
}

// refusal is the error of a server that answered but refused the connection. Its words name the user, and are left out.
func refusal(address string, answer *mysql.MySQLError) *database.Error {
	e := &database.Error{Code: database.Unreachable, Reason: contract.ReasonUnreachable, Cause: withoutWords(answer)}
	switch answer.Number {
	case errNoSuchDatabase:
		e.Reason, e.Message = contract.ReasonDatabaseNotFound, dial.At(address)+" is not there: the server has none of that name"
	case errDatabaseDenied:
		e.Reason, e.Message = contract.ReasonAuthenticationFailed, dial.At(address)+" may not be connected to by this user"
	case errAccessDenied, errAccessDeniedNoPassword, errNotSupportedAuth:
		e.Reason, e.Message = contract.ReasonAuthenticationFailed, dial.At(address)+" refused the user or the password"
	case errHostNotPrivileged, errHostBlocked:
		e.Reason, e.Message = contract.ReasonAuthenticationFailed, dial.At(address)+" lets nobody in from here"
	case errSecureTransport:
		e.Reason, e.Message = contract.ReasonTLSFailed, dial.At(address)+" takes TLS connections only"
	case errTooManyConnections, errTooManyUserConnections, errUserLimit:
		e.Message = dial.At(address) + " has no connection left (max_connections, or the user's own limit)"
	case errShutdown, errNotReady:
		e.Message = dial.At(address) + " is starting up or shutting down"
	default:
		e.Reason, e.Message = reasonError, dial.At(address)+" refused the connection (error "+strconv.Itoa(int(answer.Number))+")"
	}
	return e
}

// withoutWords is the server's error without its words, which may quote rows, values and names of users.
func withoutWords(answer *mysql.MySQLError) error {
	return &serverError{answer.Number, string(answer.SQLState[:]), codeOf(answer)}
}

// serverError is an error of the server's without its words, which may hold values.
type serverError struct {
	number uint16
	state  string
	// code is the gateway's own name of the error; "" if it has none, or none is before the server.
	code string
}

func (e *serverError) Error() string {
	if e.code != "" {
		return fmt.Sprintf("the server's error %d (SQLSTATE %s, %s)", e.number, e.state, e.code)
	}
	return fmt.Sprintf("the server's error %d (SQLSTATE %s)", e.number, e.state)
}

// StatusCode is the error's number: MySQL has several of them for one SQLSTATE.
func (e *serverError) StatusCode() string { return strconv.Itoa(int(e.number)) }

// statementError says why a statement failed. limited is the context that it ran in, ctx the caller's. table is the table
// that it wrote to, or nil.
func (d *db) statementError(ctx, limited context.Context, err error, table *database.Table) *database.Error {
	var known *database.Error
	switch {
	case errors.As(err, &known):
		return known
	case ctx.Err() != nil, d.closing.Err() != nil:
		return dial.Cancelled(wordless(err))
	case limited.Err() != nil:
		return d.timedOut(err)
	}
	var answer *mysql.MySQLError
	if !errors.As(err, &answer) {
		return &database.Error{Code: database.Unreachable, Reason: contract.ReasonUnreachable, Message: "the connection to the database broke off", Cause: err}
	}
	if e := d.violation(answer, table); e != nil {
		return e
	}
	return d.answerError(answer)
}

func wordless(err error) error {
	var answer *mysql.MySQLError
	if errors.As(err, &answer) {
		return withoutWords(answer)
	}
	return err
}

func (d *db) timedOut(cause error) *database.Error {
	return &database.Error{
		Code: database.Timeout, Reason: reasonError, Cause: wordless(cause),
		Message: "the statement took longer than " + d.statementTimeout().String(),
	}
}

// isLacking reports whether an error says that the server does not know the request. Servers that speak MySQL's
// protocol (TiDB, Vitess and others) may lack some of its variables, tables and statements.
func isLacking(err error) bool {
	switch number(err) {
	case errBadField, errSyntax, errUnknownTable, errNoSuchTable, errUnknownVariable, errWrongVariableValue, errNotSupported,
		errVariableIsReadOnly:
		return true
	}
	return isUnsupported(err)
}

// isUnsupported reports whether a gateway (vtgate) says that it does not take the statement: it has one number for all that it
// refuses.
func isUnsupported(err error) bool {
	var answer *mysql.MySQLError
	return errors.As(err, &answer) && answer.Number == errUnknown && strings.Contains(answer.Message, ": unsupported: ")
}

// isReadOnly reports whether a server takes no writes at all: it is, or has become, a replica of another server.
func isReadOnly(answer *mysql.MySQLError) bool {
	switch answer.Number {
	case errReadOnlyTransaction, errReadOnlyMode:
		return true
	case errReadOnlyOption: // one of several options in its message
		return strings.Contains(answer.Message, "read-only") || strings.Contains(answer.Message, "read_only")
	}
	return false
}

// answerError says what a server's error about a statement means, unless it is about a row that was written.
func (d *db) answerError(answer *mysql.MySQLError) *database.Error {
	e := &database.Error{Code: database.Failed, Reason: reasonError, Message: "the database could not answer", Cause: withoutWords(answer)}
	if isReadOnly(answer) {
		e.Code, e.Reason, e.Message = database.Unreachable, contract.ReasonUnreachable, "the database takes no writes now: the server is read-only, as one is that another took over from"
		return e
	}
	if isUndone(answer) {
		return undone(e)
	}
	if d.gateway.Load() && (answer.Number == errNotSupported || isUnsupported(answer)) || d.spread.Load() && answer.Number == errUnknown {
		e.Code, e.Message = database.Invalid, notOverAll
		return e
	}
	if strings.HasPrefix(answer.Message, severalShards) {
		e.Code, e.Ended, e.Message = database.Invalid, true, oneShardAlone
		return e
	}
	switch answer.Number {
	case errInterrupted, errQueryTimeout, errStatementTimeout:
		return d.timedOut(answer)
	case errLockWaitTimeout:
		e.Code, e.Message = database.Locked, "another transaction holds a row that this one needs; try again"
	case errDeadlock:
		e.Code, e.Again, e.Message = database.Locked, true, "two transactions waited for each other, and this one gave way; try again"
	case errChangedSinceRead, errWriteConflict, errTryAgain:
		e.Code, e.Again, e.Message = database.Locked, true, "another transaction changed a row that this one needs; try again"
	case errNoSuchTable, errBadField, errNoSuchDatabase, errViewInvalid, errUnknownTable, errDefinitionChanged:
		e.Code, e.Message = database.Changed, "the database's tables have changed"
	case errTableDenied, errColumnDenied, errDatabaseDenied, errSpecialDenied, errRoutineDenied:
		e.Code, e.Message = database.Refused, "the database's user may not do that"
	case errReadOnlyTable:
		e.Code, e.Message = database.Refused, "the database takes no writes to that table: it is read-only"
	case errNotUpdatable, errNotInsertable:
		e.Code, e.Message = database.Refused, "the view does not take that write"
	case errTableFull, errDiskFull:
		e.Code, e.Message = database.Full, "the database has no room left"
	case errTooBigSelect:
		e.Code, e.Message = database.Invalid, "the statement is about more rows than the database takes at once; ask for fewer, by filters or in parts, and for no exact total"
	case errPacketTooLarge, errPacketOverflowed, errTooManyPlaceholders, errRowTooLarge:
		e.Code, e.Message = database.Invalid, "the values are too many or too large for the database (max_allowed_packet)"
	case errMixedCollations, errMixedCollations3, errMixedCollationsN, errCollationCharset, errInvalidCharacter, errInvalidJSON,
		errInvalidJSONParameter, errInvalidJSONCharset, errJSONTooDeep, errJSONCharset, errJSONCharacter, errJSONEnds, errJSONSyntax,
		errJSONEscape, errJSONDepth, errGeometry, errNoGeometry, errDifferentSRIDs, errWrongSRID, errNoSRS,
		errLongitude, errLatitude, errOutOfRange, errIllegalValue, errWrongValueForType, errWrongValue, errMomentOverflow,
		errCastOverflow, errCastTruncated, errCastIllegal, errNoConversion, errNoConversionOfValue:
		e.Code, e.Message = database.Invalid, "a value is not of its column's type, or cannot be compared with it"
	case errDivisionByZero:
		e.Code, e.Message = database.Invalid, "the database would divide by a value that is zero"
	case errBehindAway, errBehindGone:
		e.Code, e.Message = database.Unready, "a server that has rows of a table cannot be reached, and nothing was changed; try again in a few seconds"
	case errBehindMissing:
		e.Code, e.Message = database.Unready, missingBehind
	case errShutdown, errNotReady, errKilledMariaDB, errKilledMySQL, errIdleTooLong, errConnectionGone, errConnectionLost:
		e.Code, e.Reason, e.Message = database.Unreachable, contract.ReasonUnreachable, "the database is shutting down or restarting"
	}
	return e
}
