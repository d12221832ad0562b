package mysql

import (
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// TestInsertWithoutReturning finds new rows as on MySQL, whose INSERT returns nothing. The server may be a MariaDB.
func TestInsertWithoutReturning(t *testing.T) {
	connection := databasetest.MariaDB(t)
	databasetest.ExecuteMySQL(t, connection, "CREATE TABLE item (id integer AUTO_INCREMENT PRIMARY KEY, name varchar(40), n integer NOT NULL DEFAULT 5)")
	d := Open(database.Settings{
		Database:   contract.Database{MaxConnections: 1, StatementTimeout: contract.Duration(2 * time.Minute)},
		Connection: func() (contract.Connection, error) { return connection, nil },
	}).(*db)
	t.Cleanup(d.Close)
	schema, err := d.Introspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.acquire(t.Context()) // the only one
	if err != nil {
		t.Fatal(err)
	}
	c.mariaDB = false
	d.pool.Release(c)
	item := schema.Tables[0]
	id, n := item.Column("id"), item.Column("n")
	returning := []database.Output{{Name: "id", Columns: []*database.Column{id}}, {Name: "n", Columns: []*database.Column{n}}}
	for _, test := range []struct {
		set  []database.Assignment
		want string
	}{
		{nil, `{"id":1,"n":5}`},
		{[]database.Assignment{{Column: n, Value: int64(6)}}, `{"id":2,"n":6}`},
		{[]database.Assignment{{Column: id, Value: int64(0)}}, `{"id":0,"n":5}`},
	} {
		err := d.Transact(t.Context(), func(tx database.Tx) error {
			out, err := tx.Insert(t.Context(), &database.Insert{Into: database.NewSource(item, nil), Set: test.set, Returning: returning}, nil)
			if string(out) != test.want {
				t.Errorf("got %s, want %s", out, test.want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
