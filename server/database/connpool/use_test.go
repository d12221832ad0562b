package connpool

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func TestWhatHappensToConnectionsIsCounted(t *testing.T) {
	refuse := false
	use := &database.PoolUse{}
	p := New(t.Context(), 2, 20*time.Millisecond, use, func(context.Context) (*fake, error) {
		if refuse {
			return nil, errors.New("refused")
		}
		return &fake{}, nil
	})
	told := func(what string, inUse, idle int64) {
		t.Helper()
		if r := use.Read(); r.InUse != inUse || r.Idle != idle || r.Limit != 2 || r.Waiting != 0 {
			t.Errorf("%s: %d are in use, %d idle of %d, %d wait; want %d and %d of 2, and none", what, r.InUse, r.Idle, r.Limit, r.Waiting, inUse, idle)
		}
	}
	told("at first", 0, 0)
	first, second := acquire(t, p), acquire(t, p)
	told("with two", 2, 0)
	if _, err := p.Acquire(t.Context()); !errors.Is(err, ErrBusy) {
		t.Fatal(err)
	}
	p.Release(first)
	told("one was given back", 1, 1)
	second.spoilt = true
	p.Release(second)
	first.dead = true
	third := acquire(t, p)
	told("one was broken, one lost", 1, 0)
	refuse = true
	p.forget(third, database.CloseIdle)
	<-p.slots
	if _, err := p.Acquire(t.Context()); err == nil {
		t.Fatal("connected")
	}
	refuse = false
	p.Release(acquire(t, p))
	p.Close()
	r := use.Read()
	if want := map[string]int64{"broken": 1, "lost": 1, "idle": 1, "aged": 0, "closed": 1}; !maps.Equal(r.Closed, want) {
		t.Errorf("closed: %v, want %v", r.Closed, want)
	}
	if r.Opened != 4 || r.Failed != 1 || r.Waits != 1 || r.Timeouts != 1 || r.Waited < 20*time.Millisecond || r.Limit != 0 || r.InUse+r.Idle != 0 {
		t.Errorf("in the end: %+v", r)
	}
}

func TestCountingCostsNoMemory(t *testing.T) {
	p := New(t.Context(), 2, time.Second, &database.PoolUse{}, func(context.Context) (*fake, error) { return &fake{}, nil })
	if n := testing.AllocsPerRun(100, func() {
		c, err := p.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p.Release(c)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	p.Close()
}
