package sqlite

import (
	"context"
	"database/sql/driver"
	"os"
)

// A version says which schema a file has. SQLite counts the changes of the schema in the file itself, and reads the schema again
// only if that number is another.
type version struct {
	file os.FileInfo
	// schema is schema_version.
	schema int64
}

// version is the file's present version; nil if that is not known.
func (d *db) version(ctx context.Context, c *conn) (*version, error) {
	var v version
	limited, cancel := d.limit(ctx)
	defer cancel()
	err := c.each(limited, "PRAGMA schema_version", nil, func(values []driver.Value) { v.schema, _ = values[0].(int64) })
	if err != nil {
		return nil, d.statementError(ctx, limited, err)
	}
	if lost := d.lookAgain(nil); lost != nil {
		return nil, lost
	}
	d.file.noteLog()
	v.file = *d.file.info.Load()
	return &v, nil
}

// Unchanged implements database.Watched.
func (d *db) Unchanged(ctx context.Context) (bool, error) {
	seen := d.seen.Load()
	if seen == nil {
		return false, nil
	}
	c, err := d.acquire(ctx)
	if err != nil {
		return false, err
	}
	defer d.readers.Release(c)
	now, err := d.version(ctx, c)
	return err == nil && now != nil && now.schema == seen.schema && os.SameFile(now.file, seen.file), err
}
