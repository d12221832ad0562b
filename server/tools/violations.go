package tools

import (
	"errors"
	"fmt"
)

// allFields is the field of a violation that is about no single field, or about one that the caller does not see.
const allFields = "__all__"

// violations are the errors in a call's data, field by field, in the order in which it was found
// (docs/design/writes-and-deletes.md, "Validation errors").
type violations struct {
	Errors           []fieldViolation `json:"errors"`
	ErrorCount       int              `json:"error_count"`
	FieldsWithErrors []string         `json:"fields_with_errors"`
	// missing is set if a foreign key names no row.
	missing bool
}

type fieldViolation struct {
	Field    string   `json:"field"`
	Messages []string `json:"messages"`
}

// maxViolations is how many are shown; the others are counted.
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
	v.missing = v.missing || other.missing
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
