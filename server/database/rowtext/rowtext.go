// Package rowtext writes the rows of a plan as JSON, straight from a driver's values. It is the one place that
// knows members, composite keys, masks and the cutting of long values (docs/design/values.md, "Long values"). An engine
// says how a single value is written.
//
// The engines below package database import it.
package rowtext

import "github.com/mcp-admin/mcp-admin-operator/server/database"

// Engine writes single values of a driver's type V. None of its methods may keep the value.
type Engine[V any] interface {
	// IsNull reports whether the value is NULL.
	IsNull(v V) bool
	// AppendJSON appends a value that is not NULL in its JSON form.
	AppendJSON(dst []byte, c *database.Column, v V) []byte
	// AppendPlain appends the text of a value that is not NULL, as it stands in a part of a composite key: its JSON
	// form without quotes and escapes.
	AppendPlain(dst []byte, c *database.Column, v V) []byte
	// Size is the number of bytes of the value: of its text, or of the bytes themselves. It is called for every value,
	// so it must be cheap; for short values a guess is enough.
	Size(c *database.Column, v V) int
	// Value returns the value in a form that can be bound again.
	Value(c *database.Column, v V) database.Value
}

// Keeper is an Engine with Loose columns.
type Keeper[V any] interface {
	// AppendKept appends a value that is not NULL as it is kept (database.AppendKept), or null if the engine stores the same for
	// the value's JSON form.
	AppendKept(dst []byte, c *database.Column, v V) []byte
}
