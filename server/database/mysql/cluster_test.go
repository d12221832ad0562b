package mysql

import (
	"database/sql"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// A node of a cluster may undo a transaction between two statements without a word. What follows must not be committed.
func TestATransactionThatTheServerUndid(t *testing.T) {
	connection := databasetest.MariaDB(t)
	databasetest.ExecuteMySQL(t, connection, "CREATE TABLE entry (id integer PRIMARY KEY)")
	plain, err := sql.Open("mysql", databasetest.MySQLName(connection))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	d := Open(database.Settings{
		Database:   contract.Database{MaxConnections: 1, StatementTimeout: contract.Duration(2 * time.Minute)},
		Connection: func() (contract.Connection, error) { return connection, nil },
	}).(*db)
	defer d.Close()
	insert := func(tx database.Tx, id string) error {
		_, err := tx.Execute(t.Context(), &database.Declared{Pieces: []database.Piece{{SQL: "INSERT INTO entry VALUES (" + id + ")"}}})
		return err
	}
	undo := func(tx database.Tx) error { return tx.(*transaction).conn.exec(t.Context(), "ROLLBACK") }
	for name, tc := range map[string]struct {
		do    func(database.Tx) error
		again bool
	}{
		"one that stays whole": {func(tx database.Tx) error { return insert(tx, "1") }, false},
		"undone before its last statement": {func(tx database.Tx) error {
			return firstError(func() error { return insert(tx, "2") }, func() error { return undo(tx) }, func() error { return insert(tx, "3") })
		}, true},
		"undone within a savepoint": {func(tx database.Tx) error {
			return tx.Savepoint(t.Context(), func() error {
				return firstError(func() error { return insert(tx, "4") }, func() error { return undo(tx) }, func() error { return insert(tx, "5") })
			})
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := d.acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			c.clustered = true
			if err := d.begin(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			err = d.transact(t.Context(), c, tc.do)
			if failed := err != nil; failed != tc.again || failed && !database.AsError(err).Again {
				t.Errorf("the error is %v", err)
			}
		})
	}
	var one int
	if err := plain.QueryRow("SELECT count(*) FROM entry").Scan(&one); err != nil || one != 1 {
		t.Errorf("%d rows were committed (%v), want that of the transaction that stayed whole", one, err)
	}
}

// firstError runs steps until one fails.
func firstError(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
