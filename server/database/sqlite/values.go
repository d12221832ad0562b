package sqlite

import (
	"bytes"
	"database/sql/driver"
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/rowtext"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// values writes the driver's values: nil, int64, float64, string and []byte, which are SQLite's five classes. A column
// may hold values of any class, whatever type it declares. A value that is not of the declared kind is shown in its stored
// form.
type values struct{}

var (
	_ rowtext.Engine[driver.Value] = values{}
	_ rowtext.Keeper[driver.Value] = values{}
)

// IsNull implements rowtext.Engine.
func (values) IsNull(v driver.Value) bool { return v == nil }

// Size implements rowtext.Engine.
func (values) Size(_ *database.Column, value driver.Value) int {
	switch v := value.(type) {
	case string:
		return len(v)
	case []byte:
		return len(v)
	}
	return 8
}

// Value implements rowtext.Engine. It returns the stored value, so that it can be found again. A decimal is an int64 or a
// float64, since its text would not be the same number; a timestamp has the form that its row has.
func (values) Value(c *database.Column, value driver.Value) database.Value {
	if n, ok := value.(int64); ok && isTruth(c, n) {
		return n == 1
	}
	return value
}

// AppendJSON implements rowtext.Engine.
func (e values) AppendJSON(dst []byte, c *database.Column, value driver.Value) []byte {
	switch v := value.(type) {
	case int64:
		switch {
		case isTruth(c, v):
			return strconv.AppendBool(dst, v == 1)
		case c.Kind == database.JSON:
			return strconv.AppendInt(dst, v, 10)
		case c.Kind != database.Decimal:
			return jsontext.AppendInt(dst, v)
		}
	case float64:
		if c.Kind != database.Decimal || !isFinite(v) {
			return jsontext.AppendFloat(dst, v)
		}
	case string:
		switch {
		case c.Kind == database.Integer && c.Exact():
			return jsontext.AppendInteger(dst, v)
		case isMoment(c, v):
			dst = e.AppendPlain(append(dst, '"'), c, v)
			return append(dst, '"')
		case c.Kind == database.JSON && utf8.ValidString(v) && json.Valid([]byte(v)):
			return append(dst, v...)
		default:
			return jsontext.AppendString(dst, v)
		}
	}
	dst = append(dst, '"')
	dst = e.AppendPlain(dst, c, value)
	return append(dst, '"')
}

// AppendPlain implements rowtext.Engine.
func (values) AppendPlain(dst []byte, c *database.Column, value driver.Value) []byte {
	switch v := value.(type) {
	case int64:
		switch {
		case isTruth(c, v):
			return strconv.AppendBool(dst, v == 1)
		case c.Kind == database.Decimal:
			return appendScaled(dst, v, c.Scale)
		}
		return strconv.AppendInt(dst, v, 10)
	case float64:
		if c.Kind == database.Decimal && isFinite(v) {
			return appendDecimal(dst, v, c.Scale)
		}
		return jsontext.AppendFloatText(dst, v)
	case string:
		switch {
		case !isMoment(c, v):
			return append(dst, v...)
		case c.Kind == database.Timestamp:
			return jsontext.AppendTimestampText(dst, v)
		}
		return jsontext.AppendInstantText(dst, v)
	case []byte:
		return base64.StdEncoding.AppendEncode(dst, v)
	}
	return dst
}

// appendScaled appends a whole number with the number of decimal places that the column declares, all of them zeros.
func appendScaled(dst []byte, n int64, scale int) []byte {
	dst = strconv.AppendInt(dst, n, 10)
	if scale > 0 {
		dst = append(dst, '.')
	}
	for ; scale > 0; scale-- {
		dst = append(dst, '0')
	}
	return dst
}

// appendDecimal appends the shortest digits that stand for a number, as sums take it too, with zeros up to the decimal
// places that the column declares.
func appendDecimal(dst []byte, f float64, scale int) []byte {
	from := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	point := bytes.IndexByte(dst[from:], '.')
	if point < 0 && scale > 0 {
		point = len(dst) - from
		dst = append(dst, '.')
	}
	for places := len(dst) - from - point - 1; places < scale; places++ {
		dst = append(dst, '0')
	}
	return dst
}

// isMoment reports whether a text in a column of timestamps is one that SQLite's own functions of time understand. Any
// other text is shown in its stored form, so that it can be found again.
func isMoment(c *database.Column, text string) bool {
	return c.Kind.IsMoment() && sqltext.SQLiteMoment(text)
}

// isTruth reports whether a number in a boolean column is 0 or 1.
func isTruth(c *database.Column, n int64) bool {
	return c.Kind == database.Boolean && (n == 0 || n == 1)
}

func isFinite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
