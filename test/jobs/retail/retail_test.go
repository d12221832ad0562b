package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

const shared = "../../../../shared/data/jobs/retail"

// TestSomeTasks carries a few of the tasks out, of each kind of action some.
func TestSomeTasks(t *testing.T) {
	folder := os.Getenv("JOBS_RETAIL")
	if folder == "" {
		folder = shared
	}
	if _, err := os.Stat(filepath.Join(folder, "tasks.json")); err != nil {
		t.Skipf("SKIPPED: there are no tasks in %s; JOBS_RETAIL names another folder", folder)
	}
	tasks, err := readTasks(folder)
	if err != nil {
		t.Fatal(err)
	}
	tasks = slices.DeleteFunc(tasks, func(one *task) bool {
		return !strings.HasSuffix(one.ID, "6") || strings.HasPrefix(one.ID, "train-") && !strings.HasSuffix(one.ID, "06")
	})
	for _, e := range harness.Engines {
		t.Run(e.Title, func(t *testing.T) {
			results, err := carryOut(t.Context(), t, e, folder, tasks)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range results {
				for _, problem := range r.problems {
					t.Errorf("%s: %s", r.ID, problem)
				}
			}
		})
	}
}

func TestDaysAndMomentsHaveOneForm(t *testing.T) {
	for _, c := range []struct{ kind, text, want string }{
		{"DATE", "2026-01-31", "2026-01-31"}, {"DATE", "2026-01-31T00:00:00Z", "2026-01-31"},
		{"TIMESTAMP", "2026-01-31 08:00:00", "2026-01-31 08:00:00"}, {"TIMESTAMP", "2026-01-31T08:00:00Z", "2026-01-31 08:00:00"},
		{"TIMESTAMP", "2026-01-31T08:00:00.500000+00:00", "2026-01-31 08:00:00.5"}, {"TIMESTAMP", "2026-01-31 08:00:00.000000", "2026-01-31 08:00:00"},
	} {
		if got := (column{"c", c.kind}).text(c.text); got != c.want {
			t.Errorf("%s %s is %s, want %s", c.kind, c.text, got, c.want)
		}
	}
}

func TestTheEndStateIsHeldAgainstEveryRow(t *testing.T) {
	tables := readTables(`CREATE TABLE card (
  card_id VARCHAR(10) NOT NULL PRIMARY KEY,
  balance DECIMAL(10,2)
);

CREATE TABLE line (
  card_id VARCHAR(10) NOT NULL,
  line_no INTEGER NOT NULL,
  open BOOLEAN NOT NULL,
  PRIMARY KEY (card_id, line_no),
  FOREIGN KEY (card_id) REFERENCES card (card_id)
);
`)
	if len(tables) != 2 || tables[0].key[0] != "card_id" || len(tables[1].key) != 2 || len(tables[1].columns) != 3 {
		t.Fatalf("%+v", tables)
	}
	card, line := tables[0], tables[1]
	before := rows{`"a"`: {"card_id": "a", "balance": "1.00"}, `"b"`: {"card_id": "b"}}
	want := card.after(before, writes{
		Inserted: []map[string]any{{"card_id": "c", "balance": "2"}},
		Updated:  []struct{ Key, New map[string]any }{{map[string]any{"card_id": "a"}, map[string]any{"balance": nil}}},
		Deleted:  []struct{ Key map[string]any }{{map[string]any{"card_id": "b"}}},
	})
	if found := card.differences(rows{`"a"`: {"card_id": "a"}, `"c"`: {"card_id": "c", "balance": "2.00"}}, want); len(found) != 0 {
		t.Error(found)
	}
	if found := card.differences(before, want); len(found) != 3 {
		t.Errorf("a row too many, one too few and one that is not changed: %q", found)
	}
	if got := line.rowOf(map[string]any{"card_id": "a", "line_no": 1, "open": int64(1)}); got["open"] != "true" || got["line_no"] != "1" {
		t.Error(got)
	}
}

func TestMoney(t *testing.T) {
	for text, want := range map[string]cents{"0.00": 0, "12.5": 1250, "-3.07": -307, "7": 700, "-0.05": -5} {
		got, err := readMoney(text)
		if err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	if cents(-5).String() != "-0.05" || cents(1250).String() != "12.50" {
		t.Error(cents(-5), cents(1250))
	}
	if _, err := readMoney("1.234"); err == nil {
		t.Error("three places are no money")
	}
}
