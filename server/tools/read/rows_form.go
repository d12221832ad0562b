package read

import (
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// defaultRowBytes is the size at which an answer's rows end if the call does not say: about 20,000 tokens, which common
// clients still take (docs/design/tools.md, "The size of answers").
const defaultRowBytes = 64 << 10

// The values of the argument format.
const (
	formatObjects = "objects"
	formatColumns = "columns"
)

// RowsForm is how an answer has its rows, and how large they may be: arguments of each operation that answers pages.
type RowsForm struct {
	format   string
	maxBytes call.Count
	// export is the format of the file that the call asks for; "" if it asks for an answer.
	export string
}

// WithRowsForm adds the arguments of a RowsForm to an operation's; of returns where they are stored.
func WithRowsForm[A any](of func(*A) *RowsForm, list ...call.Argument[A]) []call.Argument[A] {
	return append(list,
		call.Argument[A]{Name: call.ExportArgument, Into: func(a *A) any { return &of(a).export },
			Unlisted: true, Useful: call.Has(access.Export)},
		call.Argument[A]{Name: "format", Into: func(a *A) any { return &of(a).format },
			Schema: func(*catalog.Model) call.Schema {
				return call.Schema{Type: call.Types{"string"}, Enum: []any{formatObjects, formatColumns}}
			},
			Unlisted: true, Help: "columns: rows as arrays of values, fewer bytes"},
		call.Argument[A]{Name: "max_bytes", Into: func(a *A) any { return &of(a).maxBytes },
			Unlisted: true, Help: fmt.Sprintf("of the rows; %d without it", defaultRowBytes)},
	)
}

// Apply has a plan's rows written in the form; most is the most bytes that a call may ask for.
func (f *RowsForm) Apply(plan *database.Select, most int) error {
	switch f.format {
	case "", formatObjects:
	case formatColumns:
		plan.Form = database.RowArrays
	default:
		return call.Invalid("format must be %q or %q, or left out, not %q", formatObjects, formatColumns, f.format)
	}
	if f.maxBytes.Sent && (f.maxBytes.N < 1 || f.maxBytes.N > most) {
		return call.Invalid("max_bytes must be from 1 to %d, not %d; an answer that is cut off says how to go on", most, f.maxBytes.N)
	}
	plan.MaxBytes = f.maxBytes.Or(RowBytes(most))
	return nil
}

// RowBytes is the size at which an answer's rows end if the call does not say.
func RowBytes(most int) int { return min(defaultRowBytes, most) }
