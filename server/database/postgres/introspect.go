package postgres

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Introspect implements database.DB. It reads the catalogue of one moment, in six queries.
func (d *db) Introspect(ctx context.Context) (*database.Schema, error) {
	conn, err := d.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	guarded, cancel := d.guard(ctx, 12)
	defer cancel()
	found, err := d.introspect(guarded, conn)
	if err != nil {
		return nil, d.statementError(ctx, err)
	}
	return found, nil
}

func (d *db) introspect(ctx context.Context, conn *pgxpool.Conn) (*database.Schema, error) {
	var s *database.Schema
	var i *introspection
	var problem string
	if d.settings.Audit != nil && !d.settings.ReadOnly {
		var err error
		if problem, err = d.makeAudit(ctx, conn); err != nil {
			return nil, err
		}
	}
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err := pgx.BeginTxFunc(ctx, conn, options, func(tx pgx.Tx) (err error) {
		if s, i, err = introspect(ctx, tx, d.settings.Schemas); err == nil && d.settings.Audit != nil {
			err = d.findAudit(ctx, tx, s, i, problem)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	d.known.Store(i.known())
	return s, nil
}

// introspection gathers what the queries find.
type introspection struct {
	tables map[uint32]*database.Table
	// columns are those of a table by their number.
	columns map[uint32]map[int32]*database.Column
	// roots are the partitioned tables of partitions.
	roots map[uint32]uint32
}

// known returns what violations are looked up in.
func (i *introspection) known() *known {
	k := &known{map[tableName]*database.Table{}, map[*database.Table]*database.Table{}}
	for oid, table := range i.tables {
		k.tables[tableName{table.Schema, table.Name}] = table
		if root := i.tables[i.roots[oid]]; root != nil {
			k.roots[table] = root
		}
	}
	return k
}

func introspect(ctx context.Context, tx pgx.Tx, schemas []string) (*database.Schema, *introspection, error) {
	s := &database.Schema{Engine: "PostgreSQL", HasSchemas: true, SearchPath: schemas}
	var searchPath []string
	if err := tx.QueryRow(ctx, databaseQuery).Scan(&s.Version, &s.Database, &searchPath); err != nil {
		return nil, nil, err
	}
	var err error
	if s.MissingSchemas, err = missingSchemas(ctx, tx, schemas); err != nil {
		return nil, nil, err
	}
	s.Version, _, _ = strings.Cut(s.Version, " ") // "15.18 (Debian 15.18-0+deb12u1)"
	if len(schemas) == 0 {
		s.SearchPath = slices.DeleteFunc(searchPath, func(name string) bool {
			return name == "information_schema" || strings.HasPrefix(name, "pg_")
		})
	}
	i := &introspection{tables: map[uint32]*database.Table{}, columns: map[uint32]map[int32]*database.Column{}, roots: map[uint32]uint32{}}
	for _, read := range []func(context.Context, pgx.Tx, []string) error{i.readTables, i.readColumns, i.readKeys, i.readForeignKeys, i.readConstraints} {
		if err := read(ctx, tx, s.SearchPath); err != nil {
			return nil, nil, err
		}
	}
	for _, table := range i.tables {
		s.Tables = append(s.Tables, table)
	}
	slices.SortFunc(s.Tables, func(a, b *database.Table) int {
		return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name))
	})
	return s, i, nil
}

func (i *introspection) readTables(ctx context.Context, tx pgx.Tx, schemas []string) error {
	var oid, root uint32
	var t database.Table
	var kind string
	return each(ctx, tx, tablesQuery, schemas, []any{&oid, &t.Schema, &t.Name, &kind, &t.Comment, &t.Writable, &root}, func() {
		table := t
		switch kind {
		case "v":
			table.Kind = database.View
		case "m":
			table.Kind = database.MaterializedView
		case "f":
			table.Kind = database.ForeignTable
		default:
			table.Kind = database.BaseTable
		}
		i.tables[oid], i.columns[oid] = &table, map[int32]*database.Column{}
		if root != 0 {
			i.roots[oid] = root
		}
	})
}

func (i *introspection) readColumns(ctx context.Context, tx pgx.Tx, schemas []string) error {
	var oid uint32
	var number int32
	var c database.Column
	var t columnType
	var identity, generated string
	var loose bool
	var choices []string
	targets := []any{&oid, &number, &c.Name, &c.NativeType, &c.Nullable, &c.Default, &identity, &generated,
		&t.name, &t.class, &t.category, &t.modifier, &t.elementName, &t.elementClass, &loose, &choices, &c.Comment}
	return each(ctx, tx, columnsQuery, schemas, targets, func() {
		table := i.tables[oid]
		if table == nil {
			return
		}
		column := c
		column.HasDefault = c.Default != "" || identity != ""
		column.Generated = generated != "" || identity == "a"
		column.LooseCollation = loose || t.name == "citext"
		column.Scale, column.Precision, column.FractionDigits = -1, -1, -1
		if len(choices) > 0 {
			column.Choices = slices.Clone(choices)
		}
		t.describe(&column)
		table.Columns = append(table.Columns, &column)
		i.columns[oid][number] = &column
	})
}

func (i *introspection) readKeys(ctx context.Context, tx pgx.Tx, schemas []string) error {
	var oid uint32
	var primary bool
	var numbers []int32
	return each(ctx, tx, keysQuery, schemas, []any{&oid, &primary, &numbers}, func() {
		table, columns := i.tables[oid], i.named(oid, numbers)
		switch {
		case table == nil || columns == nil:
		case primary:
			table.PrimaryKey = columns
		default:
			table.Unique = append(table.Unique, columns)
		}
	})
}

func (i *introspection) readForeignKeys(ctx context.Context, tx pgx.Tx, schemas []string) error {
	var name, onDelete string
	var from, to uint32
	var ours, theirs []int32
	return each(ctx, tx, foreignKeysQuery, schemas, []any{&name, &from, &ours, &to, &theirs, &onDelete}, func() {
		// A key that leads out of the schemas leads nowhere that could be shown.
		table, target := i.tables[from], i.tables[to]
		columns, referenced := i.named(from, ours), i.named(to, theirs)
		if table == nil || target == nil || columns == nil || referenced == nil {
			return
		}
		table.ForeignKeys = append(table.ForeignKeys, &database.ForeignKey{
			Name: name, Columns: columns, References: target, ReferencedColumns: referenced, OnDelete: onDeletes[onDelete],
		})
	})
}

// onDeletes are pg_constraint's letters; the others, NO ACTION and RESTRICT, both forbid.
var onDeletes = map[string]database.ReferentialAction{"c": database.Cascade, "n": database.SetNull, "d": database.SetDefault}

func (i *introspection) readConstraints(ctx context.Context, tx pgx.Tx, schemas []string) error {
	var oid uint32
	var name string
	var numbers []int32
	return each(ctx, tx, constraintsQuery, schemas, []any{&oid, &name, &numbers}, func() {
		// One that is about a column which cannot be read is left out: its violations name no columns.
		if table, columns := i.tables[oid], i.named(oid, numbers); table != nil && columns != nil {
			table.Constraints = append(table.Constraints, database.Constraint{Name: name, Columns: columns})
		}
	})
}

// named returns the columns of those numbers, or nil where one is not known.
func (i *introspection) named(oid uint32, numbers []int32) []*database.Column {
	columns := make([]*database.Column, len(numbers))
	for at, number := range numbers {
		if columns[at] = i.columns[oid][number]; columns[at] == nil {
			return nil
		}
	}
	return columns
}

// each runs a query and calls row for every row, once the targets hold it.
func each(ctx context.Context, tx pgx.Tx, query string, schemas []string, targets []any, row func()) error {
	rows, err := tx.Query(ctx, query, schemas)
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, targets, func() error {
		row()
		return nil
	})
	return err
}
