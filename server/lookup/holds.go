package lookup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// The bounds of what is looked for in a JSON document (docs/design/tools.md, "Arrays and JSON"): its names and values, and how
// deep they are nested.
const (
	maxDocumentValues = 32
	maxDocumentDepth  = 5
)

// arrayHolds compares the elements of an array with one or several.
func arrayHolds(op database.HoldsOp) Lookup {
	return func(_ Calendar, c *database.Column, raw json.RawMessage) (database.Condition, error) {
		if op == database.HoldsAll && (len(raw) == 0 || raw[0] != '[') {
			if isNull(raw) {
				return nil, errors.New("must be an element, or an array of elements, not null; use isnull")
			}
			raw = slices.Concat(json.RawMessage("["), raw, json.RawMessage("]"))
		}
		element := elementOf(c)
		values, foreign := []database.Value{}, false
		err := EachValue(raw, func(raw json.RawMessage) error {
			value, err := ParseValue(element, raw)
			if errors.As(err, &beyond{}) || err == nil && isOutside(element, value) {
				foreign = true // no array has it
				return nil
			}
			values = append(values, value)
			return err
		})
		switch {
		case err != nil:
			return nil, err
		case foreign && op == database.HoldsAll:
			return database.Never, nil
		}
		return database.Holds{Column: c, Op: op, Value: values}, nil
	}
}

// elementOf describes the elements of an array.
func elementOf(c *database.Column) *database.Column {
	element := &database.Column{Name: c.Name, Kind: c.Element, Scale: -1, Precision: -1, FractionDigits: -1, Choices: c.Choices}
	switch strings.TrimRight(c.NativeType, "[]") {
	case "smallint":
		element.Bits = 16
	case "integer":
		element.Bits = 32
	}
	return element
}

// isOutside reports whether a value is an integer that the column cannot hold.
func isOutside(c *database.Column, value database.Value) bool {
	n, ok := value.(int64)
	least, greatest := bounds(c)
	return ok && c.Kind == database.Integer && (n < least || n > 0 && uint64(n) > greatest)
}

// documentHolds looks for a JSON object in an object, and for elements in an array: an array's elements, or one plain
// value.
func documentHolds(_ Calendar, c *database.Column, raw json.RawMessage) (database.Condition, error) {
	document, err := wantedDocument(c, raw)
	switch {
	case err != nil:
		return nil, err
	case isNull(document):
		return nil, errors.New("must be an object, or elements of an array, not null; use isnull")
	case document[0] != '{' && document[0] != '[':
		document = slices.Concat([]byte("["), document, []byte("]"))
	}
	return database.Holds{Column: c, Op: database.HoldsAll, Value: document}, nil
}

// elementsHold compares the elements of a JSON array with several.
func elementsHold(op database.HoldsOp) Lookup {
	return func(_ Calendar, c *database.Column, raw json.RawMessage) (database.Condition, error) {
		document, err := wantedDocument(c, raw)
		if err != nil {
			return nil, err
		}
		var elements []json.RawMessage
		if json.Unmarshal(document, &elements) != nil || elements == nil {
			return nil, fmt.Errorf("must be an array of values, not %s", Excerpt(raw))
		}
		composed := func(raw json.RawMessage) bool { return raw[0] == '{' || raw[0] == '[' }
		if op == database.HoldsOnly && slices.ContainsFunc(elements, composed) {
			return nil, errors.New("must be an array of texts, numbers, true, false or null; use contains or overlap for objects and arrays")
		}
		return database.Holds{Column: c, Op: op, Value: document}, nil
	}
}

func hasKey(_ Calendar, c *database.Column, raw json.RawMessage) (database.Condition, error) {
	name, err := ParseValue(&database.Column{Kind: database.Text}, raw)
	if err != nil {
		return nil, err
	}
	return database.Holds{Column: c, Op: database.HasKey, Value: name}, nil
}

// wantedDocument reads a JSON document to look for. Each of its values is a condition of the statement.
func wantedDocument(c *database.Column, raw json.RawMessage) ([]byte, error) {
	value, err := parseJSON(c, raw)
	if err != nil {
		return nil, err
	}
	document := value.([]byte)
	values, depth := 0, 0
	tokens := json.NewDecoder(bytes.NewReader(document))
	tokens.UseNumber()
	for tokens.More() || depth > 0 {
		token, err := tokens.Token()
		if err != nil {
			return nil, mustBe(c, raw)
		}
		switch token := token.(type) {
		case json.Delim:
			if token == '}' || token == ']' {
				depth--
				continue
			}
			depth++
		case json.Number:
			if err := comparableNumber(token); err != nil {
				return nil, err
			}
		}
		if values++; values > maxDocumentValues || depth > maxDocumentDepth {
			return nil, fmt.Errorf("must have at most %d names and values, and be at most %d levels deep", maxDocumentValues, maxDocumentDepth)
		}
	}
	return document, nil
}

// comparableNumber refuses a number that is not compared alike on all engines, since some take it for a float.
func comparableNumber(n json.Number) error {
	f, err := n.Float64()
	if err != nil || f == math.Trunc(f) && math.Abs(f) > maxExactInteger {
		return fmt.Errorf("must have no number beyond ±%d, not %s", int64(maxExactInteger), Excerpt([]byte(n)))
	}
	return nil
}
