package server_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// A client that goes away ends its query in the database itself, not only in the server.
func TestQueryEndsInPostgreSQLWhenTheClientGoesAway(t *testing.T) {
	t.Parallel()
	at := os.Getenv("MCP_TEST_POSTGRES")
	if at == "" {
		t.Skip("MCP_TEST_POSTGRES is not set: make test sets it to a PostgreSQL server of its own")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	name := fmt.Sprintf("mcp_cancel_%d", os.Getpid())
	admin := connect(ctx, t, at)
	run := func(conn *pgx.Conn, statement string) {
		t.Helper()
		if _, err := conn.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	run(admin, "CREATE DATABASE "+name)
	t.Cleanup(func() {
		conn, err := pgx.Connect(context.Background(), at)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close(context.Background()) }()
		if _, err := conn.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	own, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	own.Path = "/" + name
	owner := connect(ctx, t, own.String())
	run(owner, "CREATE VIEW slow AS SELECT 1 AS n, pg_sleep(60)::text AS slept")
	_ = owner.Close(ctx)

	viewer, text := harness.Viewer()
	e := harness.Serve(t, harness.Database{Connection: source.Secret{"uri": []byte(own.String())}},
		[]contract.Model{{Name: "slow", Table: "slow", Expose: true}}, []contract.Token{viewer})
	asleep := func() (n int) {
		t.Helper()
		err := admin.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND state = 'active' AND wait_event = 'PgSleep'", name).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	becomes := func(want int) time.Duration {
		t.Helper()
		began := time.Now()
		for got := asleep(); got != want; got = asleep() {
			if time.Since(began) > 50*time.Second {
				t.Fatalf("%d queries are asleep, want %d", got, want)
			}
			time.Sleep(2 * time.Millisecond)
		}
		return time.Since(began)
	}

	asking, goAway := context.WithCancel(ctx)
	request, err := http.NewRequestWithContext(asking, http.MethodPost, e.URL, strings.NewReader(`{"method":"tools/call","name":"list_slow","arguments":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+text)
	done := make(chan error, 1)
	go func() {
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			response.Body.Close()
		}
		done <- err
	}()
	becomes(1)
	goAway()
	if err := <-done; err == nil {
		t.Error("there was an answer")
	}
	t.Logf("the query ended after %v", becomes(0))
	if status, body := e.Post(text, `{"method":"tools/list"}`); status != 200 {
		t.Errorf("the next request: %d %s", status, body)
	}
}

func connect(ctx context.Context, t *testing.T, uri string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(ctx, uri)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}
