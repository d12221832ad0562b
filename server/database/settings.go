package database

import "github.com/mcp-admin/mcp-admin-operator/contract"

// Settings say how to reach a database. The two functions are asked at every new connection, so that a rotated
// credential is in force from the next one on.
type Settings struct {
	contract.Database
	// Audit names the audit table; nil: there is none. Introspect makes it if it is missing.
	Audit *contract.AuditTable
	// Connection reads where the database is and who we are there. Not used for SQLite.
	Connection func() (contract.Connection, error)
	// CA reads the PEM certificates that the database's own is checked against; nil for the system's.
	CA func() ([]byte, error)
	// SQLitePath is the file of a SQLite database; SQLiteInitDir a folder of SQL files to fill a new one, or "".
	SQLitePath, SQLiteInitDir string
}
