package connpool

import (
	"errors"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func TestAPoolThatIsMadeSmallerClosesWhatIsTooMuch(t *testing.T) {
	p, opened := newPool(t, 4)
	use := &database.PoolUse{}
	p.use = use
	use.Size(4)
	all := []*fake{acquire(t, p), acquire(t, p), acquire(t, p), acquire(t, p)}
	p.Release(all[0])
	p.Release(all[1])
	p.Resize(1)
	if !all[0].closed.Load() || !all[1].closed.Load() {
		t.Error("idle connections stay open though there are too many")
	}
	if _, err := p.Acquire(t.Context()); !errors.Is(err, ErrBusy) {
		t.Errorf("there is a connection beside the two in use: %v", err)
	}
	p.Release(all[2])
	if !all[2].closed.Load() {
		t.Error("a connection that is too many was kept when it was given back")
	}
	if _, err := p.Acquire(t.Context()); !errors.Is(err, ErrBusy) {
		t.Errorf("there is a connection beside the one in use: %v", err)
	}
	p.Release(all[3])
	if all[3].closed.Load() {
		t.Error("the last connection was closed")
	}
	if last := acquire(t, p); last != all[3] {
		t.Error("the last connection is not used again")
	}
	if limit := use.Read().Limit; limit != 1 || p.Size() != 1 {
		t.Errorf("the limit is %d, and the size %d", limit, p.Size())
	}

	p.Resize(9) // it was made for 4
	more := []*fake{acquire(t, p), acquire(t, p), acquire(t, p)}
	if _, err := p.Acquire(t.Context()); !errors.Is(err, ErrBusy) || *opened != 7 {
		t.Errorf("%d connections were opened, and then: %v", *opened, err)
	}
	p.Resize(2) // while four are in use
	p.Resize(3)
	p.Release(more[0])
	if _, err := p.Acquire(t.Context()); !errors.Is(err, ErrBusy) {
		t.Errorf("there is a fourth connection: %v", err)
	}
	p.Release(more[1])
	p.Release(acquire(t, p))
	p.Release(more[2])
	p.Release(all[3])
	p.Close()
	p.Resize(4)
	if reading := use.Read(); reading.Limit != 0 || reading.InUse != 0 {
		t.Errorf("after all %+v", reading)
	}
}

func TestAPoolThatIsRetiredKeepsNoIdleConnection(t *testing.T) {
	p, _ := newPool(t, 2)
	use := &database.PoolUse{}
	p.use = use
	use.Size(2)
	one, two := acquire(t, p), acquire(t, p)
	p.Release(one)
	p.Retire()
	p.Retire()
	if !one.closed.Load() || two.closed.Load() {
		t.Errorf("closed are %v of the idle one and %v of the one in use", one.closed.Load(), two.closed.Load())
	}
	late := acquire(t, p)
	p.Release(late)
	p.Release(two)
	if !late.closed.Load() || !two.closed.Load() {
		t.Error("a connection that was given back stays open")
	}
	if limit := use.Read().Limit; limit != 0 {
		t.Errorf("it counts for %d connections", limit)
	}
	p.Resize(1)
	p.Close()
	if reading := use.Read(); reading.Limit != 0 || reading.Idle != 0 || reading.InUse != 0 {
		t.Errorf("after all %+v", reading)
	}
}
