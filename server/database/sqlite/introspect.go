package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Introspect implements database.DB. A view that SQLite itself cannot read (its table is gone, say) is left out.
func (d *db) Introspect(ctx context.Context) (*database.Schema, error) {
	c, err := d.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer d.pool.release(c)
	limited, cancel := d.limit(ctx)
	defer cancel()
	schema, err := introspect(limited, c)
	if err != nil {
		return nil, d.statementError(ctx, limited, err)
	}
	schema.Database = d.name()
	return schema, nil
}

func introspect(ctx context.Context, c *conn) (*database.Schema, error) {
	s := &database.Schema{Engine: "SQLite"}
	if err := c.each(ctx, "SELECT sqlite_version()", nil, func(v []driver.Value) { s.Version = text(v[0]) }); err != nil {
		return nil, err
	}
	withoutRowid := map[*database.Table]bool{}
	const tables = `SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`
	err := c.each(ctx, tables, nil, func(v []driver.Value) {
		table := &database.Table{Name: text(v[0]), Kind: database.BaseTable}
		if text(v[1]) == "view" {
			table.Kind = database.View
		}
		withoutRowid[table] = v[2] == int64(1)
		s.Tables = append(s.Tables, table)
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(s.Tables, func(a, b *database.Table) int { return cmp.Compare(a.Name, b.Name) })

	readable := s.Tables[:0]
	for _, table := range s.Tables {
		err := readColumns(ctx, c, table)
		if err == nil && table.Kind == database.BaseTable {
			err = readIndexes(ctx, c, table, withoutRowid[table])
		}
		switch {
		case err == nil:
			readable = append(readable, table)
		case table.Kind != database.View || ctx.Err() != nil:
			return nil, err
		}
	}
	s.Tables = readable
	for _, table := range s.Tables {
		if err := readForeignKeys(ctx, c, s, table); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// The last column of pragma_table_xinfo.
const (
	hiddenColumn     = 1 // of a virtual table
	virtualGenerated = 2
	storedGenerated  = 3
)

func readColumns(ctx context.Context, c *conn, table *database.Table) error {
	key := map[int64]*database.Column{}
	const columns = `SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?1) ORDER BY cid`
	err := c.each(ctx, columns, []driver.Value{table.Name}, func(v []driver.Value) {
		place, hidden := v[4].(int64), v[5].(int64)
		if hidden == hiddenColumn {
			return
		}
		column := &database.Column{
			Name: text(v[0]), NativeType: text(v[1]), Default: text(v[3]),
			// SQLite lets keys be NULL where nothing forbids it, but for a flaw that it keeps for old files' sake.
			Nullable:   v[2] == int64(0) && place == 0,
			HasDefault: v[3] != nil,
			Generated:  hidden == virtualGenerated || hidden == storedGenerated,
		}
		describeType(column)
		table.Columns = append(table.Columns, column)
		if place > 0 {
			key[place] = column
		}
	})
	for place := int64(1); key[place] != nil; place++ {
		table.PrimaryKey = append(table.PrimaryKey, key[place])
	}
	return err
}

// readIndexes finds the unique indexes that hold for every row, and whether the key is the row's own number.
func readIndexes(ctx context.Context, c *conn, table *database.Table, withoutRowid bool) error {
	var unique []string
	keyIndex := false
	const indexes = `SELECT name, origin, "unique", partial FROM pragma_index_list(?1) ORDER BY name`
	err := c.each(ctx, indexes, []driver.Value{table.Name}, func(v []driver.Value) {
		switch {
		case text(v[1]) == "pk":
			keyIndex = true
		case v[2] == int64(1) && v[3] == int64(0):
			unique = append(unique, text(v[0]))
		}
	})
	if err != nil {
		return err
	}
	if len(table.PrimaryKey) == 1 && !keyIndex && !withoutRowid {
		table.PrimaryKey[0].HasDefault = true // INTEGER PRIMARY KEY: SQLite gives the next number
	}
	for _, index := range unique {
		columns, whole := []*database.Column(nil), true
		err := c.each(ctx, `SELECT name FROM pragma_index_xinfo(?1) WHERE key = 1 ORDER BY seqno`, []driver.Value{index}, func(v []driver.Value) {
			column := findColumn(table, text(v[0]))
			columns, whole = append(columns, column), whole && column != nil // an expression has no name
		})
		if err != nil {
			return err
		}
		if whole {
			table.Unique = append(table.Unique, columns)
		}
	}
	return nil
}

func readForeignKeys(ctx context.Context, c *conn, s *database.Schema, table *database.Table) error {
	type link struct{ from, to string }
	var targets []string
	links := map[int64][]link{}
	var ids []int64
	const keys = `SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?1) ORDER BY id DESC, seq`
	err := c.each(ctx, keys, []driver.Value{table.Name}, func(v []driver.Value) {
		id := v[0].(int64)
		if links[id] == nil {
			ids, targets = append(ids, id), append(targets, text(v[1]))
		}
		links[id] = append(links[id], link{text(v[2]), text(v[3])})
	})
	if err != nil {
		return err
	}
	for i, id := range ids {
		at := slices.IndexFunc(s.Tables, func(t *database.Table) bool { return strings.EqualFold(t.Name, targets[i]) })
		if at < 0 {
			continue // SQLite takes a foreign key to a table that does not exist
		}
		key := &database.ForeignKey{References: s.Tables[at]}
		for place, l := range links[id] {
			theirs := findColumn(key.References, l.to)
			if l.to == "" && place < len(key.References.PrimaryKey) {
				theirs = key.References.PrimaryKey[place] // one that names no columns refers to the key
			}
			key.Columns = append(key.Columns, findColumn(table, l.from))
			key.ReferencedColumns = append(key.ReferencedColumns, theirs)
		}
		if !slices.Contains(key.Columns, nil) && !slices.Contains(key.ReferencedColumns, nil) {
			table.ForeignKeys = append(table.ForeignKeys, key)
		}
	}
	return nil
}

// findColumn finds a column as SQLite does, whatever the case of ASCII letters.
func findColumn(table *database.Table, name string) *database.Column {
	for _, column := range table.Columns {
		if strings.EqualFold(column.Name, name) {
			return column
		}
	}
	return nil
}

func text(value driver.Value) string {
	s, _ := value.(string)
	return s
}
