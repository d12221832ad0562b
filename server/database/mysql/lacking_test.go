package mysql

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// TestServerThatLacksSettings treats MySQL as MariaDB, or MariaDB as MySQL: the session works without the setting that
// only the other has, and asks for it once.
func TestServerThatLacksSettings(t *testing.T) {
	connection := databasetest.MariaDB(t)
	d := Open(database.Settings{
		Database:   contract.Database{MaxConnections: 1, StatementTimeout: contract.Duration(10 * time.Second)},
		Connection: func() (contract.Connection, error) { return connection, nil },
	}).(*db)
	t.Cleanup(d.Close)
	c, err := d.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.identify(t.Context()); err != nil {
		t.Fatal(err)
	}
	lacks := "max_statement_time"
	if c.mariaDB {
		lacks = "max_execution_time"
	}
	c.mariaDB = !c.mariaDB
	for range 2 {
		if err := d.setSession(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		var names []any
		d.lacking.Range(func(name, _ any) bool { names = append(names, name); return true })
		if len(names) != 1 || names[0] != lacks {
			t.Errorf("it lacks %v", names)
		}
	}
	var zone, wait string
	err = c.texts(t.Context(), "SELECT @@time_zone, @@innodb_lock_wait_timeout", nil, func(v []string) { zone, wait = v[0], v[1] })
	if err != nil || zone != "+00:00" || wait != "5" {
		t.Errorf("the session has the zone %s and waits %s s: %v", zone, wait, err)
	}
	i := &introspection{}
	step := i.optional(func(ctx context.Context) error {
		return c.texts(ctx, "SELECT a FROM information_schema.no_such_table", nil, func([]string) {})
	}, "it has no such table")
	if err := step(t.Context()); err != nil || !slices.Equal(i.notes, []string{"it has no such table"}) {
		t.Errorf("got notes %q, %v", i.notes, err)
	}
	if notes := d.notes(); !slices.Equal(notes, []string{"it has no setting " + lacks}) {
		t.Errorf("got the notes %v, want the one about %s", notes, lacks)
	}
}
