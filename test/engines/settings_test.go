package engines

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// TestADatabaseOfAnotherEncoding has values whose journal is cut, and characters that the database cannot hold.
func TestADatabaseOfAnotherEncoding(t *testing.T) {
	server := os.Getenv("MCP_TEST_POSTGRES")
	if server == "" {
		t.Skip("MCP_TEST_POSTGRES is not set")
	}
	latin := databasetest.PostgreSQLOn(t, server, "", "ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
	database, plain := harness.On(t, databasetest.URI(latin), "create table letter (id int primary key, body text)")
	s := &suite{harness.Engine{Name: contract.EnginePostgreSQL, Title: harness.PostgreSQL, Product: harness.PostgreSQL},
		harness.Serve(t, database, []contract.Model{{Name: "letter", Table: "letter"}}, tokens(), withAudit), plain}
	noteVersion(t, s.Engine, plain)
	s.check(t, "a long value is written, and its journal with it", func(t *testing.T) {
		long := strings.Repeat("é", 5000)
		s.ok(t, "root", "create_letter", fmt.Sprintf(`{"data":{"id":1,"body":%q}}`, long))
		want(t, s.ok(t, "root", "get_letter", `{"id":1}`), fmt.Sprintf("%q", long), "body")
		want(t, s.ok(t, "root", "history_letter", `{"id":1}`), `1`, "count")
	})
	s.check(t, "a character that the encoding lacks is refused", func(t *testing.T) {
		if payload, isError := s.call(t, "root", "create_letter", `{"data":{"id":2,"body":"日本"}}`); !isError || payload["code"] == "internal" {
			t.Errorf("%v", payload)
		}
		s.holds(t, "select count(*) from letter", "1")
	})
}
