package postgres_test

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// heldBack is a proxy before a server. Once hold is set, it passes on no further connection: it closes each, as a server
// closes one with a request to cancel a statement, and sends the request to held.
func heldBack(t *testing.T, c contract.Connection, hold *atomic.Bool, held chan<- []byte) contract.Connection {
	t.Helper()
	target := c.Address()
	c.Host, c.Port = "127.0.0.1", databasetest.Listen(t, func(client net.Conn) {
		defer client.Close()
		if hold.Load() {
			request := make([]byte, 16) // length, code, process and key
			if _, err := io.ReadFull(client, request); err == nil {
				held <- request
			}
			return
		}
		server, err := net.Dial("tcp", target)
		if err != nil {
			return
		}
		defer server.Close()
		go func() {
			_, _ = io.Copy(server, client) // it ends when either side does
			server.Close()
		}()
		_, _ = io.Copy(client, server)
	})
	return c
}

// A server carries out a request to cancel when it gets round to it: then the connection may have another statement already.
func TestALateCancellationEndsNobodyElsesStatement(t *testing.T) {
	t.Parallel()
	c := filled(t, accounts)
	table := databasetest.Table(t, databasetest.Introspect(t, open(t, settings(c, nil))), "public.account")
	var hold atomic.Bool
	held := make(chan []byte, 1)
	db := open(t, settings(heldBack(t, c, &hold, held), func(s *database.Settings) { s.MaxConnections = 1 }))
	if err := db.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	plain := databasetest.Connect(t, databasetest.URI(c))
	run := func(sql string) {
		t.Helper()
		if _, err := plain.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	// waiting starts a read, and returns once it waits for the lock.
	waiting := func(ctx context.Context) <-chan error {
		t.Helper()
		run("BEGIN; LOCK TABLE account IN ACCESS EXCLUSIVE MODE")
		done := make(chan error, 1)
		go func() {
			_, _, err := db.Select(ctx, all(table), nil)
			done <- err
		}()
		for blocked := 0; blocked == 0; time.Sleep(5 * time.Millisecond) {
			if err := plain.QueryRow(t.Context(), "SELECT count(*) FROM pg_locks WHERE relation = 'account'::regclass AND NOT granted").Scan(&blocked); err != nil {
				t.Fatal(err)
			}
		}
		return done
	}

	ctx, leave := context.WithCancel(t.Context())
	gone := waiting(ctx)
	hold.Store(true)
	leave()
	request := <-held
	hold.Store(false)
	run("ROLLBACK")
	t.Logf("the caller who left gets %v, which nobody wants any more", <-gone)

	other := waiting(t.Context())
	server, err := net.Dial("tcp", c.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if _, err := server.Write(request); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, server); err != nil { // the server closes it once it has carried it out
		t.Fatal(err)
	}
	run("ROLLBACK")
	if err := <-other; err != nil {
		t.Errorf("the cancellation of another's read ends a read: %v", err)
	}
}
