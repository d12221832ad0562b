package read

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// CursorPurpose is the purpose for which the key of cursors is derived.
const CursorPurpose = "cursor"

// maxCursorValues is the most bytes of values that a cursor carries: a caller brings it back in every call, and most
// clients put it before a language model. An order that needs more has no cursor.
const maxCursorValues = 2 << 10

// identity is the list that a cursor is bound to (docs/design/tools.md, "Cursors"): with any other list it does not open. It is
// equal for equal lists, whatever the spaces and the order of members in the arguments. The row policy is in it, so that no
// token can use another's, and so are the columns' kinds, which say how values are read; and, of an order by related rows,
// how the caller wrote it, and the policies under which those are seen.
func identity(c *call.Call, rows *RowSet, plan *database.Select, a *listArguments) []byte {
	id := appendText(make([]byte, 0, 256), c.Scope.Model().Name)
	id = appendText(id, c.Scope.Fingerprint())
	id = binary.AppendUvarint(id, uint64(len(plan.Order)))
	related := a.top != nil
	id = append(jsontext.AppendCompact(id, a.top), 0)
	for _, o := range plan.Order {
		id = append(appendText(id, o.Column.Name), byte(o.Column.Kind))
		id = strconv.AppendBool(id, o.Descending)
		related = related || o.Join != nil || o.Column.Expression != nil
	}
	id = appendFilters(id, a.filters)
	id = appendTexts(id, a.segments)
	id = appendTexts(id, strings.Fields(a.search))
	id = appendText(id, a.timeZone)
	if related {
		id = appendTexts(id, a.orderBy)
		for _, field := range a.fields { // which may say what an order means
			id = append(jsontext.AppendCompact(appendText(id, field.Text), field.Object), 0)
		}
		for _, scope := range rows.scopes {
			id = appendText(id, scope.Fingerprint())
		}
		for _, value := range rows.computed {
			if value.of.Model() != nil {
				id = appendText(id, value.of.Fingerprint())
			}
		}
	}
	return id
}

// appendFilters appends the members of the argument filters, which was read before, by their names.
func appendFilters(id []byte, raw json.RawMessage) []byte {
	type filter struct {
		name  string
		value []byte
	}
	var filters []filter
	for quoted, value := range jsontext.Inside(raw) {
		name, _ := jsontext.ReadString(quoted)
		filters = append(filters, filter{name, value})
	}
	slices.SortFunc(filters, func(a, b filter) int { return strings.Compare(a.name, b.name) })
	id = binary.AppendUvarint(id, uint64(len(filters)))
	for _, f := range filters {
		id = appendText(id, f.name)
		id = append(jsontext.AppendCompact(id, f.value), 0)
	}
	return id
}

func appendTexts(id []byte, texts []string) []byte {
	id = binary.AppendUvarint(id, uint64(len(texts)))
	for _, text := range texts {
		id = appendText(id, text)
	}
	return id
}

// appendText appends a text and where it ends.
func appendText(id []byte, text string) []byte {
	return append(binary.AppendUvarint(id, uint64(len(text))), text...)
}

// nextCursor returns the cursor that goes on behind the row with these values of the plan's order; "" where there is
// none, as nothing makes sure that such a row is only one, or as the values are too long.
func nextCursor(c *call.Call, rows *RowSet, plan *database.Select, a *listArguments, last []database.Value) (string, error) {
	if len(last) == 0 {
		return "", nil
	}
	plain := encodeValues(last)
	if len(plain) > maxCursorValues {
		return "", nil
	}
	return c.Cursors.Seal(plain, identity(c, rows, plan, a)), nil
}

// openCursor returns where the list continues: the values of the plan's order in the last row of the page before; nil
// without a cursor.
func openCursor(c *call.Call, rows *RowSet, plan *database.Select, a *listArguments) ([]database.Value, error) {
	if a.cursor == "" {
		return nil, nil
	}
	if rows.isRanked(a) {
		return nil, call.Invalid("cursor: similar rows, and rows of a search without order_by, have an order without cursors; go on with offset")
	}
	if a.offset.Sent {
		return nil, call.Invalid("cursor and offset do not go together: send one of them")
	}
	plain, ok := c.Cursors.Open(string(a.cursor), identity(c, rows, plan, a))
	if !ok {
		return nil, foreignCursor()
	}
	values, ok := parseValues(plain, len(plan.Order))
	if !ok {
		return nil, foreignCursor()
	}
	return values, nil
}

func foreignCursor() error {
	return call.Invalid("cursor: it does not belong to this list: send next_cursor as it was given, with the same order_by, filters and search, or leave cursor out to start again")
}

// The kinds of values in a cursor. What is read is exactly what was written, type and all: a comparison with a value of
// another type would go on elsewhere.
const (
	valueNull byte = iota
	valueFalse
	valueTrue
	valueInt
	valueUint
	valueFloat
	valueText
	valueBytes
)

// encodeValues writes values in the forms of database.Value, but for arrays, which have no order.
func encodeValues(values []database.Value) []byte {
	var dst []byte
	for _, value := range values {
		switch v := value.(type) {
		case nil:
			dst = append(dst, valueNull)
		case bool:
			if v {
				dst = append(dst, valueTrue)
			} else {
				dst = append(dst, valueFalse)
			}
		case int64:
			dst = binary.AppendVarint(append(dst, valueInt), v)
		case uint64:
			dst = binary.AppendUvarint(append(dst, valueUint), v)
		case float64:
			dst = binary.BigEndian.AppendUint64(append(dst, valueFloat), math.Float64bits(v))
		case string:
			dst = append(binary.AppendUvarint(append(dst, valueText), uint64(len(v))), v...)
		case []byte:
			dst = append(binary.AppendUvarint(append(dst, valueBytes), uint64(len(v))), v...)
		}
	}
	return dst
}

// parseValues reads what encodeValues wrote; false where it is not as many values, and nothing else.
func parseValues(plain []byte, count int) ([]database.Value, bool) {
	values := make([]database.Value, 0, count)
	for len(plain) > 0 {
		kind, size := plain[0], 0
		plain = plain[1:]
		var value database.Value
		switch kind {
		case valueNull:
		case valueFalse, valueTrue:
			value = kind == valueTrue
		case valueInt:
			value, size = binary.Varint(plain)
		case valueUint:
			value, size = binary.Uvarint(plain)
		case valueFloat:
			if len(plain) < 8 {
				return nil, false
			}
			value, size = math.Float64frombits(binary.BigEndian.Uint64(plain)), 8
		case valueText, valueBytes:
			length, prefix := binary.Uvarint(plain)
			if prefix <= 0 || length > uint64(len(plain)-prefix) {
				return nil, false
			}
			size = prefix + int(length)
			if value = string(plain[prefix:size]); kind == valueBytes {
				value = plain[prefix:size]
			}
		default:
			return nil, false
		}
		if size < 0 || size == 0 && (kind == valueInt || kind == valueUint) {
			return nil, false
		}
		values, plain = append(values, value), plain[size:]
	}
	return values, len(values) == count
}
