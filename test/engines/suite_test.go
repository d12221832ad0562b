// Package engines is the behaviour of the data side, as agents see it: one suite that runs unchanged on every engine,
// over HTTP, against a real database, and holds what was done against plain SQL that is run beside the server.
//
//	make test-engines
package engines

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// suite is the library on one engine, and its endpoint.
type suite struct {
	harness.Engine
	endpoint *harness.Endpoint
	plain    *sql.DB
}

// groups are the cases by what they are about. Each has a database of its own, whose cases follow one another.
var groups = []struct {
	name  string
	cases func(*suite, *testing.T)
}{
	{"listing", listing}, {"answers", answers}, {"answers that end early", endings}, {"filters", filtering}, {"pages", paging}, {"reading", reading}, {"relations", relations},
	{"creating", creating}, {"updating", updating}, {"versions", versions}, {"inlines", inlines}, {"deleting", deleting},
	{"bulk", bulk}, {"actions", actions}, {"policies", policies}, {"policies of related rows", relatedPolicies}, {"hidden and masked", hiddenAndMasked},
	{"history", history}, {"audit", auditing}, {"audit of reads", readLines}, {"audit lines that must be written", requiredLines}, {"metrics", metricsOfCalls}, {"values", values}, {"round trips", roundTrips}, {"computed columns", computedColumns}, {"names", names}, {"views and keys", viewsAndKeys},
	{"permissions", permissions}, {"injection", injection}, {"generic tools", generic}, {"texts for models", texts},
	{"resources", resources}, {"groups in indexes", groupsInIndexes}, {"asking", asking}, {"calls of describe", describedCalls}, {"moments", moments}, {"asking in other words", otherShapes}, {"attacks", attacks}, {"exports", exportFiles}, {"rights to exports", exportRights}, {"steps", steps}, {"collations", collations},
}

func TestEngines(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			for _, group := range groups {
				t.Run(group.name, func(t *testing.T) {
					if reason := overShards[group.name]; engine.Shards && reason != "" {
						t.Skip(reason)
					}
					if reason := onRemote[group.name]; engine.Remote && reason != "" {
						t.Skip(reason)
					}
					if reason := onlyRead[group.name]; engine.OnlyReads && reason != "" {
						t.Skip(reason)
					}
					group.cases(start(t, engine), t)
				})
			}
		})
	}
}

func allEngines() []harness.Engine { return slices.Concat(harness.Engines, harness.FurtherEngines()) }

// start fills a database with the library and serves it.
func start(t *testing.T, engine harness.Engine, configure ...func(*contract.Config)) *suite {
	t.Helper()
	return startAs(t, engine, func(*server.Server) {}, configure...)
}

// startAs is start with a server that prepare changes before it runs.
func startAs(t *testing.T, engine harness.Engine, prepare func(*server.Server), configure ...func(*contract.Config)) *suite {
	t.Helper()
	database, plain := engine.Open(t, library(engine))
	noteVersion(t, engine, plain)
	s := &suite{engine, harness.ServeAs(t, prepare, database, modelsOn(engine), tokens(), slices.Concat(journal(engine), configure)...), plain}
	for _, m := range s.endpoint.Status().Models {
		if !m.Served() {
			t.Fatalf("%s: %s %s", m.Name, m.Reason, m.Message)
		}
	}
	return s
}

// journal is withAudit for an engine whose databases can be written.
func journal(engine harness.Engine) []func(*contract.Config) {
	if engine.OnlyReads {
		return nil
	}
	return []func(*contract.Config){withAudit}
}

// withAudit keeps a journal in the database.
func withAudit(c *contract.Config) { c.Endpoint.Audit = &contract.AuditTable{Name: "mcp_admin_log"} }

var (
	counting                sync.Mutex
	passed, failed, skipped = map[string]int{}, map[string]int{}, map[string]int{}
	releases                = map[string]string{}
)

// check runs one case and counts it.
func (s *suite) check(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Cleanup(func() {
			counting.Lock()
			defer counting.Unlock()
			switch {
			case t.Failed():
				failed[s.Title]++
			case t.Skipped():
				skipped[s.Title]++
			default:
				passed[s.Title]++
			}
		})
		if reason := overShards[name]; s.Shards && reason != "" {
			t.Skip(reason)
		}
		if reason := onRemote[name]; s.Remote && reason != "" {
			t.Skip(reason)
		}
		if reason := onlyRead[name]; s.OnlyReads && reason != "" {
			t.Skip(reason)
		}
		test(t)
	})
}

// release asks a server for its version.
var release = map[string]string{
	contract.EngineSQLite:     "select sqlite_version()",
	contract.EnginePostgreSQL: "show server_version",
	contract.EngineMySQL:      "select version()",
	contract.EngineDuckDB:     "select ltrim(version(), 'v')",
}

// noteVersion keeps the name and version of what an engine runs on, for the last line.
func noteVersion(t *testing.T, engine harness.Engine, plain *sql.DB) {
	t.Helper()
	counting.Lock()
	defer counting.Unlock()
	if releases[engine.Title] != "" {
		return
	}
	var version string
	if err := plain.QueryRowContext(context.Background(), release[engine.Name]).Scan(&version); err != nil {
		t.Fatal(err)
	}
	version, _, _ = strings.Cut(version, " ")
	version, _, _ = strings.Cut(version, "-")
	whole := engine.Product + " " + version
	if rest, ok := strings.CutPrefix(engine.Title, engine.Product+" with"); ok {
		whole += " with" + rest
	} else if !strings.HasPrefix(engine.Title, engine.Product) {
		whole = engine.Title + " before " + whole
	}
	releases[engine.Title] = whole
}

// TestMain counts in the last line, engine by engine, what passed and failed.
func TestMain(m *testing.M) {
	code := m.Run()
	var parts []string
	for _, engine := range allEngines() {
		if passed[engine.Title]+failed[engine.Title] > 0 {
			parts = append(parts, fmt.Sprintf("%s %d passed, %d failed, %d not of the engine", releases[engine.Title], passed[engine.Title], failed[engine.Title], skipped[engine.Title]))
		}
	}
	for _, server := range databasetest.Further() {
		if server.Missing != "" {
			parts = append(parts, fmt.Sprintf("%s NOT RUN (%s)", server.Title, server.Missing))
		}
	}
	fmt.Println("engines: " + strings.Join(parts, "; "))
	os.Exit(code)
}

// object is a decoded payload; numbers stay as they were written.
type object = map[string]any

// call calls a tool as a token's holder.
func (s *suite) call(t *testing.T, token, tool, arguments string) (payload object, isError bool) {
	t.Helper()
	text, isError := s.endpoint.Call(secret(token), tool, arguments)
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&payload); err != nil {
		t.Fatalf("%s %s: %v in %s", tool, arguments, err, text)
	}
	s.skipRefused(t, text)
	if s.OnlyReads && (strings.Contains(text, neverWritten) || strings.Contains(text, "is not offered for")) {
		t.Skip(noWrites)
	}
	if s.Remote && isError && refusedWrite.MatchString(text) {
		t.Skip(noSavepoints)
	}
	return payload, isError
}

// gatewaysRefusals are pieces of the refusals of what a gateway does not take over several shards.
var gatewaysRefusals = []string{"does not compute this over all of them", "does not look for related rows in such a condition", "than the database takes at once"}

// skipRefused ends a case if the answer is such a refusal.
func (s *suite) skipRefused(t *testing.T, answer string) {
	t.Helper()
	if s.Shards && slices.ContainsFunc(gatewaysRefusals, func(piece string) bool { return strings.Contains(answer, piece) }) {
		t.Skip("the gateway takes no such statement over several shards")
	}
}

// ok calls a tool that must succeed.
func (s *suite) ok(t *testing.T, token, tool, arguments string) object {
	t.Helper()
	payload, isError := s.call(t, token, tool, arguments)
	if isError {
		t.Fatalf("%s %s as %s: %v", tool, arguments, token, payload)
	}
	return payload
}

// fails calls a tool that must fail with a code.
func (s *suite) fails(t *testing.T, token, tool, arguments, code string) object {
	t.Helper()
	payload, isError := s.call(t, token, tool, arguments)
	if !isError || payload["code"] != code {
		t.Fatalf("%s %s as %s: want %s, got %v", tool, arguments, token, code, payload)
	}
	if message, _ := payload["error"].(string); message == "" {
		t.Fatalf("%s %s as %s: the error has no message: %v", tool, arguments, token, payload)
	}
	return payload
}

// failsOn calls a tool whose arguments do not hold up, and returns the fields that are named.
func (s *suite) failsOn(t *testing.T, token, tool, arguments string, fields ...string) object {
	t.Helper()
	payload := s.fails(t, token, tool, arguments, "validation_error")
	named := at(t, payload, "validation_errors", "fields_with_errors").([]any)
	if got := fmt.Sprint(named...); got != fmt.Sprint(anys(fields)...) {
		t.Fatalf("%s %s: the errors are about %v, not %v: %v", tool, arguments, named, fields, payload)
	}
	return payload
}

func anys(texts []string) []any {
	all := make([]any, len(texts))
	for i, text := range texts {
		all[i] = text
	}
	return all
}

// at follows a path of member names and indexes.
func at(t *testing.T, value any, path ...any) any {
	t.Helper()
	for _, step := range path {
		switch step := step.(type) {
		case string:
			members, ok := value.(object)
			if !ok {
				t.Fatalf("no object to find %v of %v in: %v", step, path, value)
			}
			value = members[step]
		case int:
			list, ok := value.([]any)
			if !ok || step >= len(list) {
				t.Fatalf("no element %d of %v in: %v", step, path, value)
			}
			value = list[step]
		}
	}
	return value
}

// want compares what is at a path with JSON.
func want(t *testing.T, payload any, wanted string, path ...any) {
	t.Helper()
	var expected any
	decoder := json.NewDecoder(strings.NewReader(wanted))
	decoder.UseNumber()
	if err := decoder.Decode(&expected); err != nil {
		t.Fatalf("%v in %s", err, wanted)
	}
	if got := at(t, payload, path...); !reflect.DeepEqual(got, expected) {
		text, _ := json.Marshal(got)
		t.Fatalf("%v is %s, want %s", path, text, wanted)
	}
}

// column are the values of one member in every row of a list's results.
func column(t *testing.T, payload object, name string) string {
	t.Helper()
	var all []string
	for _, row := range at(t, payload, "results").([]any) {
		all = append(all, fmt.Sprint(row.(object)[name]))
	}
	return strings.Join(all, " ")
}

// sql runs plain SQL beside the server and returns its first column, row by row, as text.
func (s *suite) sql(t *testing.T, query string) string {
	t.Helper()
	rows, err := s.plain.QueryContext(context.Background(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var value sql.NullString
		if err := rows.Scan(&value); err != nil {
			t.Fatal(err)
		}
		if !value.Valid {
			value.String = "NULL"
		}
		all = append(all, value.String)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

// holds compares what plain SQL finds with a text.
func (s *suite) holds(t *testing.T, query, wanted string) {
	t.Helper()
	if got := s.sql(t, query); got != wanted {
		t.Fatalf("%s gives %q, want %q", query, got, wanted)
	}
}
