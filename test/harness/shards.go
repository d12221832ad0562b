package harness

import (
	"database/sql"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// Behind a Vitess a script means something else if its tables have several shards: each table needs a rule that says where a row
// lies, numbers are given by a sequence, and a foreign key can only lead to a row of the same shard. So rows that are deleted with
// another one lie where that is, and other foreign keys are left out; Serve declares them as relations.

var (
	createdTable = regexp.MustCompile("(?is)^\\s*create table (`[^`]+`|\\w+) \\(")
	foreignKey   = regexp.MustCompile(`(?is),\s*foreign key \(([^)]+)\) references (\w+) \([^)]*\)( on delete cascade| on delete set null)?(?: on update cascade)?`)
	tableKey     = regexp.MustCompile("(?is)primary key \\((`[^`]+`|\\w+)")
	firstColumn  = regexp.MustCompile("(?is)\\(\\s*(`[^`]+`|\\w+) \\w+")
)

// onShards fills a database of two shards by a script.
func onShards(t testing.TB, s databasetest.Server, script string) (Database, *sql.DB) {
	t.Helper()
	c := databasetest.ShardedOn(t, s.URI)
	database, plain := On(t, databasetest.URI(c), "")
	n := sequences.Add(1)
	name := func(table string) string {
		return fmt.Sprintf("plain.%s_%d_%d", strings.Trim(table, "`"), os.Getpid(), n)
	}
	// The server makes its own tables once there are rules for them.
	statements := rule("mcp_admin_log", "id", "hash")
	for _, keys := range []string{"mcp_admin_keys", "mcp_admin_kept", "mcp_answers"} {
		statements = append(statements, rule(keys, "id", "xxhash")...)
	}
	statements = append(statements, counted("mcp_admin_log", "id", name("mcp_admin_log"))...)
	by := shards{}
	for statement := range strings.SplitSeq(script, ";\n") {
		spread, apart := by.spread(name, statement)
		statements = append(statements, spread...)
		database.apart = append(database.apart, apart...)
	}
	for _, statement := range statements {
		execute(t, plain, statement)
		if sequence, ok := strings.CutPrefix(statement, "alter vschema add sequence "); ok {
			t.Cleanup(func() {
				execute(t, plain, "alter vschema drop sequence "+sequence)
				execute(t, plain, "drop table "+sequence)
			})
		}
	}
	return database, plain
}

// sequences counts the databases, as those that are used again must not go on with old numbers.
var sequences atomic.Int64

// execute runs a statement once the gateway knows the columns of the tables, of which it hears a moment after they are made.
func execute(t testing.TB, plain *sql.DB, statement string) {
	t.Helper()
	const unknownColumns = "VT09004"
	for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		run := func() error {
			_, err := plain.Exec(statement)
			return err
		}
		var err error
		if strings.HasPrefix(statement, "alter vschema") {
			err = databasetest.Topology(run)
		} else {
			err = run()
		}
		if err == nil {
			return
		}
		if !strings.Contains(err.Error(), unknownColumns) || time.Now().After(deadline) {
			t.Fatalf("%.300s: %v", statement, err)
		}
	}
}

// rule is how the gateway is told by which column the rows of a table lie on their shards.
func rule(table, column, function string) []string {
	return []string{fmt.Sprintf("alter vschema on %s add vindex %s(%s) using %s", table, function, column, function)}
}

// counted is how a column gets its numbers from a sequence.
func counted(table, column, sequence string) []string {
	return []string{
		"create table " + sequence + " (id bigint primary key, next_id bigint, cache bigint) comment 'vitess_sequence'",
		"insert into " + sequence + " (id, next_id, cache) values (0, 1000, 100)",
		"alter vschema add sequence " + sequence,
		"alter vschema on " + table + " add auto_increment " + column + " using " + sequence,
	}
}

// shards are the tables of a script whose rows lie by their keys.
type shards map[string]bool

// spread returns the statements that stand for one of a script in a database of several shards, and the foreign keys that are left
// out. name is the sequence of a table.
func (by shards) spread(name func(table string) string, statement string) (all []string, apart []leftOut) {
	created := createdTable.FindStringSubmatch(statement)
	if created == nil {
		if strings.TrimSpace(statement) == "" {
			return nil, nil
		}
		return []string{statement}, nil
	}
	table := created[1]
	key := firstColumn.FindStringSubmatch(statement)[1]
	if declared := tableKey.FindStringSubmatch(statement); declared != nil {
		key = declared[1]
	}
	column := key
	statement = foreignKey.ReplaceAllStringFunc(statement, func(text string) string {
		found := foreignKey.FindStringSubmatch(text)
		if found[3] != " on delete cascade" || !by[found[2]] || column != key && column != found[1] {
			apart = append(apart, leftOut{strings.Trim(table, "`"), strings.Split(found[1], ", "), found[2]})
			return ""
		}
		column = found[1]
		return text
	})
	by[table] = column == key
	function := "unicode_loose_xxhash"
	if regexp.MustCompile(`(?i)[(,]\s*` + regexp.QuoteMeta(column) + ` (?:big|small)?int`).MatchString(statement) {
		function = "hash"
	}
	all = append(rule(table, column, function), statement)
	if strings.Contains(statement, "auto_increment") {
		all = append(all, counted(table, key, name(table))...)
	}
	return all, apart
}

// leftOut is a foreign key that cannot be, as it leads from one shard or server to another.
type leftOut struct {
	table      string
	columns    []string
	references string
}

// declare adds it to the models as a relation, as the documents advise. It is named as the foreign key's would be. Inlines need a foreign
// key, and go.
func (l leftOut) declare(models []contract.Model) {
	there := slices.IndexFunc(models, func(m contract.Model) bool { return m.Table == l.references })
	if there < 0 {
		return
	}
	relation := contract.Relation{Name: strings.TrimSuffix(l.columns[0], "_id"), Columns: l.columns, Model: models[there].Name}
	for i := range models {
		m := &models[i]
		declared := slices.ContainsFunc(m.Relations, func(r contract.Relation) bool {
			return r.Name == relation.Name || slices.Equal(r.Columns, relation.Columns)
		})
		if m.Table == l.table && !declared {
			m.Relations = append(slices.Clip(m.Relations), relation)
		}
		if m.Table == l.references {
			m.Inlines = slices.DeleteFunc(slices.Clone(m.Inlines), func(n contract.Inline) bool {
				return slices.ContainsFunc(models, func(x contract.Model) bool { return x.Name == n.Model && x.Table == l.table })
			})
		}
	}
}
