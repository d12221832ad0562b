package tools

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/server/database/mysql"
	"github.com/mcp-admin/mcp-admin-operator/server/database/postgres"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqlite"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// orders is a table whose key is a text, which MariaDB compares without regard to case.
const orders = `
CREATE TABLE orders (code VARCHAR(20) PRIMARY KEY, state VARCHAR(20) NOT NULL, n INTEGER, price DECIMAL(10,2), paid BOOLEAN, due DATE, at TIMESTAMP NULL, note VARCHAR(40));
INSERT INTO orders (code, state, n) VALUES ('a1', 'open', 1), ('b2', 'open', 2), ('c,3', 'done', 3);
`

// engines runs a test on each engine, over a database that holds the orders.
func engines(t *testing.T, run func(t *testing.T, engine string, admin *Set, token access.Token)) {
	settings := database.Settings{Database: contract.Database{MaxConnections: 4, StatementTimeout: contract.Duration(2 * time.Minute)}}
	connectionTo := func(c contract.Connection) func() (contract.Connection, error) {
		return func() (contract.Connection, error) { return c, nil }
	}
	for name, open := range map[string]func(*testing.T, database.Settings) database.DB{
		contract.EnginePostgreSQL: func(t *testing.T, s database.Settings) database.DB {
			c := databasetest.PostgreSQL(t)
			databasetest.Execute(t, databasetest.URI(c), orders)
			s.Connection = connectionTo(c)
			return postgres.Open(s)
		},
		contract.EngineMySQL: func(t *testing.T, s database.Settings) database.DB {
			c := databasetest.MariaDB(t)
			databasetest.ExecuteMySQL(t, c, orders)
			s.Connection = connectionTo(c)
			return mysql.Open(s)
		},
		contract.EngineSQLite: func(t *testing.T, s database.Settings) database.DB {
			s.SQLiteInitDir, s.SQLitePath = t.TempDir(), filepath.Join(t.TempDir(), "orders.sqlite")
			if err := os.WriteFile(filepath.Join(s.SQLiteInitDir, "orders.sql"), []byte(orders), 0o600); err != nil {
				t.Fatal(err)
			}
			return sqlite.Open(s)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := settings
			s.Engine = name
			db := open(t, s)
			t.Cleanup(db.Close)
			schema, err := db.Introspect(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			config := ordersConfig()
			models := catalog.Build(config, schema)
			if m := models.Model("orders"); !m.Served() {
				t.Fatalf("it is not served: %s", m.Status.Message)
			}
			tokens := access.TokensOf(config, models)
			run(t, name, New(models, db, call.Settings{SealKey: make([]byte, 32), MaxResultBytes: 1 << 20}), tokens.Authenticate("Bearer "+ownerText, time.Now()))
		})
	}
}

func ordersConfig() *contract.Config {
	parameters := []contract.Parameter{
		{Name: "n", Type: contract.TypeInteger}, {Name: "price", Type: contract.TypeDecimal}, {Name: "paid", Type: contract.TypeBoolean},
		{Name: "due", Type: contract.TypeDate}, {Name: "moment", Type: contract.TypeDateTime}, {Name: "note", Type: contract.TypeString},
	}
	return &contract.Config{
		Models: []contract.Model{{
			Exposure: "orders", Name: "orders", Table: "orders", VerboseName: "order", VerboseNamePlural: "orders", DefaultPageSize: 100, MaxPageSize: 1000, MaxBulkItems: 1000,
			Actions: []contract.Action{
				{Name: "close", Requires: []string{contract.VerbChange}, Update: &contract.UpdateAction{
					Where: []contract.Filter{{Field: "state", Value: "open"}},
					Set:   []contract.ActionAssignment{{Field: "state", Source: contract.SourceValue, Value: "done"}, {Field: "at", Source: contract.SourceNow}, {Field: "note", Source: contract.SourceNull}}}},
				{Name: "fill", Requires: []string{contract.VerbChange}, Parameters: parameters, SQL: &contract.SQLAction{
					Statement: "UPDATE orders SET n = COALESCE(:n, n), price = :price, paid = :paid, due = :due, at = :moment, note = :note -- it's :ids\nWHERE code IN (:ids);"}},
			},
		}},
		Tokens: []contract.Token{{Namespace: "shop", Name: "owner", Hashes: []string{contract.HashToken(ownerText)},
			Rules: []contract.Rule{{Models: []string{contract.Wildcard}, Verbs: []string{contract.Wildcard}}}}},
	}
}

func TestActionsOnEveryEngine(t *testing.T) {
	engines(t, func(t *testing.T, engine string, admin *Set, token access.Token) {
		call := func(tool, arguments string) string {
			t.Helper()
			r := admin.Call(context.Background(), token, tool, []byte(arguments))
			if r.IsError && r.Cause != nil {
				t.Errorf("%s %s: %v", tool, arguments, r.Cause)
			}
			return string(r.Text)
		}
		want := `{"success":true,"action":"close","affected_count":2,"message":"close was run on 2 orders","result":null,"missing_ids":["none"],"skipped_ids":["c,3"]}`
		if got := call("action_orders", `{"action":"close","ids":["b2","a1","none","c,3"]}`); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		want = `{"success":true,"action":"fill","affected_count":2,"message":"fill was run on 2 orders","result":null,"missing_ids":[],"skipped_ids":[]}`
		got := call("action_orders", `{"action":"fill","ids":["c,3","a1"],"confirmation_data":{"price":"12.50","paid":true,"due":"2026-02-28","moment":"2026-02-28T12:00:00Z","note":"it's; -- ?"}}`)
		if got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		row := call("list_orders", `{"filters":{"id":"c,3"},"fields":["n","price","paid","due","note"],"total":"none"}`)
		if want := `{"count":1,"results":[{"id":"c,3","n":3,"price":"12.50","paid":true,"due":"2026-02-28","note":"it's; -- ?"}]}`; row != want {
			t.Errorf("%s\nwant %s", row, want)
		}
		if got := call("action_orders", `{"action":"delete_selected","ids":["a1"],"confirm":true}`); got[:15] != `{"success":true` {
			t.Errorf("got %s, want success", got)
		}
		if engine != contract.EngineMySQL {
			return
		}
		// To its collation B2 is b2: the row is found, and the id is not missing.
		want = `{"success":true,"action":"fill","affected_count":1,"message":"fill was run on 1 order","result":null,"missing_ids":["x"],"skipped_ids":[]}`
		if got := call("action_orders", `{"action":"fill","ids":["x","B2"],"confirmation_data":{"n":7}}`); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	})
}

// Of many who close an order at once one does; the others find that it is closed.
func TestActionsAtOnceActOnce(t *testing.T) {
	engines(t, func(t *testing.T, _ string, admin *Set, token access.Token) {
		results := make(chan call.Result, 8)
		var callers sync.WaitGroup
		for range cap(results) {
			callers.Go(func() {
				results <- admin.Call(context.Background(), token, "action_orders", []byte(`{"action":"close","ids":["a1"]}`))
			})
		}
		callers.Wait()
		close(results)
		codes := map[call.Code]int{}
		for r := range results {
			codes[r.Code]++
		}
		if codes[""] != 1 || codes[call.CodeNotFound] != cap(results)-1 {
			t.Errorf("the outcomes are %s", fmt.Sprint(codes))
		}
	})
}
