// Package databasetest gives tests a database: a fresh one on the PostgreSQL server that MCP_TEST_POSTGRES names, or on
// the MariaDB or MySQL server that MCP_TEST_MARIADB names, and the SQL of the Chinook sample database if it lies
// beside the project. Only tests import it.
package databasetest

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/project"
)

var databases atomic.Int64

// PostgreSQL makes a new database, drops it when the test ends, and returns how to reach it. It skips the test if the
// environment variable MCP_TEST_POSTGRES, the URI of a superuser, is not set.
func PostgreSQL(t testing.TB) contract.Connection {
	t.Helper()
	server := os.Getenv("MCP_TEST_POSTGRES")
	if server == "" {
		t.Skip("MCP_TEST_POSTGRES is not set: the URI of a superuser on a PostgreSQL server for tests")
	}
	return PostgreSQLOn(t, server, "", "")
}

// PostgreSQLOn makes a new database on the server of a URI, drops it when the test ends, and returns how to reach it:
// through a pooler if its URI is given. options are the options of CREATE DATABASE.
func PostgreSQLOn(t testing.TB, server, pooler, options string) contract.Connection {
	t.Helper()
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), databases.Add(1))
	Execute(t, server, "CREATE DATABASE "+name+" "+options)
	t.Cleanup(func() { Execute(t, server, "DROP DATABASE "+name+" WITH (FORCE)") })
	u, err := url.Parse(cmp.Or(pooler, server))
	if err != nil {
		t.Fatal("the server's URI is none")
	}
	u.Path = "/" + name
	c, err := contract.ResolveConnection(map[string][]byte{"uri": []byte(u.String())}, "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// URI returns a connection's URI, for a plain client beside the code under test, or for a connection Secret.
func URI(c contract.Connection) string {
	scheme := "postgres"
	if c.Engine == contract.EngineMySQL {
		scheme = "mysql"
	}
	u := url.URL{Scheme: scheme, User: url.UserPassword(c.User, c.Password), Host: c.Address(), Path: c.Database}
	if c.SSLMode != "" {
		u.RawQuery = url.Values{"sslmode": {c.SSLMode}}.Encode()
	}
	return u.String()
}

// hang is how long a server may take that hangs, and no other: a busy machine takes minutes for a large schema.
const hang = 10 * time.Minute

// Connect opens a plain connection that is closed when the test ends.
func Connect(t testing.TB, uri string) *pgx.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	conn, err := pgx.Connect(ctx, uri)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// Execute runs a script of SQL on a connection of its own.
func Execute(t testing.TB, uri, script string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	conn, err := pgx.Connect(ctx, uri)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.PgConn().Exec(ctx, script).ReadAll(); err != nil {
		t.Fatalf("%.200s: %v", script, err)
	}
}

// Chinook returns the text of one of the sample database's files, without the lines that make and choose a database. It
// lies in the folder that CHINOOK_DIR names, else in shared/data/chinook beside the project; the test is skipped if
// it is not there.
func Chinook(t testing.TB, file string) string {
	t.Helper()
	folder := os.Getenv("CHINOOK_DIR")
	if folder == "" {
		folder = filepath.Join(filepath.Dir(project.Root()), "shared", "data", "chinook")
	}
	text, err := os.ReadFile(filepath.Join(folder, file))
	if err != nil {
		t.Skipf("the Chinook database is not there: %v", err)
	}
	var kept []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "DROP DATABASE") && !strings.HasPrefix(line, "CREATE DATABASE") &&
			!strings.HasPrefix(line, `\c `) && !strings.HasPrefix(line, "USE ") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}
