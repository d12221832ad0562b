package postgres

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

const (
	boolOID = pgtype.BoolOID
	textOID = pgtype.TextOID
)

// cells writes the server's text format, as rowtext.Engine asks for; nil is NULL. Its methods have a pointer: through the interface, a
// value would cost each call another one.
type cells struct{}

func (*cells) IsNull(value []byte) bool { return value == nil }

func (*cells) AppendJSON(dst []byte, c *database.Column, value []byte) []byte {
	if c.Kind == database.Array {
		return appendArray(dst, c.Element, value)
	}
	return appendScalar(dst, c.Kind, value)
}

func (*cells) AppendPlain(dst []byte, c *database.Column, value []byte) []byte {
	switch c.Kind {
	case database.Boolean:
		return appendBoolean(dst, value)
	case database.Timestamp, database.TimestampTZ:
		return jsontext.AppendTimestampText(dst, value)
	case database.Bytes:
		return appendBase64(dst, value)
	case database.Array:
		return appendArray(dst, c.Element, value)
	}
	return append(dst, value...)
}

// Size implements rowtext.Engine. Bytes come as \x and two digits for each.
func (*cells) Size(c *database.Column, value []byte) int {
	if c.Kind == database.Bytes && bytes.HasPrefix(value, []byte(`\x`)) {
		return len(value)/2 - 1
	}
	return len(value)
}

// Value implements rowtext.Engine. A value without a Go type of its own is bound again as the text that the server
// wrote.
func (*cells) Value(c *database.Column, value []byte) database.Value {
	switch c.Kind {
	case database.Boolean:
		return string(value) == "t"
	case database.Integer:
		if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
			return n
		}
	case database.Float:
		if f, err := strconv.ParseFloat(string(value), 64); err == nil {
			return f
		}
	case database.Bytes:
		if digits, ok := bytes.CutPrefix(value, []byte(`\x`)); ok {
			if decoded, err := hex.AppendDecode(nil, digits); err == nil {
				return decoded
			}
		}
	case database.JSON:
		return bytes.Clone(value)
	}
	return string(value)
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
		if !utf8.Valid(value) {
			value = bytes.ToValidUTF8(value, []byte("\uFFFD"))
		}
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

// appendBase64 appends bytes that the server wrote as \x and hexadecimal digits; any other text is appended unchanged.
func appendBase64(dst, value []byte) []byte {
	if len(value) >= 2 && value[0] == '\\' && value[1] == 'x' {
		from := len(dst)
		decoded, err := hex.AppendDecode(dst, value[2:])
		if err == nil {
			// The result goes to the place of the digits, so they are moved behind it first.
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
