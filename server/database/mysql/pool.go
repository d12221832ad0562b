package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// errBusy is a pool's answer where no connection became free in time.
var errBusy = errors.New("no connection became free within " + database.AcquireTimeout.String())

// pool holds connections that are idle, newest first, and counts those in use.
type pool struct {
	open func(ctx context.Context) (*conn, error)
	// slots has one element for each connection in use.
	slots chan struct{}
	mu    sync.Mutex
	idle  []*conn
}

// acquire returns a connection, waiting for one no longer than database.AcquireTimeout, and not beyond closing.
func (p *pool) acquire(ctx, closing context.Context) (*conn, error) {
	if closing.Err() != nil {
		return nil, closing.Err()
	}
	select {
	case p.slots <- struct{}{}:
	default:
		patience := time.NewTimer(database.AcquireTimeout)
		defer patience.Stop()
		select {
		case p.slots <- struct{}{}:
		case <-patience.C:
			return nil, errBusy
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-closing.Done():
			return nil, closing.Err()
		}
	}
	for c := p.newest(); c != nil; c = p.newest() {
		if c.alive() {
			return c, nil
		}
		c.close()
	}
	opening, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(closing, cancel)()
	c, err := p.open(opening)
	if err != nil {
		<-p.slots
	}
	return c, err
}

// newest takes the newest idle connection; nil where there is none.
func (p *pool) newest() *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.idle) - 1
	if last < 0 {
		return nil
	}
	c := p.idle[last]
	p.idle = p.idle[:last]
	return c
}

func (p *pool) release(c *conn) {
	if c.lost || time.Since(c.born) > lifetime {
		c.close()
	} else {
		p.mu.Lock()
		p.idle = append(p.idle, c)
		p.mu.Unlock()
	}
	<-p.slots
}

// close waits for the connections in use and closes all. It leaves no slot to acquire.
func (p *pool) close() {
	for range cap(p.slots) {
		p.slots <- struct{}{}
	}
	for c := p.newest(); c != nil; c = p.newest() {
		c.close()
	}
}

// alive is whether an idle connection can be used: the server has not closed it.
func (c *conn) alive() bool {
	// It reads what has arrived and waits for nothing.
	return c.raw.(driver.SessionResetter).ResetSession(context.Background()) == nil
}
