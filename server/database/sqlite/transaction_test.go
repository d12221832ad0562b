package sqlite_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

func TestTransactionsAreWholeOrNothing(t *testing.T) {
	refused := errors.New("refused")
	for name, mode := range modes {
		for _, test := range []struct {
			name string
			end  func() error
			want string
		}{
			{"committed", func() error { return nil }, "12"},
			{"an error", func() error { return refused }, "1"},
			{"a panic", func() error { panic(refused) }, "1"},
		} {
			t.Run(name+", "+test.name, func(t *testing.T) {
				o := openFilled(t, mode+"CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)", nil)
				var err error
				func() {
					defer func() {
						if p := recover(); p != nil {
							err = p.(error)
						}
					}()
					err = o.Transact(t.Context(), func(tx database.Tx) error {
						if _, err := tx.Insert(t.Context(), o.insert(t, "t", map[string]database.Value{"id": int64(2)}), nil); err != nil {
							t.Error(err)
						}
						out, _, err := tx.Select(t.Context(), all(databasetest.Table(t, o.schema, "t")), nil)
						if string(out) != `{"id":1},{"id":2}` || err != nil {
							t.Errorf("within, there are %s and %v", out, err)
						}
						if got := read(t, o, all(databasetest.Table(t, o.schema, "t"))); got != `[{"id":1}]` {
							t.Errorf("others see %s", got)
						}
						return test.end()
					})
				}()
				if (err != nil) != (test.want == "1") || err != nil && !errors.Is(err, refused) {
					t.Errorf("it ended with %v", err)
				}
				var group sync.WaitGroup
				for range 4 { // on each of the connections
					group.Go(func() {
						out, _, err := o.Select(context.Background(), all(databasetest.Table(t, o.schema, "t")), nil)
						if got := strings.NewReplacer(`{"id":`, "", "}", "", ",", "").Replace(string(out)); got != test.want || err != nil {
							t.Errorf("afterwards there are %s, and %v", got, err)
						}
					})
				}
				group.Wait()
				if err := o.Transact(t.Context(), func(database.Tx) error { return nil }); err != nil {
					t.Errorf("the next transaction: %v", err)
				}
			})
		}
	}
}

func TestSavepoints(t *testing.T) {
	o := openFilled(t, "CREATE TABLE t (id INTEGER PRIMARY KEY)", nil)
	refused := errors.New("refused")
	add := func(tx database.Tx, id int64) error {
		_, err := tx.Insert(t.Context(), o.insert(t, "t", map[string]database.Value{"id": id}), nil)
		return err
	}
	err := o.Transact(t.Context(), func(tx database.Tx) error {
		point := func(do func() error) error { return tx.Savepoint(t.Context(), do) }
		if err := errors.Join(add(tx, 1), point(func() error { return add(tx, 2) })); err != nil {
			return err
		}
		if err := point(func() error { return errors.Join(add(tx, 3), refused) }); !errors.Is(err, refused) {
			t.Errorf("the error became %v", err)
		}
		if err := point(func() error { return add(tx, 1) }); databasetest.Failure(t, err).Code != database.Violated {
			t.Errorf("a row twice: %v", err)
		}
		// One savepoint inside another: the outer one keeps its work when the inner one is undone.
		return point(func() error {
			if err := point(func() error { return errors.Join(add(tx, 4), add(tx, 1)) }); err == nil {
				t.Error("a row twice is no error")
			}
			return add(tx, 5)
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := plainly(t, o.path, "SELECT group_concat(id, ' ') FROM t"); got != "1 2 5" {
		t.Errorf("there are %s", got)
	}
}

func TestNothingGoesOnAfterAnError(t *testing.T) {
	o := openFilled(t, "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)", nil)
	twice := o.insert(t, "t", map[string]database.Value{"id": int64(1)})
	var kept database.Tx
	err := o.Transact(t.Context(), func(tx database.Tx) error {
		kept = tx
		_, first := tx.Insert(t.Context(), twice, nil)
		_, _, second := tx.Select(t.Context(), all(databasetest.Table(t, o.schema, "t")), nil)
		_, third := tx.Delete(t.Context(), o.remove(t, "t", int64(1)))
		_, fourth := tx.Update(t.Context(), o.update(t, "t", int64(1), map[string]database.Value{"id": int64(9)}))
		_, fifth := tx.Execute(t.Context(), declared("DELETE FROM t WHERE id IN (", []database.Value{int64(1)}, ")"))
		sixth := tx.Savepoint(t.Context(), func() error { t.Error("it went on"); return nil })
		for _, err := range []error{second, third, fourth, fifth, sixth, tx.CheckConstraints(t.Context())} {
			if first == nil || !errors.Is(err, first) {
				t.Errorf("after %v came %v", first, err)
			}
		}
		return nil
	})
	if databasetest.Failure(t, err).Code != database.Violated {
		t.Errorf("it ended with %v", err)
	}
	if _, err := kept.Insert(t.Context(), o.insert(t, "t", map[string]database.Value{"id": int64(2)}), nil); err == nil {
		t.Error("a transaction that has ended writes")
	}
	if got := plainly(t, o.path, "SELECT group_concat(id, ' ') FROM t"); got != "1" {
		t.Errorf("there are %s", got)
	}
}

func TestReadersAndWritersGoOnTogether(t *testing.T) {
	for name, mode := range modes {
		o := openFilled(t, mode+"CREATE TABLE t (id INTEGER PRIMARY KEY, n INT); INSERT INTO t VALUES (1, 0)", nil)
		table := databasetest.Table(t, o.schema, "t")
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for range 50 {
					if _, page, err := o.Select(context.Background(), all(table), nil); err != nil || page.Count != 1 {
						t.Errorf("%s: %d rows, %v", name, page.Count, err)
					}
				}
			})
		}
		for range 2 {
			group.Go(func() {
				for range 25 {
					err := o.Transact(context.Background(), func(tx database.Tx) error {
						_, err := tx.Update(context.Background(), &database.Update{
							In: database.NewSource(table, nil), Set: []database.Assignment{{Column: table.Column("n"), How: database.AssignNext}},
							Where: byID(t, table, int64(1)),
						})
						return err
					})
					if err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			})
		}
		group.Wait()
		if got := read(t, o, all(table)); got != `[{"id":1,"n":50}]` {
			t.Errorf("%s: it ended with %s", name, got)
		}
	}
}

func BenchmarkTransact(b *testing.B) {
	for name, mode := range modes {
		b.Run(name, func(b *testing.B) {
			o := openFilled(b, mode+"CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)", nil)
			insert := o.insert(b, "t", map[string]database.Value{"v": "a value"})
			insert.Returning = []database.Output{{Name: "id", Columns: insert.Into.Table().PrimaryKey}}
			for name, rows := range map[string]int{"one": 1, "hundred": 100} {
				b.Run(name, func(b *testing.B) {
					b.ReportAllocs()
					var out []byte
					for b.Loop() {
						err := o.Transact(b.Context(), func(tx database.Tx) (err error) {
							for range rows {
								if out, err = tx.Insert(b.Context(), insert, out[:0]); err != nil {
									return err
								}
							}
							return nil
						})
						if err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}
