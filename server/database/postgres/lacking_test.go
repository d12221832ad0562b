package postgres_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// notSupported is a statement that PostgreSQL refuses as others do what they lack: SQLSTATE 0A000.
const notSupported = "SELECT count(*) FROM pg_class FOR UPDATE"

// A server that speaks PostgreSQL's protocol may lack what nothing depends on: the setting jit (CockroachDB), advisory locks
// (YugabyteDB), ctid (both).
func TestServersThatLackWhatCanBeDoneWithout(t *testing.T) {
	t.Parallel()
	c := filled(t, "CREATE TABLE keyless (name text); INSERT INTO keyless VALUES ('a')")
	lacking, err := contract.ResolveConnection(map[string][]byte{"uri": []byte(databasetest.Refusing(t, databasetest.URI(c),
		"'jit'", "'jjt'", "SELECT pg_advisory_xact_lock(hashtext('mcp-admin-server audit table'))", notSupported, "ctid", "cxid"))}, "")
	if err != nil {
		t.Fatal(err)
	}
	db := open(t, settings(lacking, func(s *database.Settings) { s.Audit = &contract.AuditTable{Name: "mcp_admin_log"} }))
	schema := databasetest.Introspect(t, db)
	if schema.Audit == nil {
		t.Errorf("the audit table was not made: %s", schema.AuditProblem)
	}
	schema = databasetest.Introspect(t, db)
	for _, want := range []string{"it has no advisory locks", "it has no ctid"} {
		if !slices.ContainsFunc(schema.Notes, func(note string) bool { return strings.HasPrefix(note, want) }) {
			t.Errorf("got the notes %q, want one that begins with %q", schema.Notes, want)
		}
	}
	if table := databasetest.Table(t, schema, "public.keyless"); table.RowID != nil {
		t.Error("rows without a key are told apart by what the server does not have")
	}
	whole := databasetest.Introspect(t, open(t, settings(c, nil)))
	if len(whole.Notes) > 0 || databasetest.Table(t, whole, "public.keyless").RowID == nil {
		t.Errorf("PostgreSQL itself lacks something: %q", whole.Notes)
	}
}
