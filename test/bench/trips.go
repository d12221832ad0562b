package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync/atomic"
)

// counter is a proxy before a database server. It counts round trips: how often a client speaks after the server has spoken.
type counter struct {
	net.Listener
	server string
	trips  atomic.Int64
}

func newCounter(server string) (*counter, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &counter{Listener: listener, server: server}
	go c.accept()
	return c, nil
}

// accept ends when the listener is closed. Connections end with their client.
func (c *counter) accept() {
	for {
		client, err := c.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", c.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		var answered atomic.Bool
		answered.Store(true)
		go pass(server, client, func() {
			if answered.Swap(false) {
				c.trips.Add(1)
			}
		})
		go pass(client, server, func() { answered.Store(true) })
	}
}

// pass copies from one connection to the other until one of them ends; before each piece it calls a function.
func pass(to, from net.Conn, before func()) {
	defer to.Close()
	defer from.Close()
	piece := make([]byte, 64<<10)
	for {
		n, err := from.Read(piece)
		if n > 0 {
			before()
			if _, err := to.Write(piece[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// countTrips counts the round trips to the database that each operation costs each server, once its statements are prepared.
// A file has none.
func (b *bench) countTrips(ctx context.Context, found []measured, programs built) (err error) {
	if b.engine.variable == "" {
		return nil
	}
	u, err := url.Parse(b.database)
	if err != nil {
		return errors.New("the database's URI is none") // the error would show the password
	}
	c, err := newCounter(u.Host)
	if err != nil {
		return err
	}
	defer c.Close()
	u.Host = c.Addr().String()
	counted := &bench{options: b.options, engine: b.engine, database: u.String()}
	defer func() { err = errors.Join(err, counted.stop()) }()
	var ops []operation
	for _, m := range found {
		ops = append(ops, m.op)
	}
	if err := counted.start(ctx, ops, programs); err != nil {
		return err
	}
	for _, m := range found {
		for i, p := range counted.of(m.op) {
			if m.sides[i].trips, err = counted.tripsOf(c, m.op, p); err != nil {
				return fmt.Errorf("%s by %s: %w", m.op.name, p.side, err)
			}
		}
	}
	return nil
}

// tripsOf is the least that one of some calls costs: meanwhile a server may look at the schema.
func (b *bench) tripsOf(c *counter, op operation, p *program) (least int64, err error) {
	const calls = 10
	for n := range calls {
		before := c.trips.Load()
		if _, err := b.ask(op, p); err != nil {
			return 0, err
		}
		if cost := c.trips.Load() - before; n == 0 || cost < least {
			least = cost
		}
	}
	return least, nil
}
