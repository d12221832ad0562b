package write

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// looseValue is a value that the caller gave for a Loose column. problem says why it is not of the column's kind; nil if
// it is.
type looseValue struct {
	field   *catalog.Field
	raw     json.RawMessage
	problem error
}

// changes returns what d sets in a row that is shown like this. A Loose column can hold a value whose form tells neither its
// type nor how it is written (a number, a text, bytes): the value that the row shows therefore stays in its stored form.
// Any other value must be of the column's kind.
func (d *RowData) changes(shown json.RawMessage) ([]database.Assignment, error) {
	if len(d.loose) == 0 {
		return d.Set, nil
	}
	row, problems, set := call.Members(shown), &call.Violations{}, slices.Clone(d.Set)
	for _, given := range d.loose {
		if sameJSON(row.Value(given.field.Name), given.raw) {
			set = slices.DeleteFunc(set, func(a database.Assignment) bool { return a.Column == given.field.Column })
		} else if given.problem != nil {
			problems.Add(given.field.Name, "%s", given.problem)
		}
	}
	return set, problems.Err()
}

// undecided is the number of values that are wrong unless the row shows the same.
func (d *RowData) undecided() int {
	n := 0
	for _, given := range d.loose {
		if given.problem != nil {
			n++
		}
	}
	return n
}

// sameJSON reports whether two JSON values are the same but for blanks and, in a string, escapes.
func sameJSON(a, b json.RawMessage) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	var compactA, compactB bytes.Buffer
	if json.Compact(&compactA, a) != nil || json.Compact(&compactB, b) != nil {
		return false
	}
	if bytes.Equal(compactA.Bytes(), compactB.Bytes()) {
		return true
	}
	var textA, textB string
	return a[0] == '"' && b[0] == '"' && json.Unmarshal(a, &textA) == nil && json.Unmarshal(b, &textB) == nil && textA == textB
}
