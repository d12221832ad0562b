package databasetest

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// MariaDB makes a new database, drops it when the test ends, and returns how to reach it. It skips the test if the
// environment variable MCP_TEST_MARIADB, the mysql:// URI of a user who may do everything on a MariaDB or MySQL server,
// is not set.
func MariaDB(t testing.TB) contract.Connection {
	t.Helper()
	server := os.Getenv("MCP_TEST_MARIADB")
	if server == "" {
		t.Skip("MCP_TEST_MARIADB is not set: the URI of a user with all rights on a MariaDB server for tests")
	}
	return MySQLOn(t, server)
}

// MySQLOn makes a new database on the MariaDB or MySQL server of a URI, drops it when the test ends, and returns how to
// reach it. Servers behind that one get a database of the same name.
func MySQLOn(t testing.TB, server string, behind ...string) contract.Connection {
	t.Helper()
	// A server may let everybody use databases whose names begin with test_.
	name := fmt.Sprintf("mcp_test_%d_%d", os.Getpid(), databases.Add(1))
	for _, other := range behind {
		makeMySQL(t, other, name)
	}
	return makeMySQL(t, server, name)
}

func makeMySQL(t testing.TB, server, name string) contract.Connection {
	t.Helper()
	c, beside := connections(t, server, name)
	if err := alone(t, beside, "CREATE DATABASE "+name+" CHARACTER SET utf8mb4"); err != nil {
		t.Fatal(err)
	}
	dropLater(t, beside, name)
	return c
}

// connections returns how to reach a database on the server of a URI, and how to reach the server while it is not there: by the
// database that the URI names, if it names one. A Vitess has such a database. Without one it asks any, and another test may be
// dropping that.
func connections(t testing.TB, server, name string) (c, beside contract.Connection) {
	t.Helper()
	address, err := url.Parse(server)
	if err != nil {
		t.Fatal("the server's URI is not understood") // it has a password
	}
	always := strings.TrimPrefix(address.Path, "/")
	address.Path = "/" + name
	if c, err = contract.ResolveConnection(map[string][]byte{"uri": []byte(address.String())}, ""); err != nil {
		t.Fatal(err)
	}
	beside = c
	beside.Database = always
	return c, beside
}

func dropLater(t testing.TB, beside contract.Connection, name string) {
	t.Cleanup(func() {
		if err := alone(t, beside, "DROP DATABASE "+name); err != nil {
			t.Error(err)
		}
	})
}

// alone makes or drops a database.
func alone(t testing.TB, beside contract.Connection, statement string) error {
	t.Helper()
	if beside.Database == "" {
		return tryMySQL(t, beside, statement)
	}
	return Topology(func() error { return tryMySQL(t, beside, statement) })
}

// Topology changes the keyspaces of a Vitess or their VSchemas, while nobody else does in this process or another: vtcombo breaks down
// if two keyspaces are dropped at the same time, and one of two changes of VSchemas may be lost.
func Topology(change func() error) error {
	lock, err := os.OpenFile(filepath.Join(os.TempDir(), "mcp-admin-keyspaces.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() // which unlocks it
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	return change()
}

// ShardedOn makes a database of two shards on the Vitess of a URI, drops it when the test ends, and returns how to reach it.
// Tests of other processes may have one at the same time.
func ShardedOn(t testing.TB, server string) contract.Connection {
	t.Helper()
	for _, name := range ShardedKeyspaces {
		c, beside := connections(t, server, name)
		if alone(t, beside, "CREATE DATABASE "+name) != nil {
			continue // another test has it
		}
		dropLater(t, beside, name)
		return c
	}
	t.Fatalf("all of %s are in use", ShardedKeyspaces)
	return contract.Connection{}
}

// MySQLName returns the data source name of a connection, for a plain client beside the code under test. Its session is
// in UTC, and a script may have many statements.
func MySQLName(c contract.Connection) string {
	config := mysql.NewConfig()
	config.User, config.Passwd, config.DBName = c.User, c.Password, c.Database
	config.Net, config.Addr = "tcp", c.Address()
	config.MultiStatements = true
	config.Params = map[string]string{"time_zone": "'+00:00'"}
	if err := config.Apply(mysql.Charset("utf8mb4", "")); err != nil {
		panic(err) // it never fails for this character set
	}
	return config.FormatDSN()
}

// ExecuteMySQL runs a script of SQL on a connection of its own.
func ExecuteMySQL(t testing.TB, c contract.Connection, script string) {
	t.Helper()
	if err := tryMySQL(t, c, script); err != nil {
		t.Fatalf("%.200s: %v", script, err)
	}
}

func tryMySQL(t testing.TB, c contract.Connection, script string) error {
	t.Helper()
	plain, err := sql.Open("mysql", MySQLName(c))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	_, err = plain.Exec(script)
	return err
}
