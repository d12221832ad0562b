package doctor

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
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/target"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/server/selftest"
	"github.com/mcp-admin/mcp-admin-operator/test/docs/pages"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// theirs is what somebody has in a database, with names that no report may tell.
const theirs = "CREATE TABLE patients (id int PRIMARY KEY, diagnosis varchar(40)); INSERT INTO patients VALUES (1, 'confidential')"

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
	command := Command()
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

func TestWhatASelfTestNeedsWorksOnEveryEngine(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e *examined) {
		before := e.tables(t)
		r, text, err := e.report(t, "--schema", e.schema)
		for _, c := range r.Checks {
			switch {
			case c.Result == selftest.Differs && timed[c.Name]:
				t.Logf("%s: %s", c.Name, c.Answer)
			case c.Result == selftest.Fails, c.Result == selftest.Differs:
				t.Errorf("%s: %s: %s", c.Name, c.Result, c.Answer)
			}
		}
		if err != nil || r.Count(selftest.Works) < 35 || r.Engine == "" || r.Says == "" || len(r.Notes) > 0 {
			t.Errorf("got %v, %d work, notes %q:\n%s", err, r.Count(selftest.Works), r.Notes, text)
		}
		e.tellsNothing(t, text)
		if after := e.tables(t); after != before {
			t.Errorf("the tables were %q, and are %q", before, after)
		}
	})
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
		if e.Name != contract.EngineSQLite && e.Title != "PgBouncer" {
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

// readOnly has the command be a user who may only read.
func (e *examined) readOnly(t *testing.T) {
	t.Helper()
	if e.Name == contract.EngineSQLite || e.Title == "PgBouncer" { // PgBouncer has a list of users
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

func TestAnInterruptedSelfTestLeavesNothing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e *examined) {
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

// What an engine lacks is told, each with what it means; only what a server needs fails the test.
func TestASelfTestFindsWhatAnEngineLacks(t *testing.T) {
	const notSupported = "SELECT count(*) FROM pg_class FOR UPDATE" // SQLSTATE 0A000
	for _, lacks := range []struct {
		engine, check string
		result        selftest.Result
		words         []string
		note          string
	}{
		{contract.EnginePostgreSQL, "savepoint", selftest.Fails, []string{"SAVEPOINT mcp", "SAVEPOINTS mcp"}, ""},
		{contract.EnginePostgreSQL, "row locks", selftest.Fails, []string{" FOR UPDATE", ""}, ""},
		{contract.EnginePostgreSQL, "report", selftest.Differs, []string{"BEGIN READ ONLY", notSupported}, ""},
		{contract.EnginePostgreSQL, "estimate", selftest.Differs, []string{"EXPLAIN (FORMAT JSON) SELECT", "EXPLAIN (FORMATS JSON) SELECT"}, "it has no EXPLAIN (FORMAT JSON)"},
		{contract.EnginePostgreSQL, "schema watch", selftest.Differs, []string{"xmin", "xmean"}, ""},
		{contract.EnginePostgreSQL, "deferred checks", selftest.Works, []string{"SET CONSTRAINTS ALL", "SET RESTRAINTS ALL"}, "it has no SET CONSTRAINTS"},
		{contract.EnginePostgreSQL, "own tables", selftest.Works, []string{"SELECT pg_advisory_xact_lock(hashtext('mcp-admin-server audit table'))", notSupported}, "it has no advisory locks"},
		{contract.EnginePostgreSQL, "rows without a key", selftest.Works, []string{"ctid", "cxid"}, "it has no ctid"},
		{contract.EnginePostgreSQL, "foreign keys", selftest.Differs, []string{", FOREIGN KEY", ", FOREIGN KEYS"}, ""},
		{contract.EngineMySQL, "savepoint", selftest.Fails, []string{"SAVEPOINT s", "SAVEPOINTS s"}, ""},
		{contract.EngineMySQL, "row locks", selftest.Fails, []string{" FOR UPDATE", ""}, ""},
		{contract.EngineMySQL, "read-only transactions", selftest.Differs, []string{"START TRANSACTION READ ONLY", "START TRANSACTION"}, ""},
		{contract.EngineMySQL, "foreign keys", selftest.Differs, []string{", FOREIGN KEY", ", FOREIGN KEYS"}, ""},
		{contract.EngineMySQL, "documents", selftest.Differs, []string{"JSON_TABLE(", "JSON_TABLEAU("}, "it has no JSON_TABLE"},
		{contract.EngineMySQL, "estimate", selftest.Differs, []string{"EXPLAIN EXTENDED", "EXPLAINED"}, ""},
	} {
		t.Run(lacks.engine+" without "+lacks.check, func(t *testing.T) {
			t.Parallel() // most of the time nothing but the database's limits is waited for
			e := &examined{schema: "public"}
			if lacks.engine == contract.EnginePostgreSQL {
				c := databasetest.PostgreSQL(t)
				databasetest.Execute(t, databasetest.URI(c), theirs)
				e.uri = databasetest.URI(c)
			} else {
				c := databasetest.MariaDB(t)
				databasetest.ExecuteMySQL(t, c, theirs)
				e.uri = databasetest.URI(c)
				e.schema = c.Database
			}
			e.uri = databasetest.Refusing(t, e.uri, lacks.words...)
			r, text, err := e.report(t, "--schema", e.schema)
			c := result(t, r, lacks.check)
			if c.Result != lacks.result || (c.Means == "") != (lacks.result == selftest.Works) {
				t.Errorf("%s: got %+v", lacks.check, c)
			}
			if failed := r.Count(selftest.Fails); (failed > 0) != (lacks.result == selftest.Fails) || (err != nil) != (failed > 0) {
				t.Errorf("got %v, and %s", err, text)
			}
			if lacks.note != "" && !strings.Contains(strings.Join(r.Notes, "; "), lacks.note) {
				t.Errorf("got the notes %q, want %q", r.Notes, lacks.note)
			}
			e.tellsNothing(t, text)
		})
	}
}

// The page shows what is printed.
func TestThePageShowsASelfTest(t *testing.T) {
	page, err := os.ReadFile("../../../docs/engines.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?m)^```text norun: the tests of cmd/mcp-admin/doctor hold[^\n]*\n\\$ mcp-admin doctor --engine([^\n]*)\n((?s:.*?))^```$").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks were found", len(blocks))
	}
	c := databasetest.PostgreSQL(t)
	databasetest.Execute(t, databasetest.URI(c), theirs+"; CREATE SCHEMA scratch")
	for i, uri := range []string{databasetest.URI(c), databasetest.Refusing(t, databasetest.URI(c), " FOR UPDATE", "", ", FOREIGN KEY", ", FOREIGN KEYS")} {
		t.Setenv(target.DSNVariable, uri)
		e := &examined{}
		var out bytes.Buffer
		err := e.doctor(t.Context(), t, &out, strings.Fields(blocks[i][1])...)
		if err != nil {
			fmt.Fprintf(&out, "mcp-admin: %v\n", err)
		}
		if !pages.Fits(blocks[i][2], out.String()) {
			t.Errorf("it prints\n%s\ninstead of\n%s", out.String(), blocks[i][2])
		}
	}
}

func TestFlagsOfASelfTest(t *testing.T) {
	for _, wrong := range []struct{ args, says string }{
		{"--dsn postgres://u:geheim@h/d", "go with --engine"}, {"--engine shop --sqlite x", "leave out the ENDPOINT"}, {"--engine -A --sqlite x", "leave out the ENDPOINT"},
		{"--engine", "no database is named"}, {"--engine --schema x", "nothing more can be tried"}, {"--engine --sqlite /nowhere", "is not an existing file"},
	} {
		t.Setenv(target.DSNVariable, "")
		if wrong.args == "--engine --schema x" {
			t.Setenv(target.DSNVariable, "postgres://u:geheim@127.0.0.1:1/d")
		}
		command := Command()
		command.SetArgs(strings.Fields(wrong.args))
		command.SetOut(&bytes.Buffer{})
		command.SetErr(&bytes.Buffer{})
		command.SilenceUsage, command.SilenceErrors = true, true
		if err := command.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), wrong.says) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v, want %q", wrong.args, err, wrong.says)
		}
	}
}
