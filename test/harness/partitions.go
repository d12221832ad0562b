package harness

import (
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// A table of a script is a partitioned one if PostgreSQL allows it: a unique column that is not the key would have to be one of those
// that the rows are spread by, or it is one already. Such a column has its line in the table to itself, or stands in a constraint.

var (
	tableOfScript = regexp.MustCompile(`(?im)^create table ("[^"]+"|\w+) \(([^;]*)\);$`)
	wholeKey      = regexp.MustCompile(`(?i)primary key \(([^)]*)\)`)
	columnKey     = regexp.MustCompile(`(?i)(?:^|[,\n])\s*("[^"]+"|\w+) [^,\n]*primary key`)
	notSpread     = regexp.MustCompile(`(?i)\b(unique|exclude|inherits|like|partition by)\b`)
)

// openPartitioned is PostgreSQL with tables of three partitions each.
func openPartitioned(t testing.TB, script string) (Database, *sql.DB) {
	t.Helper()
	return On(t, databasetest.URI(databasetest.PostgreSQL(t)), tableOfScript.ReplaceAllStringFunc(script, partitioned))
}

// partitioned returns a statement that makes a table, and those that make its partitions.
func partitioned(statement string) string {
	found := tableOfScript.FindStringSubmatch(statement)
	table, key := found[1], ""
	if whole := wholeKey.FindStringSubmatch(found[2]); whole != nil {
		key = whole[1]
	} else if column := columnKey.FindStringSubmatch(found[2]); column != nil {
		key = column[1]
	}
	if key == "" || notSpread.MatchString(found[2]) {
		return statement
	}
	const partitions = 3
	all := []string{fmt.Sprintf("create table %s (%s) partition by hash (%s);", table, found[2], key)}
	for n := range partitions {
		part := fmt.Sprintf(`"%s part %d"`, strings.Trim(table, `"`), n)
		all = append(all, fmt.Sprintf("create table %s partition of %s for values with (modulus %d, remainder %d);", part, table, partitions, n))
	}
	return strings.Join(all, "\n")
}
