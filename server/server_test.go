package server_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

const (
	listTools = `{"method":"tools/list"}`
	listBooks = `{"method":"tools/call","name":"list_book","arguments":{}}`
)

func TestServerAnswersFromConfigAndDatabase(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	if status, _ := r.get("/healthz"); status != 200 {
		t.Errorf("/healthz before there is a Config: %d", status)
	}
	if status, answer := r.get("/readyz"); status != 503 || !strings.Contains(answer, "no Config") {
		t.Errorf("/readyz before there is a Config: %d %s", status, answer)
	}
	if status, answer := r.do("GET", r.endpoint+"/mcp/health", "", ""); status != 200 || !strings.Contains(answer, `"status":"ok"`) {
		t.Errorf("health before there is a Config: %d %s", status, answer)
	}
	if status, _ := r.post(listTools); status != 503 {
		t.Errorf("the endpoint before there is a Config: %d", status)
	}
	r.apply(source.Update{Config: config(1)})
	r.untilReady()
	if status, _ := r.get("/readyz"); status != 200 {
		t.Errorf("/readyz: %d", status)
	}
	if status, answer := r.post(listBooks); status != 200 || !strings.Contains(answer, "Solaris") {
		t.Errorf("%d %s", status, answer)
	}
	s := r.status("", "")
	if s.Revision != 1 || s.Database.Reason != contract.ReasonConnected || s.Database.Engine != "SQLite" || len(s.Models) != 1 || !s.Models[0].Served() {
		t.Errorf("the status is %+v", s)
	}
}

func TestDatabaseThatComesLate(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	r.away.Store(true)
	r.apply(source.Update{Config: config(1)})
	s := r.until("unreachable", func(s contract.Status) bool { return s.Database.Reason == contract.ReasonUnreachable })
	if s.Ready || s.Revision != 1 || s.Database.Message != errAway.Message || s.Models[0].Reason != contract.ReasonSchemaUnknown {
		t.Errorf("the status is %+v", s)
	}
	if status, answer := r.get("/readyz"); status != 503 || !strings.Contains(answer, contract.ReasonUnreachable) {
		t.Errorf("/readyz: %d %s", status, answer)
	}
	if status, answer := r.post(listBooks); status != 200 || !strings.Contains(answer, "unavailable") {
		t.Errorf("a call: %d %s", status, answer)
	}
	// Access does not wait for the database.
	r.apply(source.Update{Config: revoked(2)})
	if status, _ := r.post(listTools); status != 401 {
		t.Errorf("a revoked token: %d", status)
	}
	r.apply(source.Update{Config: config(3)})
	r.away.Store(false)
	r.untilReady()
	if status, answer := r.post(listBooks); status != 200 || !strings.Contains(answer, "Solaris") {
		t.Errorf("a call: %d %s", status, answer)
	}
}

func TestDatabaseThatGoesAwayAndComesBack(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	r.apply(source.Update{Config: config(1)})
	r.untilReady()
	r.away.Store(true)
	if status, answer := r.post(listBooks); status != 200 || !strings.Contains(answer, "unavailable") {
		t.Errorf("a call: %d %s", status, answer)
	}
	// The call has told the server, which looks at once.
	s := r.until("unreachable", func(s contract.Status) bool { return s.Database.Reason == contract.ReasonUnreachable })
	if !s.Ready || !s.Models[0].Served() || s.Database.Engine != "SQLite" {
		t.Errorf("the status is %+v", s)
	}
	if status, _ := r.get("/readyz"); status != 200 {
		t.Errorf("/readyz while the database is away: %d", status)
	}
	if status, answer := r.post(listTools); status != 200 || !strings.Contains(answer, "list_book") {
		t.Errorf("the tools while the database is away: %d %s", status, answer)
	}
	r.away.Store(false)
	r.until("connected", func(s contract.Status) bool { return s.Database.Reason == contract.ReasonConnected })
	if status, answer := r.post(listBooks); status != 200 || !strings.Contains(answer, "Solaris") {
		t.Errorf("a call: %d %s", status, answer)
	}
}

func TestAFileThatIsMovedAwayAndComesBack(t *testing.T) {
	t.Parallel()
	path := ""
	r := start(t, func(s *server.Server, _ *running) { path = s.SQLiteFile })
	r.apply(source.Update{Config: config(1)})
	r.untilReady()
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	r.get("/status?look=now")
	s := r.until("unreachable", func(s contract.Status) bool { return s.Database.Reason == contract.ReasonUnreachable })
	if !strings.Contains(s.Database.Message, "it is gone") {
		t.Errorf("the status is %+v", s.Database)
	}
	if status, answer := r.post(listBooks); status != 200 || !strings.Contains(answer, "unavailable") {
		t.Errorf("a call: %d %s", status, answer)
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	r.get("/status?look=now")
	r.until("connected", func(s contract.Status) bool { return s.Database.Reason == contract.ReasonConnected })
	if status, answer := r.post(listBooks); status != 200 || !strings.Contains(answer, "Solaris") {
		t.Errorf("a call: %d %s", status, answer)
	}
}

func TestARequestToLookIsHeededAtOnce(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	r.apply(source.Update{Config: config(1)})
	r.untilReady()
	r.away.Store(true)
	r.get("/status?look=now")
	r.until("unreachable", func(s contract.Status) bool { return s.Database.Reason == contract.ReasonUnreachable })
}

func TestRefusedConfigIsTold(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	r.apply(source.Update{Config: config(1)})
	r.untilReady()
	r.apply(source.Update{Config: config(1), Refused: &contract.Refusal{Revision: 2, Message: "it is broken"}})
	s := r.status("", "")
	if s.Revision != 1 || s.Refused == nil || s.Refused.Revision != 2 || s.Refused.Message != "it is broken" {
		t.Errorf("the status is %+v", s)
	}
	if status, _ := r.post(listTools); status != 200 {
		t.Errorf("the endpoint: %d", status)
	}
}

func TestConfigThatIsGoneClosesTheEndpoint(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	r.apply(source.Update{Config: config(1)})
	r.untilReady()
	r.apply(source.Update{})
	if status, _ := r.post(listTools); status != 503 {
		t.Errorf("the endpoint: %d", status)
	}
	if s := r.status("", ""); s.Serial == "" || s.Revision != 0 || !s.Ready {
		t.Errorf("the status is %+v", s)
	}
	r.apply(source.Update{Config: config(2)})
	if status, answer := r.post(listBooks); status != 200 || !strings.Contains(answer, "Solaris") {
		t.Errorf("opened again, with the schema that is known: %d %s", status, answer)
	}
}

func TestDatabaseIsOpenedAnewWhenItIsAnother(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	c := config(1)
	c.Endpoint.Database.Engine = ""
	secret := func(host, password string) source.Secret {
		return source.Secret{"host": []byte(host), "dbname": []byte("shop"), "user": []byte("agent"), "password": []byte(password)}
	}
	r.apply(source.Update{Config: c})
	first, _ := r.newest()
	if first.engine != contract.EnginePostgreSQL || first.settings.Engine != contract.EnginePostgreSQL {
		t.Errorf("the engine is %q, in the settings %q", first.engine, first.settings.Engine)
	}
	if _, err := first.settings.Connection(); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("a Secret that does not exist: %v", err)
	}

	r.apply(source.Update{Config: c, Connection: secret("one.example.com", "old")})
	second, count := r.newest()
	if count != 2 {
		t.Fatalf("opened %d times", count)
	}
	r.untilReady()

	// Another password is tried at once with connections of its own, which take the place of those from before.
	r.apply(source.Update{Config: c, Connection: secret("one.example.com", "new")})
	for deadline := time.Now().Add(10 * time.Minute); !second.db.closed.Load(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the new password was not tried")
		}
	}
	third, count := r.newest()
	if connection, err := third.settings.Connection(); count != 3 || err != nil || connection.Password != "new" {
		t.Errorf("opened %d times; the password is not the new one (%v)", count, err)
	}

	// Another host is another database.
	r.apply(source.Update{Config: c, Connection: secret("two.example.com", "new")})
	if fourth, count := r.newest(); count != 4 || fourth.db == third.db {
		t.Errorf("opened %d times", count)
	}
	r.stop()
	if err := <-r.done; err != nil {
		t.Error(err)
	}
	r.done <- nil // for the clean-up
	for i, o := range r.opened {
		if !o.db.closed.Load() {
			t.Errorf("database %d is still open", i)
		}
	}
}

func TestSettingsThatCannotWorkAreTold(t *testing.T) {
	t.Parallel()
	r := start(t, func(s *server.Server, _ *running) { s.SQLiteFile, s.OpenDatabase = "", nil })
	r.apply(source.Update{Config: config(1)})
	s := r.until("looked at", func(s contract.Status) bool { return s.Database.Reason != contract.ReasonConnecting })
	if s.Ready || s.Database.Reason != contract.ReasonDatabaseError || !strings.Contains(s.Database.Message, "SQLite file") {
		t.Errorf("a SQLite database without a file: %+v", s)
	}

	c := config(2)
	c.Endpoint.Database.Engine = contract.EnginePostgreSQL
	r.apply(source.Update{Config: c})
	r.until("told of the Secret", func(s contract.Status) bool { return s.Database.Reason == contract.ReasonSecretIncomplete })
}

func TestCAIsReadFromTheNewestSecret(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	c := config(1)
	c.Endpoint.Database.Engine, c.Endpoint.Database.CAKey = contract.EnginePostgreSQL, "ca.crt"
	r.apply(source.Update{Config: c})
	first, _ := r.newest()
	if _, err := first.settings.CA(); database.AsError(err).Reason != contract.ReasonTLSFailed {
		t.Errorf("a CA Secret that does not exist: %v", err)
	}
	r.apply(source.Update{Config: c, CA: source.Secret{"ca.crt": []byte("pem")}})
	for deadline := time.Now().Add(10 * time.Minute); !first.db.closed.Load(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the new CA was not tried")
		}
	}
	newest, _ := r.newest()
	if pem, err := newest.settings.CA(); err != nil || string(pem) != "pem" {
		t.Errorf("%q, %v", pem, err)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	c := config(7)
	c.Tokens[0].Expiry = new(time.Unix(4102444800, 0))
	r.apply(source.Update{Config: c})
	r.untilReady()
	r.post(listBooks)
	r.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_book","arguments":{"id":99}}}`)
	r.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whatever_` + token + `"}}`)
	r.post(`{"jsonrpc":"2.0","id":1,"method":"` + token + `"}`)
	r.do("POST", r.endpoint+"/mcp/", "no-token", listTools)
	status, answer := r.get("/metrics")
	if status != 200 {
		t.Fatalf("/metrics: %d", status)
	}
	for _, line := range []string{
		`mcp_admin_config_revision 7`,
		`mcp_admin_config_refused 0`,
		`mcp_admin_database_up 1`,
		`mcp_admin_places_used{place="requests"} 0`,
		`mcp_admin_places_limit{place="requests"} 10`,
		`mcp_admin_requests_total{form="simple",method="tools/call",status="2xx"} 1`,
		`mcp_admin_requests_total{form="jsonrpc",method="tools/call",status="2xx"} 2`,
		`mcp_admin_requests_total{form="jsonrpc",method="other",status="2xx"} 1`,
		`mcp_admin_requests_total{form="none",method="none",status="4xx"} 1`,
		`mcp_server_operation_duration_seconds_count{error_type="",mcp_method_name="tools/call",model="",operation="list"} 1`,
		`mcp_server_operation_duration_seconds_count{error_type="not_found",mcp_method_name="tools/call",model="",operation="get"} 1`,
		`mcp_server_operation_duration_seconds_count{error_type="not_found",mcp_method_name="tools/call",model="",operation="other"} 1`,
		`mcp_server_operation_duration_seconds_count{error_type="-32601",mcp_method_name="other",model="",operation=""} 1`,
		`mcp_admin_rows_answered_total{mcp_method_name="tools/call",operation="list"} 2`,
		`mcp_admin_request_duration_seconds_count{method="tools/call"} 3`,
		`mcp_admin_tokens_in_force 1`,
		`mcp_admin_tokens_expiring{lifetime="long",within="30d"} 0`,
		`mcp_admin_database_connections_limit{pool="primary"} 2`,
		`mcp_admin_database_connections_limit{pool="writer"} 1`,
		`mcp_admin_idempotency_problem 0`,
		`mcp_admin_audit_lines_lost_total{reason="export_failed"} 0`,
	} {
		if !strings.Contains(answer, line+"\n") {
			t.Errorf("there is no line %s", line)
		}
	}
	if strings.Contains(answer, token) {
		t.Error("what a request said stands in the metrics")
	}
}

// slow is a database whose reads take until they are let go.
type slow struct {
	database.DB
	entered chan struct{}
	leave   chan struct{}
}

func (s slow) Select(ctx context.Context, plan *database.Select, out []byte) ([]byte, database.Page, error) {
	close(s.entered)
	<-s.leave
	return s.DB.Select(ctx, plan, out)
}

func TestRequestsUnderWayAreAnsweredAtTheEnd(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	r := start(t, func(s *server.Server, _ *running) {
		open := s.OpenDatabase
		s.OpenDatabase = func(engine string, settings database.Settings) database.DB {
			return slow{open(engine, settings), entered, leave}
		}
		s.DrainDelay = 3 * time.Second
	})
	r.apply(source.Update{Config: config(1)})
	r.untilReady()
	answered := make(chan string, 1)
	go func() {
		_, answer := r.post(listBooks)
		answered <- answer
	}()
	<-entered
	r.stop()
	status, answer := r.get("/readyz")
	for deadline := time.Now().Add(10 * time.Minute); status == 200 && time.Now().Before(deadline); status, answer = r.get("/readyz") {
		time.Sleep(time.Millisecond)
	}
	if status != 503 || !strings.Contains(answer, "ending") {
		t.Errorf("/readyz while it ends: %d %s", status, answer)
	}
	if status, _ := r.post(listTools); status != 200 {
		t.Errorf("a request in the drain delay: %d", status)
	}
	for deadline := time.Now().Add(10 * time.Minute); status != 0; status, _ = r.post(listTools) {
		if time.Now().After(deadline) {
			t.Fatalf("a request after the drain delay: %d", status)
		}
		time.Sleep(10 * time.Millisecond)
	}
	close(leave)
	if answer := <-answered; !strings.Contains(answer, "Solaris") {
		t.Errorf("the request that was under way: %s", answer)
	}
}
