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

// What vtgate would answer wrongly over several shards is refused. On one server all of it is written.
func TestSubqueriesOverShards(t *testing.T) {
	id := &database.Column{Name: "id", Kind: database.Integer, NativeType: "int", Bits: 32, Scale: -1, Precision: -1, FractionDigits: -1}
	region := &database.Column{Name: "region", Kind: database.Integer, NativeType: "int", Bits: 32, Scale: -1, Precision: -1, FractionDigits: -1}
	table := &database.Table{Name: "book", Columns: []*database.Column{id, region}, PrimaryKey: []*database.Column{id}}
	from := access.Token{}.Unscoped(table)
	related := database.Exists{From: from, Ours: []*database.Column{id}, Theirs: []*database.Column{region}}
	plain := database.Compare{Column: region, Op: database.Equal, Value: "1"}
	join := &database.Join{From: from, Ours: []*database.Column{region}, Theirs: []*database.Column{id}}
	through := database.Joined{Join: join, Condition: plain}
	for name, tc := range map[string]struct {
		where   database.Condition
		joins   []*database.Join
		measure database.Condition
		refused bool
	}{
		"related rows":                      {where: related},
		"two kinds that must both be there": {where: database.And{related, related}},
		"one kind or a value":               {where: database.Or{related, plain}},
		"one of two kinds":                  {where: database.Or{related, related}, refused: true},
		"not both of two kinds":             {where: database.Not{Condition: database.And{related, related}}, refused: true},
		"one kind beside a joined row":      {where: database.And{through, related}, joins: []*database.Join{join}},
		"one kind or a value beside it":     {where: database.And{through, database.Or{related, plain}}, joins: []*database.Join{join}, refused: true},
		"none of a kind beside it":          {where: database.And{through, database.Not{Condition: related}}, joins: []*database.Join{join}, refused: true},
		"a measure of some rows":            {measure: plain},
		"a measure of rows with others":     {measure: related, refused: true},
	} {
		for dialect, refused := range map[sqltext.Dialect]bool{sqltext.MySQL: false, sqltext.MySQLShards: tc.refused} {
			var s sqltext.Statement
			plan := &database.Select{From: from, Limit: 1, Where: tc.where, Joins: tc.joins, Output: []database.Output{{Name: "id", Columns: []*database.Column{id}}}}
			if tc.measure != nil {
				groups := &database.Grouping{From: from, Measures: []database.Measure{{Func: database.CountRows, Where: tc.measure}}}
				plan.From = groups.Source()
				plan.Output = []database.Output{{Name: "n", Columns: plan.From.Table().Columns}}
			}
			err := s.Build(dialect, plan)
			if (err != nil) != refused {
				t.Errorf("%s: refused %t, want %t: %v: %s", name, err != nil, refused, err, s.Select)
			}
		}
	}
}
