package postgres_test

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// pooler is a proxy before a server that behaves like PgBouncer: it greets its clients with a process number of its
// own.
func pooler(t *testing.T, c contract.Connection) contract.Connection {
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
				renumber(client, server)
			}()
		}
	}()
	address := listener.Addr().(*net.TCPAddr)
	c.Host, c.Port = "127.0.0.1", address.Port
	return c
}

// renumber copies a server's messages and replaces the process number in BackendKeyData.
func renumber(client io.Writer, server io.Reader) {
	header := make([]byte, 5)
	for {
		if _, err := io.ReadFull(server, header); err != nil {
			return
		}
		message := make([]byte, binary.BigEndian.Uint32(header[1:])-4)
		if _, err := io.ReadFull(server, message); err != nil {
			return
		}
		if header[0] == 'K' {
			binary.BigEndian.PutUint32(message, binary.BigEndian.Uint32(message)^0x7fff)
		}
		for _, part := range [][]byte{header, message} {
			if _, err := client.Write(part); err != nil {
				return
			}
		}
	}
}

func TestStatementsKeptPrepared(t *testing.T) {
	t.Parallel()
	c := filled(t, `CREATE VIEW kept AS SELECT count(*) AS id FROM pg_prepared_statements`)
	db := open(t, settings(c, func(s *database.Settings) { s.MaxConnections = 1 }))
	kept := databasetest.Table(t, databasetest.Introspect(t, db), "public.kept")
	most := 0
	for limit := 1; limit <= 400; limit++ { // each is another statement, with the same count beside it
		plan := all(kept)
		plan.Limit, plan.Total = limit, database.TotalExact
		for range 2 {
			var row []struct{ ID int }
			if err := json.Unmarshal([]byte(read(t, db, plan)), &row); err != nil {
				t.Fatal(err)
			}
			most = max(most, row[0].ID)
		}
	}
	if most < 100 || most > 256 {
		t.Errorf("the connection kept %d statements", most)
	}
}

func TestBehindAPoolerNothingStaysInTheSession(t *testing.T) {
	t.Parallel()
	c := filled(t, `
CREATE VIEW session AS SELECT current_setting('statement_timeout') AS timeout, current_setting('bytea_output') AS bytes, current_setting('jit') AS jit,
  current_setting('transaction_read_only') AS read_only, (SELECT count(*) FROM pg_prepared_statements) AS prepared, '\x00ff'::bytea AS data;
CREATE VIEW slow AS SELECT 1 AS id, pg_sleep(10)::text AS v`)
	databasetest.Execute(t, databasetest.URI(c), "ALTER DATABASE "+c.Database+" SET bytea_output = 'escape'")
	const settled = `"bytes":"hex","jit":"off","read_only":"off","prepared":`
	for _, test := range []struct {
		name   string
		to     contract.Connection
		change func(*database.Settings)
		want   string
	}{
		{"directly", c, nil, `[{"timeout":"2min",` + settled + `1,"data":"AP8="}]`},
		{"through the pooler", pooler(t, c), nil, `[{"timeout":"2min",` + settled + `0,"data":"AP8="}]`},
		{"through the pooler, read only", pooler(t, c), func(s *database.Settings) { s.ReadOnly = true },
			`[{"timeout":"2min","bytes":"hex","jit":"off","read_only":"on","prepared":0,"data":"AP8="}]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := open(t, settings(test.to, func(s *database.Settings) {
				s.MaxConnections = 1
				if test.change != nil {
					test.change(s)
				}
			}))
			schema := databasetest.Introspect(t, db)
			plan := all(databasetest.Table(t, schema, "public.session"))
			read(t, db, plan)
			if got := read(t, db, plan); got != test.want {
				t.Errorf("the session has %s, want %s", got, test.want)
			}
			plan.Total = database.TotalExact
			if _, page, err := db.Select(t.Context(), plan, nil); err != nil || page.Total != 1 {
				t.Errorf("with a count: %d, %v", page.Total, err)
			}
		})
	}
	t.Run("and statements end in time", func(t *testing.T) {
		db := open(t, settings(pooler(t, c), func(s *database.Settings) { s.StatementTimeout = contract.Duration(2 * time.Second) }))
		slow := all(databasetest.Table(t, databasetest.Introspect(t, db), "public.slow"))
		_, _, err := db.Select(t.Context(), slow, nil)
		if e := databasetest.Failure(t, err); e.Code != database.Timeout {
			t.Errorf("got %v", e)
		}
	})
}
