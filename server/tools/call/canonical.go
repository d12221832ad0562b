package call

import (
	"bytes"
	"encoding/json"
)

// Canonical writes a JSON value in one form: without spaces, with the members of objects in the order of their names, and
// with the digits of numbers as they are.
func Canonical(raw json.RawMessage) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}
