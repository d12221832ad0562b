package sqlite

import (
	"regexp"
	"strings"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// atFault finds in SQLite's words what a query names that is not there, and nothing else of it.
var atFault = regexp.MustCompile(`no such (table|column|function): ([A-Za-z_][A-Za-z0-9_.]*)`)

// untaken is the error about a query that SQLite does not take as it is written; nil if the error is another.
func untaken(err error) *database.Error {
	if resultCode(err) != sqlite3.SQLITE_ERROR {
		return nil
	}
	said := err.Error()
	if found := atFault.FindStringSubmatch(said); found != nil {
		fault := map[string]database.Fault{"table": database.NoSuchTable, "column": database.NoSuchColumn, "function": database.NoSuchFunction}[found[1]]
		return database.Untaken(fault, found[2], nil)
	}
	for _, words := range []string{"syntax error", "incomplete input", "unrecognized token"} {
		if strings.Contains(said, words) {
			return database.Untaken(database.WrongSyntax, "", nil)
		}
	}
	return database.Untaken(database.OtherFault, "", nil)
}
