package harness

import (
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// spiderTitle is the title of the servers whose tables are Spider's.
const spiderTitle = "Spider"

// onSpider fills a database by a script. Each table is one of Spider, and shows the table of its name on one of the other servers, in
// turn: no foreign key leads from one to another. The URIs are that of the server with the storage engine, and those of the others.
func onSpider(t testing.TB, s databasetest.Server, script string) (Database, *sql.DB) {
	t.Helper()
	uris := strings.Fields(s.URI)
	c := databasetest.MySQLOn(t, uris[0])
	database, plain := On(t, databasetest.URI(c), "")
	var behind []*sql.DB
	for i, uri := range uris[1:] {
		_, server := On(t, uri+"mysql", "create database "+c.Database+" character set utf8mb4")
		t.Cleanup(func() { execute(t, server, "drop database "+c.Database) })
		_, tables := On(t, uri+c.Database, "")
		behind = append(behind, tables)
		u, err := url.Parse(uri)
		if err != nil {
			t.Fatal(err)
		}
		password, _ := u.User.Password()
		name := fmt.Sprintf("%s_%d", c.Database, i)
		execute(t, plain, fmt.Sprintf("create server %s foreign data wrapper mysql options (host '%s', port %s, user '%s', password '%s', database '%s')",
			name, u.Hostname(), u.Port(), u.User.Username(), password, c.Database))
		t.Cleanup(func() { execute(t, plain, "drop server "+name) })
	}
	made := 0
	for statement := range strings.SplitSeq(script, ";\n") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if created := createdTable.FindStringSubmatch(statement); created != nil {
			at := made % len(behind)
			made++
			statement = foreignKey.ReplaceAllString(statement, "")
			execute(t, behind[at], statement)
			statement += fmt.Sprintf(` engine = spider comment = 'wrapper "mysql", srv "%s_%d", table "%s"'`, c.Database, at, strings.Trim(created[1], "`"))
		}
		execute(t, plain, statement)
	}
	return database, plain
}
