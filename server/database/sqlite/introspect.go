package sqlite

import (
	"context"
	"database/sql/driver"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Introspect implements database.DB. It leaves out what SQLite itself cannot read: a view whose table is gone, a
// virtual table whose module is missing. It also leaves out the tables in which virtual tables keep their data.
func (d *db) Introspect(ctx context.Context) (*database.Schema, error) {
	c, err := d.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer d.readers.Release(c)
	// What changes after the version makes the next one another, whether or not it is found here.
	version, err := d.version(ctx, c)
	if err != nil {
		return nil, err
	}
	schema, err := d.readSchema(ctx, c)
	if err != nil {
		return nil, err
	}
	made, problems, err := d.makeOwn(ctx, schema)
	if err == nil && made {
		schema, err = d.readSchema(ctx, c)
	}
	if err != nil {
		return nil, err
	}
	d.findOwn(schema, problems)
	if schema.AuditProblem+schema.IdempotencyProblem != "" {
		version = nil // the reason may be one that the file does not show, such as a full disk
	}
	d.seen.Store(version)
	return schema, nil
}

func (d *db) readSchema(ctx context.Context, c *conn) (*database.Schema, error) {
	limited, cancel := d.limit(ctx)
	defer cancel()
	schema, err := introspect(limited, c)
	if err != nil {
		return nil, d.statementError(ctx, limited, err)
	}
	schema.Database = d.name()
	return schema, nil
}

// found is a table as the list of tables has it.
type found struct {
	*database.Table
	// sql is the statement that made it.
	sql                           string
	virtual, withoutRowid, strict bool
}

func introspect(ctx context.Context, c *conn) (*database.Schema, error) {
	s := &database.Schema{Engine: "SQLite"}
	if err := c.each(ctx, "SELECT sqlite_version()", nil, func(v []driver.Value) { s.Version = text(v[0]) }); err != nil {
		return nil, err
	}
	tables, err := readTables(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, table := range tables {
		err := readColumns(ctx, c, table)
		if err == nil && table.Kind == database.BaseTable {
			err = readIndexes(ctx, c, table)
		}
		switch {
		case err != nil && (ctx.Err() != nil || table.Kind != database.View && !table.virtual):
			return nil, err
		case err == nil && len(table.Columns) > 0:
			s.Tables = append(s.Tables, table.Table)
		}
	}
	readTextIndexes(s, tables)
	for _, table := range s.Tables {
		if err := readForeignKeys(ctx, c, s, table); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// readTables lists the tables. A view can be written if it has triggers, which are always INSTEAD OF. A virtual table
// is read-only, since only its module knows what a write does to it.
func readTables(ctx context.Context, c *conn) ([]found, error) {
	const list = `SELECT l.name, l.type, l.wr, l.strict, s.sql, EXISTS (SELECT 1 FROM sqlite_schema AS t WHERE t.type = 'trigger' AND t.tbl_name = l.name COLLATE NOCASE)
FROM pragma_table_list AS l LEFT JOIN sqlite_schema AS s ON s.name = l.name AND s.type IN ('table', 'view')
WHERE l.schema = 'main' AND l.type IN ('table', 'view', 'virtual') AND l.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY l.name`
	var tables []found
	err := c.each(ctx, list, nil, func(v []driver.Value) {
		kind, triggers := text(v[1]), v[5] == int64(1)
		table := found{
			Table: &database.Table{Name: text(v[0]), Kind: database.BaseTable}, sql: text(v[4]),
			virtual: kind == "virtual", withoutRowid: v[2] == int64(1), strict: v[3] == int64(1),
		}
		if kind == "view" {
			table.Kind = database.View
		}
		table.Privileges = database.MayAll
		table.Writable = kind == "table" || kind == "view" && triggers
		table.InsertReturns, table.UpdateReturns = kind == "table" && !triggers, kind == "table" && !triggers
		tables = append(tables, table)
	})
	if err != nil {
		return nil, err
	}
	return tables, readTriggers(ctx, c, tables)
}

// readTriggers finds which statements a view allows: the ones that it has a trigger for.
func readTriggers(ctx context.Context, c *conn, tables []found) error {
	may := map[string]database.Privileges{}
	err := c.each(ctx, "SELECT lower(tbl_name), sql FROM sqlite_schema WHERE type = 'trigger'", nil, func(v []driver.Value) {
		may[text(v[0])] |= insteadOf(text(v[1]))
	})
	for _, table := range tables {
		if table.Kind == database.View {
			table.Privileges = database.MaySelect | may[strings.ToLower(table.Name)]
		}
	}
	return err
}

// The last column of pragma_table_xinfo.
const (
	hiddenColumn     = 1 // of a virtual table
	virtualGenerated = 2
	storedGenerated  = 3
)

func readColumns(ctx context.Context, c *conn, table found) error {
	key := map[int64]*database.Column{}
	const columns = `SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?1) ORDER BY cid`
	err := c.each(ctx, columns, []driver.Value{table.Name}, func(v []driver.Value) {
		place, hidden := v[4].(int64), v[5].(int64)
		if hidden == hiddenColumn {
			return
		}
		column := &database.Column{
			Name: text(v[0]), NativeType: text(v[1]),
			// By an old flaw that SQLite keeps for old files' sake, a key may hold NULL unless something forbids it.
			Nullable:   v[2] == int64(0) && place == 0,
			HasDefault: v[3] != nil && !strings.EqualFold(text(v[3]), "NULL"),
			Generated:  hidden == virtualGenerated || hidden == storedGenerated,
		}
		describeType(column)
		column.Loose = !table.strict || column.Kind == database.Other // such a column is declared ANY
		column.HoldsNull = place > 0 && v[2] == int64(0) && table.Kind == database.BaseTable && !table.withoutRowid && !table.strict
		column.Privileges = table.Privileges &^ database.MayDelete
		column.Default = constant(column, text(v[3]))
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

// findColumn finds a column by SQLite's rule of names.
func findColumn(table *database.Table, name string) *database.Column {
	for _, column := range table.Columns {
		if sameName(column.Name, name) {
			return column
		}
	}
	return nil
}

// sameName reports whether two names are the same to SQLite, which ignores the case of ASCII letters.
func sameName(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func text(value driver.Value) string {
	s, _ := value.(string)
	return s
}
