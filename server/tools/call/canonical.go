package call

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
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

// HashOf returns a hash of texts, each with its length.
func HashOf(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		_, _ = fmt.Fprintf(h, "%d %s", len(text), text) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil))
}

// MomentIn is a moment as a column of moments takes it.
func MomentIn(at *database.Column, moment time.Time) (database.Value, error) {
	layout := `"2006-01-02T15:04:05Z"`
	if at.Kind == database.Timestamp {
		layout = `"2006-01-02T15:04:05"`
	}
	return lookup.ParseValue(at, json.RawMessage(moment.UTC().Format(layout)))
}
