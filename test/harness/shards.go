package harness

import (
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// Behind a Vitess a script means something else if its tables have several shards: a key that refers to another table would lead
// to another server, numbers are given by a sequence, and each table needs a rule that says where a row lies.

var (
	createdTable = regexp.MustCompile("(?is)^\\s*create table (`[^`]+`|\\w+) \\(")
	foreignKey   = regexp.MustCompile(`(?is),\s*foreign key \([^)]*\) references \w+ \([^)]*\)(?: on delete (?:cascade|set null))?`)
	tableKey     = regexp.MustCompile("(?is)primary key \\((`[^`]+`|\\w+)")
	firstColumn  = regexp.MustCompile("(?is)\\(\\s*(`[^`]+`|\\w+) (\\w+)")
	wholeNumber  = regexp.MustCompile(`(?i)^(?:big|small)?int`)
)

// onShards fills a database of two shards by a script.
func onShards(t testing.TB, s databasetest.Server, script string) (Database, *sql.DB) {
	t.Helper()
	c := databasetest.ShardedOn(t, s.URI)
	database, plain := On(t, databasetest.URI(c), "")
	for statement := range strings.SplitSeq(script, ";\n") {
		for _, one := range spread(c.Database, statement) {
			if _, err := plain.Exec(one); err != nil {
				t.Fatalf("%.300s: %v", one, err)
			}
		}
	}
	return database, plain
}

// spread returns the statements that stand for one of a script in a database of several shards.
func spread(database, statement string) []string {
	created := createdTable.FindStringSubmatch(statement)
	if created == nil {
		if strings.TrimSpace(statement) == "" {
			return nil
		}
		return []string{statement}
	}
	table := created[1]
	statement = foreignKey.ReplaceAllString(statement, "")
	column := firstColumn.FindStringSubmatch(statement)
	if key := tableKey.FindStringSubmatch(statement); key != nil {
		column = regexp.MustCompile(`(?is)[(,]\s*(` + regexp.QuoteMeta(key[1]) + `) (\w+)`).FindStringSubmatch(statement)
	}
	rule := "xxhash"
	if wholeNumber.MatchString(column[2]) {
		rule = "hash"
	}
	all := []string{statement, fmt.Sprintf("alter vschema on %s add vindex %s(%s) using %s", table, rule, column[1], rule)}
	if strings.Contains(statement, "auto_increment") {
		sequence := fmt.Sprintf("plain.%s_%s", database, strings.Trim(table, "`"))
		all = append(all,
			"create table "+sequence+" (id bigint primary key, next_id bigint, cache bigint) comment 'vitess_sequence'",
			"insert into "+sequence+" values (0, 1000, 100)",
			"alter vschema add sequence "+sequence,
			"alter vschema on "+table+" add auto_increment "+column[1]+" using "+sequence)
	}
	return all
}
