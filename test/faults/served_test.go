package faults

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

const script = `
create table account (id int primary key, owner varchar(50) not null, balance int not null);
create table entry (id int primary key, account_id int not null, note varchar(2000), foreign key (account_id) references account (id) on delete cascade);
insert into account values (1, 'Ann', 100), (2, 'Bob', 200), (3, 'Cy', 300);
insert into entry values (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c');
`

const root = "mcp_rootrootrootroot.0000000000000000000000000000000000000000000"

// served is the accounts on one engine, behind an endpoint.
type served struct {
	*testing.T
	engine   string
	endpoint *harness.Endpoint
	plain    *sql.DB
	// proxy stands before the database; nil for SQLite.
	proxy *proxy
}

func serve(t *testing.T, engine harness.Engine, configure ...func(*contract.Config)) *served {
	t.Helper()
	database, plain := engine.Open(t, script)
	s := &served{T: t, engine: engine.Name, plain: plain}
	if database.Connection != nil {
		c, err := contract.ResolveConnection(database.Connection, "")
		if err != nil {
			t.Fatal(err)
		}
		s.proxy = newProxy(t, c.Address())
		uri := strings.Replace(string(database.Connection["uri"]), c.Address(), s.proxy.listener.Addr().String(), 1)
		database.Connection = map[string][]byte{"uri": []byte(uri)}
	}
	s.start(database, configure...)
	return s
}

func (s *served) start(database harness.Database, configure ...func(*contract.Config)) {
	s.Helper()
	everything := contract.Token{Namespace: "test", Name: "root", Hashes: []string{contract.HashToken(root)},
		Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"*"}}}}
	models := []contract.Model{{Name: "account", Table: "account", Inlines: []contract.Inline{{Model: "entry", Max: 100}}}, {Name: "entry", Table: "entry"}}
	quick := func(c *contract.Config) {
		c.Endpoint.Database.StatementTimeout = contract.Duration(5 * time.Second)
		c.Endpoint.Audit = &contract.AuditTable{Name: "mcp_admin_log"}
		c.Endpoint.Limits.MaxResultBytes = 64 << 10 // callers at once wait for no memory
	}
	s.endpoint = harness.Serve(s.T, database, models, []contract.Token{everything}, append([]func(*contract.Config){quick}, configure...)...)
}

type object = map[string]any

func (s *served) call(tool, arguments string) (object, bool) {
	s.Helper()
	text, isError := s.endpoint.Call(root, tool, arguments)
	var payload object
	if err := json.Unmarshal([]byte(text), &payload); err != nil {
		s.Fatalf("%s %s: %v in %s", tool, arguments, err, text)
	}
	return payload, isError
}

// ok calls a tool that must succeed.
func (s *served) ok(tool, arguments string) object {
	s.Helper()
	payload, isError := s.call(tool, arguments)
	if isError {
		s.Fatalf("%s %s: %v", tool, arguments, payload)
	}
	return payload
}

// fails calls a tool that must fail with one of some codes.
func (s *served) fails(tool, arguments string, codes ...string) object {
	s.Helper()
	payload, isError := s.call(tool, arguments)
	for _, code := range codes {
		if isError && payload["code"] == code {
			return payload
		}
	}
	s.Fatalf("%s %s: want %v, got %v", tool, arguments, codes, payload)
	return nil
}

// recovers waits until a call succeeds again. Whatever it answers before must be an error, and not a wrong answer.
func (s *served) recovers(tool, arguments string) object {
	s.Helper()
	var payload object
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var isError bool
		if payload, isError = s.call(tool, arguments); !isError {
			return payload
		}
		if code := payload["code"]; code != "unavailable" && code != "timeout" {
			s.Fatalf("%s %s: %v", tool, arguments, payload)
		}
	}
	s.Fatalf("%s %s never succeeded again: %v", tool, arguments, payload)
	return nil
}

// holds compares what plain SQL finds with a text.
func (s *served) holds(query, wanted string) {
	s.Helper()
	var got sql.NullString
	if err := s.plain.QueryRowContext(context.Background(), query).Scan(&got); err != nil {
		s.Fatalf("%s: %v", query, err)
	}
	if got.String != wanted {
		s.Fatalf("%s gives %q, want %q", query, got.String, wanted)
	}
}

// whole sees that no write is half there: each change has its journal entry, and no entry lacks its change.
func (s *served) whole() {
	s.Helper()
	s.holds("select count(*) from account a where a.balance >= 1000 and not exists (select 1 from mcp_admin_log l where l.table_name = 'account' and l.object_id = cast(a.id as char(1)))", "0")
	s.holds("select count(*) from mcp_admin_log l where l.table_name = 'account' and l.action = 'update' and not exists (select 1 from account a where l.object_id = cast(a.id as char(1)) and a.balance >= 1000)", "0")
}

func onEach(t *testing.T, withNetwork bool, test func(*testing.T, harness.Engine)) {
	for _, engine := range harness.Engines {
		if withNetwork && engine.Name == contract.EngineSQLite {
			continue
		}
		t.Run(engine.Name, func(t *testing.T) { test(t, engine) })
	}
}

// said are the lines that TestMain prints in the end: what happened under each fault, and on which engines.
var said struct {
	sync.Mutex
	faults  []string
	engines map[string][]string
}

// held notes, at the end of a test that did not fail, what happened under a fault.
func (s *served) held(what string) {
	s.Helper()
	if s.Failed() {
		return
	}
	said.Lock()
	defer said.Unlock()
	if said.engines == nil {
		said.engines = map[string][]string{}
	}
	if said.engines[what] == nil {
		said.faults = append(said.faults, what)
	}
	if !slices.Contains(said.engines[what], s.engine) {
		said.engines[what] = append(said.engines[what], s.engine)
	}
}

// TestMain says in the last lines what happened under each fault.
func TestMain(m *testing.M) {
	code := m.Run()
	for _, what := range said.faults {
		fmt.Printf("faults: %s (%s)\n", what, strings.Join(said.engines[what], ", "))
	}
	os.Exit(code)
}

// settles waits until plain SQL finds a text.
func (s *served) settles(query, wanted string) {
	s.Helper()
	var got string
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err := s.plain.QueryRowContext(context.Background(), query).Scan(&got); err == nil && got == wanted {
			return
		}
	}
	s.Fatalf("%s gives %q, never %q", query, got, wanted)
}

// locked holds a lock on account 2 while do runs.
func (s *served) locked(do func()) {
	s.Helper()
	ctx := context.Background()
	c, err := s.plain.Conn(ctx)
	if err != nil {
		s.Fatal(err)
	}
	defer c.Close()
	begin := "begin"
	if s.engine == contract.EngineSQLite {
		begin = "begin immediate"
	}
	for _, statement := range []string{begin, "update account set owner = 'locked' where id = 2"} {
		if _, err := c.ExecContext(ctx, statement); err != nil {
			s.Fatal(err)
		}
	}
	do()
	if _, err := c.ExecContext(ctx, "rollback"); err != nil {
		s.Fatal(err)
	}
}

// waits returns once a statement of the endpoint waits for a lock.
func (s *served) waits() {
	s.Helper()
	query := "select count(*) > 0 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
	if s.engine == contract.EngineMySQL {
		query = "select count(*) > 0 from information_schema.processlist where db = database() and id <> connection_id() and command <> 'Sleep' and info like '%account%'"
	}
	for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		var waiting bool
		if err := s.plain.QueryRowContext(context.Background(), query).Scan(&waiting); err != nil {
			s.Fatal(err)
		}
		if waiting {
			return
		}
		if time.Now().After(deadline) {
			s.Fatal("no statement waits for the lock")
		}
	}
}

func (s *served) exec(statement string) {
	s.Helper()
	if _, err := s.plain.ExecContext(context.Background(), statement); err != nil {
		s.Fatalf("%s: %v", statement, err)
	}
}

// settlesOn calls a tool until it answers with a code; "" is success.
func (s *served) settlesOn(tool, code string) {
	s.Helper()
	var payload object
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		var isError bool
		payload, isError = s.call(tool, `{}`)
		if isError == (code != "") && (code == "" || payload["code"] == code) {
			return
		}
	}
	s.Fatalf("%s: never %q, but %v", tool, code, payload)
}
