package server

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/duckdb"
	"github.com/mcp-admin/mcp-admin-operator/server/database/mysql"
	"github.com/mcp-admin/mcp-admin-operator/server/database/postgres"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqlite"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
)

// An openDatabase is the database that calls are answered from, and the context in which its schema is read.
type openDatabase struct {
	database.DB
	ctx    context.Context
	cancel context.CancelFunc
	// shared divides the connections among tokens. rotating is the database below it. login is its newest pool's; only the schema's watch uses it.
	shared   *sharedDatabase
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
	// endpoint is the endpoint's name.
	endpoint string
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
	d.ConnectionsShared = false // share follows it, and needs no other pool
	if d.Replicas != nil {
		replicas := *d.Replicas
		replicas.ConnectionsShared = false
		d.Replicas = &replicas
	}
	t := target{endpoint: endpoint.Name, settings: d, engine: d.Engine, audit: endpoint.Audit, idempotency: endpoint.Idempotency}
	if !inFiles(t.engine) {
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

// inFiles reports whether an engine reads files that the server has, so that there is no server to connect to.
func inFiles(engine string) bool {
	return engine == contract.EngineSQLite || engine == contract.EngineDuckDB
}

// sameTables reports whether two targets have the same schema. Its audit table is part of it: nothing may be written before
// the wanted one is known.
func (t target) sameTables(other target) bool {
	return t.engine == other.engine && reflect.DeepEqual(t.address, other.address) && reflect.DeepEqual(t.audit, other.audit) &&
		reflect.DeepEqual(t.idempotency, other.idempotency) &&
		slices.Equal(t.settings.Schemas, other.settings.Schemas)
}

// databases are the database that is open, and those from before until their last calls have ended.
type databases struct {
	open func(engine string, settings database.Settings) database.DB
	// sqliteFile, sqliteInitDir and duckDBPath are as in Server.
	sqliteFile, sqliteInitDir, duckDBPath string
	// countFor is as in Server.
	countFor time.Duration

	// current is nil if there is no Config to open one by. target says which database it is.
	current *openDatabase
	target  target
	// login is how the Secrets say to get into the database. The open pool may still have the one before.
	login   login
	retired retirement
	// uses count the connections, whichever databases are open.
	uses poolUses
	// replicasProblem says why the database's replicas are not read from; "" if they are, or if there are none.
	replicasProblem string
	// metrics count what is asked of the databases; nil counts and traces nothing.
	metrics *telemetry.Metrics
	// pod is the name of the server's pod; "" if it is in none.
	pod string
}

// reopen opens an update's database if another one is open, and reports whether it did.
func (c *core) reopen(update *source.Update) bool {
	before := c.databases.target
	if !c.databases.reopen(update) {
		return false
	}
	if !c.databases.target.sameTables(before) {
		c.schema = nil
		c.databaseStatus = contract.DatabaseStatus{Reason: contract.ReasonConnecting}
	}
	if db := c.databases.current; db.replicated != nil {
		go c.watchReplicas(db, c.databases.target)
	}
	return true
}

// reopen opens an update's database if another one is open, and reports whether it did.
func (d *databases) reopen(update *source.Update) bool {
	if update.Config == nil {
		d.retire()
		return false
	}
	wanted := targetOf(&update.Config.Endpoint, update.Connection, d.target)
	if d.current != nil && reflect.DeepEqual(wanted, d.target) {
		return false
	}
	d.retire()
	d.target, d.login = wanted, wanted.login(update)
	ctx, cancel := context.WithCancel(context.Background())
	open := func(l login) database.DB { return d.open(wanted.engine, d.settingsFor(wanted, l)) }
	rotating := newRotatingDatabase(open(d.login))
	shared := newSharedDatabase(d.observe(rotating, wanted), wanted.settings.MaxConnections, &d.uses.primary, &d.uses.writer)
	db := &openDatabase{DB: shared, ctx: ctx, cancel: cancel, shared: shared, rotating: rotating, login: d.login}
	d.current, d.replicasProblem = db, ""
	if inFiles(wanted.engine) {
		return true
	}
	db.open = open
	if replicas := wanted.settings.Replicas; replicas != nil {
		db.replicated = newReplicatedDatabase(db.DB, rotating, replicas, wanted.replicasLogin(update), d.replicaPools(wanted),
			func(db database.DB) database.DB { return d.observe(db, wanted) }, &d.uses.replicas)
		if wanted.engine == contract.EngineMySQL {
			db.replicated.database = wanted.address.Database
		}
		db.DB = db.replicated
		d.replicasProblem = toPrimary + "no attempt to reach them has ended yet"
	}
	return true
}

// share bounds the connections to this pod's share of those that are for all pods.
func (d *databases) share(config *contract.Config) {
	if config == nil || d.current == nil {
		return
	}
	of := config.OfOnePod().Database
	d.current.shared.resize(of.MaxConnections)
	d.current.rotating.resize(of.MaxConnections)
	if d.current.replicated != nil {
		d.current.replicated.resize(of.Replicas.MaxConnections)
	}
}

// login is how an update says to get into the database.
func (t target) login(update *source.Update) login {
	return loginOf(t.engine, &t.settings, update.Connection, update)
}

// changeLogin takes another login for the open database, and reports whether it is another. The schema's watch tries it.
func (d *databases) changeLogin(update *source.Update) bool {
	if update.Config == nil || d.current == nil {
		return false
	}
	next := d.target.login(update)
	if next.equal(d.login) {
		return false
	}
	d.login = next
	return true
}

// retire closes the open database once the calls that use it have had time to end. Until then it keeps no connection that they do not
// use: the next database has connections of its own, and both together may be too many for the server.
func (d *databases) retire() {
	if d.current == nil {
		return
	}
	d.current.cancel()
	d.current.rotating.retire()
	if d.current.replicated != nil {
		d.current.replicated.replicas.retire()
	}
	d.retired.add(d.current, time.Duration(d.target.settings.StatementTimeout)+database.AcquireTimeout)
	d.current = nil
}

// close ends all databases.
func (d *databases) close() {
	if d.current != nil {
		d.current.cancel()
		d.current.Close()
	}
	d.retired.closeAll()
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
func (d *databases) settingsFor(t target, l login) database.Settings {
	settings := database.Settings{Database: t.settings, Audit: t.audit, Idempotency: t.idempotency, SQLitePath: d.sqliteFile, SQLiteInitDir: d.sqliteInitDir, DuckDBPath: d.duckDBPath, CountFor: d.countFor}
	settings.Engine, settings.Application = t.engine, applicationName(t.endpoint, d.pod)
	settings.Use, settings.WriterUse = &d.uses.primary, &d.uses.writer
	l.apply(&settings)
	return settings
}

// applicationName is what the server calls itself at the database: with the endpoint's name, and the end of the pod's, by which the
// endpoint's pods differ.
func applicationName(endpoint, pod string) string {
	if endpoint == "" {
		return ""
	}
	name := "mcp-admin/" + endpoint
	if i := strings.LastIndexByte(pod, '-'); i >= 0 {
		name += pod[i:]
	}
	return name[:min(len(name), 63)]
}

// openEngine opens a database of the engine.
func openEngine(engine string, settings database.Settings) database.DB {
	switch {
	case engine == contract.EngineSQLite && settings.SQLitePath == "":
		return noFile{} // SQLite itself would take "" for a database in memory.
	case engine == contract.EngineSQLite:
		return sqlite.Open(settings)
	case engine == contract.EngineDuckDB:
		return duckdb.Open(settings)
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
