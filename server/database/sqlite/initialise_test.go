package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// mounted lays files out as the kubelet does for a ConfigMap: links into a folder that is itself a link.
func mounted(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	data := filepath.Join(folder, "..2026_01_02_03_04_05.678")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Base(data), filepath.Join(folder, "..data")); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(data, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func initialised(path, folder string) database.Settings {
	return settings(path, func(s *database.Settings) { s.SQLiteInitDir = folder })
}

func TestNewFileIsFilledOnce(t *testing.T) {
	for _, test := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"in the order of their names", map[string]string{
			"20-rows.sql":  "INSERT INTO note VALUES (1, 'a; b'); -- done\n",
			"10-table.sql": "\uFEFFCREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT);",
			"30-empty.sql": "",
		}, `[{"id":1,"text":"a; b"}]`},
		{"a dump, with a transaction of its own", map[string]string{
			"dump.sql": "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT);\nINSERT INTO note VALUES(2,'x');\nCOMMIT;\n",
			"more.sql": "INSERT INTO note VALUES (3, 'y'); VACUUM;",
		}, `[{"id":2,"text":"x"},{"id":3,"text":"y"}]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "notes.sqlite")
			folder := mounted(t, test.files)
			for range 2 { // the file exists the second time
				db := open(t, initialised(path, folder))
				var group sync.WaitGroup
				for range 4 {
					group.Go(func() {
						if err := db.Ping(context.Background()); err != nil {
							t.Error(err)
						}
					})
				}
				group.Wait()
				if got := read(t, db, all(databasetest.Table(t, databasetest.Introspect(t, db), "note"))); got != test.want {
					t.Errorf("got %s, want %s", got, test.want)
				}
				db.Close()
			}
			alone(t, path)
			// Bytes 18 and 19 of the header: https://www.sqlite.org/fileformat.html#file_format_version_numbers
			if header, err := os.ReadFile(path); err != nil || header[18] != 2 || header[19] != 2 {
				t.Errorf("the file is not kept with a write-ahead log: %v", err)
			}
		})
	}
}

// alone checks that nothing lies beside a file except what SQLite itself keeps there while it is open.
func alone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), filepath.Base(path)) {
			t.Errorf("%s was left behind", entry.Name())
		}
	}
}

func TestAFailedFillLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.sqlite")
	files := map[string]string{"1.sql": "CREATE TABLE note (id INTEGER PRIMARY KEY);", "2.sql": "INSERT INTO nowhere VALUES (1);"}
	folder := mounted(t, files)
	db := open(t, initialised(path, folder))
	for range 2 {
		_, err := db.Introspect(t.Context())
		e := databasetest.Failure(t, err)
		if e.Reason != contract.ReasonInitFailed || !strings.Contains(e.Message, `"2.sql"`) || !strings.Contains(e.Message, "no such table: nowhere") {
			t.Errorf("got %s: %s", e.Reason, e.Message)
		}
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("there is a file: %v", err)
	}
	alone(t, path)

	if err := os.WriteFile(filepath.Join(folder, "..data", "2.sql"), []byte("INSERT INTO note VALUES (7);"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := read(t, db, all(databasetest.Table(t, databasetest.Introspect(t, db), "note"))); got != `[{"id":7}]` {
		t.Errorf("once the SQL was right it reads %s", got)
	}
}

func TestAFileThatExistsIsNotTouched(t *testing.T) {
	path := filled(t, "CREATE TABLE mine (id INTEGER PRIMARY KEY)")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	db := open(t, initialised(path, mounted(t, map[string]string{"1.sql": "CREATE TABLE yours (id INT)"})))
	databasetest.Table(t, databasetest.Introspect(t, db), "mine")
	db.Close()
	after, err := os.ReadFile(path)
	if err != nil || string(after) != string(before) {
		t.Errorf("the file has changed, %v", err)
	}
}

func TestNewFiles(t *testing.T) {
	t.Run("empty without SQL, read only too", func(t *testing.T) {
		for _, readOnly := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "data with ? and # and %41.sqlite")
			db := open(t, settings(path, func(s *database.Settings) { s.ReadOnly = readOnly }))
			if schema := databasetest.Introspect(t, db); len(schema.Tables) != 0 {
				t.Errorf("found %d tables", len(schema.Tables))
			}
			if _, err := os.Stat(path); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("a folder of SQL that is missing", func(t *testing.T) {
		db := open(t, initialised(filepath.Join(t.TempDir(), "data.sqlite"), filepath.Join(t.TempDir(), "missing")))
		if e := databasetest.Failure(t, db.Ping(t.Context())); e.Reason != contract.ReasonInitFailed {
			t.Errorf("got %v", e)
		}
	})
	t.Run("what a killed process left is removed once it is old", func(t *testing.T) {
		folder := t.TempDir()
		old, young := filepath.Join(folder, ".data.sqlite.init-1"), filepath.Join(folder, ".data.sqlite.init-2")
		for _, file := range []string{old, young} {
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(old, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
			t.Fatal(err)
		}
		db := open(t, settings(filepath.Join(folder, "data.sqlite"), nil))
		if err := db.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(old); !os.IsNotExist(err) {
			t.Error("the old one is still there")
		}
		if _, err := os.Stat(young); err != nil {
			t.Error("the young one may be another process's, and is gone")
		}
	})
}
