package postgres

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/dial"
)

const reasonError = contract.ReasonDatabaseError

// connectError says why there is no connection.
func connectError(err error) *database.Error {
	var known *database.Error
	if errors.As(err, &known) {
		return known
	}
	return connectFailure(err)
}

func connectFailure(err error) *database.Error {
	address := ""
	if failed := (*pgconn.ConnectError)(nil); errors.As(err, &failed) {
		address = addresses(failed.Config)
		err = failed.Unwrap() // ConnectError itself prints the user's name
	}
	if answer := (*pgconn.PgError)(nil); errors.As(err, &answer) {
		return refusal(address, answer)
	}
	if e := unfit(address, err); e != nil {
		return e
	}
	// pgconn has no type for a server without TLS
	return dial.Failure(address, err, strings.Contains(err.Error(), "server refused TLS connection"))
}

// addresses are the addresses of all hosts of a configuration.
func addresses(config *pgconn.Config) string {
	all := []string{net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))}
	for _, f := range config.Fallbacks {
		if one := net.JoinHostPort(f.Host, strconv.Itoa(int(f.Port))); !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return strings.Join(all, ", ")
}

// unfit is the error of a server that would accept us, but does not offer what the connection demands; nil if the error
// is another.
func unfit(address string, err error) *database.Error {
	for _, is := range []struct {
		err   error
		words string
	}{
		{pgconn.ErrReadOnlyConnection, "takes no changes"}, {pgconn.ErrReadWriteConnection, "takes changes"},
		{pgconn.ErrStandbyConnection, "is a standby"}, {pgconn.ErrPrimaryConnection, "is no standby"},
	} {
		if errors.Is(err, is.err) {
			return dial.Unreachable(address, "the server "+is.words+", and target_session_attrs asks for another", err)
		}
	}
	// pgconn has no type for this one.
	if strings.Contains(err.Error(), "authentication method requirement") {
		return &database.Error{
			Code: database.Unreachable, Reason: contract.ReasonAuthenticationFailed, Cause: err,
			Message: dial.At(address) + " asks for the password in a way that the connection does not allow; in clear text it is sent only with TLS " +
				"that is required (sslmode=require, or a stricter one), or with require_auth=password",
		}
	}
	return nil
}

// refusal is the error of a server that answered but refused the connection.
func refusal(address string, answer *pgconn.PgError) *database.Error {
	e := &database.Error{Code: database.Unreachable, Reason: contract.ReasonUnreachable, Cause: answer}
	said := strings.ToLower(answer.Message)
	// PgBouncer reports everything as a protocol violation; only its words say what it means.
	bouncer := func(words string) bool { return answer.Code == "08P01" && strings.Contains(said, words) }
	switch {
	case answer.Code == "3D000", bouncer("no such database"), bouncer("database") && bouncer("does not exist"):
		e.Reason, e.Message = contract.ReasonDatabaseNotFound, dial.At(address)+" is not there: the server has none of that name"
	case answer.Code == "42501":
		e.Reason, e.Message = contract.ReasonAuthenticationFailed, dial.At(address)+" may not be connected to by this user"
	case answer.Code == "28P01", bouncer("authentication failed"), bouncer("no such user"):
		e.Reason, e.Message = contract.ReasonAuthenticationFailed, dial.At(address)+" refused the user or the password"
	case strings.HasPrefix(answer.Code, "28"):
		e.Reason, e.Message = contract.ReasonAuthenticationFailed, dial.At(address)+" refused the user: its pg_hba.conf lets this user in from nowhere, or not from here, or not without TLS or a client certificate"
	case answer.Code == "53300":
		e.Message = dial.At(address) + " has no connection left (max_connections)"
	case answer.Code == "57P03":
		e.Message = dial.At(address) + " is starting up or shutting down"
	default:
		e.Reason, e.Message = reasonError, dial.At(address)+" refused the connection (SQLSTATE "+answer.Code+")"
	}
	return e
}

// statementError says why a statement failed; ctx is the caller's own.
func (d *db) statementError(ctx context.Context, err error) *database.Error {
	if ctx.Err() != nil || d.closing.Err() != nil {
		return dial.Cancelled(err)
	}
	e := &database.Error{Code: database.Failed, Reason: reasonError, Message: "the database could not answer", Cause: err}
	var answer *pgconn.PgError
	if !errors.As(err, &answer) {
		if pgconn.Timeout(err) || errors.Is(err, context.DeadlineExceeded) {
			e.Code, e.Message = database.Timeout, "the database did not answer in time"
		} else {
			e.Code, e.Reason, e.Message = database.Unreachable, contract.ReasonUnreachable, "the connection to the database broke off"
		}
		return e
	}
	e.Cause = forTheLog(answer)
	switch class := answer.Code[:min(2, len(answer.Code))]; {
	case ofForeign(e, answer):
	case answer.Code == "57014":
		e.Code, e.Message = database.Timeout, "the statement took longer than "+d.statementTimeout().String()
	case aboutParameter(answer) && slices.Contains([]string{"42", "3F", "XX"}, class): // tsquery, hstore: the value's own syntax; regclass: no such table
		e.Code, e.Message = database.Invalid, misfitting
	case tableChanged(answer):
		e.Code, e.Message = database.Changed, "the database's tables have changed"
	case answer.Code == "0A000" && answer.Routine == "RewriteQuery":
		e.Code, e.Message = database.Refused, "a rule of the table replaces this write and returns no row; whoever administers the database must give the rule a RETURNING clause"
	case answer.Code == "42883", answer.Code == "42804", answer.Code == "0A000":
		e.Code, e.Message = database.Invalid, "a value cannot be compared with its column in that way"
	case answer.Code == "54000":
		e.Code, e.Message = database.Invalid, "a value is too large for the database"
	case class == "22":
		e.Code, e.Message = database.Invalid, misfitting
	case answer.Code == "40001", answer.Code == "40P01":
		e.Code, e.Message, e.Again = database.Locked, "other transactions changed the same rows at the same time; try again", true
	case answer.Code == "55P03":
		e.Code, e.Message = database.Locked, "another transaction holds the row; try again"
	case answer.Code == "25006" && d.settings.ReadOnly:
		e.Code, e.Message = database.Refused, "the database allows no changes"
	case answer.Code == "25006":
		// The primary has become a standby: the next connection may lead to the new primary.
		d.reset()
		e.Code, e.Reason, e.Message = database.Unreachable, contract.ReasonUnreachable,
			"the database server takes no changes: it is a standby, or its transactions are read-only by default"
	case answer.Code == "42501":
		e.Code, e.Message = database.Refused, "the database user may not do that"
	case answer.Code == "55000" && answer.Routine == unpopulatedRoutine:
		e.Code, e.Message = database.Unready, "it is a materialized view without data; whoever administers the database must run REFRESH MATERIALIZED VIEW first"
	case answer.Code == "55000":
		e.Code, e.Message = database.Refused, "the database does not allow that on this table"
	case answer.Code == "53100":
		e.Code, e.Message = database.Full, "the database has no room left"
	case class == "08" && strings.Contains(answer.Message, "statement pooling"):
		e.Code, e.Reason, e.Message = database.Unreachable, contract.ReasonUnreachable,
			"the pooler in front of the database allows no transactions (pool_mode = statement); it must be transaction or session"
	case class == "08":
		e.Code, e.Reason, e.Message = database.Unreachable, contract.ReasonUnreachable, "the connection to the database broke off"
	case class == "57":
		e.Code, e.Reason, e.Message = database.Unreachable, contract.ReasonUnreachable, "the database is shutting down or restarting"
	}
	return e
}

// misfitting is all that is said of a value if the server does not tell which one it is. Its own words may quote a row
// that a view computes.
const misfitting = "a value is not of its column's type, or out of its range"

// unpopulatedRoutine is the server's function that finds that a materialized view has no data.
const unpopulatedRoutine = "ExecOpenScanRelation"

// aboutParameter reports whether the server's error is about a value that the caller sent. A server before version 13,
// or one in another language, does not tell.
func aboutParameter(answer *pgconn.PgError) bool {
	return strings.HasPrefix(answer.Where, parameterPrefix)
}

const parameterPrefix = "unnamed portal parameter $"

// tableChanged reports whether a statement no longer fits the tables.
func tableChanged(answer *pgconn.PgError) bool {
	switch answer.Code {
	case "42P01", "42703", "3F000", "42704": // undefined table, column, schema, type
		return true
	case "0A000": // cached plan must not change result type
		return answer.Routine == "RevalidateCachedQuery"
	}
	return false
}

// preparedLost reports whether a statement that was prepared on this connection is unknown there, or an unprepared one
// is known: there is a pooler in between.
func preparedLost(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && (answer.Code == "26000" || answer.Code == "42P05")
}
