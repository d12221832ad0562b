package databasetest

import (
	"encoding/json"
	"os"
)

// FurtherVariable is the environment variable that names, as a JSON array of Server, the servers that the behavioural suite
// runs on besides those of MCP_TEST_POSTGRES and MCP_TEST_MARIADB. "go run ./test/databases run -further" sets it.
const FurtherVariable = "MCP_TEST_FURTHER"

// Server is a database server for tests.
type Server struct {
	// Title names it in what the tests print: "PostgreSQL 18". Product is whose behaviour it has: PostgreSQL, MariaDB, MySQL.
	Title, Product string
	// URI is that of a user who may do everything. Direct is the URI of the server behind it, if it is a pooler.
	URI, Direct string
	// Missing says why it is not there; "" if it is.
	Missing string
}

// Further returns the servers that FurtherVariable names.
func Further() []Server {
	var servers []Server
	_ = json.Unmarshal([]byte(os.Getenv(FurtherVariable)), &servers) // without the variable there are none
	return servers
}
