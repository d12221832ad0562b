package sqltext

import "github.com/mcp-admin/mcp-admin-operator/server/database"

func (d sqlite) holds(w *writer, h database.Holds) { jsonHolds(w, d, h) }

// document allows for texts that are not JSON, which would fail the statement. CASE is evaluated in order.
func (sqlite) document(w *writer, c *database.Column) jsonValue {
	value := func() {
		w.text("CASE WHEN json_valid(")
		w.column(c)
		w.text(") THEN ")
		w.column(c)
		w.text(" END")
	}
	return jsonValue{value: value, kind: func() {
		w.text("json_type(")
		value()
		w.text(")")
	}}
}

func (sqlite) isObject(w *writer, v jsonValue) {
	v.kind()
	w.text(" = 'object'")
}

func (sqlite) isArray(w *writer, v jsonValue) {
	v.kind()
	w.text(" = 'array'")
}

func (sqlite) equals(w *writer, v jsonValue, plain any) {
	v.kind()
	switch plain := plain.(type) {
	case string:
		w.text(" = 'text' AND ")
		v.value()
		w.text(" = ")
		w.bind(Arg{Kind: database.Text, Value: plain})
	case float64:
		w.text(" IN ('integer', 'real') AND ")
		v.value()
		w.text(" = ")
		w.bind(Arg{Kind: database.Float, Value: plain})
	case bool:
		if plain {
			w.text(" = 'true'")
		} else {
			w.text(" = 'false'")
		}
	default:
		w.text(" = 'null'")
	}
}

// member finds the name among the rows, not by a path, in which it would have to be quoted. An array's rows have numbers
// for names.
func (d sqlite) member(w *writer, v jsonValue, name string, holds func(jsonValue)) {
	d.rows(w, v, func(row string) {
		w.text(row + ".key = ")
		w.bind(Arg{Kind: database.Text, Value: name})
		w.text(" AND ")
		holds(jsonRow(w, row))
	})
}

func (d sqlite) element(w *writer, v jsonValue, holds func(jsonValue)) {
	d.rows(w, v, func(row string) { holds(jsonRow(w, row)) })
}

func (sqlite) rows(w *writer, v jsonValue, holds func(row string)) {
	w.rowsOfJSON(func() {
		w.text("json_each(")
		v.value()
		w.text(")")
	}, holds)
}

// jsonRow is the value of a row of json_each. An object or array is its text.
func jsonRow(w *writer, row string) jsonValue {
	return jsonValue{kind: func() { w.text(row + ".type") }, value: func() { w.text(row + ".value") }}
}
