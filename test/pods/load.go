package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/test/usage"
)

// latencies are in order.
type latencies []time.Duration

// at is the latency that so many percent are not above.
func (l latencies) at(percent int) time.Duration {
	if len(l) == 0 {
		return 0
	}
	return l[min(len(l)*percent/100, len(l)-1)]
}

// answer is what came of a request.
type answer struct {
	status int
	// text is the tool's answer, or the body; told is its JSON.
	text string
	told struct {
		Success        bool
		Code, Approval string
		Error          string
		Replayed       bool
	}
}

// newClient is an agent's client, which keeps its connections.
func newClient() *http.Client {
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute}}
}

// post sends a body to a pod.
func (p *server) post(ctx context.Context, c *http.Client, token, body string) (a answer, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, strings.NewReader(body))
	if err != nil {
		return a, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := c.Do(request)
	if err != nil {
		return a, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return a, err
	}
	a.status, a.text = response.StatusCode, string(text)
	var content struct{ Content []struct{ Text string } }
	if json.Unmarshal(text, &content) == nil && len(content.Content) == 1 {
		a.text = content.Content[0].Text
		_ = json.Unmarshal([]byte(a.text), &a.told) // a text that is no JSON tells nothing
	}
	return a, nil
}

// ping is the body of a request that needs no database.
const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// call is the body of a call of a tool.
func call(tool, arguments string) string {
	return fmt.Sprintf(`{"method":"tools/call","name":%q,"arguments":%s}`, tool, arguments)
}

// nextCall is what an agent asks for in its n-th call: mostly one item, sometimes a page of them, now and then a change. The items are
// scattered over the table.
func nextCall(n int) string {
	id := 1 + n*7919%items
	switch n := n % 10; {
	case n < 7:
		return call("get_item", fmt.Sprintf(`{"id":%d}`, id))
	case n < 9:
		return call("list_item", fmt.Sprintf(`{"filters":{"id__gte":%d},"limit":20,"total":"none"}`, id))
	default:
		return call("update_item", fmt.Sprintf(`{"id":%d,"data":{"stock":%d}}`, id, id%50))
	}
}

// agents ask with a token for a time, each as fast as it gets answers, their calls spread over the pods in turn.
func (s *shop) agents(ctx context.Context, text string, many int, duration time.Duration) (latencies, error) {
	var all latencies
	var failed error
	var mu sync.Mutex
	var working sync.WaitGroup
	var turn atomic.Int64
	end := time.Now().Add(duration)
	for range many {
		working.Go(func() {
			c := newClient()
			defer c.CloseIdleConnections()
			var own latencies
			var err error
			for began := time.Now(); began.Before(end) && ctx.Err() == nil; began = time.Now() {
				var a answer
				next := int(turn.Add(1))
				if a, err = s.pods[next%len(s.pods)].post(ctx, c, text, nextCall(next/len(s.pods))); err == nil && (a.status != http.StatusOK || a.told.Code != "") {
					err = fmt.Errorf("%d %.300s", a.status, a.text)
				}
				if err != nil {
					break
				}
				own = append(own, time.Since(began))
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, own...)
			if err != nil && ctx.Err() == nil {
				failed = err
			}
		})
	}
	working.Wait()
	slices.Sort(all)
	return all, failed
}

// cpu is the CPU time that the pods have used so far.
func (s *shop) cpu() time.Duration {
	var sum time.Duration
	for _, p := range s.pods {
		sum += usage.Of(p.process.PID()).CPU
	}
	return sum
}

// watchConnections counts the connections of the endpoint's pods at the database until it is told to stop, and returns the most.
func (s *shop) watchConnections(ctx context.Context) (stop func() (int, error)) {
	ctx, cancel := context.WithCancel(ctx)
	var most int
	var failed error
	var watching sync.WaitGroup
	watching.Go(func() {
		for ctx.Err() == nil {
			n, err := s.count(context.WithoutCancel(ctx), "SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND backend_type = 'client backend'", database)
			if most = max(most, n); err != nil {
				failed = err
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond): // the rows are a sample
			}
		}
	})
	return func() (int, error) {
		cancel()
		watching.Wait()
		return most, failed
	}
}
