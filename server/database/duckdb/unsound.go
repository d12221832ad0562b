package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract/excerpt"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

const (
	// filesChange is said if each attempt met other files.
	filesChange = "the files of the endpoint are being replaced, and nothing was changed; try again in a few seconds"
	// mendFile says what helps if a file cannot be read.
	mendFile = "trying again will not help before whoever administers the endpoint has mended it"
)

// mayComeOfFiles reports whether a failure may come of a file that was replaced while it was read.
func mayComeOfFiles(err error) bool {
	switch database.AsError(err).Code {
	case database.Failed, database.Unready, database.Changed, database.Unfit:
		return true
	}
	return false
}

// isReplaced reports whether the files are others than those that an instance has open. Then the next call opens another instance.
func (d *db) isReplaced(i *instance) bool {
	now, err := look(d.settings.DuckDBPath)
	if err == nil && i.version.holds(now) {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.current == i {
		d.looked = time.Time{}
	}
	return true
}

// explained says of a failed statement, which reads a table above all, whether a value of the caller is to blame or what is read, and notes the latter for the status.
func (d *db) explained(ctx context.Context, connection *conn, c *call, base *database.Table, err error) error {
	var why unsound
	if !errors.As(err, &why) {
		return err
	}
	if why.kind == conversion {
		if misfit := d.misfit(ctx, connection, c); misfit != nil {
			return misfit
		}
	}
	table, place := connection.of.placeOf(why.words.Error())
	d.noteUnread(connection.of, table, place, why.kind)
	what := "what is read"
	if base != nil {
		what = "a row of " + base.Name
		if table != "" && !strings.EqualFold(table, base.Name) {
			what = "a row of another table that this call needs"
		}
	}
	return &database.Error{
		Code: database.Unready, Reason: reasonError, Cause: fmt.Errorf("%s%s", why.kind, place),
		Message: what + " cannot be read, as its file is not sound or a value in it is not of its column's type; " + mendFile,
	}
}

// mostTried bounds the values that are tried one by one.
const mostTried = 1000

// misfit finds the first value that DuckDB cannot convert to the type that it is compared in; nil if it converts all.
func (d *db) misfit(ctx context.Context, connection *conn, c *call) *database.Error {
	for i := range min(len(c.Args), len(c.SQL.Args), mostTried) {
		arg := c.SQL.Args[i]
		if arg.Kind == database.Text || arg.Value == nil {
			continue
		}
		as := sqltext.DuckDBTypeOf(arg)
		one := c.Args[i]
		one.Ordinal = 1
		limited, cancel := d.limit(ctx, nil)
		err := connection.query(limited, "SELECT CAST(? AS "+as+")", []driver.NamedValue{one}, func([]driver.Value) bool { return true })
		cancel()
		if err == nil || failure(err).Error() != conversion {
			continue
		}
		e := &database.Error{Code: database.Invalid, Reason: reasonError, Column: arg.Column, Message: "must be " + valueForm(as), Cause: failure(err)}
		if text, ok := arg.Value.(string); ok {
			e.Message += fmt.Sprintf(", not %q", excerpt.Of(text, mostShown))
		}
		return e
	}
	return nil
}

// mostShown is the most bytes of a value that a message quotes.
const mostShown = 60

// valueForm says what a value of a type looks like.
func valueForm(native string) string {
	switch native {
	case "INTERVAL":
		return "an interval as rows show it: 1 month 2 days 03:04:05"
	case "DATE", "TIMESTAMP", "TIMESTAMPTZ", duckdbNanos, "TIME":
		return "within the range of DuckDB's type " + native
	}
	return "a value of DuckDB's type " + native
}

const duckdbNanos = "TIMESTAMP_NS"

// lineOf finds the number of a line in DuckDB's words about a CSV file.
var lineOf = regexp.MustCompile(`CSV Error on Line: ([0-9]+)`)

// placeOf finds in DuckDB's words which table's file they are about, and tells the place without any value.
func (i *instance) placeOf(words string) (table, place string) {
	for _, s := range i.version.sources {
		for _, path := range s.files {
			if strings.Contains(words, path) {
				table, place = s.table, " in the file "+filepath.Base(path)
			}
		}
	}
	if line := lineOf.FindStringSubmatch(words); line != nil {
		place += ", line " + line[1]
	}
	return table, place
}

// noteUnread has the next introspection note that a table's rows cannot all be read.
func (d *db) noteUnread(i *instance, table, place, kind string) {
	if table == "" {
		return
	}
	i.mu.Lock()
	_, known := i.unread[table]
	if !known {
		if i.unread == nil {
			i.unread = map[string]database.Unserved{}
		}
		i.unread[table] = database.Unserved{Note: fmt.Sprintf("Not all rows of %s can be read: %s%s.", table, kind, place), Why: "not all rows of a table can be read: " + kind}
	}
	i.mu.Unlock()
	if !known {
		d.seen.Store(nil) // so that the schema is read again, with its notes
	}
}

// unreadNotes are those notes, in the order of the tables.
func (i *instance) unreadNotes() (all []database.Unserved) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, table := range slices.Sorted(maps.Keys(i.unread)) {
		all = append(all, i.unread[table])
	}
	return all
}
