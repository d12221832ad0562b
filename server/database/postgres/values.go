package postgres

import (
	"encoding/base64"
	"encoding/hex"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/jsontext"
)

const (
	boolOID = pgtype.BoolOID
	textOID = pgtype.TextOID
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

// read appends the rows of a result, joined by commas.
func (r *row) read(result *pgconn.ResultReader, dst []byte) ([]byte, int, error) {
	if err := r.check(result.FieldDescriptions()); err != nil {
		return dst, 0, err
	}
	count := 0
	for ; result.NextRow(); count++ {
		if count > 0 {
			dst = append(dst, ',')
		}
		dst = r.append(dst, result.Values())
	}
	return dst, count, nil
}

// check makes sure that what is embedded as JSON is JSON still: without a prepared statement nothing else would tell
// that a column has another type by now.
func (r *row) check(fields []pgconn.FieldDescription) error {
	if len(fields) == 0 {
		return nil // an error is on its way
	}
	next := 0
	for _, output := range r.outputs {
		for _, column := range output.Columns {
			if !embeddable(column, fields[next].DataTypeOID) {
				return &database.Error{Code: database.Changed, Reason: reasonError, Message: "the database's tables have changed"}
			}
			next++
		}
	}
	return nil
}

func embeddable(c *database.Column, oid uint32) bool {
	switch {
	case c.Kind == database.JSON:
		return oid == pgtype.JSONOID || oid == pgtype.JSONBOID
	case c.Kind == database.Array && c.Element == database.JSON:
		return oid == pgtype.JSONArrayOID || oid == pgtype.JSONBArrayOID
	}
	return true
}

func (r *row) append(dst []byte, values [][]byte) []byte {
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
func (r *row) appendComposite(dst []byte, columns []*database.Column, values [][]byte) []byte {
	from := len(dst)
	dst = append(dst, '"')
	for i, value := range values {
		if value == nil {
			return append(dst[:from], "null"...)
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		switch columns[i].Kind {
		case database.Boolean:
			r.part = appendBoolean(r.part[:0], value)
		case database.Timestamp, database.TimestampTZ:
			r.part = jsontext.AppendTimestamp(r.part[:0], value)
		case database.Bytes:
			r.part = appendBase64(r.part[:0], value)
		default:
			r.part = append(r.part[:0], value...)
		}
		dst = jsontext.AppendPercentEncoded(dst, r.part)
	}
	return append(dst, '"')
}

// appendValue appends a value in its JSON form, from PostgreSQL's text format; nil is NULL.
func appendValue(dst []byte, c *database.Column, value []byte) []byte {
	if value == nil {
		return append(dst, "null"...)
	}
	if c.Kind == database.Array {
		return appendArray(dst, c.Element, value)
	}
	return appendScalar(dst, c.Kind, value)
}

func appendScalar(dst []byte, kind database.Kind, value []byte) []byte {
	switch kind {
	case database.Boolean:
		return appendBoolean(dst, value)
	case database.Integer:
		return jsontext.AppendInteger(dst, value)
	case database.Float:
		return jsontext.AppendNumber(dst, value)
	case database.Timestamp, database.TimestampTZ:
		dst = append(dst, '"')
		dst = jsontext.AppendTimestamp(dst, value)
		return append(dst, '"')
	case database.Bytes:
		dst = append(dst, '"')
		dst = appendBase64(dst, value)
		return append(dst, '"')
	case database.JSON:
		return append(dst, value...)
	}
	return jsontext.AppendString(dst, value)
}

func appendBoolean(dst, value []byte) []byte {
	switch string(value) {
	case "t":
		return append(dst, "true"...)
	case "f":
		return append(dst, "false"...)
	}
	return jsontext.AppendString(dst, value)
}

// appendBase64 appends bytes that the server wrote as \x and hexadecimal digits; any other text stays as it is.
func appendBase64(dst, value []byte) []byte {
	if len(value) >= 2 && value[0] == '\\' && value[1] == 'x' {
		from := len(dst)
		decoded, err := hex.AppendDecode(dst, value[2:])
		if err == nil {
			// The bytes lie where their text is to go: they are moved behind it first.
			n := len(decoded) - from
			size := base64.StdEncoding.EncodedLen(n)
			decoded = append(decoded, make([]byte, size)...)
			copy(decoded[from+size:], decoded[from:from+n])
			base64.StdEncoding.Encode(decoded[from:from+size], decoded[from+size:])
			return decoded[:from+size]
		}
		dst = dst[:from]
	}
	return jsontext.AppendEscaped(dst, value)
}
