package sqlite

import (
	"context"
	"database/sql/driver"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// readIndexes finds the unique indexes, the checks, and whether the key is the row's own number.
func readIndexes(ctx context.Context, c *conn, table found) error {
	type index struct {
		name, sql string
		partial   bool
	}
	var unique []index
	keyIndex := false
	const indexes = `SELECT l.name, l.origin, l.partial, s.sql FROM pragma_index_list(?1) AS l
LEFT JOIN sqlite_schema AS s ON s.type = 'index' AND s.name = l.name WHERE l."unique" = 1 OR l.origin = 'pk' ORDER BY l.name`
	err := c.each(ctx, indexes, []driver.Value{table.Name}, func(v []driver.Value) {
		if text(v[1]) == "pk" {
			keyIndex = true
		} else {
			unique = append(unique, index{text(v[0]), text(v[3]), v[2] == int64(1)})
		}
	})
	if err != nil {
		return err
	}
	if len(table.PrimaryKey) == 1 && !keyIndex && !table.withoutRowid && !table.virtual {
		// INTEGER PRIMARY KEY: SQLite gives the next number, and accepts integers only.
		key := table.PrimaryKey[0]
		key.HasDefault, key.HoldsNull, key.Loose = true, false, false
	}
	for _, index := range unique {
		columns, whole := []*database.Column(nil), !index.partial
		err := c.each(ctx, `SELECT name FROM pragma_index_xinfo(?1) WHERE key = 1 ORDER BY seqno`, []driver.Value{index.name}, func(v []driver.Value) {
			column := findColumn(table.Table, text(v[0]))
			columns, whole = append(columns, column), whole && column != nil // an expression has no name
		})
		switch {
		case err != nil:
			return err
		case whole:
			table.Unique = append(table.Unique, columns)
		default:
			table.Constraints = append(table.Constraints, database.Constraint{Name: index.name, Columns: indexed(table.Table, index.sql)})
		}
	}
	table.Constraints = append(table.Constraints, checks(table.Table, table.sql)...)
	table.Checks = simpleChecks(table.Table, table.sql)
	if !table.withoutRowid && !table.virtual {
		table.RowID = rowID(table.Table)
	}
	return nil
}

// rowID returns the number that SQLite gives each row, as a column; nil if columns of the table have taken all of its
// names.
func rowID(table *database.Table) *database.Column {
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		if findColumn(table, name) == nil {
			c := &database.Column{Name: name, NativeType: "INTEGER", HasDefault: true, Privileges: database.MaySelect | database.MayInsert | database.MayUpdate}
			describeType(c)
			return c
		}
	}
	return nil
}

// referentialActions are SQLite's words for what a foreign key does. All other words forbid the change.
var referentialActions = map[string]database.ReferentialAction{
	"CASCADE": database.Cascade, "SET NULL": database.SetNull, "SET DEFAULT": database.SetDefault,
}

func readForeignKeys(ctx context.Context, c *conn, s *database.Schema, table *database.Table) error {
	type link struct{ from, to string }
	var targets, deleted, updated []string
	links := map[int64][]link{}
	var ids []int64
	const keys = `SELECT id, "table", "from", "to", on_delete, on_update FROM pragma_foreign_key_list(?1) ORDER BY id DESC, seq`
	err := c.each(ctx, keys, []driver.Value{table.Name}, func(v []driver.Value) {
		id := v[0].(int64)
		if links[id] == nil {
			ids, targets = append(ids, id), append(targets, text(v[1]))
			deleted, updated = append(deleted, text(v[4])), append(updated, text(v[5]))
		}
		links[id] = append(links[id], link{text(v[2]), text(v[3])})
	})
	if err != nil {
		return err
	}
	for i, id := range ids {
		at := slices.IndexFunc(s.Tables, func(t *database.Table) bool { return sameName(t.Name, targets[i]) })
		if at < 0 { // SQLite accepts such a key, and then refuses every write
			table.Mismatch = "its foreign key to " + targets[i] + " names a table that does not exist, so that SQLite refuses every change of its rows."
			continue
		}
		key := &database.ForeignKey{References: s.Tables[at], OnDelete: referentialActions[deleted[i]], OnUpdate: referentialActions[updated[i]]}
		for place, l := range links[id] {
			theirs := findColumn(key.References, l.to)
			if l.to == "" && place < len(key.References.PrimaryKey) {
				theirs = key.References.PrimaryKey[place] // a foreign key without columns refers to the primary key
			}
			key.Columns = append(key.Columns, findColumn(table, l.from))
			key.ReferencedColumns = append(key.ReferencedColumns, theirs)
		}
		fits := !slices.Contains(key.Columns, nil) && !slices.Contains(key.ReferencedColumns, nil)
		if fits {
			table.ForeignKeys = append(table.ForeignKeys, key)
		}
		if !fits || !isKeyOf(key.References, key.ReferencedColumns) {
			why := "the foreign key of " + table.Name + " to " + key.References.Name + " names columns that are neither the primary key nor a unique index there, so that SQLite refuses "
			table.Mismatch, key.References.NamedMismatch = why+"every change of its rows.", why+"new rows and deletions."
		}
	}
	return nil
}

// isKeyOf reports whether columns are exactly the columns of the table's primary key or of a unique index.
func isKeyOf(table *database.Table, columns []*database.Column) bool {
	is := func(key []*database.Column) bool {
		return len(key) == len(columns) && !slices.ContainsFunc(key, func(c *database.Column) bool { return !slices.Contains(columns, c) })
	}
	return len(columns) > 0 && (is(table.PrimaryKey) || slices.ContainsFunc(table.Unique, is))
}
