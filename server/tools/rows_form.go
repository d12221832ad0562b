package tools

import (
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// defaultRowBytes is the size at which an answer's rows end if the call does not say: about 20,000 tokens, which common
// clients still take (docs/design/tools.md, "The size of answers").
const defaultRowBytes = 64 << 10

// The values of the argument format.
const (
	formatObjects = "objects"
	formatColumns = "columns"
)

// rowsForm is how an answer has its rows, and how large they may be: arguments of each operation that answers pages.
type rowsForm struct {
	format   string
	maxBytes count
}

// withRowsForm adds the arguments of a rowsForm to an operation's; of returns where they are stored.
func withRowsForm[A any](of func(*A) *rowsForm, list ...argument[A]) []argument[A] {
	return append(list,
		argument[A]{name: "format", into: func(a *A) any { return &of(a).format },
			schema: func(*catalog.Model) schema {
				return schema{Type: types{"string"}, Enum: []any{formatObjects, formatColumns}}
			},
			unlisted: true, help: "columns: rows as arrays of values, fewer bytes"},
		argument[A]{name: "max_bytes", into: func(a *A) any { return &of(a).maxBytes },
			unlisted: true, help: fmt.Sprintf("of the rows; %d without it", defaultRowBytes)},
	)
}

// apply has a plan's rows written in the form; most is the most bytes that a call may ask for.
func (f *rowsForm) apply(plan *database.Select, most int) error {
	switch f.format {
	case "", formatObjects:
	case formatColumns:
		plan.Form = database.RowArrays
	default:
		return invalid("format must be %q or %q, or left out, not %q", formatObjects, formatColumns, f.format)
	}
	if f.maxBytes.sent && (f.maxBytes.n < 1 || f.maxBytes.n > most) {
		return invalid("max_bytes must be from 1 to %d, not %d; an answer that is cut off says how to go on", most, f.maxBytes.n)
	}
	plan.MaxBytes = f.maxBytes.or(rowBytes(most))
	return nil
}

// rowBytes is the size at which an answer's rows end if the call does not say.
func rowBytes(most int) int { return min(defaultRowBytes, most) }
