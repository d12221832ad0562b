package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// result is what was measured with some pods.
type result struct {
	pods int
	// perSecond are requests a second, perCPU those for each second of the pods' CPU time.
	perSecond, perCPU float64
	load              latencies
	// connections are the most that there were at once under load, growing those while pods came.
	connections, growing int
	// keys were used on all pods at once, twice is how many of their calls happened more than once.
	keys, twice int
	// spread and sticky are what a token got of its rate, of 1: over all pods, and over one connection.
	spread, sticky float64
	revoked        latencies
	// alone and beside are a quiet token's, without and with a noisy one.
	alone, beside latencies
}

// agentsAtOnce ask in the load; noisyAtOnce are those of the noisy token.
const (
	agentsAtOnce = 16
	noisyAtOnce  = 64
	keysAtOnce   = 50
	rateOfTokens = 40
)

func (s *shop) measure(ctx context.Context, n int, o options) (*result, error) {
	r := &result{pods: n}
	steps := []func(context.Context, *result, options) error{s.measureGrowth, s.measureLoad, s.measureNoise, s.measureKeys, s.measureRate, s.measureRevocations}
	for _, step := range steps {
		if err := step(ctx, r, o); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// measureGrowth has pods come while agents ask.
func (s *shop) measureGrowth(ctx context.Context, r *result, o options) error {
	if len(s.pods) == 0 {
		return s.scale(ctx, r.pods)
	}
	t, err := s.issue(ctx)
	if err != nil {
		return err
	}
	before := slices.Clone(s.pods)
	asking, end := context.WithCancel(ctx)
	defer end()
	var working sync.WaitGroup
	working.Go(func() {
		old := &shop{lab: s.lab, pods: before}
		_, _ = old.agents(asking, t.text, agentsAtOnce, time.Hour) // they only keep connections in use
	})
	stop := s.watchConnections(ctx)
	scaled := s.scale(ctx, r.pods)
	end()
	working.Wait()
	r.growing, err = stop()
	return errors.Join(scaled, err)
}

func (s *shop) measureLoad(ctx context.Context, r *result, o options) error {
	t, err := s.issue(ctx)
	if err != nil {
		return err
	}
	if _, err := s.agents(ctx, t.text, agentsAtOnce, o.duration/4); err != nil { // warm
		return err
	}
	stop, before, began := s.watchConnections(ctx), s.cpu(), time.Now()
	if r.load, err = s.agents(ctx, t.text, agentsAtOnce, o.duration); err != nil {
		return err
	}
	took, used := time.Since(began), s.cpu()-before
	r.perSecond, r.perCPU = float64(len(r.load))/took.Seconds(), float64(len(r.load))/used.Seconds()
	r.connections, err = stop()
	return err
}

// measureNoise has a token with one call at a time beside one with many.
func (s *shop) measureNoise(ctx context.Context, r *result, o options) error {
	quiet, err := s.issue(ctx)
	if err != nil {
		return err
	}
	noisy, err := s.issue(ctx)
	if err != nil {
		return err
	}
	if r.alone, err = s.agents(ctx, quiet.text, 1, o.duration/2); err != nil {
		return err
	}
	var noise error
	var working sync.WaitGroup
	working.Go(func() { _, noise = s.agents(ctx, noisy.text, noisyAtOnce, o.duration) })
	r.beside, err = s.agents(ctx, quiet.text, 1, o.duration)
	working.Wait()
	return errors.Join(err, noise)
}

// measureKeys sends calls with the same key to all pods at once.
func (s *shop) measureKeys(ctx context.Context, r *result, _ options) error {
	t, err := s.issue(ctx)
	if err != nil {
		return err
	}
	for r.keys < keysAtOnce {
		note := fmt.Sprintf("key %d of %d pods", r.keys, r.pods)
		body := call("create_item", fmt.Sprintf(`{"data":{"name":%q,"stock":1},"idempotency_key":%q}`, note, note))
		var sending sync.WaitGroup
		var fresh atomic.Int64
		failures := make([]error, 2*len(s.pods))
		for i := range failures { // two at each pod
			sending.Go(func() {
				a, err := s.pods[i%len(s.pods)].post(ctx, http.DefaultClient, t.text, body)
				switch {
				case err != nil:
					failures[i] = err
				case !a.told.Success:
					failures[i] = errors.New(a.text)
				case !a.told.Replayed:
					fresh.Add(1)
				}
			})
		}
		sending.Wait()
		if err := errors.Join(failures...); err != nil {
			return err
		}
		rows, err := s.count(ctx, "SELECT count(*) FROM shop.item WHERE name = $1", note)
		if err != nil {
			return err
		}
		if r.keys++; rows != 1 || fresh.Load() != 1 {
			r.twice++
		}
	}
	if r.twice > 0 {
		return fmt.Errorf("%d of %d keys were good for another number of calls than one", r.twice, r.keys)
	}
	return nil
}

// measureRate asks more often than a token may: spread over the pods, and over a connection that is kept until a pod closes it.
func (s *shop) measureRate(ctx context.Context, r *result, o options) error {
	if err := s.limit(ctx, rateOfTokens); err != nil {
		return err
	}
	spread, err := s.issue(ctx)
	if err != nil {
		return err
	}
	sticky, err := s.issue(ctx)
	if err != nil {
		return err
	}
	if r.spread, err = s.answered(ctx, spread.text, false, o.duration); err != nil {
		return err
	}
	if r.sticky, err = s.answered(ctx, sticky.text, true, o.duration); err != nil {
		return err
	}
	return s.limit(ctx, 0)
}

// answered is the part of its rate that a token gets which asks three times as often. What its buckets hold is used up before.
func (s *shop) answered(ctx context.Context, text string, sticks bool, duration time.Duration) (float64, error) {
	c := newClient()
	defer c.CloseIdleConnections()
	pace := time.NewTicker(time.Second / (3 * rateOfTokens))
	defer pace.Stop()
	granted, pod := 0, 0
	began := time.Now().Add(2 * time.Second)
	for now := time.Now(); now.Before(began.Add(duration)); now = <-pace.C {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		a, err := s.pods[pod%len(s.pods)].post(ctx, c, text, ping)
		if err != nil {
			return 0, err
		}
		refused := a.status == http.StatusTooManyRequests
		if !refused && now.After(began) {
			granted++
		}
		if !sticks || refused { // the pod has closed the connection, and the next one goes to another
			pod++
		}
	}
	return float64(granted) / duration.Seconds() / rateOfTokens, nil
}

// measureRevocations deletes tokens, one after the other, and waits until every pod refuses each.
func (s *shop) measureRevocations(ctx context.Context, r *result, o options) error {
	for range o.revocations {
		t, err := s.issue(ctx)
		if err != nil {
			return err
		}
		began := time.Now()
		if err := s.lab.client.Delete(ctx, t.object); err != nil {
			return err
		}
		refused := make([]time.Duration, len(s.pods))
		failures := make([]error, len(s.pods))
		var asking sync.WaitGroup
		for i, p := range s.pods {
			asking.Go(func() {
				failures[i] = until(ctx, "a revoked token is refused", func() (bool, error) {
					a, err := p.post(ctx, http.DefaultClient, t.text, ping)
					return a.status == http.StatusUnauthorized, err
				})
				refused[i] = time.Since(began)
			})
		}
		asking.Wait()
		if err := errors.Join(failures...); err != nil {
			return err
		}
		r.revoked = append(r.revoked, slices.Max(refused))
	}
	slices.Sort(r.revoked)
	return nil
}

// off is by how much a token got another rate than it should, in percent.
func (r *result) off() float64 { return math.Abs(r.spread-1) * 100 }
