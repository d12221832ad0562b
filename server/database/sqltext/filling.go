package sqltext

import (
	"encoding/json"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// filled writes the groups of a filling as a table, and gives it the present alias. Each group stands for itself, and for the pieces of
// time until the next one, at which it is empty; the first also for those before. A group without a time stands for itself alone.
func (w *writer) filled(from database.Source) {
	f, columns := from.Filling(), from.Table().Columns
	w.nested(nil, func() {
		beside := f.Beside()
		groups, own := w.alias, beside.Table().Columns
		key := own[f.Key]
		w.aliases++
		list, piece := w.aliases, &database.Column{Name: "piece", Kind: key.Kind}
		side := func(alias int, c *database.Column) func() {
			return func() {
				w.dialect.side(w, func() { w.columnOf(alias, c) }, key, piece, database.Equal)
			}
		}
		w.text("(SELECT ")
		for i, c := range columns {
			w.separate(i)
			value := func() { w.columnOf(groups, own[i]) }
			switch {
			case i == f.Key:
				w.around("CASE WHEN ", func() { w.columnOf(list, piece) }, " IS NULL THEN ")
				w.around("", side(groups, key), " ELSE ")
				w.around("", side(list, piece), " END")
			case i < f.Keys:
				value()
			default:
				w.around("CASE WHEN ", func() { w.columnOf(list, piece) }, " IS NULL OR ")
				w.around("", side(list, piece), " = ")
				w.around("", side(groups, key), " THEN ")
				value()
				if f.IsZero(i) {
					w.around(" ELSE ", func() { w.dialect.zero(w, c) }, "")
				}
				w.text(" END")
				w.dialect.related(w, c)
			}
			w.named(c)
		}
		w.text(" FROM ")
		w.source(beside)
		w.text(" LEFT JOIN ")
		pieces, _ := json.Marshal(f.Pieces) // texts and integers: it cannot fail
		w.dialect.list(w, piece, string(pieces))
		w.text(" AS ")
		w.aliasName(list)
		w.around(" ON ", func() { w.columnOf(groups, key) }, " IS NOT NULL")
		for i, operator := range []string{" >= ", " < "} {
			neighbour := own[len(columns)+i]
			bound := key
			if i == 1 {
				bound = neighbour
			}
			w.around(" AND (", func() { w.columnOf(groups, neighbour) }, " IS NULL OR ")
			w.around("", side(list, piece), operator)
			w.around("", side(groups, bound), ")")
		}
		w.text(") AS ")
	})
	w.aliasName(w.alias)
}

// zeros are the digits of a 0 with a fraction.
func zeros(c *database.Column) string {
	if c.Scale <= 0 {
		return "0"
	}
	return "0." + strings.Repeat("0", c.Scale)
}

func (postgresql) list(w *writer, c *database.Column, values string) {
	as := "text"
	if c.Kind == database.Integer {
		as = "bigint"
	}
	w.text("(SELECT e.piece::" + as + " AS ")
	w.identifier(c.Name)
	w.text(" FROM json_array_elements_text(")
	w.bind(Arg{Kind: database.Text, Value: values})
	w.text("::text::json) AS e(piece))")
}

func (mysql) list(w *writer, c *database.Column, values string) {
	as := "VARCHAR(40)"
	if c.Kind == database.Integer {
		as = "BIGINT"
	}
	w.around("JSON_TABLE(CONVERT(", func() { w.bind(Arg{Kind: database.Text, Value: values}) }, " USING utf8mb4), '$[*]' COLUMNS (")
	w.identifier(c.Name)
	w.text(" " + as + " PATH '$'))")
}

func (sqlite) list(w *writer, c *database.Column, values string) {
	w.text("(SELECT value AS ")
	w.identifier(c.Name)
	w.text(" FROM json_each(")
	w.bind(Arg{Kind: database.Text, Value: values})
	w.text("))")
}

func (postgresql) zero(w *writer, c *database.Column) { w.text(zeros(c)) }
func (mysql) zero(w *writer, c *database.Column)      { w.text(zeros(c)) }

// zero of an exact number is a text, as all of them are.
func (sqlite) zero(w *writer, c *database.Column) {
	if c.Exact() {
		w.text("'" + zeros(c) + "'")
		return
	}
	w.text("0")
}
