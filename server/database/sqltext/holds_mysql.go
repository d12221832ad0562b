package sqltext

import (
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// holds is written without JSON_CONTAINS, for which an array also contains what one of its arrays contains.
func (d mysql) holds(w *writer, h database.Holds) { jsonHolds(w, d, h) }

// document allows for MariaDB's JSON, which is a text with a check that may have been off when the text was written. A read asks for
// such a text by its depth: Spider sends a condition with JSON_VALID to its other servers without that name (10.11). A change asks by
// JSON_VALID: a warning would end it.
func (d mysql) document(w *writer, c *database.Column) jsonValue {
	return d.at(w, wholeJSON, func() {
		if !d.mariaDB {
			w.column(c)
			return
		}
		function, is := "JSON_DEPTH", " IS NOT NULL"
		if w.written != nil {
			function, is = "JSON_VALID", ""
		}
		w.text("CASE WHEN " + function + "(")
		w.column(c)
		w.text(")" + is + " THEN ")
		w.column(c)
		w.text(" END")
	})
}

// at is the value to which a path leads.
func (mysql) at(w *writer, path string, document func()) jsonValue {
	v := jsonValue{document: document, path: path, value: document}
	if path != wholeJSON {
		v.value = func() {
			w.text("JSON_EXTRACT(")
			document()
			w.text(", ")
			w.bind(Arg{Kind: database.Text, Value: path})
			w.text(")")
		}
	}
	v.kind = func() {
		w.text("JSON_TYPE(")
		v.value()
		w.text(")")
	}
	return v
}

func (mysql) kinds() (object, array string) { return "OBJECT", "ARRAY" }

// equals asks for the type first: CASE keeps the server from computing with a value of another type.
func (mysql) equals(w *writer, v jsonValue, plain any) {
	unquoted := func() {
		w.text("JSON_UNQUOTE(")
		v.value()
		w.text(")")
	}
	switch plain := plain.(type) {
	case string:
		v.kind()
		w.text(" = 'STRING' AND CAST(CONVERT(")
		unquoted()
		w.text(" USING utf8mb4) AS BINARY) = CAST(")
		w.bind(Arg{Kind: database.Text, Value: plain})
		w.text(" AS BINARY)")
	case float64:
		w.text("CASE WHEN ")
		v.kind()
		w.text(" IN ('INTEGER', 'UNSIGNED INTEGER', 'DECIMAL', 'DOUBLE') THEN ")
		unquoted()
		w.text(" + 0e0 = ")
		w.bind(Arg{Kind: database.Float, Value: plain})
		w.text(" ELSE FALSE END")
	case bool:
		v.kind()
		w.text(" = 'BOOLEAN' AND ")
		unquoted()
		if plain {
			w.text(" = 'true'")
		} else {
			w.text(" = 'false'")
		}
	default:
		v.kind()
		w.text(" = 'NULL'")
	}
}

func (d mysql) member(w *writer, v jsonValue, name string) jsonValue {
	return d.at(w, memberPath(v.path, name), v.document)
}

// rows are MySQL's elements by their places: JSON_TABLE makes SQL's NULL of JSON's null there, and MySQL 9.7 finds nothing in a
// JSON_TABLE over another one's value.
func (d mysql) rows(w *writer, v jsonValue) {
	w.text("JSON_TABLE(")
	v.value()
	if d.mariaDB {
		w.text(", '$[*]' COLUMNS (v JSON PATH '$'))")
	} else {
		w.text(", '$[*]' COLUMNS (place FOR ORDINALITY))")
	}
}

func (d mysql) element(w *writer, v jsonValue, row string) jsonValue {
	return d.at(w, wholeJSON, func() {
		if d.mariaDB {
			w.text(row + ".v")
			return
		}
		w.text("JSON_EXTRACT(")
		v.value()
		w.text(", CONCAT('$[', " + row + ".place - 1, ']'))")
	})
}
