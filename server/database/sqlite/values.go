package sqlite

import (
	"database/sql/driver"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/jsontext"
)

// row writes the rows of one plan.
type row struct {
	outputs []database.Output
	members jsontext.Members
	// part is the memory for a part of a composite key.
	part []byte
}

func (r *row) prepare(outputs []database.Output) {
	r.outputs = outputs
	r.members.Reset()
	for _, output := range outputs {
		r.members.Add(output.Name)
	}
}

func (r *row) reset() { r.outputs = nil }

func (r *row) append(dst []byte, values []driver.Value) []byte {
	dst = append(dst, '{')
	next := 0
	for i := range r.outputs {
		output := &r.outputs[i]
		dst = r.members.Append(dst, i)
		if output.Composite {
			dst = r.appendComposite(dst, output.Columns, values[next:next+len(output.Columns)])
		} else {
			dst = appendValue(dst, output.Columns[0], values[next])
		}
		next += len(output.Columns)
	}
	return append(dst, '}')
}

// appendComposite appends a key of several columns; decisions section 4, "id". It is null where any part is.
func (r *row) appendComposite(dst []byte, columns []*database.Column, values []driver.Value) []byte {
	from := len(dst)
	dst = append(dst, '"')
	for i, value := range values {
		if value == nil {
			return append(dst[:from], "null"...)
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		switch v := value.(type) {
		case string:
			if isTimestamp(columns[i]) {
				r.part = jsontext.AppendTimestamp(r.part[:0], v)
			} else {
				r.part = append(r.part[:0], v...)
			}
		case int64:
			if columns[i].Kind == database.Boolean && (v == 0 || v == 1) {
				r.part = strconv.AppendBool(r.part[:0], v == 1)
			} else {
				r.part = strconv.AppendInt(r.part[:0], v, 10)
			}
		case float64:
			r.part = jsontext.AppendFloat(r.part[:0], v)
		case []byte:
			r.part = base64.StdEncoding.AppendEncode(r.part[:0], v)
		}
		dst = jsontext.AppendPercentEncoded(dst, r.part)
	}
	return append(dst, '"')
}

// appendValue appends a value in its JSON form. SQLite lets a column hold values of any class, whatever it declares:
// one that is not of the declared kind stands as it is stored.
func appendValue(dst []byte, c *database.Column, value driver.Value) []byte {
	switch v := value.(type) {
	case nil:
		return append(dst, "null"...)
	case int64:
		switch {
		case c.Kind == database.Boolean && (v == 0 || v == 1):
			return strconv.AppendBool(dst, v == 1)
		case c.Kind == database.Decimal:
			dst = strconv.AppendInt(append(dst, '"'), v, 10)
			for place := 0; place < c.Scale; place++ {
				if place == 0 {
					dst = append(dst, '.')
				}
				dst = append(dst, '0')
			}
			return append(dst, '"')
		}
		return jsontext.AppendInt(dst, v)
	case float64:
		if c.Kind == database.Decimal && isFinite(v) {
			dst = strconv.AppendFloat(append(dst, '"'), v, 'f', c.Scale, 64)
			return append(dst, '"')
		}
		return jsontext.AppendFloat(dst, v)
	case string:
		switch {
		case isTimestamp(c):
			dst = jsontext.AppendTimestamp(append(dst, '"'), v)
			return append(dst, '"')
		case c.Kind == database.JSON && json.Valid([]byte(v)):
			return append(dst, v...)
		}
		return jsontext.AppendString(dst, v)
	case []byte:
		dst = base64.StdEncoding.AppendEncode(append(dst, '"'), v)
		return append(dst, '"')
	}
	return jsontext.AppendString(dst, fmt.Sprint(value))
}

func isTimestamp(c *database.Column) bool {
	return c.Kind == database.Timestamp || c.Kind == database.TimestampTZ
}

func isFinite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
