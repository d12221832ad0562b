package mysql_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

func TestIntrospection(t *testing.T) {
	mariaDB := databasetest.Introspect(t, open(t, "", nil)).Engine == "MariaDB"
	exact, documents, width := "utf8mb4_0900_bin", "json", func(string) string { return "" }
	if mariaDB {
		exact, documents, width = "utf8mb4_nopad_bin", "longtext", func(digits string) string { return "(" + digits + ")" }
	}
	f := open(t, "CREATE TABLE author (id bigint unsigned AUTO_INCREMENT PRIMARY KEY, name varchar(40) NOT NULL DEFAULT 'no''body' COMMENT 'the whole name') COMMENT 'who writes';"+
		"CREATE TABLE `odd ``table``.ü` (`a.b` integer, `C``c` integer NOT NULL, c varchar(300), PRIMARY KEY (`C``c`, `a.b`),"+
		"  UNIQUE KEY whole (`a.b`), UNIQUE KEY beginning (c(20)));"+
		`CREATE TABLE book (id integer PRIMARY KEY, author bigint unsigned, a integer, b integer, title varchar(20) COLLATE utf8mb4_general_ci,
  code varchar(20) COLLATE `+exact+`, price decimal(8,2) DEFAULT 1.50, size varchar(3) GENERATED ALWAYS AS (left(title, 3)) VIRTUAL,
  kept integer AS (id + 1) STORED, made timestamp(3) NULL DEFAULT current_timestamp(3), mood enum('a','it''s','x,y'), doc json, small tinyint unsigned,
  CONSTRAINT by_author FOREIGN KEY (author) REFERENCES author (id) ON DELETE CASCADE,
  CONSTRAINT odd FOREIGN KEY (b, a) REFERENCES `+"`odd ``table``.ü` (`C``c`, `a.b`)"+` ON DELETE SET NULL);
CREATE TABLE old (id integer PRIMARY KEY) ENGINE = MyISAM; CREATE VIEW old_view AS SELECT * FROM old; CREATE VIEW older_view AS SELECT id FROM old_view;
CREATE VIEW titles AS SELECT id, title FROM book; CREATE VIEW counted AS SELECT count(*) AS n FROM book`, nil)
	schema := databasetest.Introspect(t, f)
	if schema.Engine != map[bool]string{true: "MariaDB", false: "MySQL"}[mariaDB] || schema.Version == "" || schema.Database != f.connection.Database ||
		!schema.HasSchemas || len(schema.SearchPath) != 1 || schema.SearchPath[0] != f.connection.Database {
		t.Errorf("the schema is %s %s, %s, %v", schema.Engine, schema.Version, schema.Database, schema.SearchPath)
	}
	var tables []string
	for _, table := range schema.Tables {
		tables = append(tables, fmt.Sprintf("%s %s %t", table.Name, table.Kind, table.Writable))
	}
	if got := strings.Join(tables, "; "); got != "author table true; book table true; counted view false; odd `table`.ü table true; old table false; old_view view false; older_view view false; titles view true" {
		t.Errorf("the tables are %s", got)
	}

	author, odd, book := tableOf(t, schema, "author"), tableOf(t, schema, "odd `table`.ü"), tableOf(t, schema, "book")
	if author.Comment != "who writes" || author.Schema != f.connection.Database {
		t.Errorf("author is %q in %s", author.Comment, author.Schema)
	}
	if databasetest.Names(odd.PrimaryKey) != "C`c,a.b" || len(odd.Unique) != 1 || databasetest.Names(odd.Unique[0]) != "a.b" || len(odd.Constraints) != 3 {
		t.Errorf("the keys are %s and %v; constraints %v", databasetest.Names(odd.PrimaryKey), odd.Unique, odd.Constraints)
	}
	if got := f.rows(t, all(odd)); got != "[]" {
		t.Errorf("got %q, want %q", got, "[]")
	}
	var keys []string
	for _, key := range book.ForeignKeys {
		keys = append(keys, fmt.Sprintf("%s: %s > %s (%s) %d", key.Name, databasetest.Names(key.Columns), key.References.Name, databasetest.Names(key.ReferencedColumns), key.OnDelete))
	}
	want := fmt.Sprintf("by_author: author > author (id) %d; odd: b,a > odd `table`.ü (C`c,a.b) %d", database.Cascade, database.SetNull)
	if got := strings.Join(keys, "; "); got != want {
		t.Errorf("the foreign keys are %s", got)
	}

	for _, test := range []struct {
		table *database.Table
		name  string
		want  database.Column
	}{
		{author, "id", database.Column{Kind: database.Integer, NativeType: "bigint" + width("20") + " unsigned", HasDefault: true, Bits: 64, Unsigned: true}},
		{author, "name", database.Column{Kind: database.Text, NativeType: "varchar(40)", HasDefault: true, MaxLength: 40,
			LooseCollation: true, Comment: "the whole name"}},
		{book, "title", database.Column{Kind: database.Text, NativeType: "varchar(20)", Nullable: true, MaxLength: 20, LooseCollation: true}},
		{book, "code", database.Column{Kind: database.Text, NativeType: "varchar(20)", Nullable: true, MaxLength: 20}},
		{book, "price", database.Column{Kind: database.Decimal, NativeType: "decimal(8,2)", Nullable: true, HasDefault: true, Scale: 2, Precision: 8}},
		{book, "size", database.Column{Kind: database.Text, NativeType: "varchar(3)", Nullable: true, Generated: true, MaxLength: 3, LooseCollation: true}},
		{book, "kept", database.Column{Kind: database.Integer, NativeType: "int" + width("11"), Nullable: true, Generated: true, Bits: 32}},
		{book, "made", database.Column{Kind: database.TimestampTZ, NativeType: "timestamp(3)", Nullable: true, HasDefault: true, FractionDigits: 3}},
		{book, "mood", database.Column{Kind: database.Enum, NativeType: "enum('a','it''s','x,y')", Nullable: true, Choices: []string{"a", "it's", "x,y"}, LooseCollation: true}},
		{book, "doc", database.Column{Kind: database.JSON, NativeType: documents, Nullable: true, Contains: true}},
		{book, "small", database.Column{Kind: database.Integer, NativeType: "tinyint" + width("3") + " unsigned", Nullable: true, Bits: 8, Unsigned: true}},
	} {
		want := test.want
		want.Name, want.Privileges = test.name, database.MaySelect|database.MayInsert|database.MayUpdate
		if want.Kind != database.Decimal {
			want.Scale, want.Precision = -1, -1
		}
		if want.Kind != database.TimestampTZ {
			want.FractionDigits = -1
		}
		column := *test.table.Column(test.name)
		column.Default = nil // TestDefaults checks it
		if has := column.Collation != ""; has != column.Kind.Textual() && column.Kind != database.JSON || test.name == "title" && column.Collation != "utf8mb4_general_ci" {
			t.Errorf("%s has the collation %q", test.name, column.Collation)
		}
		column.Collation = ""
		if got := fmt.Sprintf("%+v", column); got != fmt.Sprintf("%+v", want) {
			t.Errorf("%s is\n%s\nwant\n%+v", test.name, got, want)
		}
	}
}

func TestSchemas(t *testing.T) {
	f := open(t, "CREATE TABLE a (id integer PRIMARY KEY)", nil)
	other := open(t, "CREATE TABLE b (id integer PRIMARY KEY, a integer, FOREIGN KEY (a) REFERENCES "+f.connection.Database+".a (id))", nil)
	both := openAt(t, f.connection, func(s *database.Settings) {
		s.Schemas = []string{f.connection.Database, other.connection.Database}
	})
	b := tableOf(t, databasetest.Introspect(t, both), "b")
	if b.Schema != other.connection.Database || len(b.ForeignKeys) != 1 || b.ForeignKeys[0].References.Schema != f.connection.Database {
		t.Errorf("b is in %s, and has %d foreign keys", b.Schema, len(b.ForeignKeys))
	}
	misspelled := databasetest.Introspect(t, openAt(t, f.connection, func(s *database.Settings) { s.Schemas = []string{"typo", f.connection.Database} }))
	if !slices.Equal(misspelled.MissingSchemas, []string{"typo"}) || len(misspelled.Tables) != 1 {
		t.Errorf("missing are %q", misspelled.MissingSchemas)
	}
	if alone := other.table(t, "b"); len(alone.ForeignKeys) != 0 {
		t.Error("a key leads out of the schemas")
	}
	t.Cleanup(func() { databasetest.ExecuteMySQL(t, other.connection, "DROP TABLE b") }) // before the table that it refers to
}

func TestAuditTable(t *testing.T) {
	audited := func(s *database.Settings) { s.Audit = &contract.AuditTable{Name: "mcp_audit"} }
	f := open(t, "CREATE TABLE wrong (id integer)", audited)
	for range 2 { // once made, then found
		schema := databasetest.Introspect(t, f)
		if schema.Audit == nil || schema.Audit != tableOf(t, schema, "mcp_audit") || schema.AuditProblem != "" {
			t.Fatalf("the audit table is %v: %s", schema.Audit, schema.AuditProblem)
		}
	}
	elsewhere := databasetest.MariaDB(t)
	for _, test := range []struct {
		name, problem string
		change        func(*database.Settings)
	}{
		{"of another form", "is no audit table", func(s *database.Settings) { s.Audit = &contract.AuditTable{Name: "wrong"} }},
		{"reading only", "used for reading only", func(s *database.Settings) { s.Audit, s.ReadOnly = &contract.AuditTable{Name: "missing"}, true }},
		{"no such schema", "cannot be made", func(s *database.Settings) { s.Audit = &contract.AuditTable{Schema: "nowhere", Name: "x"} }},
		{"in another schema", "", func(s *database.Settings) { s.Audit = &contract.AuditTable{Schema: elsewhere.Database, Name: "x"} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			schema := databasetest.Introspect(t, openAt(t, f.connection, test.change))
			if (schema.Audit == nil) != (test.problem != "") || !strings.Contains(schema.AuditProblem, test.problem) {
				t.Errorf("the audit table is %v: %s", schema.Audit, schema.AuditProblem)
			}
			for _, table := range schema.Tables {
				if table.Schema == elsewhere.Database {
					t.Error("the other schema's tables are in the schema")
				}
			}
		})
	}
}
