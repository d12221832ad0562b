package postgres

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// params are the values of a statement in text format.
type params struct {
	values [][]byte
	// arena holds the texts of all values, one after the other.
	arena []byte
	ends  []int
}

func (p *params) reset() {
	clear(p.values)
	p.values = p.values[:0]
}

func (p *params) encode(args []sqltext.Arg) error {
	if p.arena == nil {
		p.arena = []byte{} // a nil slice would mean NULL
	}
	p.arena, p.ends, p.values = p.arena[:0], p.ends[:0], p.values[:0]
	for i := range args {
		arg := &args[i]
		var err error
		if arg.List != nil {
			p.arena, err = appendArrayParam(p.arena, arg.Kind, arg.List)
		} else {
			p.arena, err = appendParam(p.arena, arg.Kind, arg.Element, arg.Value)
		}
		if err != nil {
			return named(err, arg.Column)
		}
		p.ends = append(p.ends, len(p.arena))
	}
	from := 0
	for i, end := range p.ends {
		value := p.arena[from:end:end]
		if args[i].Value != nil || args[i].List != nil {
			p.values = append(p.values, value)
		} else {
			p.values = append(p.values, nil)
		}
		from = end
	}
	return nil
}

// named sets the column whose value is wrong in an error.
func named(err error, c *database.Column) error {
	e := database.AsError(err)
	e.Column = c
	return e
}

// appendParam appends a value in PostgreSQL's text format. Element is the kind of an array's elements.
func appendParam(dst []byte, kind, element database.Kind, value database.Value) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return dst, nil
	case string:
		if strings.IndexByte(v, 0) >= 0 {
			return dst, &database.Error{Code: database.Invalid, Message: "a text must not hold U+0000"}
		}
		return append(dst, v...), nil
	case int64:
		return strconv.AppendInt(dst, v, 10), nil
	case uint64:
		return strconv.AppendUint(dst, v, 10), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case float64:
		switch {
		case math.IsInf(v, 1):
			return append(dst, "Infinity"...), nil
		case math.IsInf(v, -1):
			return append(dst, "-Infinity"...), nil
		}
		return strconv.AppendFloat(dst, v, 'g', -1, 64), nil
	case []byte:
		if kind == database.JSON {
			return append(dst, v...), nil
		}
		return hex.AppendEncode(append(dst, `\x`...), v), nil
	case []database.Value:
		return appendArrayParam(dst, element, v)
	}
	return dst, fmt.Errorf("a value of type %T cannot be bound", value)
}

// appendArrayParam appends values as an array literal, each quoted. An array among them is a further dimension.
func appendArrayParam(dst []byte, kind database.Kind, values []database.Value) ([]byte, error) {
	var element []byte
	var err error
	dst = append(dst, '{')
	for i, value := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch v := value.(type) {
		case nil:
			dst = append(dst, "NULL"...)
			continue
		case []database.Value:
			if dst, err = appendArrayParam(dst, kind, v); err != nil {
				return dst, err
			}
			continue
		}
		if element, err = appendParam(element[:0], kind, database.Other, value); err != nil {
			return dst, err
		}
		dst = append(dst, '"')
		for _, c := range element {
			if c == '"' || c == '\\' {
				dst = append(dst, '\\')
			}
			dst = append(dst, c)
		}
		dst = append(dst, '"')
	}
	return append(dst, '}'), nil
}
