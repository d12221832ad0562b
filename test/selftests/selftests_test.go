// Package selftests runs "mcp-admin doctor --engine" on every engine of the tests, and on engines that lack something.
package selftests

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/doctor"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/selftest"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// theirs is what somebody has in a database, with names that no report may tell.
const theirs = "create table patients (id int primary key, diagnosis varchar(40));\ninsert into patients values (1, 'confidential')"

// examined is a database to try out.
type examined struct {
	harness.Engine
	harness.Database
	plain *sql.DB
	// uri is of a server; schema is where tables can be made.
	uri, schema string
}

func onEachEngine(t *testing.T, test func(*testing.T, *examined)) {
	for _, engine := range slices.Concat(harness.Engines, harness.FurtherEngines()) {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel() // most of the time nothing but the database's limits is waited for
			database, plain := engine.Open(t, theirs)
			e := &examined{engine, database, plain, string(database.Connection["uri"]), "main"}
			if engine.Name != contract.EngineSQLite {
				e.schema = "public"
			}
			if engine.Name == contract.EngineMySQL {
				e.schema = e.name(t)
			}
			test(t, e)
		})
	}
}

// name is the database's name.
func (e *examined) name(t *testing.T) string {
	t.Helper()
	u, err := url.Parse(e.uri)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Trim(u.Path, "/")
}

// tables are the names of all tables, and of a SQLite file a hash of it with the files beside it.
func (e *examined) tables(t *testing.T) string {
	t.Helper()
	if e.Name == contract.EngineSQLite {
		text, err := os.ReadFile(e.SQLiteFile)
		if err != nil {
			t.Fatal(err)
		}
		files, _ := filepath.Glob(filepath.Join(filepath.Dir(e.SQLiteFile), ".*"))
		return string(append([]byte(strings.Join(files, " ")), sum(text)...))
	}
	var all []string
	rows, err := e.plain.QueryContext(t.Context(), "SELECT table_name FROM information_schema.tables WHERE table_schema = '"+e.schema+"' ORDER BY 1")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		all = append(all, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

func sum(text []byte) []byte {
	s := sha256.Sum256(text)
	return s[:]
}

// doctor runs the command on the database.
func (e *examined) doctor(ctx context.Context, t *testing.T, out interface{ Write([]byte) (int, error) }, args ...string) error {
	t.Helper()
	if e.SQLiteFile != "" {
		args = append(args, "--sqlite", e.SQLiteFile)
	}
	if e.uri != "" {
		args = append(args, "--dsn", e.uri)
	}
	command := doctor.Command()
	command.SetArgs(append([]string{"--engine"}, args...))
	command.SetOut(out)
	command.SetErr(&bytes.Buffer{})
	command.SilenceUsage, command.SilenceErrors = true, true
	return command.ExecuteContext(ctx)
}

// report runs the command and returns its report.
func (e *examined) report(t *testing.T, args ...string) (*selftest.Report, string, error) {
	t.Helper()
	var out bytes.Buffer
	err := e.doctor(t.Context(), t, &out, append(args, "-o", "json")...)
	var r selftest.Report
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatalf("%v in %s", err, out.String())
		}
	}
	return &r, out.String(), err
}

// result is the result of a check.
func result(t *testing.T, r *selftest.Report, name string) selftest.Check {
	t.Helper()
	for _, c := range r.Checks {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("there is no check %q", name)
	return selftest.Check{}
}

// tellsNothing fails the test if a report tells what is nobody's business.
func (e *examined) tellsNothing(t *testing.T, text string) {
	t.Helper()
	private := []string{"patients", "diagnosis", "confidential", "127.0.0.1", filepath.Dir(e.SQLiteFile)}
	if u, err := url.Parse(e.uri); err == nil && u.User != nil {
		password, _ := u.User.Password()
		private = append(private, password, e.name(t), u.User.Username()+"@", `"`+u.User.Username()+`"`)
	}
	for _, p := range private {
		if len(p) > 1 && strings.Contains(text, p) {
			t.Errorf("the report tells %q:\n%s", p, text)
		}
	}
}

// timed are the checks that may differ on a machine that is busy: it waits longer for a lock than a statement may take, or ends a
// statement later than the server waits for that.
var timed = map[string]bool{"row locks": true, "locks of cancelled calls": true}

// differing are the checks that differ behind a gateway, as docs/vitess.md says.
var differing = map[string]bool{"documents": true}

func TestWhatASelfTestNeedsWorksOnEveryEngine(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e *examined) {
		before := e.tables(t)
		arguments, atLeast := []string{"--schema", e.schema}, 35
		if e.Shards { // no table is made there
			if _, _, err := e.report(t, arguments...); err == nil || !strings.Contains(err.Error(), "name a schema of one shard") || e.tables(t) != before {
				t.Errorf("tables on several shards: %v", err)
			}
			arguments, atLeast = nil, 9
		}
		r, text, err := e.report(t, arguments...)
		var differ []string
		for _, c := range r.Checks {
			switch {
			case c.Result == selftest.Differs && (timed[c.Name] || e.Gateway && differing[c.Name]):
				differ = append(differ, c.Name)
			case c.Result == selftest.Fails, c.Result == selftest.Differs:
				t.Errorf("%s: %s: %s", c.Name, c.Result, c.Answer)
			}
		}
		if err != nil || r.Count(selftest.Works) < atLeast-len(differ) || r.Engine == "" || r.Says == "" || len(r.Notes) > 0 && !e.Gateway {
			t.Errorf("got %v, %d work, notes %q:\n%s", err, r.Count(selftest.Works), r.Notes, text)
		}
		e.tellsNothing(t, text)
		if after := e.tables(t); after != before {
			t.Errorf("the tables were %q, and are %q", before, after)
		}
		told.Lock()
		defer told.Unlock()
		told.reports = append(told.reports, fmt.Sprintf("%s %d work, %d differ%s, %d fail", e.Title, r.Count(selftest.Works), r.Count(selftest.Differs), listed(differ), r.Count(selftest.Fails)))
	})
}

// told is what the self-test said of each engine, for the last line.
var told struct {
	sync.Mutex
	reports []string
}

// listed puts names into brackets.
func listed(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// TestMain says in the last line what the self-test said of each engine.
func TestMain(m *testing.M) {
	code := m.Run()
	if len(told.reports) > 0 {
		slices.Sort(told.reports)
		fmt.Println("self-test: " + strings.Join(told.reports, "; "))
	}
	os.Exit(code)
}

func TestASelfTestWithoutASchemaWritesNothing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e *examined) {
		before := e.tables(t)
		e.readOnly(t)
		r, text, err := e.report(t)
		if err != nil || r.Count(selftest.Fails) > 0 || result(t, r, "page").Result != selftest.Works || result(t, r, "create").Result != selftest.NotAsked {
			t.Errorf("got %v, %s", err, text)
		}
		e.tellsNothing(t, text)
		if e.Name != contract.EngineSQLite && !e.listsUsers() {
			r, _, err = e.report(t, "--schema", e.schema)
			if err == nil || !strings.Contains(err.Error(), "may not make tables") || result(t, r, "catalogue").Result != selftest.Works {
				t.Errorf("a user who may make no tables: %v", err)
			}
		}
		if after := e.tables(t); after != before {
			t.Errorf("the tables were %q, and are %q", before, after)
		}
	})
}

// listsUsers reports whether a pooler stands before the database, which has its own list of users.
func (e *examined) listsUsers() bool { return e.Title == "PgBouncer" || e.Title == "Pgpool-II" }

// readOnly has the command be a user who may only read.
func (e *examined) readOnly(t *testing.T) {
	t.Helper()
	if e.Name == contract.EngineSQLite || e.listsUsers() {
		return
	}
	u, err := url.Parse(e.uri)
	if err != nil {
		t.Fatal(err)
	}
	user := "reader_" + e.name(t)
	user = user[max(0, len(user)-30):]
	script := []string{"CREATE USER " + user + " IDENTIFIED BY 'Reader-1'", "GRANT SELECT ON `" + e.name(t) + "`.* TO " + user}
	drop := []string{"DROP USER " + user}
	if e.Name == contract.EnginePostgreSQL {
		script = []string{"CREATE USER " + user + " PASSWORD 'Reader-1'", "GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + user, "REVOKE CREATE ON SCHEMA public FROM PUBLIC"}
		drop = []string{"DROP OWNED BY " + user, "DROP USER " + user}
	}
	run := func(statements []string) {
		for _, s := range statements {
			if _, err := e.plain.ExecContext(context.Background(), s); err != nil {
				t.Skipf("this server lets no user be made: %v", err)
			}
		}
	}
	run(script)
	t.Cleanup(func() { run(drop) })
	u.User = url.UserPassword(user, "Reader-1")
	e.uri = u.String()
}

// cancelling is a writer that calls a function once it is given a text.
type cancelling struct {
	text   bytes.Buffer
	at     string
	cancel func()
}

func (w *cancelling) Write(p []byte) (int, error) {
	n, err := w.text.Write(p)
	if strings.Contains(w.text.String(), w.at) {
		w.cancel()
	}
	return n, err
}

// needsTables skips a test that makes tables where the self-test makes none.
func (e *examined) needsTables(t *testing.T) {
	t.Helper()
	if e.Shards {
		t.Skip("a table on several shards needs a rule first")
	}
}

func TestAnInterruptedSelfTestLeavesNothing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e *examined) {
		e.needsTables(t)
		before := e.tables(t)
		for _, at := range []string{"✓ catalogue", "✓ undone changes", "✓ create"} {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			out := &cancelling{at: at, cancel: cancel}
			if err := e.doctor(ctx, t, out, "--schema", e.schema); err == nil || !strings.Contains(err.Error(), "interrupted") {
				t.Errorf("interrupted after %q: %v\n%s", at, err, out.text.String())
			}
			if after := e.tables(t); after != before {
				t.Errorf("interrupted after %q: the tables were %q, and are %q", at, before, after)
			}
		}
	})
}

func TestASelfTestLeavesTablesOfAnotherAlone(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e *examined) {
		if e.Name == contract.EngineSQLite {
			t.Skip("each test has a file of its own")
		}
		e.needsTables(t)
		if _, err := e.plain.ExecContext(t.Context(), "CREATE TABLE mcp_admin_selftest_item (theirs int)"); err != nil {
			t.Fatal(err)
		}
		before := e.tables(t)
		_, _, err := e.report(t, "--schema", e.schema)
		if err == nil || !strings.Contains(err.Error(), "DROP TABLE IF EXISTS") || e.tables(t) != before {
			t.Errorf("got %v, and the tables %s", err, e.tables(t))
		}
	})
}
