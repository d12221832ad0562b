package write

import (
	"errors"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// Explain turns what the database refused into an error about the scope's fields. Other errors stay as they are.
func Explain(scope access.Scope, err error) error {
	e, ok := errors.AsType[*database.Error](err)
	switch {
	case !ok:
		return err
	case e.Code == database.Violated:
		return violationOf(scope, e.Violation)
	case e.Code == database.Invalid && e.Column != nil:
		if f := call.FieldOf(scope, e.Column); f != nil {
			return call.OneViolation(f.Name, "%s", e.Message)
		}
		return call.OneViolation(call.AllFields, "a value that you cannot see does not fit its column")
	}
	return err
}

// violationOf says which constraint a write met. Fields are named only if the scope shows all that are involved: a hidden
// field's name and the value that collides are never told.
func violationOf(scope access.Scope, v *database.Violation) *call.ToolError {
	if v == nil || v.Kind == database.ReferencedViolation {
		return call.RuleNotMet(v)
	}
	all := &call.Violations{}
	switch {
	case v.Message != "" && scope.Model().Declared.DatabaseMessages:
		all.Add(call.AllFields, "%s", excerpt(v.Message))
	case v.Table != nil && v.Table != scope.Model().Table:
		all.Add(call.AllFields, "%s", brokenElsewhere(scope, v))
	case v.Kind == database.ForeignKeyViolation:
		addMissing(all, scope, v.Columns)
	default:
		fields := call.FieldsOf(scope, v.Columns)
		message := call.RuleBroken(v, fields, constraintName(scope, v))
		for _, f := range fields {
			all.Add(f.Name, "%s", message)
		}
		if len(fields) == 0 {
			all.Add(call.AllFields, "%s", message)
		}
	}
	return all.Told()
}

// addMissing says that the foreign key of these columns names no row that the token may see. Whether the row is missing or
// hidden, it is the same.
func addMissing(v *call.Violations, scope access.Scope, columns []*database.Column) {
	v.Missing = true
	fields := call.FieldsOf(scope, columns)
	for _, f := range fields {
		v.Add(f.Name, "%s", noSuch(scope, columns))
	}
	if len(fields) == 0 {
		v.Add(call.AllFields, "%s", call.NoSuchRow)
	}
}

// constraintName is the name of the constraint that was met, if it may be told: it often consists of columns' names, so that
// all columns which it may be about must be visible. Else it is "".
func constraintName(scope access.Scope, v *database.Violation) string {
	hidesNone := len(scope.Fields()) == len(scope.Model().Table.Columns)
	if hidesNone || len(call.FieldsOf(scope, v.Columns)) > 0 {
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
			for i, f := range call.FieldsOf(other, v.Columns) {
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

// noSuch says that a foreign key of these columns names no row, by the name of the model that it leads to where the token
// may view that.
func noSuch(scope access.Scope, columns []*database.Column) string {
	if target := relatedBy(scope, columns); target != nil {
		return "no such " + target.Declared.VerboseName + whereIDsAre(scope, columns)
	}
	return call.NoSuchRow
}
