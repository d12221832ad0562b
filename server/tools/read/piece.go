package read

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// maxPiece is the most characters, or bytes, of one piece of a value.
const maxPiece = 64 << 10

// canBeSliced reports whether a field's values can be read in pieces.
func canBeSliced(f *catalog.Field) bool {
	switch f.Column.Kind {
	case database.Text, database.JSON, database.Bytes:
		return !f.Masked
	}
	return false
}

// isLong reports whether get_ may have to cut a field's values.
func isLong(f *catalog.Field) bool {
	c := f.Column
	return canBeSliced(f) && (c.MaxLength == 0 || c.MaxLength*utf8.UTFMax > call.MaxOneValue)
}

func hasLongFields(m *catalog.Model) bool { return slices.ContainsFunc(m.Fields, isLong) }

// cutNotice says that values of a row are not whole.
func cutNotice(req *call.Request, m *catalog.Model) string {
	notice := fmt.Sprintf("values of more than %d bytes are cut, and say so at their end", call.MaxOneValue)
	if len(m.Key) > 0 && hasLongFields(m) {
		notice += fmt.Sprintf("; %s with field and offset shows a text, JSON or bytes value in pieces", req.ToolFor("get", m))
	}
	return notice
}

// Piece is get_'s payload if it is asked for a piece of a value.
type Piece struct {
	ID     json.RawMessage `json:"id"`
	Field  string          `json:"field"`
	Offset int             `json:"offset"`
	// Value is null if the row has none.
	Value *string `json:"value"`
	// The last piece has no ending.
	call.Ending
}

// getPiece answers a piece of one value of the row that meets a condition.
func getPiece(c *call.Call, a *getArguments, where database.Condition) ([]byte, error) {
	f, err := slicedField(c.Scope, a)
	if err != nil {
		return nil, err
	}
	// One more than is shown tells whether anything is behind the piece.
	slice := database.Slice{Offset: a.offset.Or(0), Length: min(a.length.Or(maxPiece), maxPiece)}
	more := database.Slice{Offset: slice.Offset, Length: slice.Length + 1}
	plan := &database.Select{From: c.Scope.Source(), Where: where, Limit: 1, More: !c.Scope.Model().UniqueKey, Output: []database.Output{
		KeyOutput(c.Scope.Model(), call.IDName), {Name: "value", Columns: []*database.Column{f.Column}, Slice: &more}}}
	rows, page, err := call.ReadAll[Piece](c.Ctx, c.DB, plan)
	if err == nil {
		err = call.IsOneRow(c.Scope.Model(), page)
	}
	if err != nil {
		return nil, err
	}
	p := rows[0]
	p.Field, p.Offset = f.Name, slice.Offset
	if p.Value != nil {
		value, whole := beginning(f.Column.Kind, *p.Value, slice.Length)
		if p.Value = &value; !whole {
			end := call.PageEnd{Things: "characters", Offset: slice.Offset, Count: slice.Length, More: true}
			if f.Column.Kind == database.Bytes {
				end.Things = "bytes"
			}
			p.Ending = end.Ending()
		}
	}
	return json.Marshal(p)
}

// slicedField is the field that a call asks a piece of.
func slicedField(scope access.Scope, a *getArguments) (*catalog.Field, error) {
	switch {
	case a.field == "":
		return nil, call.Invalid("offset and length go with field, which names the field to read a piece of")
	case a.inlines || a.related:
		return nil, call.Invalid("field does not go with include_inlines or include_related: leave them out to read a piece of one value")
	case a.length.Sent && a.length.N == 0:
		return nil, call.Invalid("length must be at least 1")
	}
	f := scope.Field(a.field)
	var names []string
	for _, each := range scope.Fields() {
		if canBeSliced(each) {
			names = append(names, each.Name)
		}
	}
	switch {
	case f != nil && canBeSliced(f):
		return f, nil
	case f != nil && f.Masked:
		return nil, call.Invalid("field: %s is masked; the fields that can be read in pieces are %s", f.Name, strings.Join(names, ", "))
	case f != nil:
		return nil, call.Invalid("field: %s is of type %s, which is not read in pieces; the fields that are: %s", f.Name, f.Column.Kind, strings.Join(names, ", "))
	}
	return nil, call.Invalid("field: %s has no field %q; the fields that can be read in pieces are %s", scope.Model().Name, a.field, strings.Join(names, ", "))
}

// beginning returns at most so many characters of a piece, or bytes, as base64; and reports whether that is all of it.
func beginning(kind database.Kind, text string, length int) (string, bool) {
	if kind == database.Bytes {
		content, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(content) <= length {
			return text, true
		}
		return base64.StdEncoding.EncodeToString(content[:length]), false
	}
	for at := range text {
		if length == 0 {
			return text[:at], false
		}
		length--
	}
	return text, true
}
