package sqltext

import (
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// holds is written without JSON_CONTAINS, for which an array also contains what one of its arrays contains.
func (d mysql) holds(w *writer, h database.Holds) { jsonHolds(w, d, h) }

// document allows for MariaDB's JSON, which is a text with a check that may have been off when the text was written.
func (d mysql) document(w *writer, c *database.Column) jsonValue {
	return d.json(w, func() {
		if !d.mariaDB {
			w.column(c)
			return
		}
		w.text("CASE WHEN JSON_VALID(")
		w.column(c)
		w.text(") THEN ")
		w.column(c)
		w.text(" END")
	})
}

func (mysql) json(w *writer, value func()) jsonValue {
	return jsonValue{value: value, kind: func() {
		w.text("JSON_TYPE(")
		value()
		w.text(")")
	}}
}

func (mysql) isObject(w *writer, v jsonValue) {
	v.kind()
	w.text(" = 'OBJECT'")
}

func (mysql) isArray(w *writer, v jsonValue) {
	v.kind()
	w.text(" = 'ARRAY'")
}

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

// member compares names as documents write them.
func (d mysql) member(w *writer, v jsonValue, name string, holds func(jsonValue)) {
	path := Arg{Kind: database.Text, Value: string(jsontext.AppendString([]byte("$."), name))}
	w.text("JSON_CONTAINS_PATH(")
	v.value()
	w.text(", 'one', ")
	w.bind(path)
	w.text(") AND ")
	holds(d.json(w, func() {
		w.text("JSON_EXTRACT(")
		v.value()
		w.text(", ")
		w.bind(path)
		w.text(")")
	}))
}

// element reads MySQL's elements by their places: JSON_TABLE makes SQL's NULL of JSON's null there, and MySQL 9.7 finds
// nothing in a JSON_TABLE over another one's value.
func (d mysql) element(w *writer, v jsonValue, holds func(jsonValue)) {
	column := " COLUMNS (v JSON PATH '$'))"
	if !d.mariaDB {
		column = " COLUMNS (place FOR ORDINALITY))"
	}
	rows := func() {
		w.text("JSON_TABLE(")
		v.value()
		w.text(", '$[*]'" + column)
	}
	w.rowsOfJSON(rows, func(row string) {
		holds(d.json(w, func() {
			if d.mariaDB {
				w.text(row + ".v")
				return
			}
			w.text("JSON_EXTRACT(")
			v.value()
			w.text(", CONCAT('$[', " + row + ".place - 1, ']'))")
		}))
	})
}
