package tools

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// allFields is the field of a violation that is about no single field, or about one that the caller does not see.
const allFields = "__all__"

// violations are what is wrong with a call's data, field by field, in the order in which it was found
// (docs/design/writes-and-deletes.md, "Validation errors").
type violations struct {
	Errors           []fieldViolation `json:"errors"`
	ErrorCount       int              `json:"error_count"`
	FieldsWithErrors []string         `json:"fields_with_errors"`
}

type fieldViolation struct {
	Field    string   `json:"field"`
	Messages []string `json:"messages"`
}

// maxViolations is how many are told; the others are counted.
const maxViolations = 100

func (v *violations) add(field, format string, args ...any) {
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

// addAll adds another's, with a prefix before each field.
func (v *violations) addAll(prefix string, other *violations) {
	untold := other.ErrorCount
	for _, e := range other.Errors {
		for _, message := range e.Messages {
			v.add(prefix+e.Field, "%s", message)
			untold--
		}
	}
	v.ErrorCount += untold
}

// err is nil where nothing is wrong.
func (v *violations) err() error {
	if v.ErrorCount == 0 {
		return nil
	}
	return v.told()
}

// told names the first field at fault in its message: some agents see no more than that.
func (v *violations) told() *toolError {
	first := v.Errors[0]
	message := first.Messages[0]
	if first.Field != allFields {
		message = first.Field + ": " + message
	}
	if more := v.ErrorCount - 1; more > 0 {
		message = fmt.Sprintf("%s (and %d more in validation_errors)", message, more)
	}
	return &toolError{Code: CodeValidation, Message: "the data is not valid: " + message, Validation: v}
}

// oneViolation is an error about a single field.
func oneViolation(field, format string, args ...any) error {
	v := &violations{}
	v.add(field, format, args...)
	return v.told()
}

// prefixed puts the place of an inline's row before the fields of a validation error. Other errors stay as they are.
func prefixed(prefix string, err error) error {
	var told *toolError
	if !errors.As(err, &told) || told.Validation == nil {
		return err
	}
	v := &violations{}
	v.addAll(prefix, told.Validation)
	return v.told()
}

// explain turns what the database refused into an error about the scope's fields. Other errors stay as they are.
func explain(scope access.Scope, err error) error {
	var e *database.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Code == database.Violated:
		return violationOf(&scope, e.Violation)
	case e.Code == database.Invalid && e.Column != nil:
		if f := fieldOf(scope, e.Column); f != nil {
			return oneViolation(f.Name, "%s", e.Message)
		}
		return oneViolation(allFields, "a value that you cannot see does not fit its column")
	}
	return err
}

// explainRead says of which field a filter's value does not fit. Other errors stay as they are.
func explainRead(scope access.Scope, err error) error {
	var e *database.Error
	if !errors.As(err, &e) || e.Code != database.Invalid || e.Column == nil {
		return err
	}
	if f := fieldOf(scope, e.Column); f != nil {
		return failf(CodeInvalidArgument, "filters: %s %s", f.Name, e.Message)
	}
	return failf(CodeInvalidArgument, "filters: a value is not of its field's type, or out of its range")
}

// violationOf says which constraint a write met. Fields are named only where the scope shows all that are involved: a
// constraint's name, a hidden field's and the value that collides are never told.
func violationOf(scope *access.Scope, v *database.Violation) *toolError {
	if v == nil {
		v = &database.Violation{}
	}
	var fields []string
	if scope != nil && v.Table == scope.Model().Table {
		for _, c := range v.Columns {
			f := fieldOf(*scope, c)
			if f == nil {
				fields = nil
				break
			}
			fields = append(fields, f.Name)
		}
	}
	var message string
	switch v.Kind {
	case database.ReferencedViolation:
		return &toolError{Code: CodeProtected, Message: "other records refer to it; delete or change those first"}
	case database.UniqueViolation:
		message = "must be unique: another row has this value"
		if len(fields) > 1 {
			message = fmt.Sprintf("must be unique: another row has these values of %s", strings.Join(fields, ", "))
		}
		if len(fields) == 0 {
			message = "some value must be unique, and another row has it"
		}
	case database.ForeignKeyViolation:
		message = noSuchRow
		if len(fields) > 0 {
			message = noSuch(*scope, v.Columns)
		}
	case database.NotNullViolation:
		message = "must not be null"
		if len(fields) == 0 || scope.Field(fields[0]).ReadOnly {
			message = "a field that you cannot set here must have a value"
		}
	case database.CheckViolation:
		message = "the value does not meet a rule of the database"
	default:
		message = "a rule of the database does not allow this change"
	}
	all := &violations{}
	if len(fields) == 0 {
		fields = []string{allFields}
	}
	for _, f := range fields {
		all.add(f, "%s", message)
	}
	return all.told()
}

// fieldOf returns the visible field of a column, or nil.
func fieldOf(scope access.Scope, c *database.Column) *catalog.Field {
	fields := scope.Fields()
	if i := slices.IndexFunc(fields, func(f *catalog.Field) bool { return f.Column == c }); i >= 0 {
		return fields[i]
	}
	return nil
}
