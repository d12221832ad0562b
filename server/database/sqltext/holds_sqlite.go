package sqltext

import "github.com/mcp-admin/mcp-admin-operator/server/database"

func (d sqlite) holds(w *writer, h database.Holds) { jsonHolds(w, d, h) }

// document allows for texts that are not JSON, which would fail the statement. CASE is evaluated in order.
func (d sqlite) document(w *writer, c *database.Column) jsonValue {
	return d.at(w, wholeJSON, func() {
		w.text("CASE WHEN json_valid(")
		w.column(c)
		w.text(") THEN ")
		w.column(c)
		w.text(" END")
	})
}

// at is the value to which a path leads. The path is bound once.
func (d sqlite) at(w *writer, path string, document func()) jsonValue {
	bound := 0
	call := func(name string) func() {
		return func() {
			w.text(name + "(")
			document()
			w.text(", ")
			if bound == 0 {
				w.bind(Arg{Kind: database.Text, Value: path})
				bound = w.bound()
			} else {
				w.buf = d.again(w.buf, bound)
			}
			w.text(")")
		}
	}
	return jsonValue{document: document, path: path, kind: call("json_type"), value: call("json_extract")}
}

func (sqlite) kinds() (object, array string) { return "object", "array" }

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

func (d sqlite) member(w *writer, v jsonValue, name string) jsonValue {
	return d.at(w, memberPath(v.path, name), v.document)
}

func (sqlite) rows(w *writer, v jsonValue) {
	w.text("json_each(")
	v.document()
	w.text(", ")
	w.bind(Arg{Kind: database.Text, Value: v.path})
	w.text(")")
}

// element has the value of a row of json_each: of an object or array, its text.
func (sqlite) element(w *writer, _ jsonValue, row string) jsonValue {
	return jsonValue{
		document: func() {
			w.text("CASE WHEN " + row + ".type IN ('object', 'array') THEN " + row + ".value END")
		},
		path:  wholeJSON,
		kind:  func() { w.text(row + ".type") },
		value: func() { w.text(row + ".value") },
	}
}
