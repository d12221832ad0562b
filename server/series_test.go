package server_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/metric"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// textOfToken is the text of the i-th token.
func textOfToken(i int) string {
	return fmt.Sprintf("a-token-of-more-than-thirty-two-characters-%d", i)
}

// many is a Config of that many models and tokens, and the SQL of its tables.
func many(models, tokens int) (*contract.Config, string) {
	c := config(1)
	one := c.Models[0]
	c.Models, c.Tokens = nil, nil
	var sql strings.Builder
	for i := range models {
		m := one
		m.Name = fmt.Sprintf("model%d", i)
		m.Exposure, m.Table = m.Name, m.Name
		c.Models = append(c.Models, m)
		fmt.Fprintf(&sql, "create table %s (id integer primary key, title text); insert into %s values (1, 'a');\n", m.Name, m.Name)
	}
	for i := range tokens {
		c.Tokens = append(c.Tokens, contract.Token{Namespace: "shop", Name: fmt.Sprintf("agent%d", i), Hashes: []string{contract.HashToken(textOfToken(i))},
			Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}})
	}
	return c, sql.String()
}

// seriesOf are the series of our own, with their labels, that a server has after calls of many tokens for many models.
func seriesOf(t *testing.T, c *contract.Config, sql string, calls int) map[string]bool {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "tables.sql"), []byte(sql), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, func(s *server.Server, _ *running) { s.SQLiteInitDir = folder })
	r.apply(source.Update{Config: c})
	r.untilReady()
	for i := range calls {
		model, text := c.Models[i%len(c.Models)].Name, textOfToken(i%len(c.Tokens))
		for _, body := range []string{
			`{"method":"tools/call","name":"list_` + model + `","arguments":{}}`,
			`{"method":"tools/call","name":"get","arguments":{"model":"` + model + `","id":1}}`,
			`{"method":"tools/call","name":"list","arguments":{"model":"unknown` + fmt.Sprint(i) + `"}}`,
		} {
			if status, answer := r.do("POST", r.endpoint+"/mcp/", text, body); status != 200 {
				t.Fatalf("%s: %d %s", body, status, answer)
			}
		}
	}
	return ours(r)
}

// ours are the series that a server shows, but for Go's and the process'.
func ours(r *running) map[string]bool {
	r.t.Helper()
	status, text := r.get("/metrics")
	if status != 200 {
		r.t.Fatalf("/metrics: %d", status)
	}
	series := map[string]bool{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "mcp_") {
			series[line[:strings.LastIndex(line, " ")]] = true
		}
	}
	return series
}

func TestSeriesDependNeitherOnTokensNorOnModels(t *testing.T) {
	if testing.Short() {
		t.Skip("it serves 650 tables")
	}
	const calls = 650
	few, sqlOfFew := many(1, 1)
	lots, sqlOfLots := many(650, 10_000)
	alone, many := seriesOf(t, few, sqlOfFew, calls), seriesOf(t, lots, sqlOfLots, calls)
	if !maps.Equal(alone, many) {
		for name := range many {
			if !alone[name] {
				t.Errorf("with many tokens and models there is %s", name)
			}
		}
		t.Fatalf("there are %d series with one token and model, and %d with many", len(alone), len(many))
	}

	lots.Endpoint.MetricsPerModel = true
	perModel := seriesOf(t, lots, sqlOfLots, calls)
	// Two operations are called on each model, and each has 14 buckets, the one of all, sum and count. Calls for models that do not
	// exist have one series together, as before.
	const each = 14 + 3
	const twice = 2 * each // calls of list and get for existing models have no series without a model any more
	if want := len(many) - twice + 650*2*each; len(perModel) != want {
		t.Errorf("there are %d series per model, want %d", len(perModel), want)
	}
	t.Logf("%d series with one token and model, %d with 10,000 and 650, %d per model", len(alone), len(many), len(perModel))
}

// TestSeriesOfModelsGoWithThem changes a running endpoint.
func TestSeriesOfModelsGoWithThem(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	apply := func(revision int64, perModel bool, models ...string) {
		c := config(revision)
		c.Endpoint.MetricsPerModel = perModel
		one := c.Models[0]
		c.Models = nil
		for _, name := range models {
			one.Name, one.Exposure = name, name
			c.Models = append(c.Models, one)
		}
		r.apply(source.Update{Config: c})
		r.untilReady()
	}
	call := func(model string) {
		if status, answer := r.post(`{"method":"tools/call","name":"list_` + model + `","arguments":{}}`); status != 200 || strings.Contains(answer, `"isError":true`) {
			t.Fatalf("%d %s", status, answer)
		}
	}
	of := func(model string) bool {
		return ours(r)[`mcp_server_operation_duration_seconds_count{error_type="",mcp_method_name="tools/call",model="`+model+`",operation="list"}`]
	}
	apply(1, true, "book")
	if call("book"); !of("book") || of("") {
		t.Error("the call for a model is not in a series of its own")
	}
	apply(2, true, "volume")
	if call("volume"); of("book") || !of("volume") {
		t.Error("the series of a model that is gone stay, or those of a new one are not there")
	}
	apply(3, false, "volume")
	if call("volume"); of("volume") || !of("") {
		t.Error("series of models stay though nobody asks for them any more")
	}
}

func TestAServerServesWhatTheListHas(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	c := config(1)
	c.Tokens[0].Expiry, c.Tokens[0].ShortLived = new(time.Now().Add(2*time.Hour)), true
	c.Tokens = append(c.Tokens, contract.Token{Namespace: "shop", Name: "year", Hashes: []string{contract.HashToken(textOfToken(1))}, Expiry: new(time.Now().Add(20 * 24 * time.Hour))})
	r.apply(source.Update{Config: c})
	r.untilReady()
	r.post(listBooks)
	r.do("POST", r.endpoint+"/mcp/", "no-token", listTools)
	// A request is counted, and its connection free, just after its answer.
	text := r.untilMetrics(
		`mcp_admin_tokens_in_force 2`,
		`mcp_admin_tokens_expiring{lifetime="short",within="1h"} 0`,
		`mcp_admin_tokens_expiring{lifetime="short",within="1d"} 1`,
		`mcp_admin_tokens_expiring{lifetime="long",within="7d"} 0`,
		`mcp_admin_tokens_expiring{lifetime="long",within="30d"} 1`,
		`mcp_admin_database_connections{pool="primary",state="in_use"} 0`,
		`mcp_admin_database_connections_opened_total{pool="primary",result="failed"} 0`,
		`mcp_admin_rows_answered_total{mcp_method_name="tools/call",operation="list"} 2`,
		`mcp_admin_server_callers_refused_total{reason="unknown"} 1`)
	served := map[string]bool{}
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "# TYPE mcp_"); ok {
			served["mcp_"+strings.Fields(name)[0]] = true
		}
	}
	// These are there only if there is a replica, a certificate, or a rate.
	absent := []string{"mcp_admin_replicas_up", "mcp_admin_replica_lag_seconds", "mcp_admin_certificate_expiry_timestamp_seconds"}
	for _, m := range metric.Server {
		if !served[m.Name] && !slices.Contains(absent, m.Name) {
			t.Errorf("the list has %s, and the server does not show it", m.Name)
		}
		delete(served, m.Name)
	}
	for name := range served {
		t.Errorf("the server shows %s, which is not in the list", name)
	}
}

// untilMetrics waits until the metrics have all of some lines, and returns the metrics.
func (r *running) untilMetrics(lines ...string) string {
	r.t.Helper()
	for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(time.Millisecond) {
		_, text := r.get("/metrics")
		missing := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.Contains(text, line+"\n") })
		if len(missing) == 0 {
			return text
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("the metrics have no line\n%s\nin\n%s", strings.Join(missing, "\n"), text)
		}
	}
}
