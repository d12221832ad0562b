package sqltext_test

import (
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqltext"
)

// What vtgate puts together of several shards: subqueries that do not depend on a row, groups that end with a limit, and whole numbers
// of one length.
func TestStatementsOverShards(t *testing.T) {
	number := func(name string, nullable bool) *database.Column {
		return &database.Column{Name: name, Kind: database.Integer, NativeType: "int", Bits: 32, Nullable: nullable, Scale: -1, Precision: -1, FractionDigits: -1}
	}
	table := &database.Table{Name: "book", Columns: []*database.Column{number("id", false), number("author_id", true)}}
	from := access.Token{}.Unscoped(table)
	id, author := table.Columns[0], table.Columns[1]
	var s sqltext.Statement
	plan := &database.Select{From: from, Limit: 1, Output: []database.Output{{Name: "id", Columns: []*database.Column{id}}},
		Where: database.Not{Condition: database.Exists{From: from, Ours: []*database.Column{author}, Theirs: []*database.Column{id}}}}
	if err := s.Build(sqltext.MySQLShards, plan); err != nil {
		t.Fatal(err)
	}
	const want = "SELECT CAST(t0.`id` AS SIGNED) FROM `book` AS t0 WHERE NOT (t0.`author_id` IS NOT NULL AND t0.`author_id` IN (SELECT t1.`id` FROM `book` AS t1 WHERE t1.`id` IS NOT NULL"
	if got := string(s.Select); !strings.HasPrefix(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	plan.Total = database.TotalCapped
	if err := s.Build(sqltext.MySQLShards, plan); err != nil || strings.Contains(string(s.Count), "LIMIT") {
		t.Errorf("the rows that are counted are gathered: %v: %s", err, s.Count)
	}
	if err := s.Build(sqltext.MySQL, plan); err != nil || !strings.Contains(string(s.Select), "NOT EXISTS (") || strings.Contains(string(s.Select), "CAST") {
		t.Errorf("on one server: %v: %s", err, s.Select)
	}
}
