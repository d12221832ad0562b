package sqltext

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// jsonValue writes two expressions about a value in a JSON document: the name of its type, and the value itself.
type jsonValue struct{ kind, value func() }

// jsonDialect is how an engine whose JSON has no operator of containment looks into a document.
type jsonDialect interface {
	// document is a column's whole value. It is NULL if the column holds no JSON.
	document(w *writer, c *database.Column) jsonValue
	// isObject and isArray say what a value is.
	isObject(w *writer, v jsonValue)
	isArray(w *writer, v jsonValue)
	// equals compares a value with a plain one: nil, a bool, a float64 or a string.
	equals(w *writer, v jsonValue, plain any)
	// member says that an object has a member of the name, and that holds says so of it.
	member(w *writer, v jsonValue, name string, holds func(jsonValue))
	// element says that there is an element of an array of which holds says so.
	element(w *writer, v jsonValue, holds func(jsonValue))
}

// jsonHolds writes a Holds of a JSON column by the values that the document is made of.
func jsonHolds(w *writer, d jsonDialect, h database.Holds) {
	document := d.document(w, h.Column)
	w.text("(")
	defer w.text(")")
	if name, ok := h.Value.(string); ok {
		d.isObject(w, document)
		w.text(" AND ")
		d.member(w, document, name, func(jsonValue) { w.text("TRUE") })
		return
	}
	wanted := decodeJSON(w, h)
	elements, _ := wanted.([]any)
	switch h.Op {
	case database.HoldsAny:
		d.isArray(w, document)
		w.text(" AND ")
		d.element(w, document, func(v jsonValue) { anyJSON(w, d, v, elements) })
	case database.HoldsOnly:
		d.isArray(w, document)
		w.text(" AND NOT ")
		d.element(w, document, func(v jsonValue) {
			w.text("(")
			anyJSON(w, d, v, elements)
			w.text(") IS NOT TRUE")
		})
	default:
		containsJSON(w, d, document, wanted)
	}
}

// anyJSON says that a value contains one of the others.
func anyJSON(w *writer, d jsonDialect, v jsonValue, others []any) {
	if len(others) == 0 {
		w.text("FALSE")
	}
	for i, other := range others {
		if i > 0 {
			w.text(" OR ")
		}
		w.text("(")
		containsJSON(w, d, v, other)
		w.text(")")
	}
}

// containsJSON says that a value contains another: an object each member, an array each element, and a plain value itself.
// It writes a chain of AND.
func containsJSON(w *writer, d jsonDialect, v jsonValue, wanted any) {
	switch wanted := wanted.(type) {
	case map[string]any:
		d.isObject(w, v)
		for _, name := range slices.Sorted(maps.Keys(wanted)) { // sorted, so that equal calls give equal SQL
			w.text(" AND ")
			d.member(w, v, name, func(member jsonValue) { containsJSON(w, d, member, wanted[name]) })
		}
	case []any:
		d.isArray(w, v)
		for _, one := range wanted {
			w.text(" AND ")
			d.element(w, v, func(element jsonValue) { containsJSON(w, d, element, one) })
		}
	default:
		d.equals(w, v, wanted)
	}
}

func decodeJSON(w *writer, h database.Holds) (wanted any) {
	text, _ := h.Value.([]byte)
	if err := json.Unmarshal(text, &wanted); err != nil {
		w.invalid(h.Column, "must be JSON")
	}
	return wanted
}

// elements are the documents of a JSON array's elements.
func elements(w *writer, h database.Holds) (all []json.RawMessage) {
	text, _ := h.Value.([]byte)
	if err := json.Unmarshal(bytes.TrimSpace(text), &all); err != nil {
		w.invalid(h.Column, "must be a JSON array")
	}
	return all
}

// rowsOfJSON writes that among the rows, which rows writes, there is one of which holds says so. Its argument is what the
// rows are called.
func (w *writer) rowsOfJSON(rows func(), holds func(row string)) {
	w.aliases++
	name := "j" + strconv.Itoa(w.aliases)
	w.text("EXISTS (SELECT 1 FROM ")
	rows()
	w.text(" AS " + name + " WHERE ")
	holds(name)
	w.text(")")
}

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
