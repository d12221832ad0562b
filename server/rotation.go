package server

import (
	"context"
	"sync"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// A rotatingDatabase is a database whose credentials may change while it is used. Each statement or transaction takes the
// newest pool of connections. A pool that was replaced is closed once its last call has ended, so that no call is cut off.
type rotatingDatabase struct {
	mu     sync.Mutex
	newest *pool
	closed bool
	// connections is how many the newest pool may have; 0 is as many as it was opened for. retired reports whether no pool keeps idle ones.
	connections int
	retired     bool
}

// A pool is a database with one login.
type pool struct {
	database.DB
	calls    int
	replaced bool
}

func newRotatingDatabase(db database.DB) *rotatingDatabase {
	return &rotatingDatabase{newest: &pool{DB: db}}
}

// replace makes new calls go to another pool, whose connections were tried. The database owns it from now on.
func (r *rotatingDatabase) replace(db database.DB) {
	r.mu.Lock()
	old, next := r.newest, &pool{DB: db}
	r.newest, old.replaced = next, true
	resize(db, r.connections)
	if r.retired {
		retire(db)
	}
	unused, closed := old.calls == 0, r.closed
	r.mu.Unlock()
	if unused {
		old.Close()
	}
	if closed {
		next.Close()
	}
}

// resize changes how many connections the newest pool, and those that follow it, may have.
func (r *rotatingDatabase) resize(connections int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.connections != connections {
		r.connections = connections
		resize(r.newest.DB, connections)
	}
}

func resize(db database.DB, connections int) {
	if pool, ok := db.(database.Resizable); ok && connections > 0 {
		pool.Resize(connections)
	}
}

// retire keeps no connection open that no call uses, neither of the newest pool nor of those that follow it.
func (r *rotatingDatabase) retire() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.retired = true
	retire(r.newest.DB)
}

func retire(db database.DB) {
	if pool, ok := db.(database.Retirable); ok {
		pool.Retire()
	}
}

// take returns the newest pool, which stays open until it is given back.
func (r *rotatingDatabase) take() *pool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.newest.calls++
	return r.newest
}

// give gives a pool back, and reports whether it was replaced.
func (r *rotatingDatabase) give(p *pool) (replaced bool) {
	r.mu.Lock()
	p.calls--
	replaced = p.replaced
	last := replaced && p.calls == 0
	r.mu.Unlock()
	if last {
		go p.Close() // which nobody's call has to wait for
	}
	return replaced
}

// Select implements database.DB. A read whose pool was replaced under it is done once more.
func (r *rotatingDatabase) Select(ctx context.Context, plan *database.Select, out []byte) ([]byte, database.Page, error) {
	for {
		p := r.take()
		extended, page, err := p.Select(ctx, plan, out)
		if replaced := r.give(p); err == nil || !replaced || !isUnreachable(err) {
			return extended, page, err
		}
	}
}

// Report implements database.DB. As with Select, a read whose pool was replaced under it is done once more.
func (r *rotatingDatabase) Report(ctx context.Context, report *database.Report, out []byte) ([]byte, database.Reported, error) {
	for {
		p := r.take()
		extended, reported, err := p.Report(ctx, report, out)
		if replaced := r.give(p); err == nil || !replaced || !isUnreachable(err) {
			return extended, reported, err
		}
	}
}

// Transact implements database.DB. A transaction that did not begin because its pool was replaced begins with the next.
func (r *rotatingDatabase) Transact(ctx context.Context, do func(database.Tx) error) error {
	for {
		began := false
		p := r.take()
		err := p.Transact(ctx, func(tx database.Tx) error {
			began = true
			return do(tx)
		})
		if replaced := r.give(p); err == nil || began && !database.CouldNotBegin(err) || !replaced || !isUnreachable(err) {
			return err
		}
	}
}

// Introspect implements database.DB.
func (r *rotatingDatabase) Introspect(ctx context.Context) (*database.Schema, error) {
	p := r.take()
	defer r.give(p)
	return p.Introspect(ctx)
}

// Unchanged implements database.Watched.
func (r *rotatingDatabase) Unchanged(ctx context.Context) (bool, error) {
	p := r.take()
	defer r.give(p)
	if w, ok := p.DB.(database.Watched); ok {
		return w.Unchanged(ctx)
	}
	return false, nil
}

// Ping implements database.DB.
func (r *rotatingDatabase) Ping(ctx context.Context) error {
	p := r.take()
	defer r.give(p)
	return p.Ping(ctx)
}

// Writers implements database.DB.
func (r *rotatingDatabase) Writers() int {
	p := r.take()
	defer r.give(p)
	return p.Writers()
}

// Close implements database.DB.
func (r *rotatingDatabase) Close() {
	r.mu.Lock()
	r.closed = true
	p := r.newest
	r.mu.Unlock()
	p.Close()
}

func isUnreachable(err error) bool { return database.AsError(err).Code == database.Unreachable }
