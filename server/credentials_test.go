package server_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// guarded is a database that looks at the password when a connection begins, and not again.
type guarded struct {
	database.DB
	settings  database.Settings
	password  *atomic.Value
	connected atomic.Bool
}

func (g *guarded) connect() error {
	connection, err := g.settings.Connection()
	if err != nil {
		return err
	}
	if !g.connected.Load() && connection.Password != g.password.Load() {
		return &database.Error{Code: database.Unreachable, Reason: contract.ReasonAuthenticationFailed, Message: "the database refused the user or its password"}
	}
	g.connected.Store(true)
	return nil
}

func (g *guarded) Ping(ctx context.Context) error {
	if err := g.connect(); err != nil {
		return err
	}
	return g.DB.Ping(ctx)
}

func (g *guarded) Introspect(ctx context.Context) (*database.Schema, error) {
	if err := g.connect(); err != nil {
		return nil, err
	}
	return g.DB.Introspect(ctx)
}

func TestAWrongPasswordIsToldWhileOldConnectionsLive(t *testing.T) {
	t.Parallel()
	var password atomic.Value
	password.Store("right")
	r := start(t, func(s *server.Server, _ *running) {
		open := s.OpenDatabase
		s.OpenDatabase = func(engine string, settings database.Settings) database.DB {
			return &guarded{DB: open(engine, settings), settings: settings, password: &password}
		}
	})
	secret := func(password string) source.Secret {
		return source.Secret{"uri": []byte("postgresql://shop:" + password + "@db.example/shop")}
	}
	c := config(1)
	c.Endpoint.Database.Engine = contract.EnginePostgreSQL
	r.apply(source.Update{Config: c, Connection: secret("right")})
	r.untilReady()

	r.apply(source.Update{Config: c, Connection: secret("wrong")})
	s := r.until("refused", func(s contract.Status) bool { return s.Database.Reason == contract.ReasonAuthenticationFailed })
	if strings.Contains(s.Database.Message, "wrong") || !strings.Contains(s.Database.Message, "connections from before") {
		t.Errorf("the message is %q", s.Database.Message)
	}
	if _, metrics := r.get("/metrics"); !strings.Contains(metrics, "database_up 0") {
		t.Error("database_up is not 0")
	}
	if status, answer := r.post(listBooks); status != http.StatusOK || strings.Contains(answer, "unavailable") {
		t.Errorf("the connection from before does not go on: %d %s", status, answer)
	}
	r.apply(source.Update{Config: c, Connection: secret("right")})
	r.until("connected", func(s contract.Status) bool { return s.Database.Reason == contract.ReasonConnected })

	password.Store("rotated")
	r.apply(source.Update{Config: c, Connection: secret("rotated")})
	r.until("still connected", func(s contract.Status) bool { return s.Database.Reason == contract.ReasonConnected })
}
