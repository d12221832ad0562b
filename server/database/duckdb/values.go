package duckdb

import (
	"bytes"
	"database/sql/driver"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/rowtext"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// values writes the driver's values: booleans, floats and bytes as they are, and everything else as DuckDB's text, to which the
// statements cast it.
type values struct{}

var _ rowtext.Engine[driver.Value] = values{}

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

// Value implements rowtext.Engine.
func (values) Value(c *database.Column, value driver.Value) database.Value {
	switch v := value.(type) {
	case float32:
		return float64(v)
	case []byte:
		return bytes.Clone(v)
	case string:
		if c.Kind == database.Integer {
			if n, err := strconv.ParseInt(v, 10, 64); err == nil {
				return n
			}
		}
	}
	return value
}

// AppendJSON implements rowtext.Engine.
func (e values) AppendJSON(dst []byte, c *database.Column, value driver.Value) []byte {
	switch v := value.(type) {
	case bool:
		return strconv.AppendBool(dst, v)
	case float64:
		return jsontext.AppendFloat(dst, v)
	case float32:
		return jsontext.AppendFloat(dst, shortest(v))
	case string:
		switch c.Kind {
		case database.Integer:
			return jsontext.AppendInteger(dst, v)
		case database.Timestamp, database.TimestampTZ:
			dst = append(dst, '"')
			dst = jsontext.AppendTimestamp(dst, v)
			return append(dst, '"')
		case database.JSON:
			if utf8.ValidString(v) && json.Valid([]byte(v)) {
				return append(dst, v...)
			}
		}
		return jsontext.AppendString(dst, v)
	}
	dst = append(dst, '"')
	dst = e.AppendPlain(dst, c, value)
	return append(dst, '"')
}

// AppendPlain implements rowtext.Engine.
func (values) AppendPlain(dst []byte, c *database.Column, value driver.Value) []byte {
	switch v := value.(type) {
	case bool:
		return strconv.AppendBool(dst, v)
	case float64:
		return jsontext.AppendFloatText(dst, v)
	case float32:
		return jsontext.AppendFloatText(dst, shortest(v))
	case []byte:
		return base64.StdEncoding.AppendEncode(dst, v)
	case string:
		if c.Kind.IsMoment() {
			return jsontext.AppendTimestampText(dst, v)
		}
		return append(dst, v...)
	}
	return dst
}

// shortest is the double whose shortest digits are those of a float.
func shortest(f float32) float64 {
	double, err := strconv.ParseFloat(strconv.FormatFloat(float64(f), 'g', -1, 32), 64)
	if err != nil {
		return float64(f)
	}
	return double
}
