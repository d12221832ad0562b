package server

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/mysql"
	"github.com/mcp-admin/mcp-admin-operator/server/database/postgres"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqlite"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// An openDatabase is the database that calls are answered from, and the context in which its schema is read.
type openDatabase struct {
	database.DB
	ctx    context.Context
	cancel context.CancelFunc
	// rotating is the database below DB. login is its newest pool's; only the schema's watch uses it.
	rotating *rotatingDatabase
	login    login
	// open opens the same database with a login, and connections of its own; nil for a file, which nobody logs in to.
	open func(login) database.DB
	// replicated is DB if the database has replicas; nil otherwise.
	replicated *replicatedDatabase
}

// A target says which database it is and how it is used. Another target is opened anew; credentials are no part of it.
type target struct {
	settings contract.Database
	// engine is never "" but in the zero target.
	engine string
	// address is the connection without its credentials.
	address contract.Connection
	// audit is the table in which changes are recorded; nil is none.
	audit *contract.AuditTable
	// idempotency is the table in which answers are kept; nil is none.
	idempotency *contract.AuditTable
}

// targetOf returns what a Config and a connection Secret lead to. If the Secret cannot be read, the last address
// stays: connections that are open go on, and new ones tell what is missing.
func targetOf(endpoint *contract.Endpoint, connection source.Secret, last target) target {
	d := endpoint.Database
	t := target{settings: d, engine: d.Engine, audit: endpoint.Audit, idempotency: endpoint.Idempotency}
	if t.engine != contract.EngineSQLite {
		found, err := d.Source().Resolve(connection)
		if err != nil {
			found = last.address
			found.Engine = last.engine
		}
		if t.engine == "" {
			t.engine = found.Engine
		}
		if t.engine == "" {
			t.engine = contract.EnginePostgreSQL
		}
		t.address = found.WithoutCredentials()
	}
	return t
}

// sameTables reports whether two targets have the same schema. Its audit table is part of it: nothing may be written before
// the wanted one is known.
func (t target) sameTables(other target) bool {
	return t.engine == other.engine && reflect.DeepEqual(t.address, other.address) && reflect.DeepEqual(t.audit, other.audit) &&
		reflect.DeepEqual(t.idempotency, other.idempotency) &&
		slices.Equal(t.settings.Schemas, other.settings.Schemas)
}

// reopen opens an update's database if another one is open, and reports whether it did.
func (c *core) reopen(update *source.Update) bool {
	if update.Config == nil {
		c.retire()
		return false
	}
	wanted := targetOf(&update.Config.Endpoint, update.Connection, c.target)
	if c.db != nil && reflect.DeepEqual(wanted, c.target) {
		return false
	}
	c.retire()
	if !wanted.sameTables(c.target) {
		c.schema = nil
		c.databaseStatus = contract.DatabaseStatus{Reason: contract.ReasonConnecting}
	}
	c.target, c.login = wanted, wanted.login(update)
	ctx, cancel := context.WithCancel(context.Background())
	open := func(l login) database.DB { return c.open(wanted.engine, c.settingsFor(wanted, l)) }
	rotating := newRotatingDatabase(open(c.login))
	c.db = &openDatabase{
		DB: newSharedDatabase(rotating, wanted.settings.MaxConnections), ctx: ctx, cancel: cancel,
		rotating: rotating, login: c.login,
	}
	c.replicasProblem = ""
	if wanted.engine == contract.EngineSQLite {
		return true
	}
	c.db.open = open
	if replicas := wanted.settings.Replicas; replicas != nil {
		c.db.replicated = newReplicatedDatabase(c.db.DB, rotating, replicas, c.replicasLogin(wanted), c.replicaPools(wanted))
		if wanted.engine == contract.EngineMySQL {
			c.db.replicated.database = wanted.address.Database
		}
		c.db.DB = c.db.replicated
		c.replicasProblem = toPrimary + "no attempt to reach them has ended yet"
		go c.watchReplicas(c.db, wanted)
	}
	return true
}

// login is how an update says to get into the database.
func (t target) login(update *source.Update) login {
	return loginOf(t.engine, &t.settings, update.Connection, update)
}

// changeLogin takes another login for the open database, and reports whether it is another. The schema's watch tries it.
func (c *core) changeLogin(update *source.Update) bool {
	if update.Config == nil || c.db == nil {
		return false
	}
	next := c.target.login(update)
	if next.equal(c.login) {
		return false
	}
	c.login = next
	return true
}

// retire closes the open database once the calls that use it have had time to end.
func (c *core) retire() {
	if c.db == nil {
		return
	}
	c.db.cancel()
	c.retired.add(c.db, time.Duration(c.target.settings.StatementTimeout)+database.AcquireTimeout)
	c.db = nil
}

// retirement holds databases that are to be closed.
type retirement struct {
	mu      sync.Mutex
	waiting map[database.DB]*time.Timer
}

func (r *retirement) add(db database.DB, after time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting == nil {
		r.waiting = map[database.DB]*time.Timer{}
	}
	r.waiting[db] = time.AfterFunc(after, func() { r.close(db) })
}

func (r *retirement) close(db database.DB) {
	r.mu.Lock()
	_, waiting := r.waiting[db]
	delete(r.waiting, db)
	r.mu.Unlock()
	if waiting {
		db.Close()
	}
}

func (r *retirement) closeAll() {
	r.mu.Lock()
	all := make([]database.DB, 0, len(r.waiting))
	for db, timer := range r.waiting {
		timer.Stop()
		all = append(all, db)
	}
	r.mu.Unlock()
	for _, db := range all {
		r.close(db)
	}
}

// settingsFor returns the settings by which a database is opened.
func (c *core) settingsFor(t target, l login) database.Settings {
	d := t.settings
	d.Engine = t.engine
	settings := database.Settings{Database: d, Audit: t.audit, Idempotency: t.idempotency, SQLitePath: c.sqliteFile, SQLiteInitDir: c.sqliteInitDir}
	l.apply(&settings)
	return settings
}

// openEngine opens a database of the engine.
func openEngine(engine string, settings database.Settings) database.DB {
	switch {
	case engine == contract.EngineSQLite && settings.SQLitePath == "":
		return noFile{} // SQLite itself would take "" for a database in memory.
	case engine == contract.EngineSQLite:
		return sqlite.Open(settings)
	case engine == contract.EngineMySQL:
		return mysql.Open(settings)
	}
	return postgres.Open(settings)
}

// noFile is a SQLite database of a server that was told of no file.
type noFile struct{}

var errNoFile = &database.Error{
	Code: database.Unreachable, Reason: contract.ReasonDatabaseError,
	Message: "the Config says that the database is a SQLite file, but the server was started without one",
}

func (noFile) Introspect(context.Context) (*database.Schema, error)    { return nil, errNoFile }
func (noFile) Ping(context.Context) error                              { return errNoFile }
func (noFile) Transact(context.Context, func(database.Tx) error) error { return errNoFile }
func (noFile) Writers() int                                            { return 1 }
func (noFile) Close()                                                  {}
func (noFile) Report(_ context.Context, _ *database.Report, out []byte) ([]byte, database.Reported, error) {
	return out, database.Reported{}, errNoFile
}
func (noFile) Select(_ context.Context, _ *database.Select, out []byte) ([]byte, database.Page, error) {
	return out, database.Page{}, errNoFile
}
