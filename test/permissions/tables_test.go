package permissions

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// The tables of every world. Foreign keys follow a deletion and a changed value in each way that there is; three are of
// several columns; keys are of one column, of two, and absent. The other columns are texts, each with a value that stands
// nowhere else, and numbers and dates, which no call writes: they are for questions (asks_test.go). MOMENT is the engine's
// type of a timestamp.
const script = `
create table owner (id int primary key, name varchar(60), region varchar(60), note varchar(60), boss_id int, code varchar(20) unique, unique (code, region), foreign key (boss_id) references owner (id) on delete set null);
create table item (id int primary key, title varchar(60), region varchar(60), note varchar(60), owner_id int, weight double precision, seen MOMENT, check (region <> 'nowhere' or title is null), foreign key (owner_id) references owner (id) on delete set null);
create table part (id int primary key, label varchar(60) unique, region varchar(60), note varchar(60), item_id int not null, mark varchar(60), amount int, price decimal(12,2), made date, foreign key (item_id) references item (id) on delete cascade);
create table seat (item_id int not null, number int not null, label varchar(60), region varchar(60), note varchar(60), primary key (item_id, number), foreign key (item_id) references item (id) on delete cascade);
create table badge (id int primary key, label varchar(60), region varchar(60), note varchar(60), code_id varchar(20), foreign key (code_id) references owner (code) on update cascade on delete cascade);
create table ticket (id int primary key, label varchar(60), region varchar(60), note varchar(60), code_id varchar(20), amount int, made date, foreign key (code_id) references owner (code) on update set null on delete set null);
create table pledge (id int primary key, label varchar(60), region varchar(60), note varchar(60), code_id varchar(20), foreign key (code_id) references owner (code) on update restrict on delete restrict);
create table lease (id int primary key, label varchar(60), region varchar(60), note varchar(60), home_code varchar(20), home_region varchar(60), foreign key (home_code, home_region) references owner (code, region) on update cascade on delete set null);
create table booking (id int primary key, label varchar(60), region varchar(60), note varchar(60), item_id int, number int, foreign key (item_id, number) references seat (item_id, number) on delete cascade);
create table vault (id int primary key, label varchar(60), region varchar(60), note varchar(60), pledge_id int, foreign key (pledge_id) references pledge (id) on delete cascade);
create table tag (label varchar(60), region varchar(60), note varchar(60), item_id int, foreign key (item_id) references item (id) on delete cascade on update cascade);
`

// outside is a table of a schema that the endpoint does not serve.
const outside = "create table %[1]s.guest (id int primary key, label varchar(60), item_id int, foreign key (item_id) references %[2]s.item (id) on delete cascade on update cascade)"

var regions = []string{"north", "south", "west"}

// column is a column of a world's table. Texts hold canaries; policies and relations go by region, keys and foreign
// keys.
type column struct {
	name        string
	canary, key bool
	// refers is the table whose ids the column holds.
	refers string
	// unreadable says that the database's user may not read the column, on an engine that has users.
	unreadable bool
	// kind is the kind of the column's values.
	kind kind
}

// reference is a foreign key.
type reference struct {
	columns []string
	table   string
	to      []string
}

var tables = map[string][]column{
	"owner":   {{name: "id", key: true}, {name: "name", canary: true}, {name: "region"}, {name: "note", canary: true}, {name: "boss_id", refers: "owner"}, {name: "code"}},
	"item":    {{name: "id", key: true}, {name: "title", canary: true}, {name: "region"}, {name: "note", canary: true}, {name: "owner_id", refers: "owner"}, {name: "weight", kind: aFloat}, {name: "seen", kind: aMoment}},
	"part":    {{name: "id", key: true}, {name: "label", canary: true}, {name: "region"}, {name: "note", canary: true}, {name: "item_id", refers: "item"}, {name: "mark", canary: true, unreadable: true}, {name: "amount", kind: anInteger}, {name: "price", kind: aDecimal}, {name: "made", kind: aDate}},
	"seat":    {{name: "item_id", key: true, refers: "item"}, {name: "number", key: true}, {name: "label", canary: true}, {name: "region"}, {name: "note", canary: true}},
	"badge":   withLabel(column{name: "code_id"}),
	"ticket":  withLabel(column{name: "code_id"}, column{name: "amount", kind: anInteger}, column{name: "made", kind: aDate}),
	"pledge":  withLabel(column{name: "code_id"}),
	"lease":   withLabel(column{name: "home_code"}, column{name: "home_region"}),
	"booking": withLabel(column{name: "item_id"}, column{name: "number"}),
	"vault":   withLabel(column{name: "pledge_id", refers: "pledge", unreadable: true}),
	"tag":     {{name: "label", canary: true}, {name: "region"}, {name: "note", canary: true}, {name: "item_id", refers: "item"}},
}

func withLabel(more ...column) []column {
	return append([]column{{name: "id", key: true}, {name: "label", canary: true}, {name: "region"}, {name: "note", canary: true}}, more...)
}

var references = map[string][]reference{
	"owner":   {{[]string{"boss_id"}, "owner", []string{"id"}}},
	"item":    {{[]string{"owner_id"}, "owner", []string{"id"}}},
	"part":    {{[]string{"item_id"}, "item", []string{"id"}}},
	"seat":    {{[]string{"item_id"}, "item", []string{"id"}}},
	"badge":   {{[]string{"code_id"}, "owner", []string{"code"}}},
	"ticket":  {{[]string{"code_id"}, "owner", []string{"code"}}},
	"pledge":  {{[]string{"code_id"}, "owner", []string{"code"}}},
	"lease":   {{[]string{"home_code", "home_region"}, "owner", []string{"code", "region"}}},
	"booking": {{[]string{"item_id", "number"}, "seat", []string{"item_id", "number"}}},
	"vault":   {{[]string{"pledge_id"}, "pledge", []string{"id"}}},
	"tag":     {{[]string{"item_id"}, "item", []string{"id"}}},
}

// parents are the relations that foreign keys are, by their tables; policies go by them.
var parents = map[string]string{"owner": "boss", "item": "owner", "part": "item", "seat": "item", "badge": "code", "ticket": "code", "pledge": "code", "tag": "item", "booking": "seat", "lease": "owner"}

// tableNames are sorted; byDependence has each table after the tables that it refers to.
var (
	tableNames   = slices.Sorted(maps.Keys(tables))
	byDependence = []string{"owner", "item", "part", "seat", "badge", "ticket", "pledge", "lease", "booking", "vault", "tag"}
)

// row is a row by column, and by "id" where its key is of several; NULL is "".
type row map[string]string

// data are the rows of all tables, by table and id.
type data map[string]map[string]row

// sortedRows are the rows of a table by their ids, so that equal seeds make equal calls.
func sortedRows(rows map[string]row) []row {
	var sorted []row
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		sorted = append(sorted, rows[id])
	}
	return sorted
}

// at are a row's values of some columns; nil if one is NULL.
func (r row) at(columns []string) []string {
	var values []string
	for _, name := range columns {
		if r[name] == "" {
			return nil
		}
		values = append(values, r[name])
	}
	return values
}

// target is the id and the row that a reference leads to from a row; none: it leads nowhere, or part of it is NULL.
func (all data) target(to reference, from row) (string, row) {
	values := from.at(to.columns)
	if values == nil {
		return "", nil
	}
	for id, r := range all[to.table] {
		if slices.Equal(r.at(to.to), values) {
			return id, r
		}
	}
	return "", nil
}

// place is a database that a test fills, by a plain client, and how the endpoint reaches it.
type store struct {
	*sql.DB
	harness.Database
	// outside is the name of the table guest; "" if the engine has no schemas.
	outside string
	// users says that the endpoint's user may not read the columns that are unreadable.
	users bool
}

// open makes the tables and the endpoint's user.
func open(t *testing.T, engine harness.Engine) *store {
	t.Helper()
	s := &store{}
	moment := "datetime"
	if engine.Name == contract.EnginePostgreSQL {
		moment = "timestamp"
	}
	s.Database, s.DB = engine.Open(t, strings.ReplaceAll(script, "MOMENT", moment))
	if engine.Name == contract.EngineSQLite {
		return s
	}
	s.users = true
	schema, other, dialect := "public", "other", sqltext.PostgreSQL
	if engine.Name == contract.EngineMySQL {
		if err := s.QueryRow("select database()").Scan(&schema); err != nil {
			t.Fatal(err)
		}
		other, dialect = schema+"_other", sqltext.MariaDB
		t.Cleanup(func() { _, _ = s.Exec("drop database " + other) })
	}
	s.outside = other + ".guest"
	statements := append([]string{"create schema " + other, fmt.Sprintf(outside, other, schema)}, sqltext.AuditTable(dialect, "", journal)...)
	for _, statement := range statements {
		if _, err := s.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	s.Database = harness.AsUser(t, engine.Name, s.Database, s.DB, "clerk", append(grants(), "select, insert on "+journal, "select on "+s.outside))
	if engine.Name == contract.EnginePostgreSQL {
		user, _, _ := strings.Cut(strings.TrimPrefix(string(s.Connection["uri"]), "postgres://"), ":")
		if _, err := s.Exec("grant usage on schema " + other + " to " + user); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// grants are the rights of the endpoint's user: all, but with columns that it may not read.
func grants() []string {
	var all []string
	for _, table := range tableNames {
		var names []string
		for _, c := range tables[table] {
			if !c.unreadable {
				names = append(names, c.name)
			}
		}
		if len(names) == len(tables[table]) {
			all = append(all, "select, insert, update, delete on "+table)
			continue
		}
		list := " (" + strings.Join(names, ", ") + ")"
		all = append(all, "select"+list+", insert"+list+", update"+list+" on "+table, "delete on "+table)
	}
	return all
}

// outsideColumns are the columns of the table guest.
var outsideColumns = []column{{name: "id", key: true}, {name: "label", canary: true}, {name: "item_id"}}

// replace makes the tables hold some rows and no others, in one transaction: a file is slow to commit.
func (s *store) replace(t *testing.T, all data) {
	t.Helper()
	tx, err := s.BeginTx(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	exec := func(statement string) {
		t.Helper()
		if _, err := tx.ExecContext(context.Background(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if s.outside != "" {
		exec("delete from " + s.outside)
	}
	for _, table := range slices.Backward(byDependence) {
		exec("delete from " + table)
	}
	for _, table := range byDependence {
		for _, id := range slices.Sorted(maps.Keys(all[table])) {
			r := maps.Clone(all[table][id])
			delete(r, "boss_id") // who need not be there yet
			exec(insertion(table, tables[table], r))
		}
	}
	for id, r := range all["owner"] {
		if r["boss_id"] != "" {
			exec("update owner set boss_id = " + r["boss_id"] + " where id = " + id)
		}
	}
	for _, r := range all["guest"] {
		exec(insertion(s.outside, outsideColumns, r))
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// insertion is the statement that adds a row.
func insertion(table string, columns []column, r row) string {
	values := make([]string, len(columns))
	for i, c := range columns {
		switch value := r[c.name]; {
		case value == "":
			values[i] = "null"
		case c.kind == aMoment:
			values[i] = "'" + strings.Replace(value, "T", " ", 1) + "'"
		default:
			values[i] = "'" + strings.ReplaceAll(value, "'", "''") + "'"
		}
	}
	return "insert into " + table + " values (" + strings.Join(values, ", ") + ")"
}

// read reads all rows by plain SQL.
func (s *store) read(t *testing.T) data {
	t.Helper()
	all := data{}
	for _, table := range tableNames {
		all[table] = s.readTable(t, table, tables[table])
	}
	if s.outside != "" {
		all["guest"] = s.readTable(t, s.outside, outsideColumns)
	}
	return all
}

func (s *store) readTable(t *testing.T, table string, columns []column) map[string]row {
	t.Helper()
	var names []string
	for _, c := range columns {
		names = append(names, c.name)
	}
	rows, err := s.QueryContext(context.Background(), "select "+strings.Join(names, ", ")+" from "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all := map[string]row{}
	for rows.Next() {
		values := make([]sql.NullString, len(names))
		targets := make([]any, len(names))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		r := row{}
		for i, name := range names {
			r[name] = columns[i].values().canonical(values[i].String)
		}
		switch table {
		case "seat":
			r["id"] = r["item_id"] + "," + r["number"]
		case "tag": // it has no key; nothing but its foreign key ever changes
			r["id"] = r["label"] + "|" + r["region"] + "|" + r["note"]
		}
		all[r["id"]] = r
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
