package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/test/usage"
)

// pool is how many connections to the database each server has.
const pool = v1alpha1.DefaultMaxConnections

// cell is one operation on one server in one round.
type cell struct {
	cpu      time.Duration // of the server, a request
	p50, p99 time.Duration
	rate     float64 // requests a second
	garbage  float64 // bytes allocated a request
	others   float64 // part of the machine that other programs used
	peak     int64   // most bytes of memory that the server had so far
}

// side is one of the servers: its cells, one for each round.
type side struct {
	name  string
	cells []cell
	// trips are the round trips to the database that a call costs; 0 if there is no server.
	trips int64
}

// measured is all that was found out about an operation on an engine. The server itself is the first side.
type measured struct {
	engine string
	op     operation
	sides  []side
}

// bench is an engine at work: its database, and the servers over it.
type bench struct {
	*options
	engine   *engine
	database string
	// shop are the servers of the bookshop, many are the same with 200 models.
	shop, many []*program
	// limit is the bare server; nil if no operation is measured on it.
	limit *program
}

// measure measures the operations on an engine.
func (o *options) measure(ctx context.Context, e *engine, ops []operation, programs built) (found []measured, err error) {
	if len(ops) == 0 {
		return nil, nil
	}
	b := &bench{options: o, engine: e}
	began := time.Now()
	fmt.Printf("%s: %d books …", e.name, o.books)
	var remove func()
	if b.database, remove, err = e.prepare(ctx, e.seed, o.books, o.keep); err != nil {
		return nil, err
	}
	defer remove()
	fmt.Printf(" there after %s\n", time.Since(began).Round(time.Second))
	defer func() { err = errors.Join(err, b.stop()) }()
	if err := b.start(ctx, ops, programs); err != nil {
		return nil, err
	}
	if err := b.compare(ops); err != nil || o.show {
		return nil, err
	}
	if o.profile != "" {
		return nil, b.profiles(ctx, ops)
	}
	if found, err = b.rounds(ctx, ops); err != nil {
		return nil, err
	}
	return found, b.countTrips(ctx, found, programs)
}

// start starts the servers that the operations need.
func (b *bench) start(ctx context.Context, ops []operation, programs built) error {
	var flags []string
	if b.profile != "" {
		flags = append(flags, "--pprof")
	}
	for _, s := range []struct{ name, path string }{{"server", programs.server}, {"before", programs.before}} {
		if s.path == "" {
			continue
		}
		// The bare server needs the audit table, too, which the server of the shop makes.
		if slices.ContainsFunc(ops, func(op operation) bool { return op.models == nil || op.limited() }) {
			p, err := serve(ctx, s.name, s.path, b.engine, b.database, configOf(b.engine, shop(), pool), flags...)
			if err != nil {
				return err
			}
			b.shop = append(b.shop, p)
		}
		if slices.ContainsFunc(ops, func(op operation) bool { return op.models != nil }) {
			config := configOf(b.engine, manyModels(), pool)
			config.Endpoint.Database.Schemas = []string{"many"}
			p, err := serve(ctx, s.name, s.path, b.engine, b.database, config, flags...)
			if err != nil {
				return err
			}
			b.many = append(b.many, p)
		}
	}
	if !slices.ContainsFunc(ops, operation.limited) {
		return nil
	}
	answers := map[string][]byte{}
	for _, op := range ops {
		if !op.given {
			continue
		}
		server := b.of(op)[0]
		answer, err := b.askRaw(op, server)
		if err != nil {
			return fmt.Errorf("%s by %s: %w", op.name, server.side, err)
		}
		answers[b.load(op, server).sample()] = answer
	}
	var err error
	b.limit, err = serveLimit(ctx, programs.limit, b.engine, b.database, pool, answers)
	return err
}

func (b *bench) stop() error {
	var all []error
	for _, p := range slices.Concat(b.shop, b.many) {
		all = append(all, p.stop())
	}
	if b.limit != nil {
		all = append(all, b.limit.stop())
	}
	return errors.Join(all...)
}

// of are the servers that an operation is measured on.
func (b *bench) of(op operation) []*program {
	programs := b.shop
	if op.models != nil {
		programs = b.many
	}
	if b.limit != nil && op.limited() {
		return append(slices.Clone(programs), b.limit)
	}
	return programs
}

// warm is how long a server is asked before each measurement.
const warm = 300 * time.Millisecond

func (b *bench) rounds(ctx context.Context, ops []operation) ([]measured, error) {
	var found []measured
	for _, op := range ops {
		m := measured{engine: b.engine.name, op: op}
		for _, p := range b.of(op) {
			m.sides = append(m.sides, side{name: p.side})
		}
		found = append(found, m)
	}
	began, done, all := time.Now(), 0, b.options.rounds*len(ops)
	for round := range b.options.rounds {
		for i, op := range ops {
			programs := b.of(op)
			for n := range programs {
				at := (n + round) % len(programs) // another one is first each time
				c, err := b.cell(op, programs[at])
				if err == nil {
					err = ctx.Err()
				}
				if err != nil {
					return nil, fmt.Errorf("%s, %s by %s: %w", b.engine.name, op.name, programs[at].side, err)
				}
				found[i].sides[at].cells = append(found[i].sides[at].cells, c)
			}
			done++
			left := time.Since(began)*time.Duration(all-done)/time.Duration(done) + b.ahead
			fmt.Printf("%s %d/%d %s: %s; %s left\n", b.engine.name, round+1, b.options.rounds, op.name, found[i].round(round), left.Round(time.Second))
		}
	}
	return found, nil
}

// cell measures an operation on a server once.
func (b *bench) cell(op operation, p *program) (cell, error) {
	l := b.load(op, p)
	l.duration = warm
	if r := l.run(); len(r.failures) > 0 {
		return cell{}, r.failures[0]
	}
	l.duration = b.duration()
	pid := p.command.Process.Pid
	allocated, err := p.allocated()
	if err != nil {
		return cell{}, err
	}
	all, used := machineCPU()
	before := usage.Of(pid).CPU + usage.Of(os.Getpid()).CPU + databaseCPU()
	cpu := usage.Of(pid).CPU
	r := l.run()
	after := usage.Of(pid)
	allAfter, usedAfter := machineCPU()
	known := after.CPU + usage.Of(os.Getpid()).CPU + databaseCPU() - before
	if len(r.failures) > 0 {
		return cell{}, r.failures[0]
	}
	allocatedAfter, err := p.allocated()
	if err != nil {
		return cell{}, err
	}
	n := len(r.latencies)
	return cell{
		cpu: (after.CPU - cpu) / time.Duration(n), p50: r.latencies[n/2], p99: r.latencies[n*99/100], rate: float64(n) / l.duration.Seconds(),
		garbage: (allocatedAfter - allocated) / float64(n), others: min(1, max(0, float64(usedAfter-used-known)/float64(allAfter-all))), peak: after.Peak,
	}, nil
}

func (b *bench) load(op operation, p *program) load {
	l := load{address: p.address, header: op.header, body: op.body, most: b.books, connections: cmp.Or(op.connections, b.conns)}
	if op.perAuthor {
		l.most = authorsOf(b.books)
	}
	return l
}
