package postgres_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

func TestAuditTableIsMade(t *testing.T) {
	t.Parallel()
	c := filled(t, `CREATE SCHEMA logs; CREATE TABLE t (id int PRIMARY KEY)`)
	for _, test := range []struct {
		name, table string
		audit       contract.AuditTable
		shown       bool
	}{
		{"in the search path", "public.audit_log", contract.AuditTable{Name: "audit_log"}, true},
		{"by its schema", `public.odd "name"; --`, contract.AuditTable{Schema: "public", Name: `odd "name"; --`}, true},
		{"elsewhere", "logs.audit", contract.AuditTable{Schema: "logs", Name: "audit"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var group sync.WaitGroup
			for range 6 { // as many pods as start at once
				group.Go(func() {
					db := open(t, settings(c, func(s *database.Settings) { s.Audit = &test.audit }))
					schema, err := db.Introspect(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					if schema.Audit == nil || schema.AuditProblem != "" || schema.Audit.String() != test.table {
						t.Errorf("the audit table is %v: %s", schema.Audit, schema.AuditProblem)
						return
					}
					listed := false
					for _, table := range schema.Tables {
						listed = listed || table == schema.Audit
					}
					if listed != test.shown {
						t.Errorf("the audit table is among the tables: %v", listed)
					}
				})
			}
			group.Wait()
		})
	}
	db := open(t, settings(c, func(s *database.Settings) { s.Audit = &contract.AuditTable{Name: "audit_log"} }))
	audit := databasetest.Introspect(t, db).Audit
	if e := within(t, db, func(tx database.Tx) error {
		return insert(t, tx, audit, "token", "a", "action", "create", "model", "book", "table_schema", "public", "table_name", "book",
			"object_id", "1", "object_repr", "Dune", "message", "Added.", "changes", []byte(`{"title":["","Dune"]}`))
	}); e != nil {
		t.Fatal(e)
	}
	plan := all(audit)
	plan.Output = outputs(audit.Column("id"), audit.Column("changes"))
	if got := read(t, db, plan); got != `[{"id":1,"changes":{"title": ["", "Dune"]}}]` {
		t.Errorf("it reads %s", got)
	}
	if got := scalar(t, c, "SELECT count(*) FROM pg_indexes WHERE tablename = 'audit_log' AND indexdef LIKE '%(table_schema, table_name, object_id, id)'"); got != "1" {
		t.Error("it has no index")
	}
}

func TestAuditTablesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	c := filled(t, `CREATE TABLE wrong (id int PRIMARY KEY); REVOKE CREATE ON SCHEMA public FROM PUBLIC`)
	user := "reader_" + c.Database
	databasetest.Execute(t, databasetest.URI(c), "CREATE USER "+user+" PASSWORD 'x'")
	t.Cleanup(func() { databasetest.Execute(t, databasetest.URI(c), "DROP OWNED BY "+user+"; DROP USER "+user) })
	limited := c
	limited.User, limited.Password = user, "x"
	for _, test := range []struct {
		name   string
		to     contract.Connection
		audit  contract.AuditTable
		change func(*database.Settings)
		says   []string
	}{
		{"no right", limited, contract.AuditTable{Name: "audit_log"}, nil, []string{
			"the audit table public.audit_log cannot be made: the user may not create tables there; make it with: CREATE TABLE", `"public"."audit_log" ( id bigint`, "; CREATE INDEX"}},
		{"read only", c, contract.AuditTable{Name: "audit_log"}, func(s *database.Settings) { s.ReadOnly = true }, []string{"no table public.audit_log", "reading only"}},
		{"no such schema", c, contract.AuditTable{Schema: "nowhere", Name: "audit_log"}, nil, []string{"audit_log has no place"}},
		{"another table", c, contract.AuditTable{Name: "wrong"}, nil, []string{"public.wrong is no audit table", "token is missing"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			schema := databasetest.Introspect(t, open(t, settings(test.to, func(s *database.Settings) {
				s.Audit = &test.audit
				if test.change != nil {
					test.change(s)
				}
			})))
			for _, says := range test.says {
				if schema.Audit != nil || !strings.Contains(schema.AuditProblem, says) {
					t.Errorf("got %v: %s", schema.Audit, schema.AuditProblem)
				}
			}
			databasetest.Table(t, schema, "public.wrong") // everything else exists
		})
	}
	if got := scalar(t, c, "SELECT count(*) FROM pg_tables WHERE tablename = 'audit_log'"); got != "0" {
		t.Error("it was made all the same")
	}
	if schema := databasetest.Introspect(t, open(t, settings(c, nil))); schema.Audit != nil || schema.AuditProblem != "" {
		t.Errorf("nobody asked for %v, %s", schema.Audit, schema.AuditProblem)
	}
}
