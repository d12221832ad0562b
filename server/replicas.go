package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/share"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// A replicatedDatabase is a database with replicas. What is asked of it itself goes to the primary.
//
// How far the replicas are is measured by positions in the primary's log of changes, and a few of them are kept with the
// times at which they were asked for: a replica that has reached one shows everything up to that time.
type replicatedDatabase struct {
	database.DB
	// primary and replicas are below their shares; the replicas' login is changed by their watch alone.
	primary  *rotatingDatabase
	replicas *rotatingDatabase
	reads    *sharedDatabase
	open     func(login) database.DB
	login    login
	// database is the name that the replicas' database must have, since statements name it; "" if they do not.
	database string
	// maxStaleness is how old what a replica shows may be.
	maxStaleness time.Duration

	// usable reports whether replicas are read from.
	usable atomic.Bool
	// trouble wakes the watch.
	trouble chan struct{}

	mu sync.Mutex
	// written is when each token wrote last, for as long as a replica may not have it.
	written map[string]time.Time
	// fresh is the time up to which the replicas have everything; exact reports whether it is known at all.
	fresh time.Time
	exact bool

	// samples are positions that the replicas have not reached yet, the oldest first; for the watch alone.
	samples []sample
}

// A sample is a position of the primary, and when it was asked for.
type sample struct {
	at       time.Time
	position string
}

var _ database.Replicated = (*replicatedDatabase)(nil)

// newReplicatedDatabase adds replicas to a database; shared is primary with its shares, and observe is asked what to read the
// replicas through.
func newReplicatedDatabase(shared database.DB, primary *rotatingDatabase, d *contract.Replicas, l login, open func(login) database.DB,
	observe func(database.DB) database.DB, use *database.PoolUse) *replicatedDatabase {
	r := &replicatedDatabase{
		DB: shared, primary: primary, replicas: newRotatingDatabase(open(l)), open: open, login: l,
		maxStaleness: time.Duration(d.MaxStaleness), trouble: make(chan struct{}, 1), written: map[string]time.Time{},
	}
	r.reads = newSharedDatabase(observe(r.replicas), d.MaxConnections, use, nil)
	return r
}

// resize changes how many connections to the replicas there may be.
func (r *replicatedDatabase) resize(connections int) {
	r.reads.resize(connections)
	r.replicas.resize(connections)
}

// Replicas implements database.Replicated.
func (r *replicatedDatabase) Replicas() database.DB { return staleReads{r} }

// Transact implements database.DB. It notes who wrote: the replicas may not have it yet. A transaction that failed may have
// been committed all the same.
func (r *replicatedDatabase) Transact(ctx context.Context, do func(database.Tx) error) error {
	err := r.DB.Transact(ctx, do)
	if name := share.Name(ctx); name != "" {
		r.mu.Lock()
		r.written[name] = time.Now()
		r.mu.Unlock()
	}
	return err
}

// Close implements database.DB.
func (r *replicatedDatabase) Close() {
	r.DB.Close()
	r.replicas.Close()
}

// serves reports whether the replicas can answer a token: they are there, not too far behind, and have what it wrote.
func (r *replicatedDatabase) serves(name string) bool {
	if !r.usable.Load() {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.exact && time.Since(r.fresh) > r.maxStaleness {
		return false
	}
	wrote, found := r.written[name]
	return !found || r.has(wrote)
}

// has reports whether the replicas have what was written at a time. If they do not tell, enough time must have passed.
func (r *replicatedDatabase) has(wrote time.Time) bool {
	if r.exact {
		return r.fresh.After(wrote)
	}
	return time.Since(wrote) > r.maxStaleness
}

// staleReads is a database whose reads may be a little old.
type staleReads struct{ *replicatedDatabase }

// Select implements database.DB.
func (s staleReads) Select(ctx context.Context, plan *database.Select, out []byte) ([]byte, database.Page, error) {
	r := s.replicatedDatabase
	if plan.Lock || !r.serves(share.Name(ctx)) {
		return r.Select(ctx, plan, out)
	}
	extended, page, err := r.reads.Select(ctx, plan, out)
	if err == nil || !primaryMayAnswer(err) {
		return extended, page, err
	}
	if isUnreachable(err) {
		r.usable.Store(false)
		wake(r.trouble)
	}
	return r.Select(ctx, plan, out)
}

// primaryMayAnswer reports whether an error of a replica is its own: it is away, has another schema or other rights, or
// stopped the statement because it had to replay a change.
func primaryMayAnswer(err error) bool {
	switch database.AsError(err).Code {
	case database.Cancelled, database.Timeout, database.Invalid, database.Busy:
		return false
	}
	return true
}

// interval is how often the replicas are looked at.
func (r *replicatedDatabase) interval() time.Duration {
	return min(max(r.maxStaleness/10, 50*time.Millisecond), time.Second)
}

const (
	// lookTimeout bounds one look at the replicas; awayPause is the least time between two if they cannot be used.
	lookTimeout = 10 * time.Second
	awayPause   = time.Second
)

// watch looks at the replicas until ctx ends. next is the login that the Secrets have now, and tell is called with the
// problem; "" is none.
func (r *replicatedDatabase) watch(ctx context.Context, next func() login, tell func(problem string)) {
	known := false // whether the replicas' schema was read over the present login
	for {
		attempt, cancel := context.WithTimeout(ctx, lookTimeout)
		usable, problem := r.look(attempt, next(), &known)
		cancel()
		if ctx.Err() != nil {
			return
		}
		r.usable.Store(usable)
		tell(problem)
		pause := r.interval()
		if !usable {
			pause = max(pause, awayPause)
		}
		select {
		case <-ctx.Done():
			return
		case <-r.trouble:
			known = false
		case <-time.After(jittered(pause)):
		}
	}
}

// look finds out whether the replicas can be read from, and what is wrong.
func (r *replicatedDatabase) look(ctx context.Context, next login, known *bool) (usable bool, problem string) {
	if name := next.connection.Database; r.database != "" && name != "" && name != r.database {
		return false, toPrimary + "their connection is to the database " + name + ", and not to " + r.database
	}
	refused := r.tryLogin(ctx, next, known)
	err := refused
	if *known {
		err = r.measure(ctx)
	} else if refused == nil {
		if _, err = r.replicas.Introspect(ctx); err == nil {
			*known = true
			err = r.measure(ctx)
		}
	}
	switch {
	case err != nil:
		*known = false
		return false, toPrimary + database.AsError(err).Message
	case !r.keepsUp():
		return false, toPrimary + "they are more than " + r.maxStaleness.String() + " behind"
	case refused != nil:
		return true, "the replicas are read over the connections from before, which still work: " + database.AsError(refused).Message
	}
	return true, ""
}

// toPrimary begins what is said of replicas that are not read from.
const toPrimary = "reads go to the primary, not to the replicas: "

// tryLogin goes over to another login of the replicas, if the Secrets have one and it works.
func (r *replicatedDatabase) tryLogin(ctx context.Context, next login, known *bool) error {
	if next.equal(r.login) {
		return nil
	}
	fresh := r.open(next)
	if _, err := fresh.Introspect(ctx); err != nil {
		fresh.Close()
		return err
	}
	r.login, *known = next, true
	r.replicas.replace(fresh)
	return nil
}

// keepsUp forgets the writes that the replicas have, and reports whether these are not too far behind.
func (r *replicatedDatabase) keepsUp() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, wrote := range r.written {
		if r.has(wrote) {
			delete(r.written, name)
		}
	}
	return !r.exact || time.Since(r.fresh) <= r.maxStaleness
}

// measure finds out up to which time the replicas have everything. If that is unknown, or if there are several servers at
// different positions, only time counts.
func (r *replicatedDatabase) measure(ctx context.Context) error {
	if n := len(r.samples); n == 0 || time.Since(r.samples[n-1].at) > r.maxStaleness/10 {
		at := time.Now()
		// If the primary does not answer, there is nothing new to reach.
		if position, err := r.primary.Position(ctx); err == nil && position != "" {
			r.samples = append(r.samples, sample{at, position})
		} else if err == nil {
			r.samples = nil
		}
	}
	if len(r.samples) == 0 {
		r.reached(time.Time{}, false)
		return r.replicas.Ping(ctx)
	}
	for i := len(r.samples) - 1; i >= 0; i-- {
		reached, told, err := r.replicas.Reached(ctx, r.samples[i].position)
		switch {
		case err != nil:
			return err
		case !told || r.replicas.Servers() > 1:
			r.samples = nil
			r.reached(time.Time{}, false)
			return nil
		case reached:
			r.reached(r.samples[i].at, true)
			r.samples = r.samples[i+1:]
			return nil
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exact = true // fresh is what it was: long ago, if it never was
	return nil
}

func (r *replicatedDatabase) reached(fresh time.Time, exact bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fresh, r.exact = fresh, exact
}

// replicaPools returns what opens the replicas of a target with a login.
func (d *databases) replicaPools(t target) func(login) database.DB {
	replica := t
	replica.settings, replica.audit, replica.idempotency = t.settings.Replica(), nil, nil
	return func(l login) database.DB {
		settings := d.settingsFor(replica, l)
		settings.Follows, settings.Use, settings.WriterUse = true, &d.uses.replicas, nil
		return d.open(t.engine, settings)
	}
}

// replicasLogin is how an update says to get into the replicas.
func (t target) replicasLogin(update *source.Update) login {
	replica := t.settings.Replica()
	return loginOf(t.engine, &replica, update.Replicas, update)
}

// watchReplicas looks at the replicas of an open database until it is replaced.
func (c *core) watchReplicas(db *openDatabase, t target) {
	db.replicated.watch(db.ctx, func() login { return t.replicasLogin(c.known.Load()) }, func(problem string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if db != c.databases.current || problem == c.databases.replicasProblem {
			return
		}
		c.databases.replicasProblem = problem
		if problem == "" {
			c.log.Info("The database's replicas are read from")
		} else {
			c.log.Warn("The database's replicas are in trouble", "problem", problem)
		}
		c.publish()
	})
}

// Position implements database.Follower.
func (r *rotatingDatabase) Position(ctx context.Context) (string, error) {
	p := r.take()
	defer r.give(p)
	if f, ok := p.DB.(database.Follower); ok {
		return f.Position(ctx)
	}
	return "", nil
}

// Reached implements database.Follower.
func (r *rotatingDatabase) Reached(ctx context.Context, position string) (reached, told bool, err error) {
	p := r.take()
	defer r.give(p)
	if f, ok := p.DB.(database.Follower); ok {
		return f.Reached(ctx, position)
	}
	return false, false, nil
}

// Servers implements database.Follower.
func (r *rotatingDatabase) Servers() int {
	p := r.take()
	defer r.give(p)
	if f, ok := p.DB.(database.Follower); ok {
		return f.Servers()
	}
	return 1
}
