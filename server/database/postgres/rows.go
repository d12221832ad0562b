package postgres

import (
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/rowtext"
)

// rows writes the rows of one plan.
type rows struct {
	writer rowtext.Writer[[]byte]
	// last is a copy of the cursor's values, one after the other in texts; a NULL is nil.
	last  [][]byte
	texts []byte
}

func (r *rows) reset() {
	r.writer.Reset()
	clear(r.last[:cap(r.last)])
	r.last = r.last[:0]
	clear(r.texts[:cap(r.texts)])
	r.texts = r.texts[:0]
}

// read appends the rows of a plan's result, joined by commas, and returns the page without its total.
func (r *rows) read(result *pgconn.ResultReader, plan *database.Select, dst []byte) ([]byte, database.Page, error) {
	page := database.Page{Total: -1}
	if err := check(result.FieldDescriptions(), plan.Output); err != nil {
		return dst, page, err
	}
	if err := plan.Stream.Begin(); err != nil {
		return dst, page, err
	}
	for more := true; more && result.NextRow(); { // closing the result skips the rest
		if page.Ends(plan, len(dst)) {
			break
		}
		dst = plan.Joint(dst, page.Count)
		row, from := result.Values(), len(dst)
		dst = r.writer.Append(dst, row)
		dst, more = plan.Took(dst, from)
		if len(plan.Cursor) > 0 {
			r.keep(row[len(row)-len(plan.Cursor):])
		}
		page.Count++
	}
	page.Shortened = r.writer.Shortened()
	if page.Count > 0 && len(plan.Cursor) > 0 {
		page.Last = r.writer.Values(plan.Cursor, r.last)
	}
	return dst, page, nil
}

// returned appends the rows that a write returns, joined by commas. With meets, the last value of each says whether the row
// meets the write's condition; one that does not is null.
func (r *rows) returned(result *pgconn.ResultReader, outputs []database.Output, meets bool, dst []byte) ([]byte, error) {
	if err := check(result.FieldDescriptions(), outputs); err != nil {
		return dst, err
	}
	for first := true; result.NextRow(); first = false {
		if !first {
			dst = append(dst, ',')
		}
		row := result.Values()
		if meets && string(row[len(row)-1]) == "0" {
			dst = append(dst, "null"...)
			continue
		}
		dst = r.writer.Append(dst, row)
	}
	return dst, nil
}

// keep copies values that the next row overwrites.
func (r *rows) keep(cursor [][]byte) {
	size := 0
	for _, value := range cursor {
		size += len(value)
	}
	if r.texts == nil || cap(r.texts) < size { // a nil slice would mean NULL
		r.texts = make([]byte, 0, 2*size)
	}
	r.texts, r.last = r.texts[:0], r.last[:0]
	for _, value := range cursor {
		if value == nil {
			r.last = append(r.last, nil)
			continue
		}
		from := len(r.texts)
		r.texts = append(r.texts, value...)
		r.last = append(r.last, r.texts[from:len(r.texts):len(r.texts)])
	}
}

// check makes sure that what is embedded as JSON is still JSON. Without a prepared statement nothing else shows that a
// column's type has changed.
func check(fields []pgconn.FieldDescription, outputs []database.Output) error {
	if len(fields) == 0 {
		return nil // the error is reported elsewhere
	}
	next := 0
	for i := range outputs {
		if outputs[i].Slice != nil {
			next++ // a string, whatever the column is
			continue
		}
		for _, column := range outputs[i].Columns {
			if !embeddable(column, fields[next].DataTypeOID) {
				return &database.Error{Code: database.Changed, Reason: reasonError, Message: "the database's tables have changed"}
			}
			next++
		}
	}
	return nil
}

func embeddable(c *database.Column, oid uint32) bool {
	switch {
	case c.Kind == database.JSON:
		return oid == pgtype.JSONOID || oid == pgtype.JSONBOID
	case c.Kind == database.Array && c.Element == database.JSON:
		return oid == pgtype.JSONArrayOID || oid == pgtype.JSONBArrayOID
	}
	return true
}
