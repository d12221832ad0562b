package engines

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// slow is a view that takes far longer to read than a statement may.
var slow = map[string]string{
	harness.SQLite:     `create view slow as with recursive c (n) as (select 1 union all select n + 1 from c where n < 10000000000) select 1 as id, count(*) as n from c`,
	harness.PostgreSQL: `create view slow as select id, cast(pg_sleep(120) as text) as n from book`,
	"DuckDB":           `create view slow as select id, (select count(*) from range(1000000000000) as n(i) where i % 7 = 8) as n from book`,
	harness.MariaDB:    `create view slow as select id, sleep(120) as n from book`,
	// Its sleep answers when it is interrupted. vtgate breaks down if a view is of information_schema.
	harness.MySQL: `create view slow as select id, (select count(*) from book a, book b, book c, book d, book e, book f, book g, book h, book i,
		book j, book k, book l, book m, book n, book o, book p where a.id * p.id > 0) as n from book`,
}

// TestProtection is the protection of the database and of the agent: bounds on time, rates, sizes and rights. Each case
// has an endpoint of its own.
func TestProtection(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			(&suite{Engine: engine}).check(t, "a slow query ends in time, and stops no other", func(t *testing.T) { slowQueries(t, engine) })
			(&suite{Engine: engine}).check(t, "an answer that is too large is cut, and goes on", func(t *testing.T) { largeAnswers(t, engine) })
			(&suite{Engine: engine}).check(t, "rates are each token's own, and bulk counts its items", func(t *testing.T) { rates(t, engine) })
			(&suite{Engine: engine}).check(t, "read-only access takes all that writes away", func(t *testing.T) { readOnlyAccess(t, engine) })
		})
	}
}

func slowQueries(t *testing.T, engine harness.Engine) {
	database, plain := engine.Open(t, library(engine)+slow[engine.Product])
	all := append(modelsOn(engine), contract.Model{Name: "slow", Table: "slow", Key: []string{"id"}})
	s := &suite{engine, harness.Serve(t, database, all, tokens(), withAudit, func(c *contract.Config) {
		c.Endpoint.Database.StatementTimeout = contract.Duration(time.Second)
		c.Endpoint.Database.MaxConnections = 4
	}), plain}
	var waiting sync.WaitGroup
	for range 2 {
		waiting.Go(func() {
			for _, call := range [][2]string{{"list_slow", `{"total":"none"}`}, {"get_slow", `{"id":1}`}} {
				if payload, isError := s.call(t, "root", call[0], call[1]); !isError || payload["code"] != "timeout" {
					t.Errorf("%v: %v", call, payload)
				}
			}
		})
	}
	// A machine that is slow itself has a fast statement end late, too: then it is made again.
	answered := func(tool, arguments string) {
		t.Helper()
		for deadline := time.Now().Add(2 * time.Minute); ; {
			payload, isError := s.call(t, "root", tool, arguments)
			if !isError {
				return
			}
			if payload["code"] != "timeout" || time.Now().After(deadline) {
				t.Fatalf("%s beside slow queries: %v", tool, payload)
			}
		}
	}
	for range 20 {
		answered("get_book", `{"id":1}`)
		if !s.Remote {
			answered("update_book", `{"id":2,"data":{"pages":7}}`)
		}
	}
	waiting.Wait()
	answered("list_book", `{}`)
}

func largeAnswers(t *testing.T, engine harness.Engine) {
	s := start(t, engine, func(c *contract.Config) { c.Endpoint.Limits.MaxResultBytes = 20_000 })
	for i := range 30 {
		s.ok(t, "root", "create_sample", fmt.Sprintf(`{"data":{"id":%d,"words":%q}}`, 100+i, strings.Repeat("w", 2_000)))
	}
	seen, cursor := 0, ""
	for range 10 {
		page := s.ok(t, "root", "list_sample", `{"filters":{"id__gte":100},"limit":30`+cursor+`}`)
		if size := len(fmt.Sprint(page)); size > 30_000 {
			t.Fatalf("%d bytes", size)
		}
		want(t, page, `30`, "total_count")
		seen += len(page["results"].([]any))
		next, more := page["next_cursor"].(string)
		if !more {
			break
		}
		if seen < 30 && !strings.Contains(fmt.Sprint(page["notice"]), "next_cursor") {
			t.Fatalf("cut without a word: %v", page["notice"])
		}
		cursor = `,"cursor":"` + next + `"`
	}
	if seen != 30 {
		t.Fatalf("%d rows", seen)
	}
	s.ok(t, "root", "create_sample", fmt.Sprintf(`{"data":{"id":999,"words":%q}}`, strings.Repeat("w", 30_000)))
	s.fails(t, "root", "get_sample", `{"id":999}`, "too_large")
	want(t, s.ok(t, "root", "list_sample", `{"filters":{"id":999},"fields":["big"]}`), `{"id":999,"big":null}`, "results", 0)
}

func rates(t *testing.T, engine harness.Engine) {
	now := time.Now() // no time passes for the server
	stopped := func(server *server.Server) { server.Now = func() time.Time { return now } }
	s := startAs(t, engine, stopped, func(c *contract.Config) { c.Endpoint.Limits.RequestsPerSecondPerToken = 10 })
	limited := 0
	for range 40 {
		if payload, isError := s.call(t, "viewer", "get_book", `{"id":1}`); isError {
			want(t, payload, `"rate_limited"`, "code")
			if payload["retry_after_ms"] == nil {
				t.Fatalf("got %v, want retry_after_ms", payload)
			}
			limited++
		}
	}
	// The list of tools, by which the harness checks answers, is a call too.
	if limited != 31 {
		t.Fatalf("of forty calls at once, at ten a second, %d were refused, want 31", limited)
	}
	if lines := s.endpoint.Log.Lines(`"rate_limited"`); len(lines) != 1 {
		t.Fatalf("the audit has %d lines of calls that were refused in a row, want 1", len(lines))
	}
	s.ok(t, "clerk", "get_book", `{"id":1}`)
	// Eight items, the list of tools, and one call more are ten.
	s.ok(t, "root", "bulk_category", `{"operation":"create","items":[{"name":"1"},{"name":"2"},{"name":"3"},{"name":"4"},{"name":"5"},{"name":"6"},{"name":"7"},{"name":"8"}]}`)
	s.ok(t, "root", "get_book", `{"id":1}`)
	s.fails(t, "root", "bulk_category", `{"operation":"delete","items":[1,2,3,4,5,6,7,8,9]}`, "rate_limited")
	s.holds(t, "select count(*) from category where id in (1, 2, 3, 4)", "4")
}

func readOnlyAccess(t *testing.T, engine harness.Engine) {
	database, plain := engine.Open(t, library(engine))
	s := &suite{engine, harness.Serve(t, database, modelsOn(engine), tokens(), func(c *contract.Config) { c.Endpoint.Database.ReadOnly = true }), plain}
	for tool, arguments := range map[string]string{
		"create_country": `{"data":{"code":"XX","name":"x"}}`, "update_book": `{"id":1,"data":{"pages":1}}`, "delete_review": `{"id":1}`,
		"bulk_review": `{"operation":"delete","items":[1]}`, "action_book": `{"action":"retire","ids":[1],"confirm":true}`,
	} {
		s.fails(t, "root", tool, arguments, "permission_denied")
	}
	const onlyReads = ": the endpoint only reads its database; who runs it can let it write (spec.database.access: ReadWrite, or mcp-admin dev --write)"
	for _, test := range []struct{ token, tool, arguments, says string }{
		{"root", "update_book", `{"id":1,"data":{"pages":1}}`, "update is not offered for book" + onlyReads + "; its tools are list_book"},
		{"viewer", "update_book", `{"id":1,"data":{"pages":1}}`, "Permission denied: cannot change book" + onlyReads},
		{"root", "transact", `{"steps":[{"tool":"get_book","arguments":{"id":1}}]}`, "none of the steps changes anything; transact is for steps that do"},
		{"root", "transact", `{"steps":[{"tool":"get_book","arguments":{"id":1}}],"dry_run":true}`, "none of the steps changes anything; transact is for steps that do"},
		{"root", "transact", `{"steps":[{"tool":"get_book","arguments":{"id":1}},{"tool":"delete_review","arguments":{"id":1}}]}`, "step 1 (delete_review): delete is not offered for review" + onlyReads},
	} {
		if answer, failed := s.call(t, test.token, test.tool, test.arguments); !failed || !strings.HasPrefix(fmt.Sprint(answer["error"]), test.says) {
			t.Errorf("%s %s as %s: got %v, want an error that begins with %q", test.tool, test.arguments, test.token, answer, test.says)
		}
	}
	_, body := s.endpoint.Post(secret("root"), `{"method":"tools/list"}`)
	for _, operation := range []string{`"name":"create_`, `"name":"update_`, `"name":"delete_`, `"name":"bulk_`, `"name":"action_`} {
		if strings.Contains(body, operation) {
			t.Errorf("%s is listed", operation)
		}
	}
	want(t, s.ok(t, "root", "list_book", `{}`), `5`, "total_count")
	s.ok(t, "root", "get_book", `{"id":1,"include_inlines":true,"include_related":true}`)
}
