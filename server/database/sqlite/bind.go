package sqlite

import (
	"database/sql/driver"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// purpose says what values are bound for.
type purpose uint8

const (
	// toCompare: values stay as they are. A cursor's timestamps have the form that their row has.
	toCompare purpose = iota
	// toStore: timestamps are written as SQLite's own functions write them.
	toStore
)

// bind turns the statement's values into the driver's. An error is a *database.Error.
func (c *call) bind(purpose purpose) error {
	c.Args = c.Args[:0]
	for i, arg := range c.SQL.Args {
		value := arg.Value
		if arg.Column != nil && arg.Column.Exact() {
			value = exactNumber(value)
		}
		switch v := value.(type) {
		case nil, int64:
		case float64:
			if purpose == toStore && math.IsNaN(v) {
				return &database.Error{Code: database.Invalid, Column: arg.Column, Message: "NaN cannot be stored: SQLite makes it NULL"}
			}
		case string:
			switch {
			case arg.Kind == database.Decimal && (arg.Column == nil || !arg.Column.Exact()):
				value = decimal(v)
			case purpose == toStore && arg.Kind.IsMoment():
				value = storedTimestamp(v)
			}
		case []byte:
			switch {
			case arg.Kind == database.JSON:
				value = string(v) // a BLOB would not be JSON to SQLite
			case v == nil:
				value = []byte{} // the driver takes a nil slice for NULL
			}
		case bool:
			value = int64(0)
			if v {
				value = int64(1)
			}
		case uint64:
			return &database.Error{Code: database.Invalid, Column: arg.Column, Message: fmt.Sprintf("%d is beyond the largest integer, 9223372036854775807", v)}
		default:
			return &database.Error{Code: database.Failed, Reason: reasonError, Message: fmt.Sprintf("a value of type %T cannot be bound", value)}
		}
		c.Args = append(c.Args, driver.NamedValue{Ordinal: c.SQL.Ordinal(i), Value: value})
	}
	return nil
}

// decimal returns the number that a decimal is in SQLite, and any other text unchanged. SQLite's own reading of a text may
// miss the nearest float, whose text rows show; so it is read here.
func decimal(text string) driver.Value {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(f) {
		return f
	}
	return text
}

// exactNumber returns a number as the text that sums and quotients are.
func exactNumber(value database.Value) database.Value {
	switch v := value.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case string:
		if n, ok := parseNumber(v); ok {
			return n.text(0)
		}
	}
	return value
}

// storedTimestamp writes a timestamp as SQLite's own functions do: "2006-01-02 15:04:05[.999]" in UTC. Other rows of
// the column may have another form; nothing tells which. Texts of one form sort in the order of their times.
func storedTimestamp(text string) string {
	// What has a space is in the form of a stored one already.
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC().Format("2006-01-02 15:04:05.999999999")
		}
	}
	return text
}
