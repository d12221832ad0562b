package share_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/share"
)

func TestANameHasItsShareAndNoMore(t *testing.T) {
	p := share.New(8, 2)
	for i, want := range []bool{true, true, false} {
		if got := p.Try("a", 1); got != want {
			t.Errorf("a's use %d is let in: %v", i, got)
		}
	}
	for _, other := range []string{"b", "c", "d"} {
		if !p.Try(other, 2) {
			t.Errorf("%s is kept out", other)
		}
	}
	if p.Try("e", 1) {
		t.Error("the pool gave more than it has")
	}
	p.Give("a", 1)
	if !p.Try("e", 1) {
		t.Error("what was given back is not free")
	}
}

func TestOneUseMayBeLargerThanTheShare(t *testing.T) {
	p := share.New(8, 2)
	if !p.Try("a", 1) || !p.Grow("a", 1, 6) {
		t.Error("the only use of a name cannot grow")
	}
	if p.Try("a", 1) || p.Grow("a", 1, 1) {
		t.Error("a second use beside it is let in")
	}
	if !p.Try("b", 1) {
		t.Error("b is kept out of what is free")
	}
}

func TestThoseThatWaitAreServedInTurn(t *testing.T) {
	p := share.New(1, 1)
	if !p.Try("a", 1) {
		t.Fatal("not free")
	}
	served := make(chan string, 4)
	for i, name := range []string{"a", "a", "a", "b"} {
		go func() {
			if p.Wait(context.Background(), name, 1, time.Minute) == nil {
				served <- name
				p.Give(name, 1)
			}
		}()
		waitFor(t, func() bool { return p.Waiting() == i+1 })
	}
	p.Give("a", 1)
	if first, second := <-served, <-served; first != "a" || second != "b" {
		t.Errorf("served %s, then %s: b has to wait for all of a's", first, second)
	}
}

func TestAWaitEnds(t *testing.T) {
	p := share.New(1, 1)
	p.Try("a", 1)
	if err := p.Wait(context.Background(), "b", 1, time.Millisecond); !errors.Is(err, share.ErrBusy) {
		t.Errorf("after its patience: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := p.Wait(ctx, "b", 1, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("after its caller left: %v", err)
	}
	p.Give("a", 1)
	if !p.Try("c", 1) || p.Waiting() != 0 {
		t.Error("who gave up still stands in the queue")
	}
}

func TestNothingIsLostUnderLoad(t *testing.T) {
	p := share.New(10, 4)
	var held, most atomic.Int64
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			name := string(rune('a' + i%5))
			for range 50 {
				n := 1 + rand.Int64N(4)
				if p.Wait(context.Background(), name, n, time.Duration(rand.IntN(1000))*time.Microsecond) != nil {
					continue
				}
				now := held.Add(n)
				for before := most.Load(); now > before && !most.CompareAndSwap(before, now); before = most.Load() {
				}
				time.Sleep(10 * time.Microsecond)
				held.Add(-n)
				p.Give(name, n)
			}
		})
	}
	all.Wait()
	if most.Load() > 10 {
		t.Errorf("%d of 10 were out at once", most.Load())
	}
	if p.Waiting() != 0 || !p.Try("z", 4) || !p.Try("y", 4) || !p.Try("x", 2) {
		t.Error("something was not given back")
	}
}

func TestTheFastPathAllocatesNothing(t *testing.T) {
	p := share.New(8, 2)
	ctx := context.Background()
	if n := testing.AllocsPerRun(100, func() {
		if p.Wait(ctx, "a", 1, time.Second) == nil {
			p.Give("a", 1)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestNamesThatHoldNothingAreForgotten(t *testing.T) {
	p := share.New(1000, 1000)
	names := make([]string, 1000)
	for i := range names {
		names[i] = "token-" + strconv.Itoa(i)
		p.Try(names[i], 1)
	}
	for _, name := range names {
		p.Give(name, 1)
	}
	if known := p.Known(); known > 64 {
		t.Errorf("%d names are remembered", known)
	}
}

func TestAContextKnowsItsName(t *testing.T) {
	if name := share.Name(context.Background()); name != "" {
		t.Errorf("nobody's is %q", name)
	}
	ctx := context.WithoutCancel(share.WithName(context.Background(), "shop/agent"))
	if name := share.Name(ctx); name != "shop/agent" {
		t.Errorf("got %q", name)
	}
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not happen")
		}
	}
}
