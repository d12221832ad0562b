package lookup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// maxDimensions is how deep arrays may be nested: PostgreSQL's own bound.
const maxDimensions = 6

// parseJSON returns the bytes of a JSON value without blanks. Digits and the order of members stay as they are.
func parseJSON(c *database.Column, raw []byte) (database.Value, error) {
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil {
		return nil, mustBe(c, raw)
	}
	if err := checkEscapes(out.Bytes()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// parseArray reads a JSON array whose elements parse reads; arrays in it are further dimensions, which must be of one
// length each.
func parseArray(c *database.Column, raw []byte, parse func(*database.Column, json.RawMessage) (database.Value, error)) (database.Value, error) {
	element := &database.Column{Name: c.Name, Kind: c.Element, Scale: -1, Precision: -1, FractionDigits: -1}
	var lengths []int
	var read func(raw []byte, depth int) (database.Value, error)
	read = func(raw []byte, depth int) (database.Value, error) {
		var elements []json.RawMessage
		if err := json.Unmarshal(raw, &elements); err != nil || elements == nil || depth == maxDimensions {
			return nil, mustBe(c, raw)
		}
		if depth == len(lengths) {
			lengths = append(lengths, len(elements))
		}
		if len(elements) != lengths[depth] {
			return nil, errors.New("must be an array whose inner arrays are all of one length")
		}
		values := make([]database.Value, len(elements))
		for i, raw := range elements {
			var err error
			switch {
			case isNull(raw):
			case raw[0] == '[' && c.Element != database.JSON:
				values[i], err = read(raw, depth+1)
			case depth+1 < len(lengths):
				err = errors.New("must not mix values and arrays")
			default:
				if values[i], err = parse(element, raw); err != nil {
					err = fmt.Errorf("each value %w", err)
				}
			}
			if err != nil {
				return nil, err
			}
		}
		return values, nil
	}
	return read(raw, 0)
}

// unquote decodes a JSON string.
func unquote(raw json.RawMessage) (string, error) {
	if err := checkEscapes(raw); err != nil {
		return "", err
	}
	text, ok := jsontext.ReadString(raw)
	if !ok {
		return "", errors.New("must be valid JSON")
	}
	return text, nil
}

// checkEscapes refuses escapes in valid JSON that stand for no character that a database keeps: U+0000, and halves of
// surrogate pairs, which decoding would replace.
func checkEscapes(raw []byte) error {
	if bytes.IndexByte(raw, '\\') < 0 {
		return nil
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		first := escapedUnit(raw, i)
		switch {
		case first == 0:
			return errZeroByte
		case first < 0 || !utf16.IsSurrogate(first):
			continue
		}
		i += len("uXXXX")
		if i >= len(raw) || raw[i] != '\\' || utf16.DecodeRune(first, escapedUnit(raw, i+1)) == '\uFFFD' {
			return errors.New(`must not contain half of a surrogate pair (\ud800 to \udfff alone)`)
		}
		i += len("uXXXX")
	}
	return nil
}

// escapedUnit is the UTF-16 unit of an escape uXXXX that begins at i; -1 where there is none.
func escapedUnit(raw []byte, i int) rune {
	if i+5 > len(raw) || raw[i] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(raw[i+1:i+5]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}
