package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// endless is a statement that changes all rows and takes for ever.
const endless = "UPDATE t SET n = (WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s) SELECT count(*) FROM s WHERE i > t.n)"

func TestSlowStatementsAreInterrupted(t *testing.T) {
	for name, mode := range modes {
		o := openFilled(t, mode+"CREATE TABLE t (id INTEGER PRIMARY KEY, n INT); INSERT INTO t VALUES (1, 1), (2, 2)", func(s *database.Settings) {
			s.StatementTimeout = contract.Duration(2 * time.Second)
		})
		for _, test := range []struct {
			name     string
			patience time.Duration
			code     database.Code
		}{{"its time is over", time.Minute, database.Timeout}, {"the caller goes away", 50 * time.Millisecond, database.Cancelled}} {
			t.Run(name+", "+test.name, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), test.patience)
				defer cancel()
				err := o.Transact(ctx, func(tx database.Tx) error {
					if _, err := tx.Update(t.Context(), o.update(t, "t", int64(1), map[string]database.Value{"n": int64(7)})); err != nil {
						return err
					}
					_, err := tx.Execute(ctx, declared(endless))
					return err
				})
				if databasetest.Failure(t, err).Code != test.code {
					t.Errorf("got %v", err)
				}
				if got := plainly(t, o.path, "SELECT group_concat(n, ' ') FROM t"); got != "1 2" {
					t.Errorf("there are %s", got)
				}
				if err := o.Transact(t.Context(), func(tx database.Tx) error {
					_, err := tx.Update(t.Context(), o.update(t, "t", int64(2), map[string]database.Value{"n": int64(2)}))
					return err
				}); err != nil {
					t.Errorf("the next transaction: %v", err)
				}
			})
		}
	}
}

func TestAnInterruptedSavepointEndsTheTransaction(t *testing.T) {
	o := openFilled(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, n INT); INSERT INTO t VALUES (1, 1)", func(s *database.Settings) {
		s.StatementTimeout = contract.Duration(2 * time.Second)
	})
	err := o.Transact(t.Context(), func(tx database.Tx) error {
		if err := tx.Savepoint(t.Context(), func() error {
			_, err := tx.Execute(t.Context(), declared(endless))
			return err
		}); databasetest.Failure(t, err).Code != database.Timeout {
			t.Errorf("got %v", err)
		}
		_, _ = tx.Insert(t.Context(), o.insert(t, "t", map[string]database.Value{"id": int64(2)}), nil)
		return nil
	})
	// SQLite rolls back everything when it interrupts a write: the statements before must not seem to be kept.
	if databasetest.Failure(t, err).Code != database.Timeout {
		t.Errorf("it ended with %v", err)
	}
	if got := plainly(t, o.path, "SELECT group_concat(id, ' ') FROM t"); got != "1" {
		t.Errorf("there are %s", got)
	}
}

func TestCancelledBeforeTheCommit(t *testing.T) {
	o := openFilled(t, "CREATE TABLE t (id INTEGER PRIMARY KEY)", nil)
	ctx, cancel := context.WithCancel(t.Context())
	err := o.Transact(ctx, func(tx database.Tx) error {
		defer cancel()
		_, err := tx.Insert(ctx, o.insert(t, "t", nil), nil)
		return err
	})
	if databasetest.Failure(t, err).Code != database.Cancelled {
		t.Errorf("it ended with %v", err)
	}
	if got := plainly(t, o.path, "SELECT count(*) FROM t"); got != "0" {
		t.Errorf("%s rows are there", got)
	}
	if err := o.Transact(ctx, func(database.Tx) error { t.Error("it was begun"); return nil }); databasetest.Failure(t, err).Code != database.Cancelled {
		t.Errorf("a call that was cancelled before: %v", err)
	}
}

func TestReadOnlyAndUnwritable(t *testing.T) {
	o := openFilled(t, "CREATE TABLE t (id INTEGER PRIMARY KEY)", func(s *database.Settings) { s.ReadOnly = true })
	if err := o.Transact(t.Context(), func(database.Tx) error { t.Error("it was begun"); return nil }); databasetest.Failure(t, err).Code != database.Refused {
		t.Errorf("open for reading only: %v", err)
	}

	o = openFilled(t, journal+"CREATE TABLE t (id INTEGER PRIMARY KEY)", nil)
	insert := func() error {
		return o.Transact(t.Context(), func(tx database.Tx) error {
			_, err := tx.Insert(t.Context(), o.insert(t, "t", nil), nil)
			return err
		})
	}
	// As in a folder in which no journal can be made.
	if err := os.Symlink(filepath.Join(t.TempDir(), "missing", "journal"), o.path+"-journal"); err != nil {
		t.Fatal(err)
	}
	if err := insert(); databasetest.Failure(t, err).Code != database.Refused {
		t.Errorf("without a journal: %v", err)
	}
	if err := os.Remove(o.path + "-journal"); err != nil {
		t.Fatal(err)
	}
	if err := insert(); err != nil {
		t.Errorf("with a journal: %v", err)
	}

	if os.Geteuid() == 0 {
		t.Skip("root may write every file")
	}
	if err := os.Chmod(o.path, 0o400); err != nil {
		t.Fatal(err)
	}
	o.DB = open(t, settings(o.path, nil))
	if err := insert(); databasetest.Failure(t, err).Code != database.Refused {
		t.Errorf("a file that may only be read: %v", err)
	}
}

func TestFull(t *testing.T) {
	for name, mode := range modes {
		o := openFilled(t, mode+"CREATE TABLE t (id INTEGER PRIMARY KEY, v BLOB); INSERT INTO t VALUES (1, NULL)", nil)
		if err := o.Transact(t.Context(), func(tx database.Tx) error {
			_, err := tx.Execute(t.Context(), declared("PRAGMA max_page_count = 20"))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		err := o.Transact(t.Context(), func(tx database.Tx) error {
			for range 100 {
				if _, err := tx.Insert(t.Context(), o.insert(t, "t", map[string]database.Value{"v": make([]byte, 10_000)}), nil); err != nil {
					return err
				}
			}
			return nil
		})
		if e := databasetest.Failure(t, err); e.Code != database.Full {
			t.Errorf("%s: got %s: %v", name, e.Code, e)
		}
		if got := plainly(t, o.path, "SELECT count(*) FROM t"); got != "1" {
			t.Errorf("%s: %s rows are there", name, got)
		}
	}
}

func TestCloseEndsTransactions(t *testing.T) {
	o := openFilled(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, n INT); INSERT INTO t VALUES (1, 1)", nil)
	begun := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		err := o.Transact(context.Background(), func(tx database.Tx) error {
			close(begun)
			_, err := tx.Execute(context.Background(), declared(endless))
			return err
		})
		var e *database.Error
		if !errors.As(err, &e) || e.Code != database.Cancelled {
			t.Errorf("it ended with %v", err)
		}
	})
	<-begun
	o.Close()
	group.Wait()
	if err := o.Transact(t.Context(), func(database.Tx) error { return nil }); databasetest.Failure(t, err).Code != database.Cancelled {
		t.Errorf("after Close: %v", err)
	}
}
