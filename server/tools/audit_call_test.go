package tools

import (
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// execute runs statements in the library's database as its administrator would.
func (l *library) execute(statements ...string) {
	l.t.Helper()
	for _, statement := range statements {
		err := l.set.db.Transact(l.t.Context(), func(tx database.Tx) error {
			_, err := tx.Execute(l.t.Context(), &database.Declared{Pieces: []database.Piece{{SQL: statement}}})
			return err
		})
		if err != nil {
			l.t.Fatalf("%s: %v", statement, err)
		}
	}
}

// An audit table of the release before has no column call.
func TestAnAuditTableOfAnEarlierVersionGetsTheColumnCall(t *testing.T) {
	quoted := map[string]string{contract.EngineMySQL: "`call`"}
	for _, engine := range []string{contract.EngineSQLite, contract.EnginePostgreSQL, contract.EngineMySQL} {
		t.Run(engine, func(t *testing.T) {
			l := newLibraryOn(t, engine)
			column := quoted[engine]
			if column == "" {
				column = `"call"`
			}
			if engine == contract.EngineSQLite {
				l.execute("DROP INDEX mcp_audit_call")
			}
			l.execute("ALTER TABLE mcp_audit DROP COLUMN " + column)
			for range 2 {
				schema, err := l.set.db.Introspect(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if database.AuditCall(schema.Audit) == nil || strings.Contains(strings.Join(schema.Notes, ""), "undone") {
					t.Fatalf("%v, %s: %v", schema.Audit, schema.AuditProblem, schema.Notes)
				}
			}
		})
	}
}

// A column of that name that an administrator made for something else stays as it is, and changes are recorded without it.
func TestAColumnCallOfAnotherKindIsLeftAlone(t *testing.T) {
	l := newLibrary(t)
	l.execute("DROP INDEX mcp_audit_call", `ALTER TABLE mcp_audit DROP COLUMN "call"`, `ALTER TABLE mcp_audit ADD COLUMN "call" INTEGER`)
	schema, err := l.set.db.Introspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if schema.Audit == nil || database.AuditCall(schema.Audit) != nil || !strings.Contains(strings.Join(schema.Notes, ""), "the column call of the audit table") {
		t.Errorf("%s: %v", schema.AuditProblem, schema.Notes)
	}
}
