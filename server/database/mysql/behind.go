package mysql

import (
	"context"
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Spider's tables have their rows on other servers. Their errors look like errors of the server itself, but are not about its tables and
// its user.

// isBehindAway reports whether an error says that a server that has rows of a table cannot be reached, or has no such table.
func isBehindAway(err error) bool {
	switch number(err) {
	case errBehindAway, errBehindGone, errBehindMissing:
		return true
	}
	return false
}

func isMissing(err error) bool { return number(err) == errNoSuchTable || number(err) == errBadField }

func isDenied(err error) bool {
	switch number(err) {
	case errDatabaseDenied, errTableDenied, errColumnDenied, errSpecialDenied:
		return true
	}
	return false
}

// askedError is statementError for a statement about tables. If the rows of one lie elsewhere, the cause names it. An error that something is
// missing or not allowed then comes from another server if this server still has all that the schema says.
func (d *db) askedError(ctx, limited context.Context, c *conn, sql []byte, err error, table *database.Table) *database.Error {
	e := d.statementError(ctx, limited, err, table)
	if d.spread.Load() {
		if number(err) != errBadField {
			return e
		}
		if named, _ := d.named(sql); c.shows(limited, named) { // the gateway left out a join that the column needs
			e.Code, e.Message = database.Invalid, notOverAll
		}
		return e
	}
	if !isBehindAway(err) && !isMissing(err) && !isDenied(err) {
		return e
	}
	named, away := d.named(sql)
	if len(away) == 0 {
		return e
	}
	switch {
	case isBehindAway(err):
	case !c.shows(limited, named):
		return e
	case isDenied(err):
		e.Code, e.Message = database.Unready, "a server that has rows of a table refuses this to the user that the database connects as, and nothing was changed; whoever administers the database must grant it there"
	default:
		e.Code, e.Message = database.Unready, missingBehind
	}
	e.Cause = fmt.Errorf("rows of %s lie elsewhere: %w", strings.Join(away, ", "), e.Cause)
	return e
}

const missingBehind = "a server that has rows of a table has no such table, or not all of its columns, and nothing was changed; whoever administers the database must mend it there"

// named returns the tables that a statement names, and the names of those whose rows lie elsewhere.
func (d *db) named(sql []byte) (tables []*database.Table, away []string) {
	schema := d.schema.Load()
	if schema == nil {
		return nil, nil
	}
	text := string(sql)
	for _, t := range schema.Tables {
		if !namesWord(text, t.Name) {
			continue
		}
		tables = append(tables, t)
		if t.Elsewhere {
			away = append(away, t.String())
		}
	}
	return tables, away
}

// namesWord reports whether a statement has a name as a whole word.
func namesWord(sql, name string) bool {
	for {
		before, after, found := strings.Cut(sql, name)
		if !found {
			return false
		}
		if !endsInWord(before) && !startsWithWord(after) {
			return true
		}
		sql = after
	}
}

func startsWithWord(s string) bool { return s != "" && isWord(s[0]) }

func endsInWord(s string) bool { return s != "" && isWord(s[len(s)-1]) }

func isWord(b byte) bool {
	return b == '_' || b == '$' || b >= 0x80 || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

// columnsOfTableQuery finds the columns of a table of the server itself, whether or not another server has its rows.
const columnsOfTableQuery = `SELECT COLUMN_NAME, PRIVILEGES FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?`

// shows reports whether the server still has all columns of tables, and still lets the user do with them what it did.
func (c *conn) shows(ctx context.Context, tables []*database.Table) bool {
	for _, t := range tables {
		may := map[string]database.Privileges{}
		err := c.texts(ctx, columnsOfTableQuery, []string{t.Schema, t.Name}, func(v []string) { may[v[0]] = privileges(v[1]) })
		if err != nil {
			return false
		}
		for _, column := range t.Columns {
			if now, found := may[column.Name]; !found || !now.Has(column.Privileges) {
				return false
			}
		}
	}
	return true
}
