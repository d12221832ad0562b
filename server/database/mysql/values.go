package mysql

import (
	"database/sql/driver"
	"encoding/base64"
	"encoding/json"
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/rowtext"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// values writes the driver's values: nil, int64, float32, float64 and []byte. A []byte is a text, bytes, a date, the
// digits of an integer beyond int64 or of a sum, or the bits of a bit column.
type values struct{}

var _ rowtext.Engine[driver.Value] = values{}

// IsNull implements rowtext.Engine.
func (values) IsNull(v driver.Value) bool { return v == nil }

// Size implements rowtext.Engine.
func (values) Size(_ *database.Column, v driver.Value) int {
	if b, ok := v.([]byte); ok {
		return len(b)
	}
	return 8
}

// Value implements rowtext.Engine.
func (e values) Value(c *database.Column, value driver.Value) database.Value {
	switch v := value.(type) {
	case int64:
		if isTruth(c, v) {
			return v == 1
		}
		return v
	case float32:
		return shortest(v)
	case []byte:
		switch {
		case isBits(c) && c.Kind == database.Boolean:
			return bits(v) == 1
		case isBits(c):
			return string(e.AppendPlain(nil, c, v))
		case c.Kind == database.Integer:
			if n, err := strconv.ParseUint(string(v), 10, 64); err == nil {
				return n
			}
		case c.Kind == database.Bytes, c.Kind == database.JSON:
			return append([]byte{}, v...)
		}
		return string(v)
	}
	return value
}

// AppendJSON implements rowtext.Engine.
func (e values) AppendJSON(dst []byte, c *database.Column, value driver.Value) []byte {
	switch v := value.(type) {
	case int64:
		if isTruth(c, v) {
			return strconv.AppendBool(dst, v == 1)
		}
		if c.Kind == database.Enum || isBits(c) {
			return jsontext.AppendString(dst, e.AppendPlain(nil, c, v))
		}
		return jsontext.AppendInt(dst, v)
	case float32:
		return jsontext.AppendFloat(dst, shortest(v))
	case float64:
		return jsontext.AppendFloat(dst, v)
	case []byte:
		switch c.Kind {
		case database.Text, database.Enum, database.UUID:
			return jsontext.AppendString(dst, v)
		case database.Integer:
			return jsontext.AppendInteger(dst, v)
		case database.Boolean:
			return e.AppendPlain(dst, c, v)
		case database.JSON:
			// MariaDB's JSON is a text with a check, which may have been off when the text was written.
			if c.NativeType == "json" || json.Valid(v) {
				return append(dst, v...)
			}
			return jsontext.AppendString(dst, v)
		case database.Other:
			if !isBits(c) {
				return jsontext.AppendString(dst, v)
			}
		}
		// Digits, base64 and dates need no escapes.
		dst = append(dst, '"')
		dst = e.AppendPlain(dst, c, v)
		return append(dst, '"')
	}
	return append(dst, "null"...) // the driver has no other type
}

// AppendPlain implements rowtext.Engine.
func (values) AppendPlain(dst []byte, c *database.Column, value driver.Value) []byte {
	switch v := value.(type) {
	case int64:
		if isTruth(c, v) {
			return strconv.AppendBool(dst, v == 1)
		}
		switch {
		case c.Kind == database.Enum:
			return append(dst, choiceAt(c, v)...)
		case isBits(c):
			return appendDigits(dst, uint64(v), c.MaxLength)
		}
		return strconv.AppendInt(dst, v, 10)
	case float32:
		return jsontext.AppendFloatText(dst, shortest(v))
	case float64:
		return jsontext.AppendFloatText(dst, v)
	case []byte:
		switch c.Kind {
		case database.Bytes:
			return base64.StdEncoding.AppendEncode(dst, v)
		case database.Boolean:
			return strconv.AppendBool(dst, bits(v) == 1)
		case database.Time:
			return append(dst, withoutZeros(v)...)
		case database.Timestamp, database.TimestampTZ:
			return appendMoment(dst, c, v)
		case database.Other:
			if isBits(c) {
				return appendBits(dst, v, c.MaxLength)
			}
		}
		return append(dst, v...)
	}
	return dst
}

// appendMoment appends a date and a time of day. A text that is not a day of the calendar, such as '0000-00-00
// 00:00:00', stays as the server writes it.
func appendMoment(dst []byte, c *database.Column, v []byte) []byte {
	if len(v) < len("0000-00-00 00:00:00") || string(v[5:7]) == "00" || string(v[8:10]) == "00" {
		return append(dst, v...)
	}
	dst = jsontext.AppendTimestampText(dst, withoutZeros(v))
	if c.Kind == database.TimestampTZ {
		dst = append(dst, 'Z') // the session is in UTC
	}
	return dst
}

// withoutZeros returns a time of day without the zeros at the end of its fraction, and without a fraction of zeros
// only.
func withoutZeros(v []byte) []byte {
	point := len(v) - 1
	for ; point >= 0 && v[point] != '.'; point-- {
		if v[point] == ':' {
			return v
		}
	}
	if point < 0 {
		return v
	}
	end := len(v)
	for v[end-1] == '0' {
		end--
	}
	if end-1 == point {
		end = point
	}
	return v[:end]
}

// isTruth reports whether a number in a tinyint(1) is 0 or 1; any other is shown as a number.
func isTruth(c *database.Column, n int64) bool {
	return c.Kind == database.Boolean && (n == 0 || n == 1)
}

// isBits reports whether a column is of the type bit.
func isBits(c *database.Column) bool { return len(c.NativeType) > 3 && c.NativeType[:4] == "bit(" }

func bits(v []byte) (n uint64) {
	for _, b := range v {
		n = n<<8 | uint64(b)
	}
	return n
}

// choiceAt is the value at a place of an enum: the least or greatest of several is read as its place.
func choiceAt(c *database.Column, place int64) string {
	if place < 1 || place > int64(len(c.Choices)) {
		return "" // the value was not a choice
	}
	return c.Choices[place-1]
}

// appendBits appends the column's lowest bits as zeros and ones.
func appendBits(dst []byte, v []byte, length int) []byte { return appendDigits(dst, bits(v), length) }

func appendDigits(dst []byte, n uint64, length int) []byte {
	for i := length - 1; i >= 0; i-- {
		dst = append(dst, '0'+byte(n>>i&1))
	}
	return dst
}

// shortest returns the float64 with the fewest digits that stands for the float32.
func shortest(f float32) float64 {
	var memory [32]byte
	near, err := strconv.ParseFloat(string(strconv.AppendFloat(memory[:0], float64(f), 'g', -1, 32)), 64)
	if err != nil {
		return float64(f)
	}
	return near
}
