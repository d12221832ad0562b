package steps

import (
	"bytes"
	"encoding/json"
	"math/big"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// fieldOfColumn is the visible field of a column, by the column's name.
func fieldOfColumn(scope access.Scope, column string) *catalog.Field {
	for _, f := range scope.Fields() {
		if f.Column.Name == column {
			return f
		}
	}
	return nil
}

// holds reports whether a row has these values.
func holds(now json.RawMessage, values map[string]json.RawMessage) bool {
	is := call.Members(now)
	for name, value := range values {
		if !sameMeaning(is.Value(name), value) {
			return false
		}
	}
	return true
}

// sameMeaning reports whether two JSON values mean the same: a database's own type of JSON may store the journal's with other
// blanks, another order of members and other digits of the same number.
func sameMeaning(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var valueA, valueB any
	return decodeNumbers(a, &valueA) && decodeNumbers(b, &valueB) && sameDecoded(valueA, valueB)
}

func decodeNumbers(raw json.RawMessage, into *any) bool {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return decoder.Decode(into) == nil
}

func sameDecoded(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, member := range a {
			other, there := b[name]
			if !there || !sameDecoded(member, other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !sameDecoded(a[i], b[i]) {
				return false
			}
		}
		return true
	case json.Number:
		b, ok := b.(json.Number)
		return ok && sameNumber(a, b)
	}
	return a == b // a string, a truth value or null
}

// sameNumber compares exactly; numbers of many digits of exponent as they are written.
func sameNumber(a, b json.Number) bool {
	const most = 400
	if a == b || len(a) > most || len(b) > most {
		return a == b
	}
	if x, err := a.Float64(); err != nil || x > 1e300 || x < -1e300 {
		return false
	}
	x, okX := new(big.Rat).SetString(a.String())
	y, okY := new(big.Rat).SetString(b.String())
	return okX && okY && x.Cmp(y) == 0
}
