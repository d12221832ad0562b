package duckdb

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// Introspect implements database.DB. It leaves out views that cannot be read, and says so.
func (d *db) Introspect(ctx context.Context) (*database.Schema, error) {
	c, err := d.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer c.release()
	limited, cancel := d.limit(ctx, nil)
	defer cancel()
	r := reader{conn: c, schema: &database.Schema{Engine: "DuckDB", Database: d.name(), HasSchemas: true, ReadOnly: contract.DuckDBOnlyReads + "."}}
	if failed := r.read(limited, d.settings.Schemas); failed != nil {
		return nil, d.statementError(ctx, limited, failed)
	}
	r.schema.Unserved = slices.Concat(r.schema.Unserved, c.of.notes, c.of.unreadNotes())
	for _, own := range sqltext.OwnTables(&d.settings) {
		own.Found(r.schema, nil, "the "+own.What+" cannot be made: "+contract.DuckDBOnlyReads)
	}
	d.seen.Store(c.of.version)
	return r.schema, nil
}

// reader reads a schema.
type reader struct {
	*conn
	schema *database.Schema
}

func (r reader) read(ctx context.Context, schemas []string) error {
	err := r.each(ctx, "SELECT version()", func(v []driver.Value) { r.schema.Version = strings.TrimPrefix(text(v[0]), "v") })
	if err == nil {
		err = r.readSchemas(ctx, schemas)
	}
	if err == nil {
		err = r.readTables(ctx)
	}
	if err == nil {
		err = r.readColumns(ctx)
	}
	if err == nil {
		err = r.dropUnreadable(ctx)
	}
	if err == nil {
		err = r.readConstraints(ctx)
	}
	slices.SortFunc(r.schema.Tables, func(a, b *database.Table) int { return strings.Compare(a.String(), b.String()) })
	return err
}

// in asks for what lies in the instance's catalog.
func (r reader) in() string { return "database_name = " + literal(r.of.catalog) + " AND NOT internal" }

// readSchemas finds the search path: the schemas that are wanted, or all that there are, the main one first.
func (r reader) readSchemas(ctx context.Context, wanted []string) error {
	var all []string
	err := r.each(ctx, "SELECT schema_name FROM duckdb_schemas() WHERE database_name = "+literal(r.of.catalog)+
		" AND schema_name NOT IN ('information_schema', 'pg_catalog') ORDER BY schema_name <> 'main', schema_name",
		func(v []driver.Value) { all = append(all, text(v[0])) })
	r.schema.SearchPath = all
	if len(wanted) == 0 {
		return err
	}
	r.schema.SearchPath = nil
	for _, name := range wanted {
		if slices.Contains(all, name) {
			r.schema.SearchPath = append(r.schema.SearchPath, name)
		} else {
			r.schema.MissingSchemas = append(r.schema.MissingSchemas, name)
		}
	}
	return err
}

func (r reader) readTables(ctx context.Context) error {
	return r.each(ctx, "SELECT schema_name, table_name, comment, false FROM duckdb_tables() WHERE "+r.in()+
		" UNION ALL SELECT schema_name, view_name, comment, true FROM duckdb_views() WHERE "+r.in(), func(v []driver.Value) {
		t := &database.Table{Schema: text(v[0]), Name: text(v[1]), Comment: text(v[2]), Kind: database.BaseTable, Privileges: database.MaySelect}
		if !slices.Contains(r.schema.SearchPath, t.Schema) {
			return
		}
		switch isView := v[3] == true; {
		case r.of.catalog == own: // a file is a table to its readers
		case isView:
			t.Kind = database.View
		default:
			t.RowID = &database.Column{Name: "rowid", Kind: database.Integer, NativeType: "BIGINT", Bits: 64, Scale: -1, Precision: -1, FractionDigits: -1, Privileges: database.MaySelect}
		}
		r.schema.Tables = append(r.schema.Tables, t)
	})
}

func (r reader) table(schema, name string) *database.Table {
	for _, t := range r.schema.Tables {
		if t.Schema == schema && t.Name == name {
			return t
		}
	}
	return nil
}

func (r reader) readColumns(ctx context.Context) error {
	err := r.each(ctx, "SELECT schema_name, table_name, column_name, data_type, is_nullable, column_default, comment FROM duckdb_columns() WHERE "+r.in()+
		" ORDER BY schema_name, table_name, column_index", func(v []driver.Value) {
		t := r.table(text(v[0]), text(v[1]))
		if t == nil {
			return
		}
		c := &database.Column{
			Name: text(v[2]), NativeType: text(v[3]), Nullable: v[4] == true, HasDefault: v[5] != nil, Comment: text(v[6]), Privileges: database.MaySelect,
		}
		describe(c)
		t.Columns = append(t.Columns, c)
	})
	r.schema.Tables = slices.DeleteFunc(r.schema.Tables, func(t *database.Table) bool { return len(t.Columns) == 0 })
	return err
}

// dropUnreadable leaves out views that fail: of a table that is gone, or of a file that is not served.
func (r reader) dropUnreadable(ctx context.Context) error {
	var readable []*database.Table
	for _, t := range r.schema.Tables {
		if t.Kind == database.View {
			err := r.each(ctx, "SELECT * FROM "+identifier(t.Schema)+"."+identifier(t.Name)+" LIMIT 0", func([]driver.Value) {})
			if ctx.Err() != nil {
				return err
			}
			if err != nil {
				r.schema.Unserved = append(r.schema.Unserved, notServed("The view ", "view", t.String(), fmt.Sprintf("DuckDB cannot read it (%s)", failure(err))))
				continue
			}
		}
		readable = append(readable, t)
	}
	r.schema.Tables = readable
	return nil
}

// readConstraints reads keys. DuckDB has foreign keys within a schema only, and they restrict.
func (r reader) readConstraints(ctx context.Context) error {
	type foreignKey struct {
		table           *database.Table
		name, to        string
		columns, theirs []string
	}
	var foreign []foreignKey
	err := r.each(ctx, "SELECT schema_name, table_name, constraint_type, constraint_name, to_json(constraint_column_names)::VARCHAR, referenced_table, to_json(referenced_column_names)::VARCHAR"+
		" FROM duckdb_constraints() WHERE database_name = "+literal(r.of.catalog)+" ORDER BY schema_name, table_name, constraint_index", func(v []driver.Value) {
		t := r.table(text(v[0]), text(v[1]))
		if t == nil {
			return
		}
		columns := names(v[4])
		switch text(v[2]) {
		case "PRIMARY KEY":
			t.PrimaryKey = find(t, columns)
			for _, c := range t.PrimaryKey {
				c.Nullable = false
			}
		case "UNIQUE":
			if unique := find(t, columns); unique != nil {
				t.Unique = append(t.Unique, unique)
			}
		case "FOREIGN KEY":
			foreign = append(foreign, foreignKey{t, text(v[3]), text(v[5]), columns, names(v[6])})
		}
	})
	for _, key := range foreign {
		to := r.table(key.table.Schema, key.to)
		if to == nil {
			continue
		}
		columns, theirs := find(key.table, key.columns), find(to, key.theirs)
		if columns != nil && len(columns) == len(theirs) {
			key.table.ForeignKeys = append(key.table.ForeignKeys, &database.ForeignKey{Name: key.name, Columns: columns, References: to, ReferencedColumns: theirs})
		}
	}
	return err
}

// find returns the columns of some names, as DuckDB compares them; nil if one is missing.
func find(t *database.Table, names []string) (all []*database.Column) {
	for _, name := range names {
		at := slices.IndexFunc(t.Columns, func(c *database.Column) bool { return strings.EqualFold(c.Name, name) })
		if at < 0 {
			return nil
		}
		all = append(all, t.Columns[at])
	}
	return all
}

// names reads a JSON array of names.
func names(value driver.Value) (all []string) {
	_ = json.Unmarshal([]byte(text(value)), &all) // DuckDB's own JSON; NULL is no names
	return all
}

func text(value driver.Value) string {
	s, _ := value.(string)
	return s
}
