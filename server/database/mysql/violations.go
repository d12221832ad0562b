package mysql

import (
	"regexp"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// The names in the servers' messages. If a message quotes a value, the value comes before the name, so the last match
// counts.
var (
	keyInMessage    = regexp.MustCompile(`for key '([^']*)'$`)
	columnInMessage = regexp.MustCompile("(?s).*(?:column|Column|Field) (?:'([^']*)'|`(?:[^`]*)`\\.`(?:[^`]*)`\\.`([^`]*)`)")
	checkInMessage  = regexp.MustCompile("(?:CONSTRAINT `([^`]*)` failed for|Check constraint '([^']*)' is violated)")
	keyOfRow        = regexp.MustCompile("\\(`([^`]*)`\\.`([^`]*)`, CONSTRAINT `([^`]*)` FOREIGN KEY")
)

// violation returns what a server's error about a written row means; nil if it is not about one. table is the table that
// was written to. The server's own words are left out, because they quote values.
func (d *db) violation(answer *mysql.MySQLError, table *database.Table) *database.Error {
	violated := func(kind database.ViolationKind, table *database.Table, name string, columns []*database.Column) *database.Error {
		return &database.Error{
			Code: database.Violated, Reason: reasonError, Message: "a constraint does not allow it", Cause: withoutWords(answer),
			Violation: &database.Violation{Kind: kind, Table: table, Constraint: name, Columns: columns},
		}
	}
	if answer.Number == errSignal || string(answer.SQLState[:]) == signalState {
		e := violated(database.OtherViolation, table, "", nil)
		e.Violation.Message = signalMessage(answer)
		return e
	}
	switch answer.Number {
	case errDuplicate, errDuplicateWithName:
		name := firstMatch(keyInMessage, answer.Message)
		if _, after, found := strings.Cut(name, "."); found && constraintColumns(table, name) == nil {
			name = after // MySQL puts the table before it
		}
		return violated(database.UniqueViolation, table, name, constraintColumns(table, name))
	case errNotNull, errNoDefault, errNoDefaultOfView:
		return violated(database.NotNullViolation, table, "", namedColumn(table, answer.Message))
	case errForeignKeyChild, errForeignKeyChildRow:
		owner, key := d.foreignKey(table, answer.Message)
		return violated(database.ForeignKeyViolation, owner, key.Name, key.Columns)
	case errForeignKeyParent, errForeignKeyParentRow:
		owner, key := d.foreignKey(nil, answer.Message)
		return violated(database.ReferencedViolation, owner, key.Name, key.Columns)
	case errCheckMySQL, errCheckMariaDB:
		name := firstMatch(checkInMessage, answer.Message)
		if _, after, found := strings.Cut(name, "."); found && constraintColumns(table, name) == nil {
			name = after // MariaDB puts the table before a column's own check
		}
		return violated(database.CheckViolation, table, name, constraintColumns(table, name))
	case errCheckOption:
		return violated(database.CheckViolation, table, "", nil)
	case errDuplicateKey, errDuplicateUnknown:
		return violated(database.UniqueViolation, table, "", nil)
	case errNoPartition, errNoPartitionSilent, errWrongPartition, errWrongPartitionSet:
		return violated(database.PartitionViolation, table, "", nil)
	case errForeignDuplicate:
		return violated(database.OtherViolation, table, "", nil)
	case errTooLong, errTruncated, errRangeOfColumn, errIncorrectValue, errIncorrectForColumn:
		return invalid(answer, table)
	}
	return nil
}

// signalState is the SQLSTATE of an error that a trigger or procedure raises.
const signalState = "45000"

// signalMessage returns the words that a trigger or procedure raised; "" if it gave none of its own.
func signalMessage(answer *mysql.MySQLError) string {
	if strings.HasPrefix(answer.Message, "Unhandled user-defined ") {
		return ""
	}
	return answer.Message
}

// invalid is the error of a value that its column cannot hold.
func invalid(answer *mysql.MySQLError, table *database.Table) *database.Error {
	e := &database.Error{Code: database.Invalid, Reason: reasonError, Cause: withoutWords(answer)}
	subject := "a value"
	if columns := namedColumn(table, answer.Message); columns != nil {
		e.Column = columns[0]
		subject = "the value for " + e.Column.Name
	}
	switch answer.Number {
	case errTooLong:
		e.Message = subject + " is too long"
	case errRangeOfColumn:
		e.Message = subject + " is out of its column's range"
	default:
		e.Message = subject + " is not of its column's type"
	}
	return e
}

// firstMatch returns the first group of a pattern that matched; "" if none did.
func firstMatch(pattern *regexp.Regexp, message string) string {
	for i, group := range pattern.FindStringSubmatch(message) {
		if i > 0 && group != "" {
			return group
		}
	}
	return ""
}

// namedColumn returns the column of a table that a message names; nil if it names none.
func namedColumn(table *database.Table, message string) []*database.Column {
	if table == nil {
		return nil
	}
	if c := table.Column(firstMatch(columnInMessage, message)); c != nil {
		return []*database.Column{c}
	}
	return nil
}

func constraintColumns(table *database.Table, name string) []*database.Column {
	if table == nil {
		return nil
	}
	for _, constraint := range table.Constraints {
		if strings.EqualFold(constraint.Name, name) {
			return constraint.Columns
		}
	}
	return nil
}

// foreignKey returns the key that a message names, and its table. If the message has no names, the table is the table that
// was written to: a user who may not see the other table gets no names.
func (d *db) foreignKey(table *database.Table, message string) (*database.Table, *database.ForeignKey) {
	names := keyOfRow.FindStringSubmatch(message)
	if names == nil {
		return table, &database.ForeignKey{}
	}
	names[1] = d.asked(names[1])
	if schema := d.schema.Load(); schema != nil && (table == nil || table.Schema != names[1] || table.Name != names[2]) {
		for _, t := range schema.Tables {
			if t.Schema == names[1] && t.Name == names[2] {
				table = t
			}
		}
	}
	if table != nil {
		for _, key := range table.ForeignKeys {
			if key.Name == names[3] {
				return table, key
			}
		}
	}
	return table, &database.ForeignKey{Name: names[3]}
}
