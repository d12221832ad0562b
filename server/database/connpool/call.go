package connpool

import (
	"database/sql/driver"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/rowtext"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// Call is the memory of one statement, which an engine keeps for the next. It is used by one goroutine at a time.
type Call struct {
	// SQL is the statement, Args are its values as the driver takes them, and Row writes its rows.
	SQL  sqltext.Statement
	Args []driver.NamedValue
	Row  rowtext.Writer[driver.Value]
	last lastRow
}

// Reset clears the call of a request's values.
func (c *Call) Reset() {
	c.SQL.Reset()
	clear(c.Args)
	c.Row.Reset()
	c.last.reset()
}

// ReadPage appends the rows of a plan's page to out. The statement was built and Row prepared before; query runs it and
// calls row as EachRow does. The page's Total is not set.
func (c *Call) ReadPage(plan *database.Select, out []byte, query func(row func([]driver.Value) bool) error) ([]byte, database.Page, error) {
	var page database.Page
	extended := out
	if err := plan.Stream.Begin(); err != nil {
		return out, page, err
	}
	err := query(func(values []driver.Value) bool {
		if page.Ends(plan, len(extended)) {
			return false
		}
		extended = plan.Joint(extended, page.Count)
		from := len(extended)
		extended = c.Row.Append(extended, values)
		var more bool
		extended, more = plan.Took(extended, from)
		page.Count++
		c.last.keep(values[len(values)-len(plan.Cursor):])
		return more
	})
	if err != nil {
		return out, database.Page{}, err
	}
	page.Shortened = c.Row.Shortened()
	if page.Count > 0 && len(plan.Cursor) > 0 {
		page.Last = c.Row.Values(plan.Cursor, c.last.values())
	}
	return extended, page, nil
}

// Returned appends a row that a write returned. With meets, its last value says whether it meets the write's condition; one
// that does not is null.
func (c *Call) Returned(out []byte, values []driver.Value, meets bool) []byte {
	if meets && values[len(values)-1] == int64(0) {
		return append(out, "null"...)
	}
	return c.Row.Append(out, values)
}

// lastRow copies the values of a row, since the driver uses their memory again for the next row.
type lastRow struct {
	kept  []driver.Value
	bytes [][]byte
}

func (l *lastRow) keep(values []driver.Value) {
	for len(l.bytes) < len(values) {
		l.bytes = append(l.bytes, nil)
	}
	l.kept = l.kept[:0]
	for i, value := range values {
		if b, ok := value.([]byte); ok {
			l.bytes[i] = append(l.bytes[i][:0], b...)
			value = isBytes
		}
		l.kept = append(l.kept, value)
	}
}

// isBytes stands for a value whose bytes are in lastRow.bytes. So only the last row allocates a driver.Value for them.
var isBytes driver.Value = bytesMark{}

// bytesMark is a type that no driver hands out.
type bytesMark struct{}

func (l *lastRow) values() []driver.Value {
	for i, value := range l.kept {
		if value == isBytes {
			l.kept[i] = l.bytes[i]
		}
	}
	return l.kept
}

func (l *lastRow) reset() {
	clear(l.kept)
	for _, b := range l.bytes {
		clear(b[:cap(b)])
	}
}
