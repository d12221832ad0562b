package tools

import (
	"errors"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// explain turns what the database refused into an error about the scope's fields. Other errors stay as they are.
func explain(scope access.Scope, err error) error {
	var e *database.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Code == database.Violated:
		return violationOf(scope, e.Violation)
	case e.Code == database.Invalid && e.Column != nil:
		if f := fieldOf(scope, e.Column); f != nil {
			return oneViolation(f.Name, "%s", e.Message)
		}
		return oneViolation(allFields, "a value that you cannot see does not fit its column")
	}
	return err
}

// explainRead names the field that a filter's value does not fit. Other errors stay as they are.
func explainRead(scope access.Scope, err error) error {
	var e *database.Error
	if !errors.As(err, &e) || e.Code != database.Invalid || e.Column == nil {
		return err
	}
	if f := fieldOf(scope, e.Column); f != nil {
		return failf(CodeInvalidArgument, "filters: %s: %s", f.Name, e.Message)
	}
	return failf(CodeInvalidArgument, "filters: a value is not of its field's type, or out of its range")
}

// violationOf says which constraint a write met. Fields are named only if the scope shows all that are involved: a hidden
// field's name and the value that collides are never told.
func violationOf(scope access.Scope, v *database.Violation) *toolError {
	if v == nil || v.Kind == database.ReferencedViolation {
		return ruleNotMet(v)
	}
	all := &violations{}
	switch {
	case v.Message != "" && scope.Model().Declared.DatabaseMessages:
		all.add(allFields, "%s", excerpt(v.Message))
	case v.Table != nil && v.Table != scope.Model().Table:
		all.add(allFields, "%s", brokenElsewhere(scope, v))
	case v.Kind == database.ForeignKeyViolation:
		all.addMissing(scope, v.Columns)
	default:
		fields := fieldsOf(scope, v.Columns)
		message := ruleBroken(v, fields, constraintName(scope, v))
		for _, f := range fields {
			all.add(f.Name, "%s", message)
		}
		if len(fields) == 0 {
			all.add(allFields, "%s", message)
		}
	}
	return all.told()
}

// ruleNotMet says which kind of constraint a write met, and names no field.
func ruleNotMet(v *database.Violation) *toolError {
	if v == nil {
		v = &database.Violation{}
	}
	if v.Kind == database.ReferencedViolation {
		return &toolError{Code: CodeProtected, Message: "other records refer to it; delete or change those first"}
	}
	all := &violations{}
	all.add(allFields, "%s", ruleBroken(v, nil, ""))
	return all.told()
}

// addMissing says that the foreign key of these columns names no row that the token may see. Whether the row is missing or
// hidden, it is the same.
func (v *violations) addMissing(scope access.Scope, columns []*database.Column) {
	v.missing = true
	fields := fieldsOf(scope, columns)
	for _, f := range fields {
		v.add(f.Name, "%s", noSuch(scope, columns))
	}
	if len(fields) == 0 {
		v.add(allFields, "%s", noSuchRow)
	}
}

// ruleBroken says what a value would have to be. fields are the involved ones, if all of them are visible; constraint is
// the rule's name, "" if the caller may not see it.
func ruleBroken(v *database.Violation, fields []*catalog.Field, constraint string) string {
	rule := "a rule of the database"
	if constraint != "" {
		rule = "the database's rule " + constraint
	}
	switch v.Kind {
	case database.UniqueViolation:
		switch len(fields) {
		case 0:
			return "some value must be unique, and another row has it"
		case 1:
			return "must be unique: another row has this value"
		}
		names := make([]string, len(fields))
		for i, f := range fields {
			names[i] = f.Name
		}
		return "must be unique: another row has these values of " + strings.Join(names, ", ")
	case database.ForeignKeyViolation:
		return noSuchRow
	case database.NotNullViolation:
		if len(fields) == 0 || fields[0].ReadOnly {
			return "a field that you cannot set here must have a value"
		}
		return "must not be null"
	case database.CheckViolation:
		if len(fields) == 1 && fields[0].Check != nil && fields[0].Check.Name == v.Constraint {
			return wanted(fields[0].Check) + ", says " + rule
		}
		return "the value does not meet " + rule
	case database.ExclusionViolation:
		return "another row conflicts with this value, says " + rule
	case database.PartitionViolation:
		return "the database has no partition for this value"
	}
	return rule + " does not allow this change"
}

// constraintName is the name of the constraint that was met, if it may be told: it often consists of columns' names, so that
// all columns which it may be about must be visible. Else it is "".
func constraintName(scope access.Scope, v *database.Violation) string {
	hidesNone := len(scope.Fields()) == len(scope.Model().Table.Columns)
	if hidesNone || len(fieldsOf(scope, v.Columns)) > 0 {
		return v.Constraint
	}
	return ""
}

// brokenElsewhere says that the write would have the database change another table in a way that it does not allow.
func brokenElsewhere(scope access.Scope, v *database.Violation) string {
	record := "another record"
	if m := scope.Model().Catalog().ModelOf(v.Table); m != nil {
		if other := scope.Of(m); other.Has(access.View) && !other.Limited() {
			record = "a " + m.Declared.VerboseName
			for i, f := range fieldsOf(other, v.Columns) {
				record += [...]string{" in its field ", ", "}[min(i, 1)] + f.Name
			}
		}
	}
	switch v.Kind {
	case database.ForeignKeyViolation:
		return "the database would change " + record + " along with it, which would then refer to a row that does not exist"
	case database.UniqueViolation:
		return "the database would change " + record + " along with it, which would then no longer be unique"
	}
	return "the database would change " + record + " along with it, and a rule of the database does not allow that"
}

// fieldsOf returns the visible fields of columns; nil if one of them is hidden.
func fieldsOf(scope access.Scope, columns []*database.Column) []*catalog.Field {
	var fields []*catalog.Field
	for _, c := range columns {
		f := fieldOf(scope, c)
		if f == nil {
			return nil
		}
		fields = append(fields, f)
	}
	return fields
}

// fieldOf returns the visible field of a column, or nil.
func fieldOf(scope access.Scope, c *database.Column) *catalog.Field {
	fields := scope.Fields()
	if i := slices.IndexFunc(fields, func(f *catalog.Field) bool { return f.Column == c }); i >= 0 {
		return fields[i]
	}
	return nil
}
