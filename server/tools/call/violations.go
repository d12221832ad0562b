package call

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// AllFields is the field of a violation that is about no single field, or about one that the caller does not see.
const AllFields = "__all__"

// Violations are the errors in a call's data, field by field, in the order in which it was found
// (docs/design/writes-and-deletes.md, "Validation errors").
type Violations struct {
	Errors           []fieldViolation `json:"errors"`
	ErrorCount       int              `json:"error_count"`
	FieldsWithErrors []string         `json:"fields_with_errors"`
	// Missing is set if a foreign key names no row.
	Missing bool `json:"-"`
}

type fieldViolation struct {
	Field    string   `json:"field"`
	Messages []string `json:"messages"`
}

// maxViolations is how many are shown; the others are counted.
const maxViolations = 100

// Add adds an error about a field.
func (v *Violations) Add(field, format string, args ...any) {
	if v.ErrorCount++; v.ErrorCount > maxViolations {
		return
	}
	message := fmt.Sprintf(format, args...)
	for i := range v.Errors {
		if v.Errors[i].Field == field {
			v.Errors[i].Messages = append(v.Errors[i].Messages, message)
			return
		}
	}
	v.Errors = append(v.Errors, fieldViolation{field, []string{message}})
	v.FieldsWithErrors = append(v.FieldsWithErrors, field)
}

// AddAll adds another's, with a prefix before each field.
func (v *Violations) AddAll(prefix string, other *Violations) {
	untold := other.ErrorCount
	for _, e := range other.Errors {
		for _, message := range e.Messages {
			v.Add(prefix+e.Field, "%s", message)
			untold--
		}
	}
	v.ErrorCount += untold
	v.Missing = v.Missing || other.Missing
}

// Err is nil where nothing is wrong.
func (v *Violations) Err() error {
	if v.ErrorCount == 0 {
		return nil
	}
	return v.Told()
}

// Told names the first field at fault in its message: some agents see no more than that.
func (v *Violations) Told() *ToolError {
	first := v.Errors[0]
	message := first.Messages[0]
	if first.Field != AllFields {
		message = first.Field + ": " + message
	}
	if more := v.ErrorCount - 1; more > 0 {
		message = fmt.Sprintf("%s (and %d more in validation_errors)", message, more)
	}
	return &ToolError{Code: CodeValidation, Message: "the data is not valid: " + message, Validation: v}
}

// OneViolation is an error about a single field.
func OneViolation(field, format string, args ...any) error {
	v := &Violations{}
	v.Add(field, format, args...)
	return v.Told()
}

// Prefixed puts the place of an inline's row before the fields of a validation error. Other errors stay as they are.
func Prefixed(prefix string, err error) error {
	var told *ToolError
	if !errors.As(err, &told) || told.Validation == nil {
		return err
	}
	v := &Violations{}
	v.AddAll(prefix, told.Validation)
	return v.Told()
}

// NoSuchRow is said of a foreign key that leads nowhere, where the model it leads to must not be named.
const NoSuchRow = "names a row that does not exist"

// RuleNotMet says which kind of constraint a write met, and names no field.
func RuleNotMet(v *database.Violation) *ToolError {
	if v == nil {
		v = &database.Violation{}
	}
	if v.Kind == database.ReferencedViolation {
		return &ToolError{Code: CodeProtected, Message: "other records refer to it; delete or change those first"}
	}
	all := &Violations{}
	all.Add(AllFields, "%s", RuleBroken(v, nil, ""))
	return all.Told()
}

// RuleBroken says what a value would have to be. fields are the involved ones, if all of them are visible; constraint is
// the rule's name, "" if the caller may not see it.
func RuleBroken(v *database.Violation, fields []*catalog.Field, constraint string) string {
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
		return NoSuchRow
	case database.NotNullViolation:
		if len(fields) == 0 || fields[0].ReadOnly {
			return "a field that you cannot set here must have a value"
		}
		return "must not be null"
	case database.CheckViolation:
		if len(fields) == 1 && fields[0].Check != nil && fields[0].Check.Name == v.Constraint {
			return Allowed(fields[0].Check) + ", says " + rule
		}
		return "the value does not meet " + rule
	case database.ExclusionViolation:
		return "another row conflicts with this value, says " + rule
	case database.PartitionViolation:
		return "the database has no partition for this value"
	}
	return rule + " does not allow this change"
}

// FieldsOf returns the visible fields of columns; nil if one of them is hidden.
func FieldsOf(scope access.Scope, columns []*database.Column) []*catalog.Field {
	var fields []*catalog.Field
	for _, c := range columns {
		f := FieldOf(scope, c)
		if f == nil {
			return nil
		}
		fields = append(fields, f)
	}
	return fields
}

// FieldOf returns the visible field of a column, or nil.
func FieldOf(scope access.Scope, c *database.Column) *catalog.Field {
	fields := scope.Fields()
	if i := slices.IndexFunc(fields, func(f *catalog.Field) bool { return f.Column == c || f.Compared().Column == c }); i >= 0 {
		return fields[i]
	}
	return nil
}
