package database

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A kept value is one of a Loose column with the class that the engine gave it, whatever the column's kind: a text, an
// integer, a float or bytes. In JSON a text is a string, an integer a number of digits alone, and a float a number with a
// point or an exponent. What JSON has no form for is an object of one member.
const (
	keptBytes = "bytes" // bytes, as base64
	keptText  = "text"  // a text that is no UTF-8, as base64
	keptFloat = "float" // an infinity
)

// AppendKept appends a kept value, an int64, float64, string or []byte, as JSON.
func AppendKept(dst []byte, value Value) []byte {
	switch v := value.(type) {
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case float64:
		if math.IsInf(v, 0) {
			return appendKeptAs(dst, keptFloat, strconv.FormatFloat(v, 'g', -1, 64))
		}
		return strconv.AppendFloat(dst, v, 'e', -1, 64)
	case []byte:
		return appendKeptAs(dst, keptBytes, base64.StdEncoding.EncodeToString(v))
	case string:
		if !utf8.ValidString(v) {
			return appendKeptAs(dst, keptText, base64.StdEncoding.EncodeToString([]byte(v)))
		}
		quoted, _ := json.Marshal(v) // a string: it cannot fail
		return append(dst, quoted...)
	}
	return append(dst, "null"...)
}

func appendKeptAs(dst []byte, name, text string) []byte {
	object, _ := json.Marshal(map[string]string{name: text}) // strings: it cannot fail
	return append(dst, object...)
}

var errNotKept = errors.New("it is no value of a database")

// ParseKept reads what AppendKept wrote.
func ParseKept(raw json.RawMessage) (Value, error) {
	switch raw = bytes.TrimSpace(raw); {
	case len(raw) == 0:
		return nil, errNotKept
	case raw[0] == '"':
		var text string
		err := json.Unmarshal(raw, &text)
		return text, err
	case raw[0] == '{':
		return parseKeptAs(raw)
	case strings.ContainsAny(string(raw), ".eE"):
		return strconv.ParseFloat(string(raw), 64)
	}
	return strconv.ParseInt(string(raw), 10, 64)
}

func parseKeptAs(raw json.RawMessage) (Value, error) {
	var object map[string]string
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, err
	}
	for name, text := range object {
		switch name {
		case keptFloat:
			return strconv.ParseFloat(text, 64)
		case keptBytes:
			return base64.StdEncoding.DecodeString(text)
		case keptText:
			content, err := base64.StdEncoding.DecodeString(text)
			return string(content), err
		}
	}
	return nil, errNotKept
}
