package postgres

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// Introspect implements database.DB. It reads the catalogue as of one moment.
func (d *db) Introspect(ctx context.Context) (*database.Schema, error) {
	conn, err := d.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	conn.guard(14)
	found, err := d.introspect(ctx, conn)
	if err != nil {
		return nil, d.statementError(ctx, err)
	}
	return found, nil
}

func (d *db) introspect(ctx context.Context, conn *conn) (*database.Schema, error) {
	var s *database.Schema
	var i *introspection
	owns := sqltext.OwnTables(&d.settings)
	problems := make([]string, len(owns))
	for n, own := range owns {
		if d.settings.ReadOnly {
			break
		}
		var err error
		if problems[n], err = d.makeOwn(ctx, conn, own); err != nil {
			return nil, err
		}
	}
	if err := d.findRowIDs(ctx, conn); err != nil {
		return nil, err
	}
	// What changes after the fingerprint makes the next one another, whether or not it is found here.
	seen, err := d.fingerprint(ctx, conn)
	if err != nil {
		return nil, err
	}
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, conn, options, func(tx pgx.Tx) (err error) {
		s, i, err = introspect(ctx, tx, d.settings.Schemas)
		for n, own := range owns {
			if err == nil {
				err = d.findOwn(ctx, tx, s, i, own, problems[n])
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if d.unplaced.Load() {
		for _, table := range i.tables {
			table.RowID = nil
		}
	}
	if s.AuditProblem+s.IdempotencyProblem != "" {
		seen = "" // the reason may be one that no catalogue shows, such as a server that takes no writes
	}
	d.seen.Store(&seen)
	d.known.Store(i.known())
	d.foreign.Store(i.foreign)
	if !d.settings.ReadOnly {
		s.Note(unawaitedNote(i.unawaited))
	}
	s.Notes = append(d.notes(), s.Notes...)
	return s, nil
}

// findRowIDs finds out whether the server tells rows apart by ctid, once.
func (d *db) findRowIDs(ctx context.Context, conn *conn) error {
	if d.placed.Load() {
		return nil
	}
	_, err := conn.Exec(ctx, "SELECT ctid FROM pg_catalog.pg_class LIMIT 0")
	if err != nil && (!answered(err) || timedOut(err)) {
		return err
	}
	d.unplaced.Store(err != nil)
	d.placed.Store(true)
	return nil
}

// notes are sentences about what the database turned out not to know.
func (d *db) notes() []string {
	var notes []string
	if d.unexplained.Load() {
		notes = append(notes, "it has no EXPLAIN (FORMAT JSON): totals are not estimated")
	}
	if d.undeferred.Load() {
		notes = append(notes, "it has no SET CONSTRAINTS: a dry run does not check deferred constraints")
	}
	if d.unadvised.Load() {
		notes = append(notes, "it has no advisory locks: pods that make the audit table at the same time may get in each other's way")
	}
	if d.unplaced.Load() {
		notes = append(notes, "it has no ctid: rows of a table without a key have no order of their own")
	}
	return notes
}

// introspection gathers what the queries find.
type introspection struct {
	// major is the server's release.
	major  int
	tables map[uint32]*database.Table
	// columns are the columns of a table by their number.
	columns map[uint32]map[int32]*database.Column
	// outside are the tables that are in none of the schemas.
	outside map[uint32]bool
	// roots are the partitioned tables of partitions, partitionedBy the numbers of the columns that a table is partitioned
	// by.
	roots         map[uint32]uint32
	partitionedBy map[uint32][]int32
	// foreign reports whether the database has foreign tables, in any schema.
	foreign bool
	// unawaited is what the database says by the query of that name.
	unawaited string
}

// known returns the maps in which violations are looked up.
func (i *introspection) known() *known {
	k := &known{map[tableName]*database.Table{}, map[*database.Table]*database.Table{}, map[tableName][]*database.Column{}}
	for oid, table := range i.tables {
		k.tables[tableName{table.Schema, table.Name}] = table
		if root := i.tables[i.roots[oid]]; root != nil {
			k.roots[table] = root
		}
		if numbers := i.partitionedBy[oid]; len(numbers) > 0 {
			k.partitionedBy[tableName{table.Schema, table.Name}] = i.named(oid, numbers)
		}
	}
	return k
}

func introspect(ctx context.Context, tx pgx.Tx, schemas []string) (*database.Schema, *introspection, error) {
	s := &database.Schema{Engine: "PostgreSQL", HasSchemas: true, SearchPath: schemas}
	var searchPath []string
	var foreign bool
	var unawaited string
	if err := tx.QueryRow(ctx, databaseQuery).Scan(&s.Version, &s.Database, &searchPath, &foreign, &unawaited); err != nil {
		return nil, nil, err
	}
	var err error
	if foreign {
		s.Note(foreignNote)
	}
	if s.MissingSchemas, err = missingSchemas(ctx, tx, schemas); err != nil {
		return nil, nil, err
	}
	s.Version, _, _ = strings.Cut(s.Version, " ") // "15.18 (Debian 15.18-0+deb12u1)"
	release, _, _ := strings.Cut(s.Version, ".")
	major, _ := strconv.Atoi(release) // 0 of another server's version, which is then taken for an old one
	if len(schemas) == 0 {
		s.SearchPath = slices.DeleteFunc(searchPath, func(name string) bool {
			return name == "information_schema" || strings.HasPrefix(name, "pg_")
		})
	}
	i := &introspection{
		major: major, tables: map[uint32]*database.Table{}, columns: map[uint32]map[int32]*database.Column{}, outside: map[uint32]bool{},
		roots: map[uint32]uint32{}, partitionedBy: map[uint32][]int32{}, foreign: foreign, unawaited: unawaited,
	}
	if err := i.readTables(ctx, tx, s.SearchPath); err != nil {
		return nil, nil, err
	}
	found := slices.Collect(maps.Keys(i.tables))
	for _, read := range []func(context.Context, pgx.Tx, []uint32) error{i.readColumns, i.readKeys, i.readForeignKeys, i.readConstraints, i.readChecks, i.readTextIndexes, i.readVectors} {
		if err := read(ctx, tx, found); err != nil {
			return nil, nil, err
		}
	}
	for oid, table := range i.tables {
		if root := i.tables[i.roots[oid]]; root != nil && table.Kind == database.ForeignTable {
			root.ForeignParts = true
		}
		if i.outside[oid] {
			s.Outside = append(s.Outside, table)
		} else {
			s.Tables = append(s.Tables, table)
		}
	}
	slices.SortFunc(s.Tables, byName)
	slices.SortFunc(s.Outside, byName)
	return s, i, nil
}

func byName(a, b *database.Table) int {
	return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name))
}

func (i *introspection) readTables(ctx context.Context, tx pgx.Tx, schemas []string) error {
	var oid, root uint32
	var t database.Table
	var kind string
	var partitionedBy []int32
	var privileges int32
	var outside, distinct bool
	targets := []any{&oid, &t.Schema, &t.Name, &kind, &t.Comment, &t.Writable, &root, &partitionedBy, &outside, &privileges, &distinct, &t.InsertTrigger, &t.InsertReturns, &t.RowSecurity}
	return each(ctx, tx, tablesQuery, schemas, targets, func() {
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
		table.UpdateReturns = table.InsertReturns
		table.Privileges, table.Partition = database.Privileges(privileges), root != 0
		if distinct && table.Privileges.Has(database.MaySelect) {
			table.RowID = rowID()
		}
		i.tables[oid], i.columns[oid], i.outside[oid] = &table, map[int32]*database.Column{}, outside
		if root != 0 {
			i.roots[oid] = root
		}
		i.partitionedBy[oid] = slices.DeleteFunc(slices.Clone(partitionedBy), func(number int32) bool { return number == 0 }) // an expression
	})
}

// rowID is the place of a row in its table's file.
func rowID() *database.Column {
	return &database.Column{
		Name: "ctid", Kind: database.Other, NativeType: "tid", Scale: -1, Precision: -1, FractionDigits: -1, HasDefault: true, Generated: true,
		Privileges: database.MaySelect,
	}
}

func (i *introspection) readColumns(ctx context.Context, tx pgx.Tx, tables []uint32) error {
	var oid uint32
	var number int32
	var c database.Column
	var t columnType
	var identity, generated, byDefault string
	var loose bool
	var choices []string
	var privileges int32
	targets := []any{&oid, &number, &c.Name, &c.NativeType, &c.Nullable, &byDefault, &identity, &generated,
		&t.name, &t.class, &t.category, &t.modifier, &t.elementName, &t.elementClass, &loose, &choices, &c.Comment, &c.Incomparable, &c.Collation, &privileges}
	return each(ctx, tx, columnsQuery, tables, targets, func() {
		table := i.tables[oid]
		if table == nil {
			return
		}
		column := c
		column.HasDefault = byDefault != "" || identity != ""
		column.Generated = generated != "" || identity == "a"
		column.LooseCollation = loose || t.name == "citext"
		column.Scale, column.Precision, column.FractionDigits = -1, -1, -1
		if len(choices) > 0 {
			column.Choices = slices.Clone(choices)
		}
		column.Privileges = database.Privileges(privileges)
		t.describe(&column)
		column.Contains = t.contains(&column, i.major)
		column.Default = defaultValue(&column, byDefault)
		table.Columns = append(table.Columns, &column)
		i.columns[oid][number] = &column
	})
}

func (i *introspection) readKeys(ctx context.Context, tx pgx.Tx, tables []uint32) error {
	var oid uint32
	var primary bool
	var numbers []int32
	return each(ctx, tx, keysQuery, tables, []any{&oid, &primary, &numbers}, func() {
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

func (i *introspection) readForeignKeys(ctx context.Context, tx pgx.Tx, tables []uint32) error {
	var name, onDelete, onUpdate string
	var from, to uint32
	var ours, theirs []int32
	var inherited, toPartition bool
	return each(ctx, tx, foreignKeysQuery, tables, []any{&name, &from, &ours, &to, &theirs, &onDelete, &onUpdate, &inherited, &toPartition}, func() {
		// A key that leads to an unknown table leads to nothing that could be shown.
		table, target := i.tables[from], i.tables[to]
		columns, referenced := i.named(from, ours), i.named(to, theirs)
		if table == nil || target == nil || columns == nil || referenced == nil {
			return
		}
		key := &database.ForeignKey{
			Name: name, Columns: columns, References: target, ReferencedColumns: referenced, OnDelete: actions[onDelete], OnUpdate: actions[onUpdate], Inherited: inherited,
		}
		if toPartition {
			table.PartitionKeys = append(table.PartitionKeys, key)
		} else {
			table.ForeignKeys = append(table.ForeignKeys, key)
		}
	})
}

// actions are pg_constraint's letters. The letters that are missing, NO ACTION and RESTRICT, forbid the change.
var actions = map[string]database.ReferentialAction{"c": database.Cascade, "n": database.SetNull, "d": database.SetDefault}

func (i *introspection) readConstraints(ctx context.Context, tx pgx.Tx, tables []uint32) error {
	var oid uint32
	var name string
	var numbers []int32
	return each(ctx, tx, constraintsQuery, tables, []any{&oid, &name, &numbers}, func() {
		if table, columns := i.tables[oid], i.named(oid, numbers); table != nil && columns != nil {
			table.Constraints = append(table.Constraints, database.Constraint{Name: name, Columns: columns})
		}
	})
}

func (i *introspection) readChecks(ctx context.Context, tx pgx.Tx, tables []uint32) error {
	var oid uint32
	var name, expression string
	var number int32
	return each(ctx, tx, checksQuery, tables, []any{&oid, &name, &number, &expression}, func() {
		table, column := i.tables[oid], i.columns[oid][number]
		if table == nil || column == nil {
			return
		}
		if check, ok := parseCheck(column, expression); ok {
			check.Name = name
			table.Checks = append(table.Checks, check)
		}
	})
}

// named returns the columns of those numbers, or nil if one is not known.
func (i *introspection) named(oid uint32, numbers []int32) []*database.Column {
	columns := make([]*database.Column, len(numbers))
	for at, number := range numbers {
		if columns[at] = i.columns[oid][number]; columns[at] == nil {
			return nil
		}
	}
	return columns
}

// each runs a query of one argument. For every row it fills the targets and calls row.
func each(ctx context.Context, tx pgx.Tx, query string, value any, targets []any, row func()) error {
	rows, err := tx.Query(ctx, query, value)
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, targets, func() error {
		row()
		return nil
	})
	return err
}
