package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

const (
	ferry  = "testdata/ferry"
	shared = "../../../../shared/data/jobs/retail"
)

func TestEachTaskOfTheFerryIsExact(t *testing.T) {
	f := readFerry(t)
	if len(f.tasks) != 10 {
		t.Fatalf("%d tasks", len(f.tasks))
	}
	carryOutOnEach(t, f)
}

// TestSomeTasksOfTheShop carries a few tasks of the shop out, of each kind of action some.
func TestSomeTasksOfTheShop(t *testing.T) {
	path := os.Getenv("JOBS_RETAIL")
	if path == "" {
		path = shared
	}
	if _, err := os.Stat(filepath.Join(path, "tasks.json")); err != nil {
		t.Skipf("SKIPPED: there are no tasks in %s; JOBS_RETAIL names another folder", path)
	}
	f, err := readFolder(path, "retail.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f.tasks = slices.DeleteFunc(f.tasks, func(one *task) bool {
		return !strings.HasSuffix(one.ID, "6") || strings.HasPrefix(one.ID, "train-") && !strings.HasSuffix(one.ID, "06")
	})
	carryOutOnEach(t, f)
}

func carryOutOnEach(t *testing.T, f *folder) {
	for _, e := range harness.Engines {
		t.Run(e.Title, func(t *testing.T) {
			results, err := carryOut(t.Context(), t, e, f)
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

// TestTasksThatAreNotExactAreReported changes what the actions mean, or what the tasks expect, and carries one task out.
func TestTasksThatAreNotExactAreReported(t *testing.T) {
	const full = ` && decks.results[0].places >= arguments.names.size()`
	for _, c := range []struct {
		name, task string
		change     func(*testing.T, *folder)
		want       []string
	}{
		{"a step is missing", "ferry-01", meaning("places: \"=decks.results[0].places - arguments.names.size()\"", "places: \"=decks.results[0].places\""), []string{`decks "KO 1","2026-06-01","lounge": is map`}},
		{"a step is too many", "ferry-08", meaning("data: {points: =m.points + m.by}", "data: {points: =m.points + m.by, name: nobody}"), []string{`travellers "1"`, `travellers "4"`}},
		{"a refusal that is not expected", "ferry-01", meaning("as: covered\n", "as: covered\n  - require: covered == 0\n"), []string{"book was refused", `bookings "504": lacks`}},
		{"an action that must be refused", "ferry-03", meaning(" && voucher.expires >= arguments.at.substring(0, 10)", ""), []string{"book was done, which must be refused: Error: the voucher is not good"}},
		{"a refusal by the database", "ferry-04", meaning(full, ""), []string{"book: part 11: validation_error"}},
		{"an expression without a value", "ferry-06", meaning("paid: =booking.paid", "paid: =booking.debt"), []string{"no such key: debt"}},
		{"an expected row that is not there", "ferry-08", expecting("travellers", func(w *writes) { w.Updated[0].Key["traveller_id"] = 9 }), []string{"travellers has no row map[traveller_id:9]"}},
		{"an expected value of before", "ferry-08", expecting("travellers", func(w *writes) { w.Updated[0].Old["points"] = 1 }), []string{"before, not map[points:1]"}},
		{"an expected column that is not there", "ferry-08", expecting("travellers", func(w *writes) { w.Updated[0].New["debts"] = 1 }), []string{"travellers has no column debts"}},
		{"an expected table that is not there", "ferry-08", expecting("trains", func(*writes) {}), []string{"trains, which is no table"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := readFerry(t)
			f.tasks = slices.DeleteFunc(f.tasks, func(one *task) bool { return one.ID != c.task })
			c.change(t, f)
			results, err := carryOut(t.Context(), t, harness.Engines[0], f)
			if err != nil {
				t.Fatal(err)
			}
			problems := strings.Join(results[0].problems, "\n")
			for _, want := range c.want {
				if !strings.Contains(problems, want) {
					t.Errorf("the problems %q lack %s", problems, want)
				}
			}
		})
	}
}

// meaning replaces a text of the ferry's actions.
func meaning(old, with string) func(*testing.T, *folder) {
	return func(t *testing.T, f *folder) {
		text, err := os.ReadFile(filepath.Join(ferry, "actions.yaml"))
		if err != nil || strings.Count(string(text), old) != 1 {
			t.Fatalf("%v: %d times %s", err, strings.Count(string(text), old), old)
		}
		if f.actions, err = compileActions([]byte(strings.Replace(string(text), old, with, 1))); err != nil {
			t.Fatal(err)
		}
	}
}

// expecting changes what the first task expects of a table.
func expecting(table string, change func(*writes)) func(*testing.T, *folder) {
	return func(_ *testing.T, f *folder) {
		w := f.tasks[0].Writes[table]
		change(&w)
		f.tasks[0].Writes[table] = w
	}
}

func readFerry(t *testing.T) *folder {
	f, err := readFolder(ferry, filepath.Join(ferry, "actions.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestAFailureAtTheLastStepDiffersFromARefusal(t *testing.T) {
	f := readFerry(t)
	s, err := open(t.Context(), t, harness.Engines[0], f)
	if err != nil {
		t.Fatal(err)
	}
	steps := []step{{Tool: "update_travellers", Arguments: object{"id": 1, "data": object{"points": 1}}}}
	if err := s.transact(steps); err != nil {
		t.Fatal(err)
	}
	s.failing = step{Tool: "get_no_such_table", Arguments: object{"id": 1}} // which is refused before any step is run
	if err := s.transact(steps); err == nil || !strings.Contains(err.Error(), "should fail at its last step") {
		t.Errorf("%v", err)
	}
	s.failing = step{Tool: "get_travellers", Arguments: object{"id": 1}} // which does not fail
	if err := s.transact(steps); err == nil || !strings.Contains(err.Error(), "should fail at its last step") {
		t.Errorf("%v", err)
	}
}

func TestAnAnswerThatIsCutIsNotTakenForAll(t *testing.T) {
	schema := "CREATE TABLE number (n INTEGER NOT NULL PRIMARY KEY);"
	var data strings.Builder
	for n := range 101 {
		data.WriteString("INSERT INTO number (n) VALUES (" + string(rune('0'+n/100)) + string(rune('0'+n/10%10)) + string(rune('0'+n%10)) + ");\n")
	}
	for call, want := range map[string]string{
		"{call: list_number}":                          "list_number answered a part of the rows only",
		"{call: list_number, arguments: {limit: 100}}": "",
		"{call: list_number, arguments: {limit: 101}}": "",
	} {
		all, err := compileActions([]byte("actions: {count: [" + call + "]}"))
		if err != nil {
			t.Fatal(err)
		}
		f := &folder{schema: schema, data: data.String(), actions: all,
			tasks: []*task{{ID: "all", Actions: []action{{Name: "count", Kind: "read", Arguments: []byte("{}")}}}}}
		results, err := carryOut(t.Context(), t, harness.Engines[0], f)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(results[0].problems, "\n"); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", call, got, want)
		}
	}
}

func TestTheEnginesAreSQLiteFirst(t *testing.T) {
	if harness.Engines[0].Name != contract.EngineSQLite {
		t.Error("the tests of one engine are to run without a database server")
	}
}
