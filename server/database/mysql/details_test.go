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

func TestDefaults(t *testing.T) {
	for _, test := range []struct{ declared, want string }{
		{`varchar(20) DEFAULT 'dr''aft'`, "dr'aft"},
		{`varchar(20) DEFAULT 'a\\b "c"'`, `a\b "c"`},
		{`varchar(20) DEFAULT ''`, ""},
		{`varchar(20) DEFAULT 'NULL'`, "NULL"},
		{`varchar(20) DEFAULT NULL`, "nothing"},
		{`varchar(20) DEFAULT (concat('a', 'b'))`, "nothing"},
		{`int DEFAULT -5`, "-5"},
		{`int DEFAULT (1 + 2)`, "nothing"},
		{`decimal(5,2) DEFAULT 1.5`, "1.50"},
		{`double DEFAULT 1.5`, "1.5"},
		{`tinyint(1) DEFAULT 1`, "true"},
		{`tinyint(1) DEFAULT 7`, "7"},
		{`bit(1) DEFAULT b'1'`, "true"},
		{`bit(4) DEFAULT b'101'`, "0101"},
		{`date DEFAULT '2001-02-03'`, "2001-02-03"},
		{`time DEFAULT '04:05:06'`, "04:05:06"},
		{`datetime DEFAULT '2001-02-03 04:05:06'`, "2001-02-03T04:05:06"},
		{`timestamp DEFAULT '2001-02-03 04:05:06'`, "2001-02-03T04:05:06Z"},
		{`datetime DEFAULT current_timestamp`, "nothing"},
		{`enum('a','b') DEFAULT 'b'`, "b"},
		{`set('a','b') DEFAULT 'b,a'`, "a,b"},
		{`varbinary(3) DEFAULT 'ab'`, "YWI="},
	} {
		t.Run(test.declared, func(t *testing.T) {
			f := open(t, "SET time_zone = '+00:00'; CREATE TABLE item (id integer PRIMARY KEY, v "+test.declared+")", nil)
			v := f.table(t, "item").Column("v")
			got := "nothing"
			if v.Default != nil {
				got = *v.Default
			}
			if got != test.want {
				t.Errorf("%s has the default %s, want %s", test.declared, got, test.want)
			}
		})
	}
}

func TestChecks(t *testing.T) {
	f := open(t, `CREATE TABLE item (id integer PRIMARY KEY, s varchar(20), n integer, m integer, p decimal(6,2), d date, b tinyint(1), dt datetime)`, nil)
	for _, test := range []struct{ clause, want string }{
		{`s in ('draft', 'it''s', 'c\\d', 'a, b')`, "s is one of [draft it's c\\d a, b]"},
		{`n in (1, 2, -3)`, "n is one of [1 2 -3]"},
		{`n between 1 and 10`, "n >= 1 <= 10"},
		{`p >= 0 and p < 100.5`, "p >= 0 < 100.5"},
		{`0 < n and (n <= 9)`, "n > 0 <= 9"},
		{`-5 <= n`, "n >= -5"},
		{`n = 1 or n = 2 or n in (3, 4)`, "n is one of [1 2 3 4]"},
		{`d > '2000-01-01'`, "d > 2000-01-01"},
		{`char_length(s) >= 2 and char_length(s) <= 9`, "s of 2 to 9"},
		{`char_length(s) between 3 and 5`, "s of 3 to 5"},
		{`char_length(s) > 3`, "s of 4 to 0"},
		{`n > 0 and m > 1`, "n > 0; m > 1"},
		{`n > 0 and n < m`, "n > 0"},
		{`b in (0, 1)`, "b is one of [false true]"},
		// Checks that are not surely understood.
		{`n < m`, ""},
		{`n <> 5`, ""},
		{`n > 0 or m > 0`, ""},
		{`n = 1 or m = 2`, ""},
		{`not (n > 0 and m > 0)`, ""},
		{`n not in (1, 2)`, ""},
		{`n not between 1 and 2`, ""},
		{`n > 0.5`, ""},
		{`length(s) > 3`, ""},
		{`s > 'a'`, ""},
		{`s in (1, 2)`, ""},
		{`lower(s) in ('a', 'b')`, ""},
		{`s like 'a%'`, ""},
		{`n + 1 > 3`, ""},
		{`(n > 0) = 1`, ""},
		{`dt > '2000-01-01'`, ""},
		{`d > '2000-1-1'`, ""},
	} {
		t.Run(test.clause, func(t *testing.T) {
			databasetest.ExecuteMySQL(t, f.connection, "ALTER TABLE item ADD CONSTRAINT rule CHECK ("+test.clause+")")
			defer databasetest.ExecuteMySQL(t, f.connection, "ALTER TABLE item DROP CONSTRAINT rule")
			item := f.table(t, "item")
			var all []string
			for _, check := range item.Checks {
				if check.Name != "rule" {
					t.Errorf("the name is %s", check.Name)
				}
				all = append(all, checkText(check))
			}
			if got := strings.Join(all, "; "); got != test.want {
				t.Errorf("it is %q, want %q", got, test.want)
			}
			if len(item.Constraints) != 2 || item.Constraints[1].Name != "rule" || len(item.Constraints[1].Columns) == 0 {
				t.Errorf("the constraints are %+v", item.Constraints)
			}
		})
	}
}

func checkText(c database.Check) string {
	text := c.Column.Name
	if c.Choices != nil {
		text += fmt.Sprintf(" is one of %v", c.Choices)
	}
	if c.Minimum != "" {
		text += map[bool]string{false: " >= ", true: " > "}[c.ExclusiveMinimum] + c.Minimum
	}
	if c.Maximum != "" {
		text += map[bool]string{false: " <= ", true: " < "}[c.ExclusiveMaximum] + c.Maximum
	}
	if c.MinLength+c.MaxLength > 0 {
		text += fmt.Sprintf(" of %d to %d", c.MinLength, c.MaxLength)
	}
	return text
}

// TestBooleans checks which tinyint(1) columns are numbers, and that a boolean column shows another number that it
// holds.
func TestBooleans(t *testing.T) {
	f := open(t, `
CREATE TABLE mood (id tinyint(1) PRIMARY KEY);
CREATE TABLE item (id integer PRIMARY KEY, mood tinyint(1), level tinyint(1) CHECK (level BETWEEN 0 AND 5), stars tinyint(1) CHECK (stars IN (1, 2, 3)),
  preset tinyint(1) DEFAULT 3, flag tinyint(1), strict tinyint(1) DEFAULT 0 CHECK (strict IN (0, 1)), FOREIGN KEY (mood) REFERENCES mood (id));
INSERT INTO item (id, flag) VALUES (1, 0), (2, 1), (3, 2)`, nil)
	schema := databasetest.Introspect(t, f)
	item := tableOf(t, schema, "item")
	for name, want := range map[string]database.Kind{
		"mood": database.Integer, "level": database.Integer, "stars": database.Integer, "preset": database.Integer,
		"flag": database.Boolean, "strict": database.Boolean,
	} {
		if got := item.Column(name).Kind; got != want {
			t.Errorf("%s is of the kind %s, want %s", name, got, want)
		}
	}
	if got := tableOf(t, schema, "mood").Column("id").Kind; got != database.Integer {
		t.Errorf("mood.id is of the kind %s", got)
	}
	flag := item.Column("flag")
	plan := all(item)
	plan.Output = outputs(item.Column("id"), flag)
	if got := f.rows(t, plan); got != `[{"id":1,"flag":false},{"id":2,"flag":true},{"id":3,"flag":2}]` {
		t.Errorf("got %q, want %q", got, `[{"id":1,"flag":false},{"id":2,"flag":true},{"id":3,"flag":2}]`)
	}
	plan.Where = equal(flag, int64(2))
	if got := f.rows(t, plan); got != `[{"id":3,"flag":2}]` {
		t.Errorf("got %q, want %q", got, `[{"id":3,"flag":2}]`)
	}
	plan.Where = equal(flag, true)
	if got := f.rows(t, plan); got != `[{"id":2,"flag":true}]` {
		t.Errorf("got %q, want %q", got, `[{"id":2,"flag":true}]`)
	}
	err := f.Transact(t.Context(), func(tx database.Tx) error {
		_, err := tx.Update(t.Context(), &database.Update{In: database.NewSource(item, nil), Where: equal(item.Column("id"), int64(1)),
			Set: []database.Assignment{{Column: flag, Value: int64(2)}}})
		return err
	})
	plan.Where = equal(item.Column("id"), int64(1))
	if got := f.rows(t, plan); err != nil || got != `[{"id":1,"flag":2}]` {
		t.Errorf("%v: %s", err, got)
	}
}

// user makes a user with some rights, and returns the connection as that user.
func (f fixture) user(t *testing.T, script string) contract.Connection {
	t.Helper()
	c := f.connection
	c.User, c.Password = c.Database+"_u", "hunter2"
	for _, from := range []string{"'%'", "'localhost'"} {
		user := c.User + "@" + from
		databasetest.ExecuteMySQL(t, f.connection, "CREATE USER "+user+" IDENTIFIED BY 'hunter2';"+strings.ReplaceAll(script, "USER", user))
		t.Cleanup(func() { databasetest.ExecuteMySQL(t, f.connection, "DROP USER "+user) })
	}
	return c
}

func TestPrivileges(t *testing.T) {
	f := open(t, `
CREATE TABLE everything (id integer PRIMARY KEY); CREATE TABLE readable (id integer PRIMARY KEY);
CREATE TABLE partly (id integer PRIMARY KEY, name varchar(9), secret varchar(9)); CREATE TABLE unreadable (id integer PRIMARY KEY);
CREATE TABLE by_role (id integer PRIMARY KEY); CREATE TABLE invisible (id integer PRIMARY KEY)`, nil)
	role := f.connection.Database + "_role"
	databasetest.ExecuteMySQL(t, f.connection, "CREATE ROLE "+role+"; GRANT SELECT, DELETE ON by_role TO "+role)
	t.Cleanup(func() { databasetest.ExecuteMySQL(t, f.connection, "DROP ROLE "+role) })
	toRole := "SET DEFAULT ROLE " + role + " TO USER"
	if databasetest.Introspect(t, f).Engine == "MariaDB" {
		toRole = "SET DEFAULT ROLE " + role + " FOR USER"
	}
	db := openAt(t, f.user(t, `GRANT SELECT, INSERT, UPDATE, DELETE ON everything TO USER; GRANT SELECT ON readable TO USER;
GRANT SELECT (id, name), INSERT (name), UPDATE (name) ON partly TO USER; GRANT INSERT, DELETE ON unreadable TO USER; GRANT `+role+` TO USER; `+toRole), nil)
	var all []string
	for _, table := range databasetest.Introspect(t, db).Tables {
		text := table.Name + " " + rights(table.Privileges)
		for _, c := range table.Columns {
			text += " " + c.Name + ":" + rights(c.Privileges)
		}
		all = append(all, text)
	}
	want := []string{"by_role s--d id:s---", "everything siud id:siu-", "partly siu- id:s--- name:siu-", "readable s--- id:s---", "unreadable -i-d id:-i--"}
	if !slices.Equal(all, want) {
		t.Errorf("the rights are\n%s\nwant\n%s", strings.Join(all, "\n"), strings.Join(want, "\n"))
	}
}

func rights(p database.Privileges) string {
	text := []byte("----")
	for i, each := range []database.Privileges{database.MaySelect, database.MayInsert, database.MayUpdate, database.MayDelete} {
		if p.Has(each) {
			text[i] = "siud"[i]
		}
	}
	return string(text)
}

// TestAuditRights has an audit table that the user may not add to, and one that the user may not read.
func TestAuditRights(t *testing.T) {
	audited := func(s *database.Settings) { s.Audit = &contract.AuditTable{Name: "mcp_audit"} }
	f := open(t, "", audited)
	if schema := databasetest.Introspect(t, f); schema.Audit == nil {
		t.Fatalf("there is no audit table: %s", schema.AuditProblem)
	}
	for rights, problem := range map[string]string{
		"SELECT": "may not add to the audit table", "INSERT": "may not read and add to the audit table", "SELECT, INSERT": "",
	} {
		t.Run(rights, func(t *testing.T) {
			schema := databasetest.Introspect(t, openAt(t, f.user(t, "GRANT "+rights+" ON mcp_audit TO USER"), audited))
			if (schema.Audit == nil) != (problem != "") || !strings.Contains(schema.AuditProblem, problem) ||
				problem != "" && !strings.Contains(schema.AuditProblem, "GRANT SELECT, INSERT ON `"+f.connection.Database+"`.`mcp_audit`") {
				t.Errorf("the audit table is %v: %s", schema.Audit, schema.AuditProblem)
			}
		})
	}
}

// TestOutside has tables of other databases with foreign keys to here, by one step and by two.
func TestOutside(t *testing.T) {
	f := open(t, "CREATE TABLE a (id integer PRIMARY KEY)", nil)
	other, third := open(t, "", nil), open(t, "", nil)
	databasetest.ExecuteMySQL(t, other.connection, `CREATE TABLE b (id integer PRIMARY KEY, a integer, FOREIGN KEY (a) REFERENCES `+f.connection.Database+
		`.a (id) ON DELETE SET NULL ON UPDATE CASCADE); CREATE TABLE unrelated (id integer PRIMARY KEY)`)
	databasetest.ExecuteMySQL(t, third.connection, `CREATE TABLE c (id integer PRIMARY KEY, b integer, FOREIGN KEY (b) REFERENCES `+other.connection.Database+`.b (id))`)
	t.Cleanup(func() {
		databasetest.ExecuteMySQL(t, third.connection, "DROP TABLE c")
		databasetest.ExecuteMySQL(t, other.connection, "DROP TABLE b")
	})
	schema := databasetest.Introspect(t, f)
	if len(schema.Tables) != 1 || len(schema.Outside) != 2 {
		t.Fatalf("the tables are %v, outside %v", schema.Tables, schema.Outside)
	}
	b, c := schema.Outside[0], schema.Outside[1]
	if b.Name != "b" || c.Name != "c" || b.ForeignKeys[0].References != schema.Tables[0] || c.ForeignKeys[0].References != b {
		t.Errorf("outside are %v and %v", b, c)
	}
	if key := b.ForeignKeys[0]; key.OnDelete != database.SetNull || key.OnUpdate != database.Cascade || databasetest.Names(b.PrimaryKey) != "id" {
		t.Errorf("the key is %+v", key)
	}
}

// A server tells a user who may only read the tables that foreign keys exist, but not what they do.
func TestForeignKeysOfAUserWhoMayOnlyRead(t *testing.T) {
	f := open(t, "CREATE TABLE author (id integer PRIMARY KEY); CREATE TABLE book (id integer PRIMARY KEY, author integer, editor integer, `odd )` integer,"+
		" CONSTRAINT a FOREIGN KEY (author) REFERENCES author (id) ON DELETE CASCADE ON UPDATE SET NULL, CONSTRAINT `e``e` FOREIGN KEY (editor) REFERENCES author (id),"+
		" CONSTRAINT o FOREIGN KEY (`odd )`) REFERENCES author (id) ON DELETE SET NULL)", nil)
	db := openAt(t, f.user(t, "GRANT SELECT ON author TO USER; GRANT SELECT, UPDATE ON book TO USER"), nil)
	var keys []string
	for _, key := range databasetest.Introspect(t, db).Tables[1].ForeignKeys {
		keys = append(keys, fmt.Sprint(key.Name, key.OnDelete, key.OnUpdate))
	}
	// A definition that is not surely understood counts as a cascade.
	want := []string{fmt.Sprint("a", database.Cascade, database.SetNull), fmt.Sprint("e`e", database.Restrict, database.Restrict)}
	if len(keys) != 3 || !slices.Equal(keys[:2], want) {
		t.Errorf("the foreign keys are %v, want %v", keys, want)
	}
}

// A foreign key over a column that the user may not use is known too: otherwise a deletion could delete its rows
// unseen.
func TestForeignKeysOverColumnsThatTheUserMayNotRead(t *testing.T) {
	f := open(t, `CREATE TABLE parent (id integer PRIMARY KEY);
CREATE TABLE child (id integer PRIMARY KEY, parent_id integer, FOREIGN KEY (parent_id) REFERENCES parent (id) ON DELETE CASCADE);`, nil)
	user := f.user(t, "GRANT SELECT, DELETE ON parent TO USER; GRANT SELECT (id), DELETE ON child TO USER")
	child := tableOf(t, databasetest.Introspect(t, openAt(t, user, nil)), "child")
	if len(child.ForeignKeys) != 1 || child.ForeignKeys[0].Columns[0].Name != "parent_id" || child.ForeignKeys[0].OnDelete != database.Cascade {
		t.Fatalf("the foreign keys are %+v", child.ForeignKeys)
	}
	if c := child.ForeignKeys[0].Columns[0]; c.Privileges != 0 || c != child.Column("parent_id") {
		t.Errorf("the column is %+v", c)
	}
}

func TestTriggersThatMayFillColumns(t *testing.T) {
	f := open(t, `CREATE TABLE filled (id integer); CREATE TABLE later (id integer); CREATE TABLE none (id integer);
CREATE TRIGGER a BEFORE INSERT ON filled FOR EACH ROW SET NEW.id = 1; CREATE TRIGGER b BEFORE UPDATE ON later FOR EACH ROW SET NEW.id = 1`, nil)
	for _, table := range databasetest.Introspect(t, f).Tables {
		if want := table.Name == "filled"; table.InsertTrigger != want {
			t.Errorf("%s has such a trigger: %v", table.Name, table.InsertTrigger)
		}
	}
}
