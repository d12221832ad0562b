package connpool

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fake is a connection that does what the test says.
type fake struct {
	spoilt, dead, aged bool
	closed             atomic.Bool
}

func (f *fake) Keep() bool                                { return !f.spoilt }
func (f *fake) Aged() bool                                { return f.aged }
func (f *fake) Alive(context.Context, time.Duration) bool { return !f.dead }
func (f *fake) Close()                                    { f.closed.Store(true) }

func newPool(t *testing.T, size int) (p *Pool[*fake], opened *int) {
	opened = new(int)
	return New(t.Context(), size, 20*time.Millisecond, nil, func(context.Context) (*fake, error) {
		*opened++
		return &fake{}, nil
	}), opened
}

func acquire(t *testing.T, p *Pool[*fake]) *fake {
	t.Helper()
	c, err := p.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAConnectionIsUsedAgainWhileItIsGood(t *testing.T) {
	p, opened := newPool(t, 2)
	first := acquire(t, p)
	p.Release(first)
	if again := acquire(t, p); again != first || *opened != 1 {
		t.Fatalf("another connection was opened: %d", *opened)
	}
	first.dead = true // while it is idle
	p.Release(first)
	second := acquire(t, p)
	if second == first || !first.closed.Load() || *opened != 2 {
		t.Fatal("a dead connection was handed out, or not closed")
	}
	second.spoilt = true
	p.Release(second)
	if !second.closed.Load() {
		t.Fatal("a spoilt connection was kept")
	}
	p.Close()
}

func TestNoMoreThanItsSizeAreInUse(t *testing.T) {
	p, _ := newPool(t, 1)
	only := acquire(t, p)
	if _, err := p.Acquire(t.Context()); !errors.Is(err, ErrBusy) {
		t.Fatalf("got %v, want ErrBusy", err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := p.Acquire(gone); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want that the caller left", err)
	}
	p.Release(only)
	p.Release(acquire(t, p))
	p.Close()
	if !only.closed.Load() {
		t.Fatal("an idle connection outlived its pool")
	}
}

func TestAConnectionThatDoesNotComeAboutTakesNoPlace(t *testing.T) {
	refused := errors.New("refused")
	p := New(t.Context(), 1, time.Second, nil, func(context.Context) (*fake, error) { return nil, refused })
	for range 3 {
		if _, err := p.Acquire(t.Context()); !errors.Is(err, refused) {
			t.Fatal(err)
		}
	}
	p.Close()
}

func TestAClosingPoolHandsOutNothing(t *testing.T) {
	closing, end := context.WithCancel(t.Context())
	p := New(closing, 1, time.Second, nil, func(context.Context) (*fake, error) { return &fake{}, nil })
	c := acquire(t, p)
	end()
	if _, err := p.Acquire(t.Context()); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want that the pool is closing", err)
	}
	p.Release(c)
	p.Close()
}

// refusing is a pool of two whose server lets nobody in once refuse is set.
func refusing(t *testing.T) (p *Pool[*fake], refuse *atomic.Bool, refused error) {
	refuse, refused = &atomic.Bool{}, errors.New("refused")
	return New(t.Context(), 2, 5*time.Second, nil, func(context.Context) (*fake, error) {
		if refuse.Load() {
			return nil, refused
		}
		return &fake{}, nil
	}), refuse, refused
}

func TestWhoGetsNoNewConnectionWaitsForAnother(t *testing.T) { synctest.Test(t, waitsForAnother) }

func waitsForAnother(t *testing.T) {
	p, refuse, refused := refusing(t)
	first := acquire(t, p)
	refuse.Store(true)
	var calls sync.WaitGroup
	for range 20 {
		calls.Go(func() {
			c, err := p.Acquire(t.Context())
			if err != nil || c != first {
				t.Errorf("got %v, %v; want the connection that there is", c, err)
				return
			}
			time.Sleep(time.Millisecond)
			p.Release(c)
		})
	}
	time.Sleep(10 * time.Millisecond)
	p.Release(first)
	calls.Wait()

	// Once the last one is lost, nobody waits any more.
	last := acquire(t, p)
	last.spoilt = true
	failed := make(chan error, 1)
	go func() {
		_, err := p.Acquire(t.Context())
		failed <- err
	}()
	time.Sleep(10 * time.Millisecond)
	p.Release(last)
	select {
	case err := <-failed:
		if !errors.Is(err, refused) {
			t.Errorf("got %v, want why there is no connection", err)
		}
	case <-time.After(10 * time.Minute):
		t.Error("a caller waits for a connection that nobody has")
	}
	refuse.Store(false)
	p.Release(acquire(t, p))
	p.Close()
}

func TestAnAgedConnectionStaysUntilThereIsAnother(t *testing.T) {
	synctest.Test(t, staysUntilThereIsAnother)
}

func staysUntilThereIsAnother(t *testing.T) {
	p, refuse, _ := refusing(t)
	first := acquire(t, p)
	first.aged = true
	refuse.Store(true)
	p.Release(first)
	if again := acquire(t, p); again != first || first.closed.Load() {
		t.Fatal("an aged connection was given up though none can take its place")
	}
	refuse.Store(false)
	p.mu.Lock()
	p.renewAfter = time.Time{}
	p.mu.Unlock()
	p.Release(first)
	for range 1000 {
		if first.closed.Load() {
			break
		}
		p.Release(acquire(t, p))
		time.Sleep(time.Millisecond)
	}
	if c := acquire(t, p); c == first || !first.closed.Load() {
		t.Error("an aged connection was not replaced")
	} else {
		p.Release(c)
	}
	p.Close()
	if p.live != 0 {
		t.Errorf("%d connections outlive their pool", p.live)
	}
}
