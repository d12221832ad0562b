package sqlite

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// intent names the table that a statement writes to, and whether it deletes.
type intent struct {
	// table is nil if it is not known: for a declared statement, or at the end of a transaction.
	table *database.Table
	// deletes reports whether it removes rows.
	deletes bool
}

// writeError says why a statement that writes failed, or the beginning or end of a transaction.
func (d *db) writeError(ctx, limited context.Context, err error, doing intent) *database.Error {
	e := d.statementError(ctx, limited, err)
	if e.Code == database.Cancelled || e.Code == database.Timeout || d.file.lost.Load() {
		return e
	}
	switch resultCode(err) {
	case sqlite3.SQLITE_CONSTRAINT:
		return constraintError(err, doing)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		e = locked(err)
		e.Again = extendedCode(err) == sqlite3.SQLITE_BUSY_SNAPSHOT // another was quicker, and waiting does not help
		return e
	case sqlite3.SQLITE_FULL:
		e.Code, e.Message = database.Full, "the SQLite file "+d.settings.SQLitePath+" has no room left, or its volume has none"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		// The file could be opened for reading. So it is the file for writing, or a journal beside it, that cannot be
		// opened.
		e.Code, e.Reason, e.Message = database.Refused, reasonError, "the SQLite file "+d.settings.SQLitePath+" or its folder cannot be written to"
	case sqlite3.SQLITE_MISMATCH:
		e = misfit(err, rowNumber(doing.table)) // of an INTEGER PRIMARY KEY only
	case sqlite3.SQLITE_ERROR:
		said := err.Error()
		switch {
		case strings.Contains(said, "because it is a view"):
			e.Code, e.Message = database.Refused, "the view has no trigger for this"
		case strings.Contains(said, "malformed JSON"):
			e.Code, e.Message = database.Invalid, "a value must be JSON, as the table computes other values from it"
		case strings.Contains(said, "integer overflow"):
			e.Code, e.Message = database.Invalid, "a value is too large: the table computes a number from it that does not fit"
		}
	}
	return e
}

func locked(cause error) *database.Error {
	return &database.Error{Code: database.Locked, Reason: reasonError, Message: "another transaction is writing to the database; try again", Cause: cause}
}

// violated is the error of a constraint.
func violated(v database.Violation, cause error) *database.Error {
	return &database.Error{Code: database.Violated, Reason: reasonError, Message: "a constraint of the database does not allow this", Violation: &v, Cause: cause}
}

// misfit is the error of a value that its column cannot hold.
func misfit(cause error, c *database.Column) *database.Error {
	e := &database.Error{Code: database.Invalid, Reason: reasonError, Message: "a value does not fit the type of its column", Column: c, Cause: cause}
	if c != nil {
		e.Message = "the value does not fit the column's type " + c.NativeType
	}
	return e
}

// rowNumber returns the key column that is the row's own number, which is always an integer; nil if there is none.
func rowNumber(table *database.Table) *database.Column {
	if table != nil && len(table.PrimaryKey) == 1 && table.PrimaryKey[0].Kind == database.Integer {
		return table.PrimaryKey[0]
	}
	return nil
}

// strictFault matches SQLite's message about a value that a column of a STRICT table cannot hold.
var strictFault = regexp.MustCompile(`^cannot store \w+ value in \w+ column (.*)$`)

// constraintError says which constraint a write violated. SQLite tells the kind by a code, and the columns in words.
func constraintError(err error, doing intent) *database.Error {
	var told *sqlite.Error
	if !errors.As(err, &told) {
		return violated(database.Violation{}, err)
	}
	v := database.Violation{Table: doing.table}
	what, words := splitFault(told.Error())
	switch told.Code() {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_ROWID:
		v.Kind = database.UniqueViolation
		if name, ok := strings.CutPrefix(words, "index '"); ok {
			v.Constraint = strings.TrimSuffix(name, "'")
			v.Columns = constraintColumns(doing.table, v.Constraint)
		} else {
			v.Columns = namedColumns(doing.table, words)
		}
	case sqlite3.SQLITE_CONSTRAINT_NOTNULL:
		v.Kind = database.NotNullViolation
		v.Columns = namedColumns(doing.table, words)
	case sqlite3.SQLITE_CONSTRAINT_CHECK:
		v.Kind, v.Constraint = database.CheckViolation, nameOf(words)
		v.Columns = constraintColumns(doing.table, words)
	case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		v.Kind = database.ForeignKeyViolation
		if doing.deletes {
			v.Kind = database.ReferencedViolation
		}
	case sqlite3.SQLITE_CONSTRAINT_TRIGGER:
		if what != "FOREIGN KEY constraint failed" {
			return violated(database.Violation{Message: what}, nil) // a trigger's RAISE: its words do not belong in the log
		}
		v.Kind = database.ReferencedViolation // of a foreign key that says RESTRICT
	case sqlite3.SQLITE_CONSTRAINT_DATATYPE:
		var at *database.Column
		if m := strictFault.FindStringSubmatch(what); m != nil {
			if columns := namedColumns(doing.table, m[1]); len(columns) == 1 {
				at = columns[0]
			}
		}
		return misfit(err, at)
	}
	if len(v.Columns) == 0 && v.Kind != database.ForeignKeyViolation && v.Kind != database.ReferencedViolation {
		v.Table = nil // a trigger's statement may be about any table
	}
	return violated(v, err)
}

// splitFault removes the driver's frame from SQLite's message. It returns the rest, and the part after "failed:".
func splitFault(message string) (what, words string) {
	_, what, _ = strings.Cut(message, "constraint failed: ")
	if at := strings.LastIndex(what, " ("); at >= 0 {
		what = what[:at]
	}
	_, words, _ = strings.Cut(what, " constraint failed: ")
	return what, words
}

// namedColumns returns the columns of "table.a, table.b", or nil if they are not the table's.
func namedColumns(table *database.Table, words string) []*database.Column {
	if table == nil {
		return nil
	}
	names, ok := strings.CutPrefix(words, table.Name+".")
	if !ok {
		return nil
	}
	var columns []*database.Column
	for name := range strings.SplitSeq(names, ", "+table.Name+".") {
		c := table.Column(name)
		if c == nil {
			return nil
		}
		columns = append(columns, c)
	}
	return columns
}

// constraintColumns returns the columns of the check or index of that name, or nil.
func constraintColumns(table *database.Table, name string) []*database.Column {
	if table != nil {
		for _, constraint := range table.Constraints {
			if constraint.Name == name {
				return constraint.Columns
			}
		}
	}
	return nil
}
