package tools

import (
	"context"
	"encoding/json"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// reader is the database, or a transaction of it.
type reader interface {
	Select(ctx context.Context, plan *database.Select, out []byte) ([]byte, database.Page, error)
}

// maxOneValue is the most bytes that a value shows where one row is asked for, maxListValue where several are.
const (
	maxOneValue  = 256 << 10
	maxListValue = 16 << 10
)

// row is one row of a model, with its fields as get_ shows them.
type row struct {
	model *catalog.Model
	// text is the row as JSON, fields its members: read from text when they are first asked for.
	text   json.RawMessage
	fields map[string]json.RawMessage
	// kept are the row's values as the database keeps them, by columns; nil if they were not asked for.
	kept map[string]json.RawMessage
}

// members are the row's fields by name; a nil row has none.
func (r *row) members() map[string]json.RawMessage {
	if r == nil {
		return nil
	}
	if r.fields == nil {
		r.fields = members(r.text)
	}
	return r.fields
}

// id is the id that the row shows; nil where its model has no key.
func (r *row) id() json.RawMessage {
	switch m := r.model; {
	case len(m.Key) == 0:
		return nil
	case m.KeyName == "":
		return r.members()[m.Key[0].Name]
	default:
		return r.members()[m.KeyName]
	}
}

// label is what people call the row: its display field, or else its id.
func (r *row) label() string {
	if d := r.model.Display; d != nil && !d.Secret {
		return label(r.id(), r.members()[d.Name])
	}
	return plainText(r.id())
}

// label is what people call a row whose display field has this value: the value, or, where there is none, the id.
func label(id, display json.RawMessage) string {
	if len(display) == 0 || isNull(display) {
		return plainText(id)
	}
	return plainText(display)
}

// plainText is a JSON value as people read it: a string without its quotes.
func plainText(raw json.RawMessage) string {
	var text string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// members returns the members of a JSON object; nil if it is none.
func members(object json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	_ = json.Unmarshal(object, &m)
	return m
}

// readRow reads the one row of the scope that meets a condition, as get_ shows it, and its values of some columns. With
// lock it stays locked until the transaction ends. If there is none, the error is not_found.
func (req *request) readRow(from reader, scope access.Scope, where database.Condition, lock bool, columns ...*database.Column) (json.RawMessage, []database.Value, error) {
	plan := planRow(scope, where)
	plan.Cursor, plan.Lock = database.Refs(columns...), lock
	text, page, err := req.readOne(from, scope, plan)
	return text, page.Last, err
}

// planRow is the plan of the one row of the scope that meets a condition, as get_ shows it.
func planRow(scope access.Scope, where database.Condition) *database.Select {
	return &database.Select{From: scope.Source(), Output: planOutput(scope), Where: where, Limit: 1, MaxValue: maxOneValue}
}

// readOne reads the row of a plan that planRow made. If there is none, the error is not_found.
func (req *request) readOne(from reader, scope access.Scope, plan *database.Select) (json.RawMessage, database.Page, error) {
	text, page, err := from.Select(req.ctx, plan, nil)
	if err == nil && page.Count == 0 {
		err = rowNotFound(scope.Model())
	}
	if err != nil {
		return nil, database.Page{}, err
	}
	return text, page, nil
}

// readAll reads a plan's rows into values of a type, by the names of their members.
func readAll[T any](ctx context.Context, from reader, plan *database.Select) ([]T, database.Page, error) {
	text, page, err := from.Select(ctx, plan, []byte{'['})
	if err != nil {
		return nil, page, err
	}
	rows := make([]T, 0, page.Count)
	err = json.Unmarshal(append(text, ']'), &rows)
	return rows, page, err
}

// appendJSON appends a text as a JSON string.
func appendJSON(dst []byte, text string) []byte {
	quoted, _ := json.Marshal(text) // a string: it cannot fail
	return append(dst, quoted...)
}
