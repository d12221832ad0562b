package harness

import (
	"database/sql"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// A script means the same on tables of Spider, whose rows lie on the servers behind: each table is made there, and in front as one that
// shows them. Rows go through the front. Its rows are spread over all servers by its key; a table without one, or with another unique
// column, which would have to be a part of the key, lies on the first of them. There are no foreign keys;
// Serve declares them as relations.

var (
	endOfTable  = regexp.MustCompile(`(?s)\)[^)]*$`)
	anyRelation = regexp.MustCompile("(?is)(,\\s*(constraint \\S+ )?foreign key \\([^)]*\\))?\\s+references \\S+( \\([^)]*\\))?" +
		"( on (delete|update) (cascade|set null|set default|restrict|no action))*")
	keyOfTable = regexp.MustCompile(`(?is)primary key \(([^)]*)\)`)
	keyColumn  = regexp.MustCompile("(?is)[(,]\\s*(`[^`]+`|\\w+) [^,]*?primary key")
	notKeyed   = regexp.MustCompile(`(?i)\b(unique|fulltext)\b`)
)

// onRemote fills a database whose tables show the rows of other servers by a script.
func onRemote(t testing.TB, s databasetest.Server, script string) (Database, *sql.DB) {
	t.Helper()
	c := databasetest.MySQLOn(t, s.URI, s.Behind...)
	nodes := make([]string, len(s.Behind))
	var front, behind strings.Builder
	for i, server := range s.Behind {
		u, err := url.Parse(server)
		if err != nil {
			t.Fatal(err)
		}
		nodes[i] = fmt.Sprintf("%s_%d", c.Database, i)
		password, _ := u.User.Password()
		fmt.Fprintf(&front, "create server %s foreign data wrapper mysql options (host '%s', port %s, user '%s', password '%s', database '%s');\n",
			nodes[i], u.Hostname(), u.Port(), u.User.Username(), password, c.Database)
	}
	var apart []leftOut
	script = strings.ReplaceAll(strings.TrimSuffix(strings.TrimSpace(script), ";"), "; create table", ";\ncreate table")
	for statement := range strings.SplitSeq(script, ";\n") {
		if created := createdTable.FindStringSubmatch(statement); created != nil {
			for _, found := range foreignKey.FindAllStringSubmatch(statement, -1) {
				apart = append(apart, leftOut{strings.Trim(created[1], "`"), strings.Split(found[1], ", "), found[2]})
			}
			statement = anyRelation.ReplaceAllString(statement, "")
			// A blank in the name of a table behind would part two names.
			name := strings.ReplaceAll(strings.Trim(created[1], "`"), " ", "_")
			fmt.Fprintf(&behind, "create table `%s` (%s;\n", name, strings.TrimPrefix(statement, created[0]))
			statement = showing(statement, name, nodes)
		}
		fmt.Fprintf(&front, "%s;\n", statement)
	}
	for _, server := range s.Behind {
		On(t, server+c.Database, behind.String())
	}
	database, plain := On(t, databasetest.URI(c), front.String())
	database.apart = apart
	t.Cleanup(func() {
		for _, node := range nodes {
			if _, err := plain.Exec("drop server " + node); err != nil {
				t.Error(err)
			}
		}
	})
	return database, plain
}

// showing is a statement that makes a table, as one that shows the table of a name on other servers.
func showing(statement, table string, nodes []string) string {
	key := ""
	if whole := keyOfTable.FindStringSubmatch(statement); whole != nil {
		key = whole[1]
	} else if column := keyColumn.FindStringSubmatch(statement); column != nil {
		key = column[1]
	}
	statement = endOfTable.ReplaceAllString(statement, fmt.Sprintf(`) engine = spider comment = 'wrapper "mysql", table "%s"`, table))
	if key == "" || notKeyed.MatchString(statement) {
		return statement + fmt.Sprintf(`, srv "%s"'`, nodes[0])
	}
	parts := make([]string, len(nodes))
	for i, node := range nodes {
		parts[i] = fmt.Sprintf(`partition p%d comment = 'srv "%s"'`, i, node)
	}
	return fmt.Sprintf("%s' partition by key (%s) (%s)", statement, key, strings.Join(parts, ", "))
}
