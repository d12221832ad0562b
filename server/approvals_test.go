package server_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// holding is a Config whose changes wait for people; nothing of the rows is shown in the cluster.
func holding(change func(*contract.ApprovalPolicy)) *contract.Config {
	c := config(1)
	c.Endpoint.Idempotency = &contract.AuditTable{Name: "kept"}
	c.Endpoint.Approvals = []contract.ApprovalPolicy{{Name: "all", MinApprovals: 1, ExpiresAfter: contract.Duration(time.Hour), Show: contract.ShowCounts, Sum: "1"}}
	change(&c.Endpoint.Approvals[0])
	c.Tokens[0].Rules[0].Verbs = []string{"*"}
	return c
}

const rename = `{"method":"tools/call","name":"update_book","arguments":{"id":1,"data":{"title":"Changed"}}}`

// waits has a call wait, and returns its approval.
func (r *running) waits() string {
	r.t.Helper()
	r.untilReady()
	if _, answer := r.post(rename); !strings.Contains(answer, "approval_required") {
		r.t.Fatalf("the call does not wait: %s", answer)
	}
	var page contract.ApprovalPage
	_, body := r.get("/approvals")
	if err := json.Unmarshal([]byte(body), &page); err != nil || len(page.Approvals) != 1 {
		r.t.Fatalf("%s: %v", body, err)
	}
	return page.Approvals[0].Name
}

// Who reaches the admin port in the cluster sees no values: only who comes from the pod's own localhost, as port-forward does.
func TestValuesAreShownToWhoComesFromWithinThePod(t *testing.T) {
	var outside string
	for _, pod := range []bool{true, false} {
		r := start(t, func(s *server.Server, _ *running) {
			s.InPod = pod
			if l := listenOutside(t); l != nil {
				s.Admin, outside = append(s.Admin, l), "http://"+l.Addr().String()
			}
		})
		r.apply(source.Update{Config: holding(func(*contract.ApprovalPolicy) {})})
		name := r.waits()
		path := "/approvals/" + name + "/values"
		within := map[bool]int{true: http.StatusOK, false: http.StatusUnauthorized}[pod]
		for what, c := range map[string]struct {
			url, host, bearer string
			header            string
			want              int
		}{
			"from within":                     {url: r.admin + path, want: within},
			"of no such call":                 {url: r.admin + "/approvals/another/values", want: map[bool]int{true: http.StatusNotFound, false: http.StatusUnauthorized}[pod]},
			"with the key":                    {url: r.admin + path, bearer: statusKey, want: http.StatusOK},
			"through a proxy in the pod":      {url: r.admin + path, header: "X-Forwarded-For", want: http.StatusUnauthorized},
			"from a site in somebody's tab":   {url: r.admin + path, host: "evil.example", want: http.StatusUnauthorized},
			"from elsewhere":                  {url: outside + path, want: http.StatusUnauthorized},
			"from elsewhere, as if to within": {url: outside + path, host: "127.0.0.1:8081", want: http.StatusUnauthorized},
			"from elsewhere, with the key":    {url: outside + path, bearer: statusKey, want: http.StatusOK},
		} {
			if strings.HasPrefix(c.url, "/") {
				continue // the machine has no other address
			}
			request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, c.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = c.host
			if c.bearer != "" {
				request.Header.Set("Authorization", "Bearer "+c.bearer)
			}
			if c.header != "" {
				request.Header.Set(c.header, "10.1.2.3")
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			var values contract.ApprovalValues
			_ = json.NewDecoder(response.Body).Decode(&values)
			_ = response.Body.Close()
			if shown := len(values.Changes) == 1 && string(values.Changes[0].After["title"]) == `"Changed"`; response.StatusCode != c.want || shown != (c.want == http.StatusOK) {
				t.Errorf("in a pod %v, %s: %d, want %d, %+v", pod, what, response.StatusCode, c.want, values)
			}
		}
		if _, body := r.get("/approvals"); strings.Contains(body, "Changed") {
			t.Errorf("the manager is told %s", body)
		}
	}
}

// listenOutside listens at an address of the machine that is no loopback; nil if it has none.
func listenOutside(t *testing.T) net.Listener {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		if ip, ok := address.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() && ip.IP.To4() != nil {
			if l, err := net.Listen("tcp", net.JoinHostPort(ip.IP.String(), "0")); err == nil {
				return l
			}
		}
	}
	return nil
}

// A webhook that fails holds nothing up, is told by the status, and gets the event once it works.
func TestAWebhookThatFailsGetsItsEventLater(t *testing.T) {
	var broken atomic.Bool
	broken.Store(true)
	events := make(chan string, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		events <- r.Header.Get("Content-Type") + " " + r.Header.Get("X-Key")
	}))
	defer hook.Close()
	r := start(t, func(s *server.Server, _ *running) { s.LocalWebhooks = true })
	r.apply(source.Update{Config: holding(func(p *contract.ApprovalPolicy) {
		p.Notify = &contract.ApprovalNotify{States: []string{contract.ApprovalWaiting},
			Webhook: contract.Webhook{URL: hook.URL, Timeout: contract.Duration(time.Minute), Headers: map[string]string{"X-Key": "hush"}}}
	})})
	r.waits()
	const problem = "the webhook of the approval policy all answered 503"
	r.until("the webhook fails", func(s contract.Status) bool { return s.NotifyProblem == problem })
	broken.Store(false)
	if got := <-events; got != "application/cloudevents+json hush" {
		t.Errorf("got %s", got)
	}
	r.until("the webhook was told", func(s contract.Status) bool { return s.NotifyProblem == "" })
	if _, metrics := r.get("/metrics"); !strings.Contains(metrics, `mcp_admin_approval_events_total{outcome="sent"} 1`) || !strings.Contains(metrics, `mcp_admin_approval_events_total{outcome="lost"} 0`) {
		t.Errorf("the event is not counted once:\n%s", metrics)
	}
}
