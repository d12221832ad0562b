package generate

import (
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

const warehouse = `
CREATE TABLE item (id int PRIMARY KEY, name text);
CREATE SCHEMA archive;
CREATE TABLE archive.item (id int PRIMARY KEY, name text, item_id int REFERENCES item (id));
CREATE TABLE archive.paper (id int PRIMARY KEY, name text);
CREATE TABLE reading (id int, year int, PRIMARY KEY (id, year)) PARTITION BY LIST (year);
CREATE TABLE reading_2026 PARTITION OF reading FOR VALUES IN (2026);
CREATE TABLE closed (id int PRIMARY KEY);
CREATE MATERIALIZED VIEW names AS SELECT id AS item_id, name FROM item;
`

// Tables lie in several schemas, some are parts of others, some may not be read, and two are the server's own.
func TestTablesOfPostgreSQL(t *testing.T) {
	c := databasetest.PostgreSQL(t)
	owner, user := databasetest.URI(c), "guest_"+c.Database
	databasetest.Execute(t, owner, warehouse+strings.Join(sqltext.AuditTable(sqltext.PostgreSQL, "public", "journal"), ";")+";"+
		strings.Join(sqltext.Idempotency.Statements(sqltext.PostgreSQL, "public", "kept"), ";")+`;
		CREATE USER `+user+` PASSWORD 'x'; GRANT USAGE ON SCHEMA archive TO `+user+`;
		GRANT SELECT ON item, reading, reading_2026, journal, kept, names, archive.item TO `+user)
	t.Cleanup(func() { databasetest.Execute(t, owner, "DROP OWNED BY "+user+"; DROP USER "+user) })
	c.User, c.Password = user, "x"
	uri := databasetest.URI(c)

	text := run(t, "--dsn", uri, "--endpoint", "stock", "--with-endpoint")
	for _, want := range []string{
		"# Left out: archive.paper: the database user may not read it\n",
		"# Left out: public.closed: the database user may not read it\n",
		"# Left out: public.journal: the journal of this server\n",
		"# Left out: public.kept: the idempotency keys of this server\n",
		"# Left out: public.reading_2026: a partition, whose rows the whole table has\n",
		"schemas: [public, archive]\n", "    access: ReadOnly # whatever tokens may do; take it out once they may write\n",
		"connectionSecretRef: {name: stock-db}\n", "kubectl -n default create secret generic stock-db --from-literal=uri=$MCP_ADMIN_DSN\n",
		"metadata: {name: archive-item}\n", "table: {schema: archive, name: item}\n", "table: {schema: public, name: item}\n",
		"key: [item_id] # the key of item; right if the view has each of its rows once\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, user) || strings.Count(text, "kind: MCPModelExposure") != 4 {
		t.Errorf("wrote\n%s", text)
	}
	if text := run(t, "--dsn", uri, "--schemas", "public"); strings.Contains(text, "archive") || !strings.Contains(text, "table: {name: item}\n") {
		t.Errorf("one schema:\n%s", text)
	}
}
