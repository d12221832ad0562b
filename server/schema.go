package server

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// How often the database is looked at.
const (
	// A database that answers is pinged, and its schema is read from time to time: soon, and then more seldom, while it lacks
	// something that the Config names.
	pingEvery       = 10 * time.Second
	introspectEvery = time.Minute
	// A schema of which the database says that it has not changed is read anew this often all the same.
	readAllEvery = time.Hour
	firstRepeat  = time.Second
	// The schema of a database that does not answer is tried again and again.
	firstPause = 200 * time.Millisecond
	mostPause  = 10 * time.Second
	// leastPause is the least time between two looks that calls in trouble, or new Configs, ask for.
	leastPause = time.Second

	pingTimeout       = 5 * time.Second
	introspectTimeout = 30 * time.Second
)

// wakes wakes the schema's watch.
type wakes struct {
	// look has it look at once; trouble does if a call found something wrong, unfit if a Config names what was not there when the
	// schema was read.
	look, trouble, unfit chan struct{}
	// questions has the questions of exposures asked that are new.
	questions chan struct{}
}

func newWakes() wakes {
	return wakes{look: make(chan struct{}, 1), trouble: make(chan struct{}, 1), unfit: make(chan struct{}, 1), questions: make(chan struct{}, 1)}
}

// A schemaWatch decides when the database is looked at next.
type schemaWatch struct {
	healthy bool
	// read is when the schema was read last, or was the same as before, and readAll when it was read; looked is when the database
	// was asked for it last.
	read, readAll, looked time.Time
	// pause is how long a database that does not answer is left alone, repeat how long one that lacks something is.
	pause, repeat time.Duration
	// doubt counts the calls in trouble, which are reasons to doubt that a new connection can be made. dispelled is the count
	// at which one was made.
	doubt, dispelled int
}

// watchSchema keeps the schema and the database's state in view until ctx ends.
func (c *core) watchSchema(ctx context.Context) {
	w := schemaWatch{pause: firstPause, repeat: firstRepeat}
	for {
		wait := mostPause
		if db := c.openDatabase(); db != nil {
			wait = c.lookIfDue(ctx, db, &w)
		}
		select {
		case <-ctx.Done():
			return
		case <-c.wakes.look:
			w.healthy, w.pause = false, firstPause
			continue
		case <-c.wakes.trouble:
			w.healthy = false
			w.doubt++
			wait = leastPause - time.Since(w.looked)
		case <-c.wakes.unfit:
			w.healthy, w.repeat = false, firstRepeat
			wait = leastPause - time.Since(w.looked)
		case <-time.After(jittered(wait)):
			continue
		}
		if wait <= 0 {
			continue
		}
		select { // looked at just now
		case <-ctx.Done():
			return
		case <-c.wakes.look:
			w.pause = firstPause
		case <-time.After(wait):
		}
	}
}

// lookIfDue reads the schema if it is time to, and returns how long to wait until the database is looked at again.
func (c *core) lookIfDue(ctx context.Context, db *openDatabase, w *schemaWatch) time.Duration {
	lacks, age := c.lacks(), time.Since(w.read)
	repeats := w.healthy && lacks && age >= w.repeat*9/10 // jittered waits less at times
	if !w.healthy || age > introspectEvery || repeats || !alive(db) {
		switch {
		case repeats:
			w.repeat = min(2*w.repeat, introspectEvery)
		case !lacks:
			w.repeat = firstRepeat
		}
		w.looked = time.Now()
		if w.healthy = c.introspect(ctx, db, w); w.healthy {
			w.read, w.pause = w.looked, firstPause
		}
	}
	switch {
	case !w.healthy:
		wait := w.pause
		w.pause = min(2*w.pause, mostPause)
		return wait
	case c.lacks():
		return min(max(0, w.repeat-time.Since(w.read)), pingEvery)
	}
	return pingEvery
}

func (c *core) openDatabase() *openDatabase {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.databases.current
}

// introspect reads the schema and reports whether that succeeded. If the Secrets have another login than the open pool, it
// tries that one first, and changes over once it works: the open connections say nothing about a new password. The same is
// done if calls found that connections are in doubt.
func (c *core) introspect(ctx context.Context, db *openDatabase, w *schemaWatch) bool {
	attempt, cancel := context.WithTimeout(db.ctx, introspectTimeout)
	defer cancel()
	config := c.known.Load().Config
	defer context.AfterFunc(ctx, cancel)()
	schema, refused := c.tryLogin(attempt, db, w)
	var err error
	if schema == nil && w.healthy && time.Since(w.readAll) < readAllEvery {
		schema = c.unchanged(attempt, db)
	}
	if schema == nil {
		w.readAll = w.looked
		schema, err = db.Introspect(attempt)
	}
	if ctx.Err() != nil || db.ctx.Err() != nil {
		return false // Nobody waits for the answer any more.
	}
	c.introspected(db, config, schema, err, refused)
	return err == nil && refused == nil
}

// unchanged returns the known schema if the database says that it is still the same; nil if it does not say so.
func (c *core) unchanged(ctx context.Context, db *openDatabase) *database.Schema {
	if same, err := db.rotating.Unchanged(ctx); err != nil || !same {
		return nil // if it does not answer, reading the schema says why
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if db != c.databases.current {
		return nil
	}
	return c.schema
}

// tryLogin makes a connection as the Secrets say now, if the open pool has another login or new connections are in doubt,
// and returns why that failed. A pool with another login takes the place of the open one, and its schema is returned.
func (c *core) tryLogin(ctx context.Context, db *openDatabase, w *schemaWatch) (*database.Schema, error) {
	next := c.newestLogin()
	rotated := !next.equal(db.login)
	if db.open == nil || !rotated && w.doubt == w.dispelled {
		return nil, nil
	}
	fresh := db.open(next)
	if !rotated {
		defer fresh.Close()
		if err := fresh.Ping(ctx); err != nil && database.AsError(err).Code != database.Busy {
			return nil, err
		}
		w.dispelled = w.doubt
		return nil, nil
	}
	schema, err := fresh.Introspect(ctx)
	if err != nil {
		fresh.Close()
		return nil, err
	}
	w.dispelled = w.doubt
	db.login = next
	db.rotating.replace(fresh)
	c.log.Info("The database's credentials were changed; calls under way end with those from before")
	return schema, nil
}

// newestLogin is how the Secrets say to get into the database.
func (c *core) newestLogin() login {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.databases.login
}

// alive reports whether the database answers. Busy means alive.
func alive(db *openDatabase) bool {
	ctx, cancel := context.WithTimeout(db.ctx, pingTimeout)
	defer cancel()
	err := db.Ping(ctx)
	return err == nil || database.AsError(err).Code == database.Busy
}

// jittered spreads the checks of many pods over time.
func jittered(d time.Duration) time.Duration {
	return d*9/10 + rand.N(d/5+1) //nolint:gosec // G404: nothing depends on nobody guessing it
}
