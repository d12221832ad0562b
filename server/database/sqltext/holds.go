package sqltext

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// jsonValue is a value in a JSON document.
type jsonValue struct {
	// document writes the document, and path leads to the value in it; "$" is all of it.
	document func()
	path     string
	// kind writes the name of the value's type, NULL if there is no such value, and value writes the value itself.
	kind, value func()
}

// wholeJSON is the path to the whole document.
const wholeJSON = "$"

// memberPath leads to a member of the object to which a path leads.
func memberPath(path, name string) string {
	return string(jsontext.AppendString([]byte(path+"."), name))
}

// jsonDialect is how an engine whose JSON has no operator of containment looks into a document.
type jsonDialect interface {
	// document is a column's whole value. It is NULL if the column holds no JSON.
	document(w *writer, c *database.Column) jsonValue
	// kinds are the names of the types of objects and arrays.
	kinds() (object, array string)
	// equals compares a value with a plain one: nil, a bool, a float64 or a string.
	equals(w *writer, v jsonValue, plain any)
	// member is a member of an object.
	member(w *writer, v jsonValue, name string) jsonValue
	// rows writes a table of an array's elements, and element is the value of a row of it.
	rows(w *writer, v jsonValue)
	element(w *writer, v jsonValue, row string) jsonValue
}

// jsonLook looks into a document.
type jsonLook struct {
	*writer
	jsonDialect
}

// jsonHolds writes a Holds of a JSON column by the values that the document is made of.
func jsonHolds(w *writer, d jsonDialect, h database.Holds) {
	l := jsonLook{w, d}
	document := d.document(w, h.Column)
	w.text("(")
	defer w.text(")")
	if name, ok := h.Value.(string); ok {
		d.member(w, document, name).kind()
		w.text(" IS NOT NULL")
		return
	}
	wanted := decodeJSON(w, h)
	elements, _ := wanted.([]any)
	switch h.Op {
	case database.HoldsAny:
		l.isArray(document)
		w.text(" AND ")
		l.someElement(document, func(v jsonValue) { l.any(v, elements) })
	case database.HoldsOnly:
		l.isArray(document)
		w.text(" AND NOT ")
		l.someElement(document, func(v jsonValue) {
			w.text("(")
			l.any(v, elements)
			w.text(") IS NOT TRUE")
		})
	default:
		l.contains(document, wanted)
	}
}

func (l jsonLook) isArray(v jsonValue) {
	_, array := l.kinds()
	v.kind()
	l.text(" = '" + array + "'")
}

// any says that a value contains one of the others.
func (l jsonLook) any(v jsonValue, others []any) {
	if len(others) == 0 {
		l.text("FALSE")
	}
	for i, other := range others {
		if i > 0 {
			l.text(" OR ")
		}
		l.text("(")
		l.contains(v, other)
		l.text(")")
	}
}

// contains says that a value contains another: an object each member, an array each element, and a plain value itself. It
// writes a chain of AND.
func (l jsonLook) contains(v jsonValue, wanted any) {
	switch wanted := wanted.(type) {
	case map[string]any:
		object, _ := l.kinds()
		v.kind()
		l.text(" = '" + object + "'")
		for _, name := range slices.Sorted(maps.Keys(wanted)) { // sorted, so that equal calls give equal SQL
			l.text(" AND ")
			l.contains(l.member(l.writer, v, name), wanted[name])
		}
	case []any:
		l.isArray(v)
		plain := map[any]bool{}
		for _, one := range wanted {
			switch one.(type) {
			case map[string]any, []any:
				l.text(" AND ")
				l.someElement(v, func(element jsonValue) { l.contains(element, one) })
			default:
				plain[one] = true
			}
		}
		l.plainElements(v, slices.SortedFunc(maps.Keys(plain), func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }))
	default:
		l.equals(l.writer, v, wanted)
	}
}

// plainElements says that an array has all of some values that differ, by counting the values that it has: one subquery for
// all costs planners far less than one for each.
func (l jsonLook) plainElements(v jsonValue, wanted []any) {
	if len(wanted) == 0 {
		return
	}
	l.text(" AND (SELECT count(DISTINCT CASE")
	row := l.jsonRow()
	for i, one := range wanted {
		l.text(" WHEN ")
		l.equals(l.writer, l.element(l.writer, v, row), one)
		l.text(" THEN " + strconv.Itoa(i))
	}
	l.text(" END) FROM ")
	l.rows(l.writer, v)
	l.text(" AS " + row + ") = " + strconv.Itoa(len(wanted)))
}

// someElement says that holds is true of an element of an array.
func (l jsonLook) someElement(v jsonValue, holds func(jsonValue)) {
	l.text("EXISTS (SELECT 1 FROM ")
	l.rows(l.writer, v)
	row := l.jsonRow()
	l.text(" AS " + row + " WHERE ")
	holds(l.element(l.writer, v, row))
	l.text(")")
}

// jsonRow is a new name for the rows of a document.
func (w *writer) jsonRow() string {
	w.aliases++
	return "j" + strconv.Itoa(w.aliases)
}

func decodeJSON(w *writer, h database.Holds) (wanted any) {
	text, _ := h.Value.([]byte)
	if err := json.Unmarshal(text, &wanted); err != nil {
		w.invalid(h.Column, "must be JSON")
	}
	return wanted
}
