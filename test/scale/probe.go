package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// tooLate is how long a change is waited for. One that takes longer counts as having taken that.
const tooLate = 60 * time.Second

// probes issue and revoke tokens, and measure how long it takes until the pods know. Revocations are deletions and
// tokens set inactive, in turn.
type probes struct {
	lab       *lab
	endpoints []types.NamespacedName

	issued atomic.Int64
	mu     sync.Mutex
	// living are the tokens that are Ready and that may be revoked.
	living []probe
	result probed
}

type probe struct{ endpoint, token types.NamespacedName }

// probed has the probes' measurements. Programmed is until the status says so, the others are until the pod has it.
type probed struct {
	Issued     times `json:"issuedUntilPod"`
	Programmed times `json:"issuedUntilProgrammed"`
	Revoked    times `json:"revokedUntilRefused"`
}

func (p *probes) record(to *times, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*to = append(*to, took)
}

// issue makes a token and waits until it is Ready.
func (p *probes) issue(ctx context.Context) error {
	endpoint := p.endpoints[rand.IntN(len(p.endpoints))]
	name := fmt.Sprintf("%s%d", probePrefix, p.issued.Add(1))
	token := types.NamespacedName{Namespace: endpoint.Namespace, Name: name}
	known := p.lab.pods.of(endpoint).await(token.Namespace, name, true)
	ready := p.lab.watched.await(object{"mcptokens", token.Namespace, name}, func(s objectState, exists bool) bool { return exists && s.ready })
	began := time.Now()
	if err := p.lab.client.Create(ctx, newToken(token.Namespace, endpoint.Name, name)); err != nil {
		return err
	}
	programmed := until(ctx, began, ready)
	p.record(&p.result.Issued, until(ctx, began, known))
	p.record(&p.result.Programmed, programmed)
	if programmed < tooLate {
		p.mu.Lock()
		p.living = append(p.living, probe{endpoint, token})
		p.mu.Unlock()
	}
	return nil
}

// revoke takes a token away and waits until its pod refuses it. It does nothing if no token is left.
func (p *probes) revoke(ctx context.Context, inactive bool) error {
	p.mu.Lock()
	if len(p.living) == 0 {
		p.mu.Unlock()
		return nil
	}
	chosen := p.living[0]
	p.living = p.living[1:]
	p.mu.Unlock()

	refused := p.lab.pods.of(chosen.endpoint).await(chosen.token.Namespace, chosen.token.Name, false)
	token := &v1alpha1.MCPToken{}
	token.Namespace, token.Name = chosen.token.Namespace, chosen.token.Name
	began := time.Now()
	var err error
	if inactive {
		err = p.lab.client.Patch(ctx, token, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"active":false}}`)))
	} else {
		err = p.lab.client.Delete(ctx, token)
	}
	if err != nil {
		return err
	}
	p.record(&p.result.Revoked, until(ctx, began, refused))
	return nil
}

// until is how long it took from the call to an event.
func until(ctx context.Context, began time.Time, event <-chan time.Time) time.Duration {
	select {
	case at := <-event: // though another event was waited for too long
		return at.Sub(began)
	default:
	}
	timeout := time.NewTimer(tooLate - time.Since(began))
	defer timeout.Stop()
	select {
	case at := <-event:
		return at.Sub(began)
	case <-timeout.C:
	case <-ctx.Done():
	}
	return tooLate
}

// stock issues tokens that are there to be revoked, and measures nothing.
func (p *probes) stock(ctx context.Context, n int) error {
	if err := parallel(ctx, 8, n, func(int) error { return p.issue(ctx) }); err != nil {
		return err
	}
	p.result = probed{}
	return nil
}

// quietly issues and revokes tokens one after the other, and returns what was measured.
func (p *probes) quietly(ctx context.Context, n int) (probed, error) {
	p.result = probed{}
	for i := range n {
		if err := p.issue(ctx); err != nil {
			return p.result, err
		}
		pause(ctx, 20*time.Millisecond+rand.N(100*time.Millisecond))
		if err := p.revoke(ctx, i%2 == 0); err != nil {
			return p.result, err
		}
		pause(ctx, 20*time.Millisecond+rand.N(100*time.Millisecond))
	}
	return p.result, ctx.Err()
}

// under issues and revokes one token each in every interval, until the load ends or the context does. It does not wait
// for the one before, so that a slow one hides none.
func (p *probes) under(ctx context.Context, interval time.Duration, load func() error) (probed, error) {
	p.result = probed{}
	stop, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- load()
		close(stop)
	}()
	var running sync.WaitGroup
	problems := make(chan error, 1)
	try := func(do func() error) {
		running.Go(func() {
			if err := do(); err != nil {
				select {
				case problems <- err:
				default:
				}
			}
		})
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-stop:
			running.Wait()
			select {
			case err := <-problems:
				return p.result, err
			default:
				return p.result, <-ended
			}
		case <-tick.C:
			try(func() error { return p.issue(ctx) })
			try(func() error { return p.revoke(ctx, i%2 == 0) })
		}
	}
}

// parallel calls a function for 0 to n-1, some at the same time, and returns the first error.
func parallel(ctx context.Context, workers, n int, do func(i int) error) error {
	var next atomic.Int64
	var running sync.WaitGroup
	problems := make(chan error, workers)
	for range workers {
		running.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					problems <- err
					next.Store(int64(n))
					return
				}
			}
		})
	}
	running.Wait()
	select {
	case err := <-problems:
		return err
	default:
		return ctx.Err()
	}
}
