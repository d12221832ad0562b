package sqlite_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

const notes = `CREATE TABLE note (id integer PRIMARY KEY, text text);`

// notesIn opens a file with one note.
func notesIn(t *testing.T, mode string) opened {
	t.Helper()
	o := openFilled(t, mode+notes+`INSERT INTO note VALUES (1, 'first')`, nil)
	o.add(t, 2, "second") // the writer has the file open, too
	return o
}

func (o opened) add(t *testing.T, id int64, text string) {
	t.Helper()
	if err := o.tryAdd(t, id, text); err != nil {
		t.Fatal(err)
	}
}

func (o opened) tryAdd(t *testing.T, id int64, text string) error {
	plan := o.insert(t, "note", map[string]database.Value{"id": id, "text": text})
	return o.Transact(t.Context(), func(tx database.Tx) error {
		_, err := tx.Insert(t.Context(), plan, nil)
		return err
	})
}

// lost makes sure that an error says that the file is not there, and how.
func lost(t *testing.T, what string, err error, says string) {
	t.Helper()
	var told *database.Error
	if !errors.As(err, &told) || told.Code != database.Unreachable || !strings.Contains(told.Message, says) {
		t.Errorf("%s: %v, want that the file cannot be reached: %s", what, err, says)
	}
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func TestAFileThatIsMovedAwayIsMissedAndTakenUpAgain(t *testing.T) {
	for title, mode := range modes {
		t.Run(title, func(t *testing.T) {
			o := notesIn(t, mode)
			table := o.source(t, "note").Table()
			away := o.path + ".away"
			move(t, o.path, away)
			lost(t, "a write", o.tryAdd(t, 3, "to nobody"), "it is gone")
			lost(t, "Ping", o.Ping(t.Context()), "it is gone")
			_, _, err := o.Select(t.Context(), all(table), nil)
			lost(t, "a read", err, "it is gone")
			_, err = o.Introspect(t.Context())
			lost(t, "Introspect", err, "it is gone")
			if _, err := os.Stat(o.path); err == nil {
				t.Error("a new file was made in its place")
			}
			move(t, away, o.path)
			if err := o.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
			o.add(t, 3, "third")
			if got := read(t, o, all(table)); got != `[{"id":1,"text":"first"},{"id":2,"text":"second"},{"id":3,"text":"third"}]` {
				t.Errorf("the notes are %s", got)
			}
		})
	}
}

func TestAFileThatIsReplacedIsOpenedAnew(t *testing.T) {
	for title, mode := range modes {
		for _, first := range []string{"Ping", "a write"} {
			t.Run(title+", noticed by "+first, func(t *testing.T) {
				o := notesIn(t, mode)
				table := o.source(t, "note").Table()
				restored := filled(t, mode+notes+`INSERT INTO note VALUES (1, 'restored')`)
				move(t, restored, o.path)
				if mode == writeAhead {
					lost(t, "Ping beside the old log", o.Ping(t.Context()), "the files -wal and -shm beside it")
					lost(t, "a write beside the old log", o.tryAdd(t, 3, "x"), "the files -wal and -shm beside it")
					move(t, o.path+"-wal", o.path+"-wal.old")
					move(t, o.path+"-shm", o.path+"-shm.old")
				}
				if first == "Ping" {
					if err := o.Ping(t.Context()); err != nil {
						t.Fatal(err)
					}
				} else {
					o.add(t, 4, "new")
				}
				got := read(t, o, all(table))
				if want := `[{"id":1,"text":"restored"}`; !strings.HasPrefix(got, want) || strings.Contains(got, "second") || strings.Contains(got, "new") != (first != "Ping") {
					t.Errorf("the notes are %s", got)
				}
				if got := plainly(t, o.path, "PRAGMA integrity_check"); got != "ok" {
					t.Errorf("the file is %s", got)
				}
			})
		}
	}
}

// Two files are never open at once: they would share what SQLite keeps beside a file.
func TestAnotherFileIsNotOpenedWhileTheOldOneIsInUse(t *testing.T) {
	o := notesIn(t, journal)
	restored := filled(t, journal+notes)
	_ = o.Transact(t.Context(), func(database.Tx) error {
		move(t, restored, o.path)
		lost(t, "Ping", o.Ping(t.Context()), "once the calls that use that one have ended")
		return nil
	})
	if err := o.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if got := read(t, o, all(o.source(t, "note").Table())); got != "[]" {
		t.Errorf("the notes are %s", got)
	}
}

func TestASchemaOfAnotherFileIsAnother(t *testing.T) {
	o := notesIn(t, journal)
	same := func() bool {
		t.Helper()
		same, err := o.DB.(database.Watched).Unchanged(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return same
	}
	if !same() {
		t.Fatal("the schema is not the one that was read")
	}
	move(t, filled(t, journal+notes), o.path)
	if err := o.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if same() {
		t.Error("the schema of another file passes for the one that was read")
	}
}

func BenchmarkReadOfOneRow(b *testing.B) {
	o := openFilled(b, writeAhead+notes+`INSERT INTO note VALUES (1, 'first')`, nil)
	plan := all(o.source(b, "note").Table())
	out := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := o.Select(b.Context(), plan, out); err != nil {
			b.Fatal(err)
		}
	}
}
