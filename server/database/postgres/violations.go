package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// answered is whether the server said why it failed, and did not end the session with it.
func answered(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.SeverityUnlocalized != "FATAL" && answer.SeverityUnlocalized != "PANIC"
}

// writeError says why a statement of a transaction failed. c is the statement and table what it writes to, where they
// are known.
func (d *db) writeError(ctx context.Context, err error, c *call, table *database.Table) *database.Error {
	var known *database.Error
	if errors.As(err, &known) {
		return known
	}
	var answer *pgconn.PgError
	if ctx.Err() == nil && !d.closed.Load() && errors.As(err, &answer) {
		if violation := d.violation(answer, table); violation != nil {
			return &database.Error{
				Code: database.Violated, Reason: reasonError, Message: violated[violation.Kind], Cause: forTheLog(answer), Violation: violation,
			}
		}
		if preparedLost(err) {
			d.unnamed.Store(true) // the next transaction gets through
		}
	}
	e := d.statementError(ctx, err)
	if c != nil {
		e.Column = c.columnAtFault(err)
	}
	if e.Code == database.Changed {
		d.pool.Reset()
	}
	return e
}

// violated are the words for each kind of violation. Which columns it is about, those say who know what may be named.
var violated = map[database.ViolationKind]string{
	database.UniqueViolation:     "another row has these values already",
	database.ForeignKeyViolation: "there is no row that the value refers to",
	database.ReferencedViolation: "other rows refer to this row",
	database.NotNullViolation:    "a value is required",
	database.CheckViolation:      "a constraint of the database does not allow the value",
	database.OtherViolation:      "a rule of the database does not allow the change",
}

// violation returns what constraint an answer is about; nil where it is about none.
func (d *db) violation(answer *pgconn.PgError, written *database.Table) *database.Violation {
	v := &database.Violation{Constraint: answer.ConstraintName}
	switch answer.Code {
	case "23505":
		v.Kind = database.UniqueViolation
	case "23503":
		v.Kind = database.ForeignKeyViolation
	case "23001":
		v.Kind = database.ReferencedViolation
	case "23502":
		v.Kind = database.NotNullViolation
	case "23514":
		v.Kind = database.CheckViolation
	case "23P01", "23000", "44000", "P0001", "27000", "09000":
		// Exclusion constraints, views WITH CHECK OPTION, and what triggers refuse.
	default:
		return nil
	}
	known := d.known.Load()
	v.Table = known.resolve(answer.SchemaName, answer.TableName, written)
	if v.Table != nil {
		v.Columns = known.columns(v.Table, answer)
	}
	// The server tells of a foreign key's own table in both directions; its words, where they are English, and what was
	// written tell which it is.
	if v.Kind == database.ForeignKeyViolation && (strings.HasPrefix(answer.Message, "update or delete on ") || written != nil && v.Table != nil && v.Table != written) {
		v.Kind = database.ReferencedViolation
	}
	if v.Table == nil {
		v.Table = written
	}
	return v
}

// forTheLog is an answer without details, statements and, where they may hold a row's value, words: the log is no place
// for any of them.
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

// tellsValues is whether the words of an answer may hold a row's value or a statement's text.
func tellsValues(answer *pgconn.PgError) bool {
	switch answer.Code[:min(2, len(answer.Code))] {
	case "22", "23", "27", "38", "39", "44", "P0", "HV":
		return true
	}
	// A syntax error quotes the statement; a trigger may raise any code, with any words.
	return answer.Code == "42601" || answer.Routine == "exec_stmt_raise"
}

// columnAtFault returns the column of the bound value that the server complains of, where it tells.
func (c *call) columnAtFault(err error) *database.Column {
	var answer *pgconn.PgError
	if !errors.As(err, &answer) || !aboutParameter(answer) {
		return nil
	}
	number := 0
	for _, digit := range answer.Where[len(parameterPrefix):] {
		if digit < '0' || digit > '9' {
			break
		}
		number = 10*number + int(digit-'0')
	}
	if number < 1 || number > len(c.sql.Args) {
		return nil
	}
	return c.sql.Args[number-1].Column
}

// known is what introspection found last, to tell of which columns a violation speaks.
type known struct {
	tables map[tableName]*database.Table
	// roots are the partitioned tables that partitions belong to.
	roots map[*database.Table]*database.Table
	// partitionedBy are the columns that a table is partitioned by, as far as it is by columns.
	partitionedBy map[*database.Table][]*database.Column
}

type tableName struct{ schema, name string }

// resolve returns the table of that name; for a partition of the table that was written, that table. nil is no table
// that is known.
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
func (k *known) columns(table *database.Table, answer *pgconn.PgError) []*database.Column {
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
	for _, constraint := range said.Constraints {
		if constraint.Name != answer.ConstraintName {
			continue
		}
		columns := make([]*database.Column, 0, len(constraint.Columns))
		for _, column := range constraint.Columns {
			c := table.Column(column.Name)
			if c == nil {
				return nil
			}
			columns = append(columns, c)
		}
		return columns
	}
	return nil
}
