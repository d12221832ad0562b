package sqlite_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

func TestOneWriterAtATime(t *testing.T) {
	for mode, script := range modes {
		o := openFilled(t, script+"CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)", func(s *database.Settings) {
			s.StatementTimeout = contract.Duration(2 * time.Second)
		})
		other := open(t, settings(o.path, nil)) // as if another process held it
		add := func(db database.DB) error {
			return db.Transact(t.Context(), func(tx database.Tx) error {
				_, err := tx.Insert(t.Context(), o.insert(t, "t", nil), nil)
				return err
			})
		}
		for name, holder := range map[string]database.DB{"this process": o, "another process": other} {
			err := holder.Transact(t.Context(), func(tx database.Tx) error {
				if _, err := tx.Insert(t.Context(), o.insert(t, "t", nil), nil); err != nil {
					return err
				}
				if err := add(o); databasetest.Failure(t, err).Code != database.Locked {
					t.Errorf("%s %s writes: %v", mode, name, err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				defer cancel()
				if err := o.Transact(ctx, func(database.Tx) error { return nil }); databasetest.Failure(t, err).Code != database.Cancelled {
					t.Errorf("%s %s writes, and the caller goes away: %v", mode, name, err)
				}
				_, _, err := o.Select(t.Context(), all(databasetest.Table(t, o.schema, "t")), nil)
				return err // reads still work
			})
			if err != nil {
				t.Errorf("%s %s: %v", mode, name, err)
			}
			if err := add(o); err != nil {
				t.Errorf("%s after %s: %v", mode, name, err)
			}
		}
	}
}

// With a rollback journal nobody can commit while others read.
func TestACommitThatReadersHoldUp(t *testing.T) {
	o := openFilled(t, journal+"CREATE TABLE t (id INTEGER PRIMARY KEY);"+slowView+" AND NOT EXISTS (SELECT 1 FROM t)", func(s *database.Settings) {
		s.StatementTimeout = contract.Duration(2 * time.Second)
	})
	reader := open(t, settings(o.path, nil))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _, _ = reader.Select(ctx, all(databasetest.Table(t, o.schema, "slow")), nil)
	}()
	written := 0
	add := func() error {
		err := o.Transact(t.Context(), func(tx database.Tx) error {
			_, err := tx.Insert(t.Context(), o.insert(t, "t", nil), nil)
			return err
		})
		if err == nil {
			written++
		}
		return err
	}
	err := add()
	for until := time.Now().Add(10 * time.Minute); err == nil && time.Now().Before(until); { // until it reads
		time.Sleep(10 * time.Millisecond)
		err = add()
	}
	if databasetest.Failure(t, err).Code != database.Locked {
		t.Errorf("while somebody reads: %v", err)
	}
	cancel()
	<-done
	if err := add(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if got := plainly(t, o.path, "SELECT count(*) FROM t"); got != strconv.Itoa(written) {
		t.Errorf("%s rows are there, want %d", got, written)
	}
}
