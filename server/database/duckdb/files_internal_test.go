package duckdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// folder makes files of some names in a new folder.
func folder(t *testing.T, names ...string) string {
	t.Helper()
	path := t.TempDir()
	for _, name := range names {
		write(t, filepath.Join(path, name), name)
	}
	return path
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestAFolderHasATableForEachFileAndForEachFolder(t *testing.T) {
	path := folder(t, "sales.parquet", "Costs.csv.gz", "readme.txt", ".hidden.csv", "_SUCCESS.csv", "by_year/2024/a.parquet", "by_year/2025/b.parquet",
		"by_year/2025/.part.parquet", "mixed/a.csv", "mixed/b.parquet", "old.duckdb", "twice.csv", "TWICE.parquet", "odd[1].csv", "none/readme.txt")
	v, err := look(path)
	if err != nil {
		t.Fatal(err)
	}
	var tables []string
	for _, s := range v.sources {
		tables = append(tables, fmt.Sprintf("%s %s %d", s.table, s.kind, len(s.files)))
	}
	slices.Sort(tables)
	if got, want := strings.Join(tables, ", "), "Costs csv 1, by_year parquet 2, sales parquet 1"; got != want {
		t.Errorf("the tables are %s, want %s", got, want)
	}
	for _, left := range []string{"folder mixed", "file old.duckdb", "twice.csv", "TWICE.parquet", "odd[1].csv"} {
		if !slices.ContainsFunc(v.notes, func(n database.Unserved) bool { return strings.Contains(n.Note, left+" is not served") }) {
			t.Errorf("no note says that %s is left out: %v", left, v.notes)
		}
	}
}

func TestWhatCannotBeServedIsSaid(t *testing.T) {
	path := folder(t, "a.txt", "odd*.csv", "empty/a.txt")
	for name, want := range map[string]error{
		"": errNoPath, filepath.Join(path, "missing.csv"): errNotThere, filepath.Join(path, "a.txt"): errKind, filepath.Join(path, "empty"): errEmpty,
		filepath.Join(path, "odd*.csv"): errPattern,
	} {
		if _, err := look(name); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}

func TestFilesThatChangeAreNoticed(t *testing.T) {
	path := folder(t, "a.csv", "b/c.csv")
	change := map[string]func(){
		"a new file":          func() { write(t, filepath.Join(path, "b", "d.csv"), "new") },
		"a file that is gone": func() { _ = os.Remove(filepath.Join(path, "b", "d.csv")) },
		"a longer file":       func() { write(t, filepath.Join(path, "a.csv"), "longer than it was") },
		"a later file": func() {
			if err := os.Chtimes(filepath.Join(path, "a.csv"), time.Time{}, time.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
		},
		"a file in its place": func() {
			write(t, filepath.Join(path, "a.csv.new"), "longer than it was")
			if err := os.Rename(filepath.Join(path, "a.csv.new"), filepath.Join(path, "a.csv")); err != nil {
				t.Fatal(err)
			}
		},
	}
	before, err := look(path)
	for _, name := range []string{"a new file", "a file that is gone", "a longer file", "a later file", "a file in its place"} {
		if err != nil {
			t.Fatal(err)
		}
		if same, _ := look(path); !before.same(same) {
			t.Errorf("before %s: nothing was changed, and a change is noticed", name)
		}
		change[name]()
		var after *version
		if after, err = look(path); err == nil && before.same(after) {
			t.Errorf("%s is not noticed", name)
		}
		before = after
	}
}

func TestTheValuesOfAnEnumAreReadFromItsType(t *testing.T) {
	c := &database.Column{NativeType: "ENUM('a', 'it''s', ', ')"}
	describe(c)
	if got := strings.Join(c.Choices, "|"); c.Kind != database.Enum || got != "a|it's|, " {
		t.Errorf("the values are %s", got)
	}
}

func TestAProgramWithoutTheDriverSaysSo(t *testing.T) {
	db := Open(database.Settings{DuckDBPath: folder(t, "a.csv")})
	defer db.Close()
	_, err := db.Introspect(context.Background())
	failure := database.AsError(err)
	if failure.Code != database.Unreachable || !strings.Contains(failure.Message, "built without DuckDB") || !strings.Contains(failure.Message, "mcp-admin-server-duckdb") {
		t.Errorf("it says %v", failure)
	}
}

func TestTheTablesOfAFolderAreBounded(t *testing.T) {
	var names []string
	for i := range mostTables + 2 {
		names = append(names, fmt.Sprintf("f%04d.csv", i))
	}
	v, err := look(folder(t, names...))
	if err != nil || len(v.sources) != mostTables || len(v.notes) != 1 || !strings.Contains(v.notes[0].Note, fmt.Sprintf("2 files and folders from f%04d.csv on are not served", mostTables)) {
		t.Errorf("%d tables, notes %v (%v)", len(v.sources), v.notes, err)
	}
}

func TestWhyAFileCannotBeOpened(t *testing.T) {
	for words, want := range map[string]error{
		`IO Error: Cannot open file "/data/a.duckdb": Permission denied`:                                                                           errRights,
		`IO Error: Could not set lock on file "/data/a.duckdb": Conflicting lock is held in /usr/bin/python3 (PID 7). See also https://duckdb.org`: errHeld,
		`IO Error: The file "/data/a.duckdb" exists, but it is not a valid DuckDB database file!`:                                                  errNone,
		`IO Error: Trying to read a database file with version number 999, but we can only read versions between 64 and 67.`:                       errNewer,
		`IO Error: Could not read enough bytes from file "/data/a.duckdb": attempted to read 262144 bytes from location 58732544`:                  errBroken,
		`Invalid Input Error: No magic bytes found at end of file '/data/a.parquet'`:                                                               errBroken,
		"Invalid Input Error: CSV Error on Line: 1\nInvalid unicode (byte sequence mismatch) detected.":                                            errText,
		`IO Error: No files found that match the pattern "/data/a.csv"`:                                                                            errNotThere,
	} {
		if got := opening(errors.New(words)); !errors.Is(got, want) {
			t.Errorf("%s: %v, want %v", words, got, want)
		}
	}
}
