package docs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// shopScript makes the database of somebody who follows a quick start.
const shopScript = `
create table customer (id integer primary key, name varchar(80) not null, email varchar(80) not null, country varchar(40) not null);
create table orders (id integer primary key, customer_id integer not null references customer (id), placed_on date not null,
  status varchar(20) not null, total numeric(10, 2) not null);
insert into customer values (1, 'Ada Adler', 'ada@example.com', 'Austria'), (2, 'Ben Berg', 'ben@example.com', 'Belgium');
insert into orders values (1, 1, '2026-09-03', 'paid', 40.00), (2, 2, '2026-10-12', 'open', 99.00);
`

// shop is the address of a new database: PostgreSQL's if the tests have a server, else a SQLite file.
func shop(t *testing.T) string {
	t.Helper()
	if os.Getenv("MCP_TEST_POSTGRES") == "" {
		file := filepath.Join(t.TempDir(), "shop.sqlite")
		harness.OnFile(t, file, shopScript)
		return "sqlite://" + file
	}
	address := databasetest.URI(databasetest.PostgreSQL(t))
	harness.On(t, address, shopScript)
	return address
}
