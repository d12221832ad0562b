package database

import "github.com/mcp-admin/mcp-admin-operator/contract"

// Settings say how to reach a database. The two functions are called for every new connection, so that a rotated
// credential takes effect with the next one.
type Settings struct {
	contract.Database
	// Audit names the audit table; nil if there is none. Introspect makes the table if it is missing.
	Audit *contract.AuditTable
	// Connection returns the database's address and our credentials. SQLite does not use it.
	Connection func() (contract.Connection, error)
	// CA returns the PEM certificates that the database's own certificate is checked against; nil for the system's.
	CA func() ([]byte, error)
	// SQLitePath is the file of a SQLite database. SQLiteInitDir is a folder of SQL files to fill a new one, or "".
	SQLitePath, SQLiteInitDir string
}
