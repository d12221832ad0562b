package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// rated is a Config with a rate of that many calls a second.
func rated(perSecond int) *contract.Config {
	c := config()
	c.Endpoint.Limits.RequestsPerSecondPerToken = perSecond
	return c
}

func TestCallsOverTheRateAreToldWhenToComeBack(t *testing.T) {
	e := newEndpoint(t, rated(2))
	for range 2 {
		if status, body := e.post(listBooks); status != 200 || strings.Contains(body, "isError") {
			t.Fatalf("within the rate: %d %s", status, body)
		}
	}
	for _, c := range []struct {
		name string
		request
		status     int
		retryAfter string
		want       string
	}{
		{"a call", request{body: listBooks}, 200, "",
			`{"content":[{"type":"text","text":"{\"error\":\"too many calls: this token may call again in 500 ms\",\"code\":\"rate_limited\",\"retry_after_ms\":500}"}],"isError":true}`},
		{"a call, JSON-RPC", rpc("tools/call", `{"name":"list_book"}`), 200, "", `{"jsonrpc":"2.0","id":1,"result":{"content":[…\"code\":\"rate_limited\",\"retry_after_ms\":500}"}],"isError":true}}`},
		{"a call of many", request{body: `{"method":"tools/call","name":"action_book","arguments":{"ids":[1,2,3]}}`}, 200, "", `{…\"retry_after_ms\":1000}"}],"isError":true}`},
		{"a list", request{body: listTools}, 429, "1", `{"error":"too many calls: this token may call again in 500 ms"}`},
		{"a list, JSON-RPC", rpc("tools/list", ""), 429, "1",
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"too many calls: this token may call again in 500 ms","data":{"retry_after_ms":500}}}`},
		{"a notification", request{body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`}, 202, "", ``},
		{"a batch", request{body: `[` + rpc("tools/list", "").body + `,{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_book"}}]`}, 200, "",
			`[{"jsonrpc":"2.0","id":1,"error":{"code":-32000,…},{"jsonrpc":"2.0","id":2,"result":{…rate_limited…}}]`},
		{"another token", request{body: listTools, header: header("Authorization", "Bearer "+limitedToken)}, 200, "", `{"tools":[…]}`},
		{"no token", request{body: listTools, header: without("Authorization")}, 401, "", `{…}`},
		{"health", request{method: http.MethodGet, path: "/mcp/health"}, 200, "", `{…}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			response := e.do(c.request)
			if got := text(response); response.StatusCode != c.status || response.Header.Get("Retry-After") != c.retryAfter || !like(got, c.want) {
				t.Errorf("%d, Retry-After %q, %s\nwant %d, %q, %s", response.StatusCode, response.Header.Get("Retry-After"), got, c.status, c.retryAfter, c.want)
			}
		})
	}
}

// A client may keep one connection, so that all its calls come to one pod: a pod that has no more of the token's rate sends it on.
func TestAConnectionIsClosedWhenThisPodsShareOfTheRateIsUsedUp(t *testing.T) {
	for _, pods := range []int{1, 3} {
		c := rated(6)
		c.Pods.Answering = pods
		e := newEndpoint(t, c)
		for n := range 6 / pods {
			response := e.do(request{body: listBooks})
			if body := text(response); strings.Contains(body, "isError") || response.Header.Get("Connection") != "" {
				t.Fatalf("%d pods, call %d: %s, Connection %q", pods, n, body, response.Header.Get("Connection"))
			}
		}
		response := e.do(request{body: listBooks})
		closes := response.Header.Get("Connection") == "close"
		if body := text(response); !strings.Contains(body, "rate_limited") || closes != (pods > 1) {
			t.Errorf("%d pods: %s, closed: %t", pods, body, closes)
		}
	}
}

func TestBatchesAndBulkCountWhatTheyHold(t *testing.T) {
	for _, c := range []struct {
		name, body string
		// left is how many calls out of ten may follow.
		left int
	}{
		{"one call", listBooks, 9},
		{"a batch of three", `[` + strings.Repeat(rpc("ping", "").body+",", 2) + rpc("ping", "").body + `]`, 7},
		{"a bulk of four", `{"method":"tools/call","name":"bulk_book","arguments":{"operation":"delete","items":[1,2,3,4]}}`, 6},
		{"an action on five", `{"method":"tools/call","name":"action_book","arguments":{"action":"x","ids":[1,2,3,4,5]}}`, 5},
		{"a bulk of nothing", `{"method":"tools/call","name":"bulk_book","arguments":{"items":[]}}`, 9},
		{"a bulk of nonsense", `{"method":"tools/call","name":"bulk_book","arguments":{"items":7}}`, 9},
		{"ids of another tool", `{"method":"tools/call","name":"list_book","arguments":{"ids":[1,2,3]}}`, 9},
		{"what is larger than a second's worth", `{"method":"tools/call","name":"action_book","arguments":{"ids":[1,2,3,4,5,6,7,8,9,10,11,12]}}`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEndpoint(t, rated(10))
			if status, body := e.post(c.body); status != 200 || strings.Contains(body, "rate_limited") {
				t.Fatalf("%d %s", status, body)
			}
			for i := range c.left {
				if status, body := e.post(listTools); status != 200 {
					t.Fatalf("call %d after it: %d %s", i+1, status, body)
				}
			}
			if status, _ := e.post(listTools); status != http.StatusTooManyRequests {
				t.Errorf("more than %d calls may follow: %d", c.left, status)
			}
		})
	}
}

func TestAChangedConfigFillsNoBucket(t *testing.T) {
	e := newEndpoint(t, rated(1))
	if status, _ := e.post(listTools); status != 200 {
		t.Fatalf("got the status %d, want %d", status, 200)
	}
	e.change(rated(1))
	if status, _ := e.post(listTools); status != http.StatusTooManyRequests {
		t.Errorf("after a new Config: %d", status)
	}
	e.change(config())
	if status, _ := e.post(listTools); status != 200 {
		t.Errorf("without a rate: %d", status)
	}
}

func TestARevokedTokenEndsItsBatch(t *testing.T) {
	var e *endpoint
	calls := 0
	e = newEndpointOver(t, config(), bookTable{func(context.Context) error {
		calls++
		c := config()
		c.Tokens = c.Tokens[:2] // the last is the reader's
		e.change(c)
		return nil
	}})
	call := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"list_book"}}`
	}
	response := e.do(request{body: `[` + call("1") + `,` + call(`"b"`) + `,{"jsonrpc":"2.0","method":"notifications/x"},7,` + call("3") + `]`})
	const refused = `"error":{"code":-32000,"message":"Invalid or missing authentication token"}}`
	want := `[{"jsonrpc":"2.0","id":1,"result":{…}},{"jsonrpc":"2.0","id":"b",` + refused + `,{"jsonrpc":"2.0","id":null,` + refused + `,{"jsonrpc":"2.0","id":3,` + refused + `]`
	if got := text(response); response.StatusCode != 200 || !like(got, want) {
		t.Errorf("%d %s\nwant %s", response.StatusCode, got, want)
	}
	if calls != 1 {
		t.Errorf("%d calls were made", calls)
	}
}

func TestABatchWhoseAnswersAreTooLargeIsNotPerformedToItsEnd(t *testing.T) {
	c := config()
	c.Endpoint.Limits.MaxBodyBytes = 16 << 20
	calls := 0
	e := newEndpointOver(t, c, bookTable{func(context.Context) error { calls++; return nil }})
	call := `{"jsonrpc":"2.0","id":"%s","method":"tools/call","params":{"name":"list_book"}}`
	ping := fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s","method":"ping"}`, strings.Repeat("x", 256<<10)) // its place comes back
	body := `[` + fmt.Sprintf(call, "first") + strings.Repeat(","+ping, 40) + `,` + fmt.Sprintf(call, "last") + `,{"jsonrpc":"2.0","method":"notifications/x"}]`
	status, answer := e.post(body)
	const want = `,{"jsonrpc":"2.0","id":"last","error":{"code":-32000,"message":"Not performed: the answers of this batch are too large; send the rest in another"}}]`
	if status != 200 || calls != 1 || !strings.HasSuffix(answer, want) {
		t.Errorf("%d, %d calls, and at the end %s", status, calls, answer[max(0, len(answer)-2*len(want)):])
	}
}

// trickle is a body that has arrived in part. The rest comes when the test releases it.
type trickle struct {
	started, leave chan struct{}
	once           bool
}

func (b *trickle) Read(p []byte) (int, error) {
	if b.once {
		return strings.NewReader("").Read(p)
	}
	b.once = true
	close(b.started)
	<-b.leave
	return copy(p, listTools), nil
}

func TestSlowBodiesAreInNobodysWayButTheirTokens(t *testing.T) {
	e := newEndpoint(t, config())
	// Memory for two bodies of a token at once: a quarter of an eighth, at 64 KiB and the overhead of each request.
	e.Handler = e.withMemory(4 * 8 * 2 * (96 << 10))
	leave := make(chan struct{})
	answered := make(chan int, 2)
	for range 2 {
		body := &trickle{started: make(chan struct{}), leave: leave}
		go func() {
			r := httptest.NewRequest(http.MethodPost, "/mcp/", body)
			r.ContentLength = 60 << 10
			r.Header.Set("Authorization", "Bearer "+readerToken)
			recorder := httptest.NewRecorder()
			e.ServeHTTP(recorder, r)
			answered <- recorder.Code
		}()
		<-body.started
	}
	for _, c := range []struct {
		name, token string
		status      int
	}{
		{"the same token", readerToken, 503},
		{"another token", limitedToken, 200},
	} {
		if got := e.do(request{body: listTools + strings.Repeat(" ", 60<<10), header: header("Authorization", "Bearer "+c.token)}); got.StatusCode != c.status {
			t.Errorf("%s: %d, want %d", c.name, got.StatusCode, c.status)
		}
	}
	close(leave)
	for range 2 {
		select {
		case status := <-answered:
			if status != 200 {
				t.Errorf("a body that came slowly: %d", status)
			}
		case <-time.After(10 * time.Minute):
			t.Fatal("a body that came slowly is not answered")
		}
	}
	if status, _ := e.post(listTools); status != 200 {
		t.Errorf("after them: %d", status)
	}
}
