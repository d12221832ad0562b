package database_test

import (
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// fenceScript makes a view whose words are an error in each row that belongs to nobody's owner: a statement that looks at them
// fails.
func fenceScript(words string) string {
	return strings.ReplaceAll(`
CREATE TABLE owner (id INTEGER PRIMARY KEY, region VARCHAR(10));
CREATE TABLE sheet (id INTEGER PRIMARY KEY, owner_id INTEGER NOT NULL, seen INTEGER NOT NULL);
CREATE TABLE trap (id INTEGER);
INSERT INTO owner VALUES (1, 'north'), (2, 'south');
INSERT INTO sheet VALUES (1, 1, 1), (2, 2, 0), (3, 1, 1), (4, 2, 0);
INSERT INTO trap VALUES (0), (0);
CREATE VIEW paper AS SELECT id, owner_id, WORDS AS words FROM sheet;
CREATE TABLE note (id INTEGER PRIMARY KEY, paper_id INTEGER);
INSERT INTO note VALUES (1, 1), (2, 2), (3, 3), (4, NULL);`, "WORDS", words)
}

// Whatever a caller asks of rows that a policy hides is not looked at, or its time and its errors would tell of them.
func TestConditionsOfACallerAreLookedAtOnlyInRowsThatThePolicyShows(t *testing.T) {
	onAllEngines(t, map[string]string{
		contract.EnginePostgreSQL: fenceScript("'words ' || (1 / seen)"),
		contract.EngineMySQL:      fenceScript("concat('words ', (SELECT trap.id FROM trap WHERE trap.id = sheet.seen))"),
		contract.EngineSQLite:     fenceScript("'words ' || abs(-9223372036854775807 - (seen = 0))"),
	}, func(t *testing.T, f fixture) {
		schema := f.schema(t)
		owner, paper, note := find(t, schema, "owner"), find(t, schema, "paper"), find(t, schema, "note")
		policy := database.Exists{From: database.NewSource(owner, nil), Ours: []*database.Column{paper.Column("owner_id")}, Theirs: []*database.Column{owner.Column("id")},
			Where: database.Match{Column: owner.Column("region"), Text: "north"}}
		words := func(text string) database.Condition {
			return database.Match{Column: paper.Column("words"), Op: database.TextContains, Text: text, FoldCase: true}
		}
		wordsOrNone := database.Or{words("s"), database.IsNull{Column: paper.Column("words")}}
		papers := database.NewSource(paper, policy)
		join := &database.Join{From: papers, Ours: []*database.Column{note.Column("paper_id")}, Theirs: []*database.Column{paper.Column("id")}}
		ofPaper := func(c database.Condition) database.Condition { return database.Joined{Join: join, Condition: c} }
		isPaper := func(n int64) database.Condition {
			return database.Compare{Column: paper.Column("id"), Op: database.Equal, Value: n}
		}
		for _, c := range []struct {
			name  string
			plan  database.Select
			want  string
			table *database.Table
		}{
			{"of the row", database.Select{From: papers, Where: wordsOrNone}, "1 3", paper},
			{"of a hidden row by its key", database.Select{From: papers, Where: database.And{isPaper(2), wordsOrNone}}, "", paper},
			{"many", database.Select{From: papers, Where: database.And{database.Not{Condition: words("x")}, database.And{database.Or{words("a"), wordsOrNone}}}}, "1 3", paper},
			{"of the one row that a row leads to", database.Select{From: database.NewSource(note, nil), Joins: []*database.Join{join}, Where: ofPaper(wordsOrNone)}, "1 2 3 4", note},
			{"of that row, which must be there", database.Select{From: database.NewSource(note, nil), Joins: []*database.Join{join},
				Where: database.And{ofPaper(database.Compare{Column: paper.Column("id"), Op: database.Greater, Value: int64(0)}), ofPaper(wordsOrNone)}}, "1 3", note},
			{"of a related row", database.Select{From: database.NewSource(owner, nil), Where: database.Exists{From: papers, Ours: []*database.Column{owner.Column("id")}, Theirs: []*database.Column{paper.Column("owner_id")},
				Where: wordsOrNone}}, "1", owner},
			{"of related rows that are counted", database.Select{From: database.NewSource(owner, nil), Where: database.Compare{Op: database.Equal, Value: int64(2), Column: countOf(nil, database.Exists{From: papers,
				Ours: []*database.Column{owner.Column("id")}, Theirs: []*database.Column{paper.Column("owner_id")}, Where: wordsOrNone})}}, "1", owner},
		} {
			t.Run(c.name, func(t *testing.T) {
				c.plan.Output, c.plan.Order = outputs(c.table.Column("id")), ascending(c.table.Column("id"))
				c.plan.Limit, c.plan.Total = 10, database.TotalExact
				rows, page := f.read(t, &c.plan)
				if got := strings.NewReplacer(`{"id":`, "", "}", "").Replace(strings.Join(rows, " ")); got != c.want || page.Total != int64(len(rows)) {
					t.Errorf("got rows %s of %d, want %s", got, page.Total, c.want)
				}
			})
		}
	})
}
