package postgres_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// as returns the connection of a new user, who is dropped when the test ends. USER in the script stands for the user's
// name.
func as(t *testing.T, c contract.Connection, script string) contract.Connection {
	t.Helper()
	user := "user_" + c.Database
	owner := databasetest.URI(c)
	databasetest.Execute(t, owner, "CREATE USER "+user+" PASSWORD 'x'; "+strings.ReplaceAll(script, "USER", user))
	t.Cleanup(func() { databasetest.Execute(t, owner, "DROP OWNED BY "+user+"; DROP USER "+user) })
	c.User, c.Password = user, "x"
	return c
}

func TestPrivileges(t *testing.T) {
	t.Parallel()
	owner := filled(t, `
CREATE SCHEMA closed;
CREATE TABLE free (id int PRIMARY KEY, v text);
CREATE TABLE part (id int PRIMARY KEY, v text, secret text, free_id int REFERENCES free);
CREATE TABLE none (id int PRIMARY KEY, free_id int REFERENCES free ON DELETE CASCADE);
CREATE TABLE adding (id int PRIMARY KEY, v text);
CREATE TABLE closed.t (id int PRIMARY KEY)`)
	limited := as(t, owner, `GRANT ALL ON free TO USER; GRANT SELECT (id, v), UPDATE (v) ON part TO USER; GRANT INSERT ON adding TO USER; GRANT ALL ON closed.t TO USER`)
	schemas := func(s *database.Settings) { s.Schemas = []string{"public", "closed"} }
	const view, add, change = database.MaySelect, database.MayInsert, database.MayUpdate
	schema := databasetest.Introspect(t, open(t, settings(limited, schemas)))
	for _, test := range []struct {
		table, column string
		want          database.Privileges
	}{
		{"public.free", "", database.MayAll}, {"public.free", "v", view | add | change},
		{"public.part", "", view | change}, {"public.part", "id", view}, {"public.part", "v", view | change}, {"public.part", "secret", 0},
		{"public.none", "", 0}, {"public.none", "id", 0},
		{"public.adding", "", add}, {"public.adding", "v", add},
		{"closed.t", "", 0}, {"closed.t", "id", 0}, // without USAGE on its schema
	} {
		table := databasetest.Table(t, schema, test.table)
		got := table.Privileges
		if test.column != "" {
			got = table.Column(test.column).Privileges
		}
		if got != test.want {
			t.Errorf("%s %s: got %b, want %b", test.table, test.column, got, test.want)
		}
	}
	for name, want := range map[string]string{"public.part": "key id; free_id>public.free.id", "public.none": "key id; free_id>public.free.id"} {
		if got := databasetest.Keys(databasetest.Table(t, schema, name)); got != want {
			t.Errorf("%s has %s, want %s: a key over columns that may not be read holds all the same", name, got, want)
		}
	}
	for name, want := range map[string]bool{"public.free": true, "public.part": false, "public.none": false} {
		if got := databasetest.Table(t, schema, name).RowID != nil; got != want {
			t.Errorf("%s has a row id: %v", name, got)
		}
	}
	if all := databasetest.Introspect(t, open(t, settings(owner, schemas))); databasetest.Table(t, all, "closed.t").Privileges != database.MayAll {
		t.Error("the owner may not do all")
	}
}

// The schema lists what a deletion or change reaches, in any schema.
func TestTablesOutside(t *testing.T) {
	t.Parallel()
	owner := filled(t, `
CREATE SCHEMA far;
CREATE TABLE customer (id int PRIMARY KEY);
CREATE TABLE far.invoice (id int PRIMARY KEY, customer_id int REFERENCES customer ON DELETE CASCADE ON UPDATE SET NULL);
CREATE TABLE far.line (id int PRIMARY KEY, invoice_id int REFERENCES far.invoice ON DELETE CASCADE ON UPDATE CASCADE);
CREATE TABLE far.alone (id int PRIMARY KEY);
CREATE TABLE remark (id int PRIMARY KEY, line_id int REFERENCES far.line ON DELETE SET DEFAULT, alone_id int REFERENCES far.alone)`)
	limited := as(t, owner, "GRANT SELECT, DELETE ON customer TO USER")
	for _, c := range []contract.Connection{owner, limited} {
		schema := databasetest.Introspect(t, open(t, settings(c, nil)))
		var got []string
		for _, tables := range [][]*database.Table{schema.Tables, schema.Outside} {
			for _, table := range tables {
				for _, key := range table.ForeignKeys {
					got = append(got, fmt.Sprintf("%s>%s %d %d", table, key.References, key.OnDelete, key.OnUpdate))
				}
			}
		}
		want := []string{"public.remark>far.line 3 0", "far.invoice>public.customer 1 2", "far.line>far.invoice 1 1"}
		if !slices.Equal(got, want) || len(schema.Tables) != 2 || len(schema.Outside) != 2 {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

func TestRowIDs(t *testing.T) {
	t.Parallel()
	db := open(t, settings(filled(t, `
CREATE TABLE keyless (v text); INSERT INTO keyless SELECT 'same' FROM generate_series(1, 100);
CREATE TABLE parent (id int); CREATE TABLE child () INHERITS (parent);
CREATE TABLE divided (id int) PARTITION BY RANGE (id); CREATE TABLE piece PARTITION OF divided FOR VALUES FROM (0) TO (9);
CREATE VIEW v AS SELECT * FROM keyless; CREATE MATERIALIZED VIEW m AS SELECT * FROM keyless`), nil))
	schema := databasetest.Introspect(t, db)
	for name, want := range map[string]bool{"keyless": true, "parent": false, "child": true, "divided": false, "piece": true, "v": false, "m": false} {
		table := databasetest.Table(t, schema, "public."+name)
		if got := table.RowID != nil; got != want {
			t.Errorf("%s has a row id: %v", name, got)
		}
	}
	table := databasetest.Table(t, schema, "public.keyless")
	seen := map[string]bool{}
	plan := &database.Select{
		From: database.NewSource(table, nil), Output: outputs(table.RowID), Limit: 7, More: true,
		Order: []database.Order{{Column: table.Column("v")}, {Column: table.RowID}}, Cursor: database.Refs(table.Column("v"), table.RowID),
	}
	for more := true; more; {
		out, page, err := db.Select(t.Context(), plan, nil)
		if err != nil {
			t.Fatal(err)
		}
		for row := range strings.SplitSeq(string(out), "},") {
			seen[strings.TrimSuffix(row, "}")] = true
		}
		plan.After, more = page.Last, page.More
	}
	if len(seen) != 100 {
		t.Errorf("the pages hold %d rows of 100", len(seen))
	}
}

func TestChecksAndDefaults(t *testing.T) {
	t.Parallel()
	db := open(t, settings(filled(t, `
CREATE DOMAIN positive AS int CONSTRAINT above_zero CHECK (VALUE > 0);
CREATE DOMAIN small AS positive CONSTRAINT below_ten CHECK (VALUE < 10);
CREATE TABLE t (id int PRIMARY KEY, status varchar(9) DEFAULT 'draft' CONSTRAINT known CHECK (status IN ('draft', 'done')), rating smallint CHECK (rating BETWEEN 1 AND 5),
  price numeric(9,2) DEFAULT 0 CONSTRAINT no_gift CHECK (price > 0), code char(4) CHECK (char_length(code) >= 2), n small, since date DEFAULT '2020-01-01' CHECK (since >= '2000-01-01'),
  low int, high int, odd int CHECK (odd % 2 = 1), later int, CHECK (low < high));
ALTER TABLE t ADD CONSTRAINT unchecked CHECK (later > 0) NOT VALID`), nil))
	table := databasetest.Table(t, databasetest.Introspect(t, db), "public.t")
	var got []string
	for _, c := range table.Checks {
		got = append(got, fmt.Sprintf("%s %s %v %s %s %v %v %d %d", c.Name, c.Column.Name, c.Choices, c.Minimum, c.Maximum, c.ExclusiveMinimum, c.ExclusiveMaximum, c.MinLength, c.MaxLength))
	}
	want := []string{
		"known status [draft done]   false false 0 0", "t_rating_check rating [] 1 5 false false 0 0", "no_gift price [] 0  true false 0 0",
		"t_code_check code []   false false 2 0", "above_zero n [] 0  true false 0 0", "below_ten n []  10 false true 0 0",
		"t_since_check since [] 2000-01-01  false false 0 0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for name, want := range map[string]string{"status": "draft", "price": "0", "since": "2020-01-01"} {
		if value := table.Column(name).Default; value == nil || *value != want {
			t.Errorf("the default of %s is %v, want %s", name, value, want)
		}
	}
}

func TestTypesWithoutEquality(t *testing.T) {
	t.Parallel()
	db := open(t, settings(filled(t, `
CREATE TYPE mood AS ENUM ('sad'); CREATE TYPE pair AS (a int, b text); CREATE DOMAIN place AS point;
CREATE TABLE no (a xml, b json, c point, d polygon, e box, f circle, g path, h line, i lseg, j jsonpath, k place, l json[], m pg_snapshot);
CREATE TABLE yes (a text, b varchar(3), c char(3), d jsonb, e inet, f cidr, g macaddr, h money, i bit(3), j varbit, k tsvector, l tsquery, m int4range, n int4multirange,
  o mood, p pair, q text[], r timetz, s interval, t uuid, u bytea, v name, w pg_lsn, x regclass, y varchar[], z "char", za oid, zb xid, zc mood[], zd int4range[])`), nil))
	schema := databasetest.Introspect(t, db)
	for name, want := range map[string]bool{"public.no": true, "public.yes": false} {
		for _, c := range databasetest.Table(t, schema, name).Columns {
			if c.Incomparable != want {
				t.Errorf("%s is incomparable: %v", c.NativeType, c.Incomparable)
			}
		}
	}
}

func TestAuditTablesWithoutRights(t *testing.T) {
	t.Parallel()
	owner := filled(t, `CREATE TABLE t (id int PRIMARY KEY)`)
	audit := func(s *database.Settings) { s.Audit = &contract.AuditTable{Name: "audit_log"} }
	databasetest.Introspect(t, open(t, settings(owner, audit)))
	limited := as(t, owner, "")
	for _, test := range []struct {
		grant    string
		readOnly bool
		says     string
	}{
		{"SELECT", false, `may not INSERT on the audit table public.audit_log; let its owner run: GRANT SELECT, INSERT ON "public"."audit_log" TO`},
		{"SELECT", true, ""},
		{"INSERT", true, "may not SELECT"},
		{"INSERT", false, ""},
		{"INSERT (at, token, action, model, table_schema, table_name, object_id, object_repr, message, changes, call)", false, ""},
		{"INSERT (at, token, action, model, table_schema, table_name, object_id, object_repr, message, changes)", false, "may not INSERT"},
		{"INSERT (at, token)", false, "may not INSERT"},
	} {
		databasetest.Execute(t, databasetest.URI(owner), "REVOKE ALL ON audit_log FROM "+limited.User+"; GRANT "+test.grant+" ON audit_log TO "+limited.User)
		schema := databasetest.Introspect(t, open(t, settings(limited, func(s *database.Settings) { audit(s); s.ReadOnly = test.readOnly })))
		if !strings.Contains(schema.AuditProblem, test.says) || (test.says == "") != (schema.AuditProblem == "") || (test.says == "") != (schema.Audit != nil) {
			t.Errorf("%s: got %v, %q", test.grant, schema.Audit, schema.AuditProblem)
		}
	}
}

func TestTriggersThatMayFillColumns(t *testing.T) {
	t.Parallel()
	db := open(t, settings(filled(t, `
CREATE TABLE filled (id int); CREATE TABLE later (id int); CREATE TABLE off (id int); CREATE TABLE changed (id int); CREATE TABLE none (id int);
CREATE FUNCTION same() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE TRIGGER t BEFORE INSERT OR UPDATE ON filled FOR EACH ROW EXECUTE FUNCTION same();
CREATE TRIGGER t AFTER INSERT ON later FOR EACH ROW EXECUTE FUNCTION same();
CREATE TRIGGER t BEFORE INSERT ON off FOR EACH ROW EXECUTE FUNCTION same(); ALTER TABLE off DISABLE TRIGGER t;
CREATE TRIGGER t BEFORE UPDATE ON changed FOR EACH ROW EXECUTE FUNCTION same()`), nil))
	for _, table := range databasetest.Introspect(t, db).Tables {
		if want := table.Name == "filled"; table.InsertTrigger != want {
			t.Errorf("%s has such a trigger: %v", table.Name, table.InsertTrigger)
		}
	}
}
