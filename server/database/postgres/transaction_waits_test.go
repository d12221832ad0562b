package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

func TestCancelledTransactions(t *testing.T) {
	t.Parallel()
	c := filled(t, accounts)
	db := open(t, settings(c, func(s *database.Settings) { s.MaxConnections = 1 }))
	table := databasetest.Table(t, databasetest.Introspect(t, db), "public.account")
	ctx, cancel := context.WithCancel(t.Context())
	err := db.Transact(ctx, func(tx database.Tx) error {
		if err := insert(t, tx, table, "id", int64(5)); err != nil {
			t.Error(err)
		}
		time.AfterFunc(50*time.Millisecond, cancel)
		_, err := tx.Execute(ctx, &database.Declared{Pieces: []database.Piece{{SQL: "SELECT pg_sleep(600)"}}})
		return err
	})
	if e := databasetest.Failure(t, err); e.Code != database.Cancelled {
		t.Errorf("while it waits: %v", e)
	}
	ctx, cancel = context.WithCancel(t.Context())
	err = db.Transact(ctx, func(tx database.Tx) error {
		err := insert(t, tx, table, "id", int64(6))
		cancel()
		return err
	})
	if e := databasetest.Failure(t, err); e.Code != database.Cancelled {
		t.Errorf("before the end: %v", e)
	}
	if got := scalar(t, c, "SELECT count(*) FROM account"); got != "2" {
		t.Errorf("there are %s rows", got)
	}
	if e := within(t, db, func(tx database.Tx) error { return insert(t, tx, table, "id", int64(7)) }); e != nil {
		t.Errorf("afterwards: %v", e)
	}
}

func TestLocks(t *testing.T) {
	t.Parallel()
	c := filled(t, accounts)
	db := open(t, settings(c, func(s *database.Settings) { s.StatementTimeout = contract.Duration(3 * time.Second) }))
	table := databasetest.Table(t, databasetest.Introspect(t, db), "public.account")
	lock := func(tx database.Tx, id int64) error {
		_, _, err := tx.Select(t.Context(), &database.Select{From: database.NewSource(table, is(table, "id", id)), Limit: 1, Lock: true}, nil)
		return err
	}
	e := within(t, db, func(tx database.Tx) error {
		if err := lock(tx, 1); err != nil {
			t.Error(err)
		}
		other := within(t, db, func(tx database.Tx) error { return lock(tx, 1) })
		if other == nil || other.Code != database.Locked {
			t.Errorf("another waits for it and gets %v", other)
		}
		return nil
	})
	if e != nil {
		t.Error(e)
	}
	t.Run("each waits for the other", func(t *testing.T) {
		slow := open(t, settings(c, nil)) // the server looks for a deadlock after a second
		ends := make(chan error, 2)
		met := make(chan struct{}, 2)
		for id := int64(1); id <= 2; id++ {
			go func() {
				ends <- slow.Transact(t.Context(), func(tx database.Tx) error {
					if err := lock(tx, id); err != nil {
						return err
					}
					met <- struct{}{}
					for len(met) < 2 {
						time.Sleep(time.Millisecond)
					}
					return lock(tx, 3-id)
				})
			}()
		}
		var locked int
		for range 2 {
			if err := <-ends; err != nil {
				if e := databasetest.Failure(t, err); e.Code != database.Locked {
					t.Errorf("got %v", e)
				}
				locked++
			}
		}
		if locked != 1 {
			t.Errorf("%d of two gave way", locked)
		}
	})
}
