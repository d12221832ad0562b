package engines

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// metricsOfCalls makes calls, and reads what the metrics tell of them.
func metricsOfCalls(s *suite, t *testing.T) {
	value := func(t *testing.T, series string) float64 {
		t.Helper()
		for line := range strings.Lines(s.endpoint.Metrics()) {
			if rest, ok := strings.CutPrefix(line, series+" "); ok {
				v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
		}
		return 0
	}
	// until waits for what the series should be: a call is counted and its connection free just after its answer,
	// and the server looks at its database beside the calls.
	until := func(t *testing.T, series string, want float64) {
		t.Helper()
		got := value(t, series)
		for deadline := time.Now().Add(10 * time.Minute); got != want && time.Now().Before(deadline); got = value(t, series) {
			time.Sleep(5 * time.Millisecond)
		}
		if got != want {
			t.Errorf("%s is %v, want %v", series, got, want)
		}
	}
	// rises makes a call, and says by how much series rise.
	rises := func(t *testing.T, call func(), want map[string]float64) {
		t.Helper()
		before := map[string]float64{}
		for series := range want {
			before[series] = value(t, series)
		}
		call()
		for series, by := range want {
			until(t, series, before[series]+by)
		}
	}
	count := func(operation, failed string) string {
		return `mcp_server_operation_duration_seconds_count{error_type="` + failed + `",mcp_method_name="tools/call",model="",operation="` + operation + `"}`
	}
	of := func(metric, operation string) string {
		return metric + `{mcp_method_name="tools/call",operation="` + operation + `"}`
	}
	const rows, bytes = "mcp_admin_rows_answered_total", "mcp_admin_answer_bytes_total"
	s.check(t, "rows, bytes and times of calls", func(t *testing.T) {
		size := float64(len(text(s, "viewer", "list_book", `{"fields":["title"],"limit":2}`)))
		rises(t, func() { s.ok(t, "viewer", "list_book", `{"fields":["title"],"limit":2}`) },
			map[string]float64{count("list", ""): 1, of(rows, "list"): 2, of(bytes, "list"): size})
		rises(t, func() { s.ok(t, "viewer", "get_book", `{"id":1}`) }, map[string]float64{count("get", ""): 1, of(rows, "get"): 1})
		rises(t, func() { text(s, "viewer", "get_book", `{"id":99999}`) },
			map[string]float64{count("get", ""): 0, count("get", "not_found"): 1, of(rows, "get"): 0})
		rises(t, func() {
			s.ok(t, "root", "transact", `{"steps":[{"tool":"list_book","arguments":{"limit":3}},{"tool":"update_book","arguments":{"id":1,"data":{"pages":7}}}]}`)
		}, map[string]float64{count("transact", ""): 1, of(rows, "transact"): 4, of(rows, "list"): 0})
	})
	s.check(t, "the pool", func(t *testing.T) {
		for series, want := range map[string]float64{
			`mcp_admin_database_connections{pool="primary",state="in_use"}`:               0,
			`mcp_admin_database_connections_waiting{pool="primary"}`:                      0,
			`mcp_admin_database_connections_limit{pool="primary"}`:                        float64(s.endpoint.Config().Endpoint.Database.MaxConnections),
			`mcp_admin_database_connections_opened_total{pool="primary",result="failed"}`: 0,
		} {
			until(t, series, want)
		}
		if value(t, `mcp_admin_database_connections{pool="primary",state="idle"}`) < 1 || value(t, `mcp_admin_database_connections_opened_total{pool="primary",result="ok"}`) < 1 {
			t.Error("no connection is open")
		}
	})
	s.check(t, "this pod's share of connections that are for all pods", func(t *testing.T) {
		if s.Name == contract.EngineSQLite {
			return // its file has one pod
		}
		before := s.endpoint.Config()
		all := before.Endpoint.Database.MaxConnections
		defer s.endpoint.Apply(func(c *contract.Config) { c.Pods, c.Endpoint.Database.ConnectionsShared = before.Pods, false })
		for _, pods := range []int{2, all, 10 * all, 1} {
			s.endpoint.Apply(func(c *contract.Config) { c.Pods.Running, c.Endpoint.Database.ConnectionsShared = pods, true })
			until(t, `mcp_admin_database_connections_limit{pool="primary"}`, float64(max(all/pods, 1)))
			s.ok(t, "viewer", "get_book", `{"id":1}`)
		}
	})
	s.check(t, "a database that is opened anew has its connections alone", func(t *testing.T) {
		before := s.endpoint.Config().Endpoint.Database
		set := func(timeout contract.Duration) {
			s.endpoint.Apply(func(c *contract.Config) { c.Endpoint.Database.StatementTimeout = timeout })
		}
		defer set(before.StatementTimeout)
		set(before.StatementTimeout + contract.Duration(time.Second))
		if limit := value(t, `mcp_admin_database_connections_limit{pool="primary"}`); limit != float64(before.MaxConnections) && s.Name != contract.EngineSQLite {
			t.Errorf("there may be %v connections, want %d", limit, before.MaxConnections)
		}
		s.ok(t, "viewer", "get_book", `{"id":1}`)
	})
}

// text is what a call answers, be it an error or not.
func text(s *suite, token, tool, arguments string) string {
	answer, _ := s.endpoint.Call(secret(token), tool, arguments)
	return answer
}
