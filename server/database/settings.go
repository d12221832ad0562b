package database

import (
	"cmp"
	"crypto/tls"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// DefaultApplication is the Application of a server that is told none.
const DefaultApplication = "mcp-admin-server"

// Settings say how to reach a database. The functions are called for every new connection.
type Settings struct {
	contract.Database
	// Application is what the server calls itself at the database: printable ASCII, at most 63 bytes; "" is "mcp-admin-server". An
	// application_name of the connection counts more.
	Application string
	// Audit names the audit table; nil if there is none. Introspect makes the table if it is missing.
	Audit *contract.AuditTable
	// Idempotency names the table of kept answers; nil if there is none. Introspect makes it as it makes the audit table.
	Idempotency *contract.AuditTable
	// Connection returns the database's address and our credentials. SQLite does not use it.
	Connection func() (contract.Connection, error)
	// CA returns the PEM certificates that the database's own certificate is checked against; nil for the system's.
	CA func() ([]byte, error)
	// Certificate returns the certificate to show the database; nil if it is the Connection's, or none.
	Certificate func() (*tls.Certificate, error)
	// Follows is set for a replica: the DB then tells how many servers there are (Follower).
	Follows bool
	// CountFor is how long a TotalAuto may count; 0 is TotalBudget.
	CountFor time.Duration
	// Use counts the connections; nil counts nothing. WriterUse is for the connection of SQLite that writes, which has a pool of
	// its own.
	Use, WriterUse *PoolUse
	// SQLitePath is the file of a SQLite database. SQLiteInitDir is a folder of SQL files to fill a new one, or "".
	SQLitePath, SQLiteInitDir string
	// DuckDBPath is what DuckDB reads: a database, a Parquet or CSV file, or a folder of such files.
	DuckDBPath string
}

// CountingTime is how long a TotalAuto may count: no longer than a statement may take.
func (s *Settings) CountingTime() time.Duration {
	budget := cmp.Or(s.CountFor, TotalBudget)
	if timeout := time.Duration(s.StatementTimeout); timeout > 0 {
		budget = min(budget, timeout)
	}
	return budget
}
