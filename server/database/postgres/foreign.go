package postgres

import (
	"errors"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Foreign tables lie on other servers, which our server asks in a session and a transaction of its own for each of them. Errors from
// there look like its own, except for the function that raised them.

// foreignNote is what a status says of a database with foreign tables.
const foreignNote = "it has foreign tables: their servers commit by themselves, so that a change may stay there although its call failed, " +
	"and its line in the journal and its idempotency key may be missing then"

// ofForeign says why a statement failed that the other server of a foreign table was asked for; false if the error is not from there.
func ofForeign(e *database.Error, answer *pgconn.PgError) bool {
	class := answer.Code[:min(2, len(answer.Code))]
	relayed := answer.Routine == "pgfdw_report_error"
	switch {
	case answer.Code == "08001", answer.Code == "HV00N", relayed && (class == "08" || class == "57" && answer.Code != "57014" || class == "53"):
		e.Code, e.Message = database.Unready, "the server behind a foreign table cannot be reached, and nothing was changed; try again in a few seconds"
	case relayed && answer.Code == "57014":
		e.Code, e.Message = database.Timeout, "the server behind a foreign table took longer than it allows"
	case relayed && answer.Code == "25006":
		e.Code, e.Message = database.Unready, "the server behind a foreign table takes no changes: it is a standby, or its transactions are read-only by default"
	case relayed && tableChanged(answer):
		e.Code, e.Message = database.Unready, "a foreign table does not fit the table behind it; whoever administers the database must change one of the two"
	case answer.Routine == "GetUserMapping":
		e.Code, e.Message = database.Refused, "the database user has no user mapping for the server of the foreign table (CREATE USER MAPPING)"
	case relayed && answer.Code == "42501":
		e.Code, e.Message = database.Refused, "the server behind a foreign table does not let the user of the mapping do that"
	default:
		return false
	}
	return true
}

// mayHaveTaken reports whether a part of a transaction may have been committed, although COMMIT failed: the servers of foreign tables
// commit before ours does, one after the other.
func (d *db) mayHaveTaken(err error) bool {
	var answer *pgconn.PgError
	return d.foreign.Load() && errors.As(err, &answer) &&
		(answer.Routine == "pgfdw_report_error" || slices.Contains([]string{"08", "57", "HV"}, answer.Code[:min(2, len(answer.Code))]))
}
