package mysql

import (
	"context"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// A node of a Galera cluster can undo a transaction between two of its statements, when another node's write comes first,
// and does not always say so with the next one: that would be committed by itself, and so would all that follow. On such
// servers statements are therefore not committed by themselves while a transaction runs, and a savepoint, which a
// transaction that was undone has lost, tells before the commit whether the transaction is still the same.

// wholeTransaction is the savepoint that stands for all of a transaction on a cluster.
const wholeTransaction = "whole"

// findCluster finds out whether the server is a node of a cluster.
func (c *conn) findCluster(ctx context.Context) error {
	return c.texts(ctx, "SHOW VARIABLES LIKE 'wsrep_on'", nil, func(v []string) { c.clustered = v[1] == "ON" })
}

// begin starts a transaction.
func (d *db) begin(ctx context.Context, c *conn) error {
	if !c.clustered {
		return d.exec(ctx, c, "START TRANSACTION")
	}
	for _, statement := range []string{"SET SESSION autocommit = 0", "START TRANSACTION", "SAVEPOINT " + wholeTransaction} {
		if err := d.exec(ctx, c, statement); err != nil {
			return err
		}
	}
	return nil
}

// isWhole is an error if the server has undone the transaction on its own.
func (d *db) isWhole(ctx context.Context, c *conn) error {
	if !c.clustered {
		return nil
	}
	return d.exec(ctx, c, "RELEASE SAVEPOINT "+wholeTransaction)
}

// end makes a connection that has ended a transaction ready for the next use.
func (d *db) end(ctx context.Context, c *conn) error {
	if !c.clustered {
		return nil
	}
	return d.exec(ctx, c, "SET SESSION autocommit = 1")
}

// isUndone reports whether an error says that a savepoint is gone, and with it the transaction.
func isUndone(answer *mysql.MySQLError) bool {
	return answer.Number == errNoSuchRoutineOrSavepoint && strings.HasPrefix(answer.Message, "SAVEPOINT ")
}

// undone says that the server has undone the transaction on its own.
func undone(e *database.Error) *database.Error {
	e.Code, e.Again, e.Message = database.Locked, true, "another server's transaction came first, and this one was undone; try again"
	return e
}
