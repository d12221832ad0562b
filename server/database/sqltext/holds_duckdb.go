package sqltext

import (
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func (d duckdb) holds(w *writer, h database.Holds) { jsonHolds(w, d, h) }

// document is a column as JSON: a list, a struct or a map becomes it.
func (d duckdb) document(w *writer, c *database.Column) jsonValue {
	return d.json(w, func() { w.around("(", func() { w.column(c) }, ")::JSON") })
}

func (duckdb) json(w *writer, value func()) jsonValue {
	return jsonValue{document: value, path: wholeJSON, value: value, kind: func() { w.around("json_type(", value, ")") }}
}

func (duckdb) kinds() (object, array string) { return "OBJECT", "ARRAY" }

func (duckdb) equals(w *writer, v jsonValue, plain any) {
	v.kind()
	text := func() { w.around("json_extract_string(", v.value, ", '$')") }
	switch plain := plain.(type) {
	case string:
		w.around(" = 'VARCHAR' AND ", text, " = CAST(")
		w.bindText(plain)
		w.text(" AS VARCHAR)")
	case float64:
		w.around(" IN ('BIGINT', 'UBIGINT', 'HUGEINT', 'DOUBLE') AND TRY_CAST(", text, " AS DOUBLE) = CAST(")
		w.bind(Arg{Kind: database.Float, Value: plain})
		w.text(" AS DOUBLE)")
	case bool:
		w.around(" = 'BOOLEAN' AND ", text, " = '")
		if plain {
			w.text("true'")
		} else {
			w.text("false'")
		}
	default:
		w.text(" = 'NULL'")
	}
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// member looks by a JSON pointer, in which every name can be written.
func (d duckdb) member(w *writer, v jsonValue, name string) jsonValue {
	return d.json(w, func() {
		w.around("json_extract(", v.value, ", CAST(")
		w.bindText("/" + pointerEscaper.Replace(name))
		w.text(" AS VARCHAR))")
	})
}

func (duckdb) rows(w *writer, v jsonValue) {
	w.around("(SELECT unnest(json_extract(", v.value, ", '$[*]')) AS element)")
}

func (d duckdb) element(w *writer, _ jsonValue, row string) jsonValue {
	return d.json(w, func() { w.text(row + ".element") })
}
