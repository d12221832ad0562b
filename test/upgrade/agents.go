package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// late is how long after a revocation a token may be answered.
const late = 10 * time.Second

// agents call a shop all the while, with every living token and with every revoked one.
type agents struct {
	shop *shop
	stop context.CancelFunc
	busy sync.WaitGroup

	mu     sync.Mutex
	living []token
	counts counts
	issued int
}

// counts has the outcomes of the calls.
type counts struct {
	situation string
	// closes reports whether the endpoint may be closed for a moment: calls may fail then, but no living token may be told
	// that it is not valid.
	closes bool
	// sent are the calls with living tokens; writes counts the writes among them.
	sent, writes int
	// refused counts the answers that the token is not valid, failed the calls without an answer or with another
	// problem, writesRefused the writes that were not done.
	refused, failed, writesRefused int
	// revoked is how many tokens were taken away. answered are the calls with them that were answered, answeredLate those
	// after late. slowest is the longest time from a revocation to the last answer.
	revoked, answered, answeredLate int
	slowest                         time.Duration
	// undone are the tokens that did not become Ready, and the changes that the API server refused.
	undone int
	// problem is an example of what went wrong.
	problem string
}

func startAgents(ctx context.Context, situation string, s *shop, living []token) *agents {
	ctx, stop := context.WithCancel(ctx)
	a := &agents{shop: s, stop: stop, living: living, counts: counts{situation: situation}}
	for _, kept := range []bool{true, true, false} {
		a.busy.Go(func() { a.call(ctx, kept, false) })
	}
	a.busy.Go(func() { a.call(ctx, true, true) })
	return a
}

// end stops the calls, and returns what became of them.
func (a *agents) end() counts {
	a.stop()
	a.busy.Wait()
	return a.counts
}

// call calls with a living token, chosen by chance, until the context ends.
func (a *agents) call(ctx context.Context, kept, writes bool) {
	transport := &http.Transport{DisableKeepAlives: !kept}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 10 * time.Second}
	body := `{"method":"tools/call","name":"list_item","arguments":{"limit":1}}`
	if writes {
		body = `{"method":"tools/call","name":"create_item","arguments":{"data":{"name":"lamp"}}}`
	}
	for ; ctx.Err() == nil; pause(ctx, 10*time.Millisecond) {
		a.mu.Lock()
		chosen := a.living[rand.IntN(len(a.living))]
		a.mu.Unlock()
		status, answer := ask(ctx, client, a.shop.url, chosen.text, body)
		if ctx.Err() != nil {
			return
		}
		a.note(chosen, writes, status, answer)
	}
}

// note counts a call with a living token. A token that was revoked meanwhile may be refused.
func (a *agents) note(with token, writes bool, status int, answer string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Contains(a.living, with) {
		return
	}
	a.counts.sent++
	if writes {
		a.counts.writes++
	}
	good := status == http.StatusOK && strings.Contains(answer, "lamp")
	switch {
	case good:
		return
	case status == http.StatusUnauthorized:
		a.counts.refused++
	default:
		a.counts.failed++
	}
	if writes {
		a.counts.writesRefused++
	}
	if a.counts.problem == "" {
		a.counts.problem = fmt.Sprintf("%s, %.1f s after the test began and %.1f s after the token was Ready: %d %.200s",
			with.name, time.Since(began).Seconds(), time.Since(with.ready).Seconds(), status, answer)
	}
}

// churn issues and revokes tokens until the context ends. What cannot be done is noted, and tried again.
func (a *agents) churn(ctx context.Context) {
	for i := 0; ctx.Err() == nil; i++ {
		for _, err := range []error{a.issueOne(ctx), a.revokeOne(ctx, i%2 == 0)} {
			if err != nil {
				a.mu.Lock()
				a.counts.undone++
				a.mu.Unlock()
				a.sayProblem(err.Error())
			}
		}
		pause(ctx, 500*time.Millisecond)
	}
}

// sayProblem keeps the first example of what went wrong.
func (a *agents) sayProblem(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.counts.problem == "" {
		a.counts.problem = text
	}
}

// issueOne makes a token, with which is called from the moment it is Ready.
func (a *agents) issueOne(ctx context.Context) error {
	a.mu.Lock()
	a.issued++
	name := fmt.Sprintf("%s-%d", strings.ToLower(strings.Fields(a.counts.situation)[0]), a.issued)
	a.mu.Unlock()
	made, err := a.shop.issue(context.WithoutCancel(ctx), name)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.living = append(a.living, made...)
	return nil
}

// revokeOne revokes the newest token, but for the last one. It is called on and on with it.
func (a *agents) revokeOne(ctx context.Context, inactive bool) error {
	a.mu.Lock()
	if len(a.living) == 1 {
		a.mu.Unlock()
		return nil
	}
	chosen := a.living[len(a.living)-1]
	a.living = a.living[:len(a.living)-1]
	a.counts.revoked++
	a.mu.Unlock()
	if err := a.shop.revoke(context.WithoutCancel(ctx), chosen.name, inactive); err != nil {
		return err
	}
	a.busy.Go(func() { a.pester(time.Now(), chosen) })
	return nil
}

// pester calls with a revoked token, until it was refused for a while or the time for that is over.
func (a *agents) pester(revoked time.Time, with token) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}
	ctx := context.Background()
	for ; time.Since(revoked) < late+2*time.Second; pause(ctx, 100*time.Millisecond) {
		status, _ := ask(ctx, client, a.shop.url, with.text, `{"method":"tools/list"}`)
		if status != http.StatusOK {
			continue
		}
		after := time.Since(revoked)
		a.mu.Lock()
		a.counts.answered++
		a.counts.slowest = max(a.counts.slowest, after)
		if after > late {
			a.counts.answeredLate++
		}
		a.mu.Unlock()
	}
}

// ask sends one request. Status 0 is a request without an answer; then the text says why.
func ask(ctx context.Context, client *http.Client, url, token, body string) (int, string) {
	// A body that can be read once keeps the client from sending the request again behind our back.
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, io.NopCloser(strings.NewReader(body)))
	if err != nil {
		return 0, err.Error()
	}
	request.ContentLength = int64(len(body))
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := client.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(answer)
}
