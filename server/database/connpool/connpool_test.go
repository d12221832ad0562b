package connpool

import (
	"context"
	"errors"
	"testing"
	"time"
)

// fake is a connection that does what the test says.
type fake struct{ spoilt, dead, closed bool }

func (f *fake) Keep() bool  { return !f.spoilt }
func (f *fake) Alive() bool { return !f.dead }
func (f *fake) Close()      { f.closed = true }

func newPool(size int) (p *Pool[*fake], opened *int) {
	opened = new(int)
	return New(size, 20*time.Millisecond, func(context.Context) (*fake, error) {
		*opened++
		return &fake{}, nil
	}), opened
}

func acquire(t *testing.T, p *Pool[*fake]) *fake {
	t.Helper()
	c, err := p.Acquire(t.Context(), t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAConnectionIsUsedAgainWhileItIsGood(t *testing.T) {
	p, opened := newPool(2)
	first := acquire(t, p)
	p.Release(first)
	if again := acquire(t, p); again != first || *opened != 1 {
		t.Fatalf("another connection was opened: %d", *opened)
	}
	first.dead = true // while it is idle
	p.Release(first)
	second := acquire(t, p)
	if second == first || !first.closed || *opened != 2 {
		t.Fatal("a dead connection was handed out, or not closed")
	}
	second.spoilt = true
	p.Release(second)
	if !second.closed {
		t.Fatal("a spoilt connection was kept")
	}
	p.Close()
}

func TestNoMoreThanItsSizeAreInUse(t *testing.T) {
	p, _ := newPool(1)
	only := acquire(t, p)
	if _, err := p.Acquire(t.Context(), t.Context()); !errors.Is(err, ErrBusy) {
		t.Fatalf("got %v, want ErrBusy", err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := p.Acquire(gone, t.Context()); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want that the caller left", err)
	}
	if _, err := p.Acquire(t.Context(), gone); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want that the pool is closing", err)
	}
	p.Release(only)
	p.Release(acquire(t, p))
	p.Close()
	if !only.closed {
		t.Fatal("an idle connection outlived its pool")
	}
}

func TestAConnectionThatDoesNotComeAboutTakesNoPlace(t *testing.T) {
	refused := errors.New("refused")
	p := New(1, time.Second, func(context.Context) (*fake, error) { return nil, refused })
	for range 3 {
		if _, err := p.Acquire(t.Context(), t.Context()); !errors.Is(err, refused) {
			t.Fatal(err)
		}
	}
	p.Close()
}
