package mcp_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// bookTable is a database of one table whose answers the test gives.
type bookTable struct {
	answer func(ctx context.Context) error
}

func (b bookTable) Introspect(context.Context) (*database.Schema, error) {
	id := &database.Column{Name: "book_id", Kind: database.Integer}
	table := &database.Table{Name: "book", Kind: database.BaseTable, Columns: []*database.Column{id}, PrimaryKey: []*database.Column{id}}
	schema := &database.Schema{Engine: "Test", Tables: []*database.Table{table}}
	return schema.GrantAll(), nil
}

func (b bookTable) Select(ctx context.Context, _ *database.Select, out []byte) ([]byte, database.Page, error) {
	return out, database.Page{}, b.answer(ctx)
}

func (b bookTable) Transact(ctx context.Context, _ func(database.Tx) error) error {
	return b.answer(ctx)
}
func (b bookTable) Report(ctx context.Context, _ *database.Report, out []byte) ([]byte, database.Reported, error) {
	return out, database.Reported{}, b.answer(ctx)
}
func (bookTable) Ping(context.Context) error { return nil }
func (bookTable) Writers() int               { return 1 }
func (bookTable) Close()                     {}

const listBooks = `{"method":"tools/call","name":"list_book","arguments":{}}`

func TestPanicIs500AndTellsNothing(t *testing.T) {
	e := newEndpointOver(t, config(), bookTable{func(context.Context) error { panic("select secret from book") }})
	status, body := e.post(listBooks)
	if status != 500 || body != `{"error":"Internal server error"}` {
		t.Errorf("%d %s", status, body)
	}
	if log := e.log.String(); !strings.Contains(log, "panicked") || !strings.Contains(log, "faults_test.go") || strings.Contains(log, "secret from book") {
		t.Errorf("the log: %s", log)
	}
	if status, _ := e.post(listTools); status != 200 {
		t.Errorf("the next request: %d", status)
	}
}

func TestDatabaseThatIsAwayIsAToolError(t *testing.T) {
	away := &database.Error{Code: database.Unreachable, Reason: contract.ReasonUnreachable, Message: "db:5432 does not answer", Cause: errors.New("dial tcp: refused")}
	e := newEndpointOver(t, config(), bookTable{func(context.Context) error { return away }})
	status, body := e.post(listBooks)
	if status != 200 || result(t, body)["code"] != "unavailable" || strings.Contains(body, "dial tcp") {
		t.Errorf("%d %s", status, body)
	}
	if *e.troubles != 1 {
		t.Errorf("trouble was told %d times", *e.troubles)
	}
}

func TestChangedTableIsTrouble(t *testing.T) {
	changed := &database.Error{Code: database.Changed, Message: "no such table"}
	e := newEndpointOver(t, config(), bookTable{func(context.Context) error { return changed }})
	if status, _ := e.post(listBooks); status != 200 || *e.troubles != 1 {
		t.Errorf("status %d, trouble was told %d times", status, *e.troubles)
	}
}

func TestBusyDatabaseIsNoTrouble(t *testing.T) {
	busy := &database.Error{Code: database.Busy, Message: "all connections are in use"}
	e := newEndpointOver(t, config(), bookTable{func(context.Context) error { return busy }})
	status, body := e.post(listBooks)
	if status != 200 || result(t, body)["code"] != "unavailable" {
		t.Errorf("%d %s", status, body)
	}
	if *e.troubles != 0 {
		t.Error("a look at the schema was asked for, which takes one of the connections that are wanted")
	}
}

func TestTooManyRequestsAtOnce(t *testing.T) {
	c := config()
	c.Endpoint.Limits.MaxConcurrentRequests = 1
	entered, leave := make(chan struct{}), make(chan struct{})
	e := newEndpointOver(t, c, bookTable{func(context.Context) error {
		close(entered)
		<-leave
		return nil
	}})
	first := make(chan int)
	go func() {
		status, _ := e.post(listBooks)
		first <- status
	}()
	<-entered
	response := e.do(request{body: listTools})
	if response.StatusCode != 503 || response.Header.Get("Retry-After") == "" || !strings.HasPrefix(text(response), `{"error":`) {
		t.Errorf("the second request: %d", response.StatusCode)
	}
	if got := e.do(request{body: listTools, header: without("Authorization")}).StatusCode; got != 401 {
		t.Errorf("a request without a token: %d", got)
	}
	close(leave)
	if got := <-first; got != 200 {
		t.Errorf("the first request: %d", got)
	}
	if status, _ := e.post(listTools); status != 200 {
		t.Errorf("a request after that: %d", status)
	}
}

func TestCallEndsWhenTheClientGoesAway(t *testing.T) {
	entered, ended := make(chan struct{}), make(chan error, 1)
	e := newEndpointOver(t, config(), bookTable{func(ctx context.Context) error {
		close(entered)
		select {
		case <-ctx.Done():
			ended <- nil
		case <-time.After(10 * time.Minute):
			ended <- errors.New("the call goes on")
		}
		return &database.Error{Code: database.Cancelled, Message: "cancelled"}
	}})
	server := httptest.NewServer(e)
	ctx, cancel := context.WithCancel(context.Background())
	r, _ := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/mcp/", strings.NewReader(listBooks))
	r.Header.Set("Authorization", "Bearer "+readerToken)
	go func() {
		<-entered
		cancel()
	}()
	if response, err := http.DefaultClient.Do(r); err == nil {
		response.Body.Close()
		t.Error("there was an answer")
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	server.Close() // waits for the handler
	if *e.troubles != 0 {
		t.Error("a client that went away is no trouble of the database's")
	}
}
