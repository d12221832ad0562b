package sqltext

import (
	"bytes"
	"encoding/json"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func (d postgresql) holds(w *writer, h database.Holds) {
	if h.Column.Kind == database.Array {
		w.column(h.Column)
		w.text(map[database.HoldsOp]string{database.HoldsAll: " @> ", database.HoldsAny: " && ", database.HoldsOnly: " <@ "}[h.Op])
		w.bind(argOf(h.Column, h.Value))
		return
	}
	switch h.Op {
	case database.HasKey:
		w.text("(jsonb_typeof(")
		d.jsonb(w, h.Column)
		w.text(") = 'object' AND ")
		d.jsonb(w, h.Column)
		w.text(" ? ")
		w.bind(Arg{Kind: database.Text, Column: h.Column, Value: h.Value})
		w.text(")")
	case database.HoldsOnly:
		w.text("(jsonb_typeof(")
		d.jsonb(w, h.Column)
		w.text(") = 'array' AND ")
		d.jsonb(w, h.Column)
		w.text(" <@ ")
		w.bind(argOf(h.Column, h.Value))
		w.text("::jsonb)")
	case database.HoldsAny:
		w.text("(FALSE")
		for _, element := range elements(w, h) {
			w.text(" OR ")
			d.jsonbHolds(w, h.Column, []byte("["+string(element)+"]"))
		}
		w.text(")")
	default:
		d.jsonbHolds(w, h.Column, h.Value)
	}
}

func (d postgresql) jsonbHolds(w *writer, c *database.Column, wanted database.Value) {
	d.jsonb(w, c)
	w.text(" @> ")
	w.bind(argOf(c, wanted))
	w.text("::jsonb")
}

// jsonb writes a column as one of the type jsonb, whose operators an index serves. A json column may hold what jsonb cannot
// (\u0000, numbers without bounds); that is NULL here.
func (postgresql) jsonb(w *writer, c *database.Column) {
	if c.NativeType != "json" {
		w.column(c)
		return
	}
	w.text("CASE WHEN pg_input_is_valid(")
	w.column(c)
	w.text("::text, 'jsonb') THEN ")
	w.column(c)
	w.text("::jsonb END")
}

// elements are the documents of a JSON array's elements.
func elements(w *writer, h database.Holds) (all []json.RawMessage) {
	text, _ := h.Value.([]byte)
	if err := json.Unmarshal(bytes.TrimSpace(text), &all); err != nil {
		w.invalid(h.Column, "must be a JSON array")
	}
	return all
}
