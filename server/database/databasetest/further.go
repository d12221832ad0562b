package databasetest

import (
	"encoding/json"
	"os"
)

// FurtherVariable is the environment variable that names, as a JSON array of Server, the servers that the behavioural suite
// runs on besides MCP_TEST_POSTGRES and MCP_TEST_MARIADB. "go run ./test/databases run -further" sets it.
const FurtherVariable = "MCP_TEST_FURTHER"

// Server is a database server for tests.
type Server struct {
	// Title names the server in the tests' output: "PostgreSQL 18". Product is the product whose behaviour it has:
	// PostgreSQL, MariaDB, MySQL.
	Title, Product string
	// URI is for a user who may do everything. If it leads to a pooler, Direct is the URI of the server behind it.
	URI, Direct string
	// Behind are the URIs of the servers that have the rows, if the server is only the front of others.
	Behind []string
	// Shards reports whether tests use keyspaces of two shards there (ShardedKeyspaces).
	Shards bool
	// Missing says why the server is not available; "" if it is.
	Missing string
}

// ShardedKeyspaces are the databases of a Vitess that have two shards when a test makes them. Any other has one.
var ShardedKeyspaces = []string{"spread_1", "spread_2", "spread_3"}

// Further returns the servers that FurtherVariable names.
func Further() []Server {
	var servers []Server
	_ = json.Unmarshal([]byte(os.Getenv(FurtherVariable)), &servers) // the list is empty without the variable
	return servers
}
