package main

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// survive asks the endpoint whose other issuers misbehave, and floods one that behaves with key ids that do not exist.
func survive(ctx context.Context, w *world, r *report) error {
	r.part("Issuers that misbehave: their tokens are refused, and nobody waits for them but their callers")
	worker, err := w.company.token(ctx, "worker", w.doubtful.url())
	if err != nil {
		return err
	}
	if _, err := w.settle(ctx, w.doubtful, worker); err != nil {
		return err
	}
	j, err := newJudge(ctx, w.doubtful)
	if err != nil {
		return err
	}
	good, err := w.doubtful.who(ctx, w.hostile.token(behaving, w.doubtful.url()))
	r.in("behaves: the same issuer, which answers as it should", "as MCPToken "+good, unexpected(good, "of-"+behaving, err))
	var longest time.Duration
	slowest := w.askMeanwhile(ctx, worker, func() {
		for _, m := range misbehaviours {
			took := j.judge(ctx, r, fmt.Sprintf("%s: %s", m.name, m.does), w.hostile.token(m.name, w.doubtful.url()), "")
			longest = max(longest, took)
		}
	})
	problem := ""
	if timed() && longest > callerPatience {
		problem = "one took " + longest.String()
	}
	r.holds("these refusals were answered in time", fmt.Sprintf("the slowest within %s", longest.Round(time.Millisecond)), problem)
	problem = ""
	if slowest >= time.Minute || timed() && slowest > 4*time.Second {
		problem = "one answer took " + slowest.String()
	}
	r.in("a caller of the company meanwhile", fmt.Sprintf("within %s", slowest.Round(time.Millisecond)), problem)
	problem = ""
	if n := w.hostile.trapped.Load(); n > 0 {
		problem = fmt.Sprintf("%d times", n)
	}
	r.holds("addresses that tokens name, and keys at an http address, are never called", "", problem)
	r.note("condition AuthenticationReady", w.condition(ctx, "mcpendpoint/doubtful", "AuthenticationReady"))
	return flood(ctx, w, r)
}

// callerPatience is how long the caller of an issuer that misbehaves may wait for a 401.
const callerPatience = 12 * time.Second

// askMeanwhile asks with a good token all the time while something is done, and returns how long the slowest answer took;
// a refusal counts as a minute.
func (w *world) askMeanwhile(ctx context.Context, token string, do func()) (slowest time.Duration) {
	done := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() {
		for {
			began := time.Now()
			status := w.doubtful.status(ctx, token)
			took := time.Since(began)
			if status != 200 {
				took = time.Minute
			}
			slowest = max(slowest, took)
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	do()
	close(done)
	asking.Wait()
	return slowest
}

// flooding is how many tokens with key ids that do not exist are sent.
const flooding = 1000

// flood counts how often the company is asked for keys meanwhile.
func flood(ctx context.Context, w *world, r *report) error {
	worker, err := w.company.token(ctx, "worker", w.shop.url())
	if err != nil {
		return err
	}
	m, err := mintOf(w.company.signer, worker, "", "")
	if err != nil {
		return err
	}
	another, err := newSigner("ES256", "")
	if err != nil {
		return err
	}
	before, began, wrong := w.company.asked(), time.Now(), 0
	for i := range flooding {
		token := another.signWith(object{"alg": "RS256", "kid": fmt.Sprint("unknown-", i)}, m.claims)
		if w.shop.status(ctx, token) != 401 {
			wrong++
		}
	}
	took, asked := time.Since(began), w.company.asked()-before
	problem := ""
	// A refresh asks for the configuration and for the keys.
	if limit := 2 * (1 + int(took/(30*time.Second))); asked > limit || wrong > 0 {
		problem = fmt.Sprintf("the issuer was asked %d times in %s; %d were not refused", asked, took, wrong)
	}
	r.out401(fmt.Sprintf("%d tokens, each with a key id of its own that does not exist", flooding),
		fmt.Sprintf("in %.1f s; the issuer was asked %d times", took.Seconds(), asked), problem)
	return nil
}
