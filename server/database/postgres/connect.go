package postgres

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/dial"
)

// startupParameters are the parameters that PgBouncer accepts at the start of a connection, and keeps for each of its
// clients.
var startupParameters = map[string]string{
	"client_encoding": "UTF8",
	"DateStyle":       "ISO, YMD",
	"TimeZone":        "UTC",
}

// passedOptions are the parameters of a connection URI that are passed on. libpq's other parameters are about its own
// files and sockets and mean nothing here. The server would refuse unknown ones.
var passedOptions = map[string]bool{
	"application_name": true, "channel_binding": true, "connect_timeout": true, "options": true, "require_auth": true,
	"search_path": true, "sslnegotiation": true, "target_session_attrs": true,
}

// connectConfig is how to make the next connection, as the settings have it now. cancelled is called before the server is
// asked to end a statement of the connection.
func (d *db) connectConfig(cancelled func()) (*pgx.ConnConfig, error) {
	// pgx demands a configuration that it parsed itself; configure replaces all of it.
	config, err := pgx.ParseConfig(noServer)
	if err != nil {
		return nil, &database.Error{Code: database.Failed, Message: "the PG… environment variables of the server are not understood", Cause: err}
	}
	config.ConnectTimeout = dial.Timeout
	// Introspection uses pgx; without a statement cache that works behind a pooler, too.
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.StatementCacheCapacity, config.DescriptionCacheCapacity = 0, 0 // they would take 50 KB of each connection
	config.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &cancelHandler{pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: cancelTime}, cancelled}
	}
	config.OnNotice = noteWarning
	c, err := d.settings.Connection()
	if err != nil {
		return nil, dial.Incomplete(err)
	}
	if err := d.configure(&config.Config, c); err != nil {
		return nil, err // a nil *database.Error in an error is not nil
	}
	return config, nil
}

// cancelHandler asks the server to end a statement whose caller went away, and says so.
type cancelHandler struct {
	pgconn.CancelRequestContextWatcherHandler
	cancelled func()
}

// HandleCancel implements [ctxwatch.Handler].
func (h *cancelHandler) HandleCancel(ctx context.Context) {
	h.cancelled()
	h.CancelRequestContextWatcherHandler.HandleCancel(ctx)
}

// noServer is a configuration that is never used.
const noServer = "host=localhost user=postgres sslmode=disable"

// configure writes a connection into a pgx configuration and replaces all that was there.
func (d *db) configure(config *pgconn.Config, c contract.Connection) *database.Error {
	options := noServer
	for _, name := range slices.Sorted(maps.Keys(c.Options)) {
		if passedOptions[name] {
			options += " " + name + "='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(c.Options[name]) + "'"
		}
	}
	parsed, err := pgconn.ParseConfig(options)
	if err != nil {
		// The error is left out: pgx quotes the text that it could not read.
		return dial.Incomplete(fmt.Errorf("the options %s of the connection are not understood", strings.Join(slices.Sorted(maps.Keys(c.Options)), ", ")))
	}
	config.ChannelBinding, config.RequireAuth, config.SSLNegotiation = parsed.ChannelBinding, parsed.RequireAuth, parsed.SSLNegotiation
	config.ValidateConnect = parsed.ValidateConnect
	if parsed.ConnectTimeout > 0 && parsed.ConnectTimeout < dial.Timeout {
		config.ConnectTimeout = parsed.ConnectTimeout
	}
	config.RuntimeParams = maps.Clone(startupParameters)
	config.RuntimeParams["application_name"] = cmp.Or(d.settings.Application, database.DefaultApplication)
	maps.Copy(config.RuntimeParams, parsed.RuntimeParams)
	config.Database, config.User, config.Password = c.Database, c.User, c.Password
	if len(c.Others) > 0 {
		config.ConnectTimeout = min(config.ConnectTimeout, dial.HostTimeout(1+len(c.Others)))
		if c.Options["target_session_attrs"] == "" && !d.settings.ReadOnly {
			// Of several servers one takes changes.
			config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
		}
	}
	return d.configureHosts(config, c)
}

// configureHosts writes the hosts into a pgx configuration, and for each the ways to protect the connection.
func (d *db) configureHosts(config *pgconn.Config, c contract.Connection) *database.Error {
	var all []*pgconn.FallbackConfig
	for _, host := range c.Hosts() {
		attempts, err := dial.TLS(d.settings, c.At(host))
		if err != nil {
			return err
		}
		if config.RequireAuth == "" && len(attempts) > 1 {
			// An attacker who strips TLS from a connection that only prefers it could ask for the password in clear text.
			config.RequireAuth = "!password"
		}
		for _, attempt := range attempts {
			all = append(all, &pgconn.FallbackConfig{Host: host.Name, Port: uint16(host.Port), TLSConfig: attempt})
		}
	}
	config.Host, config.Port, config.TLSConfig, config.Fallbacks = all[0].Host, all[0].Port, all[0].TLSConfig, all[1:]
	return nil
}

// sessionSettings make the server write values as package jsontext reads them. A database without a known encoding
// sends texts as they are stored: if UTF-8 were demanded, one row that is not UTF-8 would fail the whole page. Code is not
// compiled for a statement (jit): compiling a large one takes seconds that neither a timeout nor a cancellation can end. A
// server that compiles nothing may not know that setting.
const sessionSettings = `set_config('client_encoding', CASE current_setting('server_encoding') WHEN 'SQL_ASCII' THEN 'SQL_ASCII' ELSE 'UTF8' END, $1), ` +
	`set_config('bytea_output', 'hex', $1), set_config('IntervalStyle', 'postgres', $1), ` +
	`set_config('extra_float_digits', '3', $1), CASE WHEN current_setting('jit', true) IS NOT NULL THEN set_config('jit', 'off', $1) END, ` +
	`set_config('statement_timeout', $2, $1)`

// prepareSession prepares the connection's session. If the process that answers is not the process that greeted us, there
// is a pooler in between, and its server connections are not ours to configure.
func (d *db) prepareSession(ctx context.Context, c *pgconn.PgConn) error {
	pid := []byte(fmt.Sprint(c.PID()))
	result := c.ExecParams(ctx, "SELECT "+sessionSettings+" WHERE pg_backend_pid() = $3::bigint",
		[][]byte{[]byte("f"), []byte(d.timeoutSetting()), pid}, []uint32{boolOID, textOID}, nil, nil).Read()
	if result.Err != nil {
		return result.Err
	}
	s := &session{statements: map[string]*pgconn.StatementDescription{}}
	s.pooled = len(result.Rows) == 0
	c.CustomData()[sessionKey] = s
	d.sessions.Store(c, nil)
	if d.settings.Follows {
		d.noteServer(ctx, c)
	}
	return nil
}
