package access

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/server/database/mysql"
	"github.com/mcp-admin/mcp-admin-operator/server/database/postgres"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqlite"
)

// open opens a new, empty database of each engine.
var open = map[string]func(t *testing.T, script string) database.DB{
	contract.EnginePostgreSQL: func(t *testing.T, script string) database.DB {
		connection := databasetest.PostgreSQL(t)
		databasetest.Execute(t, databasetest.URI(connection), script)
		return postgres.Open(settings(func() (contract.Connection, error) { return connection, nil }))
	},
	contract.EngineMySQL: func(t *testing.T, script string) database.DB {
		connection := databasetest.MariaDB(t)
		databasetest.ExecuteMySQL(t, connection, script)
		return mysql.Open(settings(func() (contract.Connection, error) { return connection, nil }))
	},
	contract.EngineSQLite: func(t *testing.T, script string) database.DB {
		s := settings(nil)
		s.SQLitePath, s.SQLiteInitDir = filepath.Join(t.TempDir(), "data.sqlite"), t.TempDir()
		if err := os.WriteFile(filepath.Join(s.SQLiteInitDir, "init.sql"), []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		return sqlite.Open(s)
	},
}

func settings(connection func() (contract.Connection, error)) database.Settings {
	return database.Settings{Connection: connection, Database: contract.Database{MaxConnections: 2, StatementTimeout: contract.Duration(2 * time.Minute)}}
}

// script makes the world's tables with its rows.
func (w *world) script() string {
	var b strings.Builder
	b.WriteString("CREATE TABLE person (id integer PRIMARY KEY, team varchar(9), age integer, boss_id integer, FOREIGN KEY (boss_id) REFERENCES person (id));\n")
	b.WriteString("CREATE TABLE item (id integer PRIMARY KEY, region varchar(9), level integer, owner_id integer, FOREIGN KEY (owner_id) REFERENCES person (id));\n")
	for _, table := range []*database.Table{w.person, w.item} {
		for _, r := range w.rows[table] {
			var values []string
			for _, c := range table.Columns {
				switch v := r[c.Name].(type) {
				case nil:
					values = append(values, "NULL")
				case string:
					values = append(values, "'"+v+"'")
				default:
					values = append(values, fmt.Sprint(v))
				}
			}
			fmt.Fprintf(&b, "INSERT INTO %s VALUES (%s);\n", table.Name, strings.Join(values, ", "))
		}
	}
	return b.String()
}

// What the oracle says of policies, every engine says too.
func TestPoliciesHoldOnAllEngines(t *testing.T) {
	for engine, open := range open {
		t.Run(engine, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, 8))
			w := newWorld(r)
			db := open(t, w.script())
			t.Cleanup(db.Close)
			schema, err := db.Introspect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			some := 0
			for i := range 200 {
				policies, entry := randomPolicies(r), randomToken(r, "t")
				config := &contract.Config{Tokens: []contract.Token{entry}, Models: []contract.Model{{Name: "item", Exposure: "item", Table: "item", RowPolicies: policies}}}
				models := catalog.Build(config, schema)
				item := models.Model("item")
				scope, ok := TokensOf(config, models).Authenticate("Bearer "+text+"t", time.Now()).Scope(item)
				if !ok {
					t.Fatalf("case %d: %s", i, item.Status.Message)
				}
				id := item.Key[0].Column
				out, _, err := db.Select(t.Context(), &database.Select{From: scope.Source(), Limit: 100,
					Output: []database.Output{{Name: "id", Columns: []*database.Column{id}}}, Order: []database.Order{{Column: id}}}, []byte("["))
				if err != nil {
					t.Fatalf("case %d: %v, by %+v", i, err, policies)
				}
				var rows []struct{ ID int64 }
				if err := json.Unmarshal(append(out, ']'), &rows); err != nil {
					t.Fatal(err)
				}
				var got, want []int64
				for _, r := range rows {
					got = append(got, r.ID)
				}
				for _, candidate := range w.rows[w.item] {
					if w.visible(policies, &entry, candidate) {
						want = append(want, candidate["id"].(int64))
					}
				}
				if !slices.Equal(got, want) {
					t.Fatalf("case %d: a token of groups %q and attributes %q sees %v, want %v, by %+v", i, entry.Groups, entry.Attributes, got, want, policies)
				}
				if len(want) > 0 && len(want) < len(w.rows[w.item]) {
					some++
				}
			}
			if some < 20 {
				t.Errorf("only %d cases show some rows", some)
			}
		})
	}
}
