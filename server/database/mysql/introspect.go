package mysql

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// Introspect implements database.DB. The server's databases are the schemas.
func (d *db) Introspect(ctx context.Context) (*database.Schema, error) {
	var found *database.Schema
	err := d.read(ctx, func(c *conn) error {
		limited, cancel := d.limitAll(ctx, introspectionQueries*max(1, len(d.settings.Schemas)))
		defer cancel()
		var err error
		if found, err = d.readSchema(limited, c); err != nil {
			return d.statementError(ctx, limited, err, nil)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	d.schema.Store(found)
	return found, nil
}

// introspectionQueries is about the number of queries that a schema takes. Each may take a statement's time.
const introspectionQueries = 15

// tableName is a table's name with its schema's.
type tableName struct{ schema, name string }

func (n tableName) String() string { return n.schema + "." + n.name }

// introspection gathers what the queries find.
type introspection struct {
	conn    *conn
	schemas []string
	// told are the names that schemas have in the server's answers, with the names by which they were asked for.
	told   map[string]string
	tables map[tableName]*database.Table
	// sets are the character sets of tables whose rows lie elsewhere.
	sets map[*database.Table]*elsewhereSets
	// numbers are columns that are in a foreign key or counted up. They stay numbers, whatever their type suggests.
	numbers map[*database.Column]bool
	// counted are the AUTO_INCREMENT columns of tables.
	counted map[*database.Table]*database.Column
	// spread reports whether the rows of a table lie on several shards, and divisible whether a transaction over them may be committed in
	// part. ruleless are tables of which nobody says how they do.
	spread, divisible bool
	// sharded are the schemas whose tables can be spread.
	sharded []string
	// gateway reports whether the server is a gateway to others.
	gateway  bool
	ruleless map[tableName]bool
	// leftOut are tables that the gateway does not let clients use.
	leftOut []database.LeftOut
	// uncounted are AUTO_INCREMENT columns that no sequence fills, byBytes columns whose equal texts can lie on different shards.
	uncounted, byBytes []string
	// notes are sentences about what the server has no tables for.
	notes    []string
	unserved []database.Unserved
}

// introspect reads the tables of the schemas that the settings name, and the server's own tables if they are in others.
func (d *db) introspect(ctx context.Context, c *conn) (*database.Schema, *introspection, error) {
	s := &database.Schema{Engine: "MySQL", Database: c.database, HasSchemas: true, SearchPath: d.settings.Schemas}
	if c.mariaDB {
		s.Engine = "MariaDB"
	}
	s.Version, _, _ = strings.Cut(c.version, "-") // "10.11.14-MariaDB-0+deb12u2"
	if len(s.SearchPath) == 0 {
		s.SearchPath = []string{c.database}
	}
	i := &introspection{conn: c, schemas: s.SearchPath, told: map[string]string{}, ruleless: map[tableName]bool{},
		tables: map[tableName]*database.Table{}, sets: map[*database.Table]*elsewhereSets{}, numbers: map[*database.Column]bool{}, counted: map[*database.Table]*database.Column{}}
	for _, own := range sqltext.OwnTables(&d.settings) {
		if in := own.Named(&d.settings).Schema; in != "" && !slices.Contains(i.schemas, in) {
			i.schemas = append(slices.Clone(i.schemas), in)
		}
	}
	for _, read := range []func(context.Context) error{
		i.readTold,
		i.optional(i.readOtherSchemas, "it does not tell of foreign keys in other schemas: deletions do not follow them"),
		i.readTables, i.readViews, i.readColumns, i.readKeys, i.readForeignKeys, i.readTriggers, i.readShards,
		i.optional(i.readChecks, "it does not tell of CHECK constraints: schemas and descriptions are without them"), i.readDeletable,
		i.optional(i.readTextIndexes, "it does not tell of FULLTEXT indexes: search looks for pieces of texts"),
		i.readVectors,
		i.optional(i.tellContains, "it has no JSON_TABLE: JSON columns cannot be looked into"),
	} {
		if err := read(ctx); err != nil {
			return nil, nil, err
		}
	}
	var err error
	if s.MissingSchemas, err = i.readMissingSchemas(ctx, d.settings.Schemas); err != nil {
		return nil, nil, err
	}
	i.tellBooleans()
	i.sortTables(s)
	s.Notes, s.Unserved, s.Sharded = append(d.notes(), i.notes...), i.unserved, i.sharded
	s.LeftOut = i.leftOut
	d.gateway.Store(i.gateway)
	d.spread.Store(i.spread)
	d.divisible.Store(i.divisible)
	d.told.Store(&i.told)
	return s, i, nil
}

// hasJSONTable is what a server must answer whose JSON documents can be looked into.
const hasJSONTable = `SELECT j.v FROM JSON_TABLE('[1]', '$[*]' COLUMNS (v INT PATH '$')) AS j`

// tellContains finds the columns whose documents can be looked into.
func (i *introspection) tellContains(ctx context.Context) error {
	var columns []*database.Column
	for _, t := range i.tables {
		for _, c := range t.Columns {
			if c.Kind == database.JSON {
				columns = append(columns, c)
			}
		}
	}
	if len(columns) == 0 {
		return nil
	}
	if err := i.conn.texts(ctx, hasJSONTable, nil, func([]string) {}); err != nil {
		return err
	}
	for _, c := range columns {
		c.Contains = true
	}
	return nil
}

// notes tell which settings the server lacks, unless it has no use for them.
func (d *db) notes() []string {
	var notes []string
	d.lacking.Range(func(name, _ any) bool {
		if !slices.ContainsFunc(ownWork, func(setting string) bool { return settingName(setting) == name }) {
			notes = append(notes, "it has no setting "+name.(string))
		}
		return true
	})
	slices.Sort(notes)
	return notes
}

// optional is a step of the introspection for which a server may have no tables. The introspection then continues without
// it, and the note says so.
func (i *introspection) optional(read func(context.Context) error, note string) func(context.Context) error {
	return func(ctx context.Context) error {
		err := read(ctx)
		if isLacking(err) {
			i.notes = append(i.notes, note)
			return nil
		}
		return err
	}
}

// sortTables separates the tables that are served from tables that have foreign keys to them, by one step or several.
func (i *introspection) sortTables(s *database.Schema) {
	reached := map[*database.Table]bool{}
	for name, table := range i.tables {
		if slices.Contains(s.SearchPath, name.schema) {
			s.Tables = append(s.Tables, table)
			reached[table] = true
		}
	}
	for _, table := range s.Tables { // a key that leads out of the schemas leads to nothing that could be shown
		table.ForeignKeys = slices.DeleteFunc(table.ForeignKeys, func(key *database.ForeignKey) bool { return !reached[key.References] })
	}
	for found := true; found; {
		found = false
		for _, table := range i.tables {
			leadsThere := func(key *database.ForeignKey) bool { return reached[key.References] }
			if !reached[table] && slices.ContainsFunc(table.ForeignKeys, leadsThere) {
				s.Outside = append(s.Outside, table)
				reached[table], found = true, true
			}
		}
	}
	for _, tables := range [][]*database.Table{s.Tables, s.Outside} {
		slices.SortFunc(tables, func(a, b *database.Table) int {
			return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name))
		})
	}
}

// readTables finds the tables. A table whose engine has no transactions, or no savepoints in them, is never Writable, because its
// changes could not be undone after a dry run, a refused row or a failed item of a bulk. An engine has transactions without savepoints
// if it passes them on to other servers (Spider).
func (i *introspection) readTables(ctx context.Context) error {
	return i.ask(ctx, tablesQuery, func(schema string, v []string) {
		t := &database.Table{Schema: schema, Name: v[1], Kind: database.BaseTable, Comment: v[3], Writable: v[4] == "YES" && v[5] == "YES"}
		if v[2] == "VIEW" {
			t.Kind = database.View
		}
		if t.Elsewhere = v[4] == "YES" && v[5] != "YES"; t.Elsewhere {
			t.Comment = "" // how the other servers are reached
			i.readElsewhere(t, v[6], v[7])
		}
		t.InsertReturns = i.conn.mariaDB && t.Kind == database.BaseTable // no trigger after it may change its table
		i.tables[tableName{schema, v[1]}] = t
	})
}

// tableInView matches a table, or an alias and a column, in a view's definition.
var tableInView = regexp.MustCompile("`((?:[^`]|``)+)`\\.`((?:[^`]|``)+)`")

// readViews finds which views can be written: the ones that the server calls updatable, unless they show rows of a table
// that is not Writable. A view whose definition the user may not see could show such a table.
func (i *introspection) readViews(ctx context.Context) error {
	from := map[*database.Table][]*database.Table{}
	err := i.each(ctx, viewsQuery, func(t *database.Table, v []string) {
		t.Writable, t.Elsewhere = v[0] == "YES" && v[1] != "", v[1] == ""
		for _, match := range tableInView.FindAllStringSubmatch(v[1], -1) {
			name := tableName{i.asked(strings.ReplaceAll(match[1], "``", "`")), strings.ReplaceAll(match[2], "``", "`")}
			if source := i.tables[name]; source != nil {
				from[t] = append(from[t], source)
			}
		}
	})
	for range from { // views may show views, which are at most as many
		for view, sources := range from {
			for _, source := range sources {
				view.Writable = view.Writable && source.Writable
				view.Elsewhere = view.Elsewhere || source.Elsewhere
				i.addSets(view, source)
			}
		}
	}
	return err
}

func (i *introspection) readTriggers(ctx context.Context) error {
	return i.each(ctx, triggersQuery, func(t *database.Table, _ []string) { t.InsertTrigger = true })
}

// readColumns finds the columns. One is left out if its values cannot be relied on.
func (i *introspection) readColumns(ctx context.Context) error {
	return i.each(ctx, columnsQuery, func(t *database.Table, v []string) {
		if i.leavesOut(t, v[0], v[6], v[12]) {
			return
		}
		c := &database.Column{Name: v[0], Nullable: v[1] == "YES", Comment: v[5]}
		extra := strings.ToUpper(v[4])
		// Besides "VIRTUAL GENERATED", MySQL has "DEFAULT_GENERATED", which only marks a default.
		c.Generated = strings.Contains(extra, " GENERATED")
		columnType{name: v[6], whole: v[7], length: v[8], precision: v[9], scale: v[10], fraction: v[11], collation: v[12]}.describe(c)
		if c.Kind.Textual() {
			c.Collation = v[12]
		}
		if count(v[8]) > sortedLength && i.sortsBeginnings(c, v[12]) {
			c.SortedLength = sortedLength
		}
		// MariaDB writes an expression, and NULL if a column has no other default; MySQL writes a value or an
		// expression.
		if v[3] == "1" && (v[2] != "NULL" || !i.conn.mariaDB) && !c.Generated {
			isExpression := i.conn.mariaDB || strings.Contains(extra, "DEFAULT_GENERATED")
			c.HasDefault, c.Default = true, defaultValue(c, v[2], isExpression)
		}
		if strings.Contains(extra, "AUTO_INCREMENT") {
			c.HasDefault, i.numbers[c], i.counted[t] = true, true, c
		}
		c.Privileges = privileges(v[13])
		t.Privileges |= c.Privileges
		// MariaDB asks for the right to INSERT into a column that an INSERT returns, too.
		t.InsertReturns = t.InsertReturns && c.Privileges.Has(database.MaySelect|database.MayInsert)
		t.Columns = append(t.Columns, c)
	})
}

// sortedLength is how many characters of a value are certainly sorted: the setting max_sort_length is 1,024 bytes, and a character
// takes up to four.
const sortedLength = 255

// sortsBeginnings reports whether the server sorts long values of a column by their beginnings: MySQL does so for the collations that
// pad, which are all but its newest ones.
func (i *introspection) sortsBeginnings(c *database.Column, collation string) bool {
	if i.conn.mariaDB {
		return c.Kind == database.Text || c.Kind == database.Bytes
	}
	return c.Kind == database.Text && !strings.Contains(collation, "_0900_")
}

// primaryKey is the name of every table's primary key.
const primaryKey = "PRIMARY"

// readKeys finds the unique indexes. Indexes of expressions are left out. Indexes of the beginnings of values only tell
// which columns a violation is about.
func (i *introspection) readKeys(ctx context.Context) error {
	type index struct {
		table   *database.Table
		name    string
		columns []*database.Column
		whole   bool
	}
	var all []*index
	err := i.each(ctx, keysQuery, func(t *database.Table, v []string) {
		if len(all) == 0 || all[len(all)-1].table != t || all[len(all)-1].name != v[0] {
			all = append(all, &index{table: t, name: v[0], whole: true})
		}
		last := all[len(all)-1]
		if c := t.Column(v[1]); c != nil {
			last.columns = append(last.columns, c)
		} else {
			last.whole = false
		}
		last.whole = last.whole && (v[2] == "0" || v[0] == primaryKey)
	})
	for _, x := range all {
		x.table.Constraints = append(x.table.Constraints, database.Constraint{Name: x.name, Columns: x.columns})
		switch {
		case x.name == primaryKey && x.whole:
			x.table.PrimaryKey = x.columns
			if len(x.columns) == 1 {
				i.numbers[x.columns[0]] = true
			}
		case x.whole:
			x.table.Unique = append(x.table.Unique, x.columns)
		}
	}
	for _, t := range i.tables {
		keys := [][]*database.Column{t.PrimaryKey}
		if len(t.PrimaryKey) == 0 {
			keys = t.Unique
		}
		for _, c := range slices.Concat(keys...) {
			c.SortedLength = 0
		}
	}
	return err
}
