package call

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// Reader is the database, or a transaction of it.
type Reader interface {
	Select(ctx context.Context, plan *database.Select, out []byte) ([]byte, database.Page, error)
}

// MaxOneValue is the most bytes that a value shows where one row is asked for, MaxListValue where several are.
const (
	MaxOneValue  = 256 << 10
	MaxListValue = 16 << 10
)

// Row is one row of a model, with its fields as get_ shows them.
type Row struct {
	Model *catalog.Model
	// Text is the row as JSON, Fields its members: read from Text when all of them are first asked for. shown are the same, for
	// Value; nil before the first.
	Text   json.RawMessage
	Fields jsontext.Members
	shown  *jsontext.Object
	// Kept are the row's values as the database keeps them, by columns; nil if they were not asked for.
	Kept map[string]json.RawMessage
}

// Members are the row's fields by name; a nil row has none.
func (r *Row) Members() jsontext.Members {
	if r == nil {
		return nil
	}
	if r.Fields == nil {
		r.Fields = jsontext.MembersOf(r.Text)
	}
	return r.Fields
}

// Value is the row's member of that name; nil if it has none, and of a nil row.
func (r *Row) Value(name string) json.RawMessage {
	switch {
	case r == nil:
		return nil
	case r.Fields != nil:
		return r.Fields.Value(name)
	case r.shown == nil:
		r.shown = jsontext.ObjectOf(r.Text, len(r.Model.Fields)+1)
	}
	return r.shown.Value(name)
}

// KeptAs is the column's value as the database keeps it; nil if that was not asked for, and of a nil row.
func (r *Row) KeptAs(c *database.Column) json.RawMessage {
	if r == nil {
		return nil
	}
	return r.Kept[c.Name]
}

// ID is the id that the row shows; nil where its model has no key.
func (r *Row) ID() json.RawMessage {
	switch m := r.Model; {
	case len(m.Key) == 0:
		return nil
	case m.KeyName == "":
		return r.Value(m.Key[0].Name)
	default:
		return r.Value(m.KeyName)
	}
}

// Label is what people call the row: its display field, or else its id.
func (r *Row) Label() string {
	if d := r.Model.Display; d != nil && !d.Secret {
		return LabelOf(r.ID(), r.Value(d.Name))
	}
	return PlainText(r.ID())
}

// LabelOf is what people call a row whose display field has this value: the value, or, where there is none, the id.
func LabelOf(id, display json.RawMessage) string {
	if len(display) == 0 || IsNull(display) {
		return PlainText(id)
	}
	return PlainText(display)
}

// PlainText is a JSON value as people read it: a string without its quotes.
func PlainText(raw json.RawMessage) string {
	if text, ok := jsontext.ReadString(raw); ok {
		return text
	}
	return string(raw)
}

// Members returns the members of a JSON object within JSON that was read before, which are parts of it; nil if it is none.
func Members(object json.RawMessage) jsontext.Members {
	members, _ := jsontext.ReadObject(object)
	return members
}

// ReadOne appends the row of a plan that read.PlanRow made to out. If there is none, the error is not_found.
func (req *Request) ReadOne(from Reader, scope access.Scope, plan *database.Select, out []byte) (json.RawMessage, database.Page, error) {
	plan.More = !scope.Model().UniqueKey
	text, page, err := from.Select(req.Ctx, plan, out)
	if err == nil {
		err = IsOneRow(scope.Model(), page)
	}
	if err != nil {
		return nil, database.Page{}, err
	}
	return text, page, nil
}

// ReadAll reads a plan's rows into values of a type, by the names of their members.
func ReadAll[T any](ctx context.Context, from Reader, plan *database.Select) ([]T, database.Page, error) {
	text, page, err := from.Select(ctx, plan, []byte{'['})
	if err != nil {
		return nil, page, err
	}
	rows := make([]T, 0, page.Count)
	err = json.Unmarshal(append(text, ']'), &rows)
	return rows, page, err
}

// AppendJSON appends a text as a JSON string, as encoding/json writes it.
func AppendJSON(dst []byte, text string) []byte {
	if isPlain(text) {
		return append(append(append(dst, '"'), text...), '"')
	}
	quoted, _ := json.Marshal(text) // a string: it cannot fail
	return append(dst, quoted...)
}

// isPlain reports whether encoding/json escapes nothing of a text.
func isPlain(text string) bool {
	for i := range len(text) {
		if !plainByte[text[i]] {
			return false
		}
	}
	return true
}

// plainByte are the bytes that encoding/json writes as they are, whatever stands beside them.
var plainByte = func() (plain [256]bool) {
	for c := ' '; c < 0x7f; c++ {
		plain[c] = !strings.ContainsRune(`"\<>&`, c)
	}
	return plain
}()
