package harness

import (
	"database/sql"
	"net/url"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// AsUser makes a user of the database with only these grants ("SELECT ON item"), and returns the database as that user
// reaches it. It is for engines that have users.
func AsUser(t testing.TB, engine string, database Database, plain *sql.DB, name string, grants []string) Database {
	t.Helper()
	const password = "tester-password-1"
	exec := func(statement string) {
		t.Helper()
		if _, err := plain.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	u, err := url.Parse(string(database.Connection["uri"]))
	if err != nil {
		t.Fatal(err)
	}
	name += "_" + strings.TrimPrefix(u.Path, "/") // users are the server's, which other tests use too
	account := name
	if engine == contract.EnginePostgreSQL {
		exec("CREATE ROLE " + name + " LOGIN PASSWORD '" + password + "'")
		t.Cleanup(func() { _, _ = plain.Exec("DROP OWNED BY " + name + "; DROP ROLE " + name) })
	} else {
		account = "'" + name + "'@'127.0.0.1'"
		exec("CREATE OR REPLACE USER " + account + " IDENTIFIED BY '" + password + "'")
		t.Cleanup(func() { _, _ = plain.Exec("DROP USER " + account) })
	}
	for _, g := range grants {
		exec("GRANT " + g + " TO " + account)
	}
	u.User = url.UserPassword(name, password)
	return Database{Connection: map[string][]byte{"uri": []byte(u.String())}}
}
