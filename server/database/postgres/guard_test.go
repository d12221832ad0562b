package postgres_test

import (
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// muted is a proxy before a server that passes on no answer while mute is set.
func muted(t *testing.T, c contract.Connection, mute *atomic.Bool) contract.Connection {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	target := c.Address()
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				server, err := net.Dial("tcp", target)
				if err != nil {
					return
				}
				defer server.Close()
				go func() {
					_, _ = io.Copy(server, client) // it ends when either side does
					server.Close()
				}()
				_, _ = io.Copy(unlessMute{client, mute}, server)
			}()
		}
	}()
	c.Host, c.Port = "127.0.0.1", listener.Addr().(*net.TCPAddr).Port
	return c
}

type unlessMute struct {
	io.Writer
	mute *atomic.Bool
}

func (w unlessMute) Write(p []byte) (int, error) {
	if w.mute.Load() {
		return len(p), nil
	}
	return w.Writer.Write(p)
}

func TestServersThatStopAnsweringAreGivenUp(t *testing.T) {
	t.Parallel()
	c := filled(t, accounts)
	table := databasetest.Table(t, databasetest.Introspect(t, open(t, settings(c, nil))), "public.account")
	for name, call := range map[string]func(database.DB) error{
		"a read": func(db database.DB) error {
			_, _, err := db.Select(t.Context(), all(table), nil)
			return err
		},
		"a write": func(db database.DB) error {
			return db.Transact(t.Context(), func(tx database.Tx) error { return insert(t, tx, table, "id", int64(9)) })
		},
		"a ping": func(db database.DB) error { return db.Ping(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mute atomic.Bool
			db := open(t, settings(muted(t, c, &mute), func(s *database.Settings) {
				s.StatementTimeout, s.MaxConnections = contract.Duration(time.Second), 1
			}))
			if err := db.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
			mute.Store(true)
			if e := databasetest.Failure(t, call(db)); e.Code != database.Timeout {
				t.Errorf("got %v", e)
			}
			mute.Store(false)
			if err := db.Ping(t.Context()); err != nil {
				t.Errorf("then there is no connection: %v", err)
			}
		})
	}
}
