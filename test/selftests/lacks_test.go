package selftests

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/doctor"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/target"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/server/selftest"
	"github.com/mcp-admin/mcp-admin-operator/test/docs/pages"
)

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

// The last line counts each line that is marked, and what the status would say is no check.
func TestASelfTestCountsWhatItMarks(t *testing.T) {
	c := databasetest.PostgreSQL(t)
	databasetest.Execute(t, databasetest.URI(c), theirs)
	t.Setenv(target.DSNVariable, databasetest.Refusing(t, databasetest.URI(c), "SET CONSTRAINTS ALL", "SET RESTRAINTS ALL", "xmin", "xmean"))
	var out bytes.Buffer
	if err := (&examined{}).doctor(t.Context(), t, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "the status of an endpoint would say: it has no SET CONSTRAINTS") {
		t.Errorf("it does not tell the note:\n%s", out.String())
	}
	marked := strings.Count(out.String(), "\n! ")
	if want := fmt.Sprintf(" work, %d differ, 0 fail, ", marked); marked == 0 || !strings.Contains(out.String(), want) {
		t.Errorf("%q is not in\n%s", want, out.String())
	}
}

// The page shows what is printed.
func TestThePageShowsASelfTest(t *testing.T) {
	page, err := os.ReadFile("../../docs/engines.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?m)^```text norun: test/selftests holds[^\n]*\n\\$ mcp-admin doctor --engine([^\n]*)\n((?s:.*?))^```$").FindAllStringSubmatch(string(page), -1)
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
		command := doctor.Command()
		command.SetArgs(strings.Fields(wrong.args))
		command.SetOut(&bytes.Buffer{})
		command.SetErr(&bytes.Buffer{})
		command.SilenceUsage, command.SilenceErrors = true, true
		if err := command.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), wrong.says) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v, want %q", wrong.args, err, wrong.says)
		}
	}
}
