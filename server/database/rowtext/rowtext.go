// Package rowtext writes the rows of a plan as JSON objects, straight from what a driver hands out: the one place that
// knows members, composite keys, masks and the cutting of long values (docs/design/values.md, "Long values"). What a
// single value looks like, an engine says.
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
	// AppendPlain appends the text of a value that is not NULL, as it stands in a part of a composite key: that of its JSON
	// form, without quotes and escapes.
	AppendPlain(dst []byte, c *database.Column, v V) []byte
	// Size is how many bytes the value has: those of its text, or, if it is bytes, their own number. It is asked of
	// every value, so it is to be cheap; for short values a guess will do.
	Size(c *database.Column, v V) int
	// Value returns the value in the form in which it can be bound again.
	Value(c *database.Column, v V) database.Value
}
