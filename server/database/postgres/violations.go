package postgres

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// answered reports whether the server said why it failed, and did not end the session with it. A server that does not
// know whether a statement was completed (40003) has not answered.
func answered(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.SeverityUnlocalized != "FATAL" && answer.SeverityUnlocalized != "PANIC" && answer.Code != "40003"
}

// endedByServer reports whether the server ended the session instead of running a statement. It runs none after that.
func endedByServer(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code == "57P01"
}

// writeError says why a statement of a transaction failed. c is the statement and table what it writes to, if they
// are known.
func (d *db) writeError(ctx context.Context, err error, c *call, table *database.Table) *database.Error {
	var known *database.Error
	if errors.As(err, &known) {
		return known
	}
	var answer *pgconn.PgError
	if ctx.Err() == nil && d.closing.Err() == nil && errors.As(err, &answer) {
		if violation := d.violation(answer, c, table); violation != nil {
			return &database.Error{
				Code: database.Violated, Reason: reasonError, Message: violated[violation.Kind], Cause: forTheLog(answer), Violation: violation,
			}
		}
		if preparedLost(err) {
			d.unnamed.Store(true) // the next transaction may succeed
		}
	}
	e := d.statementError(ctx, err)
	if c != nil {
		c.blame(e, answer)
	}
	if e.Code == database.Changed {
		d.reset()
	}
	return e
}

// violated are the words for each kind of violation. The columns are named elsewhere, by code that knows which ones the
// caller may see.
var violated = map[database.ViolationKind]string{
	database.UniqueViolation:     "another row has these values already",
	database.ForeignKeyViolation: "there is no row that the value refers to",
	database.ReferencedViolation: "other rows refer to this row",
	database.NotNullViolation:    "a value is required",
	database.CheckViolation:      "a constraint of the database does not allow the value",
	database.OtherViolation:      "a rule of the database does not allow the change",
	database.ExclusionViolation:  "a constraint of the database does not allow the row beside another one",
	database.PartitionViolation:  "the table has no partition for the row",
}

// violation returns the constraint that an answer is about; nil if it is not about one. c is the statement and written
// the table that it writes to, if they are known.
func (d *db) violation(answer *pgconn.PgError, c *call, written *database.Table) *database.Violation {
	v := &database.Violation{Constraint: answer.ConstraintName}
	if raised(answer) {
		v.Message = answer.Message
	}
	switch kind, ok := violationKinds[answer.Code]; {
	case ok:
		v.Kind = kind
	case v.Message != "" && !meant(answer.Code):
		// A trigger or procedure raised the error.
	default:
		return nil
	}
	if v.Kind == database.CheckViolation && strings.HasPrefix(answer.Routine, "ExecFindPartition") {
		v.Kind = database.PartitionViolation
	}
	known := d.known.Load()
	v.Table = known.resolve(answer.SchemaName, answer.TableName, written)
	if v.Table != nil {
		v.Columns = known.columns(v.Table, answer, v.Kind)
	}
	// The server names the foreign key's own table in both directions. The direction follows from its words, if they
	// are English, and from the table that was written.
	if v.Kind == database.ForeignKeyViolation && (strings.HasPrefix(answer.Message, "update or delete on ") || written != nil && v.Table != nil && v.Table != written) {
		v.Kind = database.ReferencedViolation
	}
	if v.Table == nil {
		v.Table = written
	}
	if len(v.Columns) == 0 && c != nil { // a domain's check belongs to no table
		if arg, _ := c.atFault(answer); arg != nil && arg.Column != nil {
			v.Columns = []*database.Column{arg.Column}
		}
	}
	return v
}

// violationKinds are the kinds by SQLSTATE. Views WITH CHECK OPTION and errors of triggers and procedures have no
// SQLSTATE of their own.
var violationKinds = map[string]database.ViolationKind{
	"23505": database.UniqueViolation, "23503": database.ForeignKeyViolation, "23001": database.ReferencedViolation,
	"23502": database.NotNullViolation, "23514": database.CheckViolation, "23P01": database.ExclusionViolation,
	"23000": database.OtherViolation, "44000": database.OtherViolation, "27000": database.OtherViolation, "09000": database.OtherViolation,
	"P0001": database.OtherViolation, "P0002": database.OtherViolation, "P0003": database.OtherViolation, "P0004": database.OtherViolation,
	"38000": database.OtherViolation,
}

// raised reports whether people wrote the words of an answer, with RAISE or with a SQLSTATE that only applications use.
func raised(answer *pgconn.PgError) bool {
	return answer.Routine == "exec_stmt_raise" || answer.Code == "P0001" || len(answer.Code) == 5 && !understood(answer.Code)
}

// meant reports whether a SQLSTATE says more than the words that were raised with it, such as to try again or to ask
// for a right.
func meant(code string) bool {
	return code == "55P03" || slices.Contains([]string{"08", "40", "42", "53", "57"}, code[:min(2, len(code))])
}

// serversClasses are the classes of SQLSTATE that the server and the SQL standard use.
const serversClasses = " 00 01 02 03 08 09 0A 0B 0F 0L 0P 0Z 10 20 21 22 23 24 25 26 27 28 2B 2D 2F 34 38 39 3B 3D 3F 40 42 44 53 54 55 57 58 72 F0 HV P0 XX "

// understood reports whether a SQLSTATE belongs to such a class.
func understood(code string) bool {
	return strings.Contains(serversClasses, " "+code[:min(2, len(code))]+" ")
}

// forTheLog is an answer without its details and statements, and without its words if they may hold a row's value: none
// of that belongs in the log.
func forTheLog(answer *pgconn.PgError) *pgconn.PgError {
	short := &pgconn.PgError{
		Severity: answer.Severity, Code: answer.Code, SchemaName: answer.SchemaName, TableName: answer.TableName,
		ColumnName: answer.ColumnName, ConstraintName: answer.ConstraintName, Message: answer.Message,
	}
	if tellsValues(answer) {
		short.Message = "its words may hold values, and are left out"
	}
	return short
}

// tellsValues reports whether the words of an answer may hold a row's value or a statement's text.
func tellsValues(answer *pgconn.PgError) bool {
	switch answer.Code[:min(2, len(answer.Code))] {
	case "22", "23", "27", "38", "39", "44", "P0", "HV":
		return true
	}
	// A syntax error quotes the statement; a trigger may raise any code, with any words.
	return answer.Code == "42601" || raised(answer)
}

// known is the last result of the introspection. It tells which columns a violation is about.
type known struct {
	tables map[tableName]*database.Table
	// roots are the partitioned tables of partitions.
	roots map[*database.Table]*database.Table
	// partitionedBy are the columns, not the expressions, that a table is partitioned by. It goes by names: who writes may
	// hold the table as an earlier introspection found it.
	partitionedBy map[tableName][]*database.Column
}

type tableName struct{ schema, name string }

// resolve returns the table of that name. For a partition of the table that was written it returns that table. nil
// means an unknown table.
func (k *known) resolve(schema, name string, written *database.Table) *database.Table {
	if written != nil && written.Schema == schema && written.Name == name {
		return written
	}
	if k == nil || name == "" {
		return nil
	}
	found := k.tables[tableName{schema, name}]
	if root := k.roots[found]; root != nil && written != nil && root.Schema == written.Schema && root.Name == written.Name {
		return written
	}
	return found
}

// columns returns the columns that a violation is about, by their names in its table: a partition's constraints have
// names of their own.
func (k *known) columns(table *database.Table, answer *pgconn.PgError, kind database.ViolationKind) []*database.Column {
	if answer.ColumnName != "" {
		if c := table.Column(answer.ColumnName); c != nil {
			return []*database.Column{c}
		}
		return nil
	}
	said := table
	if answer.TableName != table.Name || answer.SchemaName != table.Schema {
		if said = k.tables[tableName{answer.SchemaName, answer.TableName}]; said == nil {
			return nil
		}
	}
	if kind == database.PartitionViolation {
		return sameColumns(table, k.partitionedBy[tableName{said.Schema, said.Name}])
	}
	for _, constraint := range said.Constraints {
		if constraint.Name == answer.ConstraintName {
			return sameColumns(table, constraint.Columns)
		}
	}
	return nil
}

// sameColumns returns a table's columns with the same names as another's; nil if one is missing.
func sameColumns(table *database.Table, others []*database.Column) []*database.Column {
	columns := make([]*database.Column, len(others))
	for i, other := range others {
		if columns[i] = table.Column(other.Name); columns[i] == nil {
			return nil
		}
	}
	return columns
}
