package sqlite

import (
	"database/sql/driver"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
)

// AppendKept implements rowtext.Keeper.
func (values) AppendKept(dst []byte, c *database.Column, value driver.Value) []byte {
	if isStoredAsShown(c, value) {
		return append(dst, "null"...)
	}
	return database.AppendKept(dst, value)
}

// isStoredAsShown reports whether a column stores the same value again if it is given what rows show of it.
func isStoredAsShown(c *database.Column, value driver.Value) bool {
	switch v := value.(type) {
	case int64:
		switch c.Kind {
		case database.Integer:
			return true
		case database.Boolean:
			return isTruth(c, v)
		case database.Decimal, database.Other:
			return v >= -jsontext.MaxSafeInteger && v <= jsontext.MaxSafeInteger
		}
	case float64:
		return isFinite(v) && (c.Kind == database.Float || c.Kind == database.Decimal && v != 0)
	case string:
		return utf8.ValidString(v) && !strings.ContainsRune(v, 0) && isPlainText(c, v)
	case []byte:
		return c.Kind == database.Bytes
	}
	return false
}

// isPlainText reports whether a text is written as it is shown, and as nothing else.
func isPlainText(c *database.Column, text string) bool {
	switch c.Kind {
	case database.Text:
		return true
	case database.Date:
		_, err := time.Parse(time.DateOnly, text)
		return err == nil
	case database.Time:
		_, err := time.Parse(time.TimeOnly, text)
		return err == nil && len(text) == len(time.TimeOnly)
	case database.JSON:
		inJournal, err := json.Marshal(json.RawMessage(text))
		return err == nil && string(inJournal) == text && text != "null" // which a row shows as if it were NULL
	}
	return false
}
