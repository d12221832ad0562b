package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/dial"
)

// connect opens a connection to where the settings lead now, and makes its session.
func (d *db) connect(ctx context.Context) (*conn, error) {
	if err := d.gate.Check(); err != nil {
		return nil, err
	}
	c, err := d.dial(ctx)
	if err == nil {
		if err = d.prepareSession(ctx, c); err == nil {
			d.gate.Succeeded()
			return c, nil
		}
		c.lost = true
		c.Close()
	}
	if ctx.Err() != nil {
		return nil, err
	}
	failure := d.connectError(err)
	if failure.Reason != contract.ReasonSecretIncomplete { // asking the settings again costs nothing
		d.gate.Failed(failure)
	}
	return nil, failure
}

// dial opens a connection.
func (d *db) dial(ctx context.Context) (*conn, error) {
	settings, err := d.settings.Connection()
	if err != nil {
		return nil, dial.Incomplete(err)
	}
	generation := d.generation.Load()
	c := &conn{
		statements: map[string]driver.Stmt{}, born: time.Now(), kill: d.killOn,
		isStale: func() bool { return d.generation.Load() != generation },
		stale:   func() { d.generation.CompareAndSwap(generation, generation+1) },
	}
	config, failure := d.configure(settings)
	if failure != nil {
		return nil, failure
	}
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		var dialer net.Dialer
		var err error
		c.network, err = dialer.DialContext(ctx, network, address)
		return c.network, err
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, dial.Incomplete(errors.New("the connection's parts are not understood"))
	}
	limited, cancel := context.WithTimeout(ctx, dial.Timeout)
	defer cancel()
	if c.raw, err = connector.Connect(limited); err != nil {
		if limited.Err() != nil {
			err = context.DeadlineExceeded
		}
		return nil, connectFailure(settings.Address(), err)
	}
	return c, nil
}

// configure says how the driver is to connect.
func (d *db) configure(c contract.Connection) (*mysql.Config, *database.Error) {
	config := mysql.NewConfig()
	config.User, config.Passwd, config.DBName = c.User, c.Password, c.Database
	config.Net, config.Addr = "tcp", c.Address()
	if strings.HasPrefix(c.Host, "/") {
		config.Net, config.Addr = "unix", c.Host
	}
	config.ClientFoundRows = true
	config.ConnectionAttributes = "program_name:mcp-admin-server"
	config.Logger = &mysql.NopLogger{}
	if err := config.Apply(mysql.Charset("utf8mb4", "")); err != nil {
		return nil, dial.Incomplete(err)
	}
	return config, d.configureTLS(config, c)
}

// configureTLS follows libpq's sslmode. "allow" is taken as "prefer": a server that wants TLS refuses everything else
// as it refuses a wrong password.
func (d *db) configureTLS(config *mysql.Config, c contract.Connection) *database.Error {
	attempts, err := dial.TLS(d.settings, c)
	if err != nil {
		return err
	}
	for _, attempt := range attempts {
		if attempt != nil {
			config.TLS = attempt
		}
	}
	config.AllowFallbackToPlaintext = len(attempts) > 1
	return nil
}

// serverQuery tells where we are. Behind one address there may be several servers.
const serverQuery = `SELECT VERSION(), CONNECTION_ID(), CONCAT_WS('/', @@hostname, @@port, @@server_id), DATABASE()`

// identify reads who the server is.
func (c *conn) identify(ctx context.Context) error {
	var id string
	err := c.texts(ctx, serverQuery, nil, func(v []string) { c.version, id, c.server, c.database = v[0], v[1], v[2], v[3] })
	if err != nil {
		return err
	}
	c.mariaDB = strings.Contains(c.version, "MariaDB")
	if c.id, err = strconv.ParseUint(id, 10, 64); err != nil {
		return err
	}
	return c.findCluster(ctx)
}

// sqlMode is what of the session's sql_mode is needed, and no more: values that do not fit are errors, in tables of every
// engine; a key of 0 is 0. Dates of zeros are let be: they are read and looked for, and package lookup takes none.
const sqlMode = "STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO"

// prepareSession makes the session one in which plans mean the same on every server.
//
// Transactions see what others have committed, as those of PostgreSQL do: a row that is read again after it was found
// to have changed is the row as it is. A wait for a lock ends before the statement's time does, so that a call learns
// what it waited for; messages are in English, as constraints' names are read from them.
func (d *db) prepareSession(ctx context.Context, c *conn) error {
	limited, cancel := context.WithTimeout(ctx, dial.Timeout)
	defer cancel()
	if err := c.identify(limited); err != nil {
		return err
	}
	isolation := "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"
	if d.settings.ReadOnly {
		isolation += ", READ ONLY"
	}
	if err := d.setSession(limited, c); err != nil {
		return err
	}
	return c.exec(limited, isolation)
}

// required are the settings of a session without which plans mean something else.
const required = "sql_mode = '" + sqlMode + "', time_zone = '+00:00', autocommit = 1"

// setSession gives the session its settings, in one statement. Those that the server turns out to lack are left out from
// then on.
func (d *db) setSession(ctx context.Context, c *conn) error {
	wanted := slices.DeleteFunc(d.optionalSettings(c.mariaDB), func(setting string) bool {
		_, lacking := d.lacking.Load(settingName(setting))
		return lacking
	})
	err := c.exec(ctx, "SET SESSION "+strings.Join(append([]string{required}, wanted...), ", "))
	if !isLacking(err) || len(wanted) == 0 {
		return err
	}
	for _, setting := range wanted {
		if err := c.exec(ctx, "SET SESSION "+setting); isLacking(err) {
			d.lacking.Store(settingName(setting), true)
		} else if err != nil {
			return err
		}
	}
	return c.exec(ctx, "SET SESSION "+required)
}

func settingName(setting string) string {
	name, _, _ := strings.Cut(setting, " ")
	return name
}

// optionalSettings are those that a server may lack which speaks MySQL's protocol, and is none of the two.
func (d *db) optionalSettings(mariaDB bool) []string {
	all := []string{"lc_messages = 'en_US'"}
	timeout := d.statementTimeout()
	if timeout <= 0 {
		return all
	}
	all = append(all, fmt.Sprintf("innodb_lock_wait_timeout = %d", max(int(timeout.Seconds()/2), 1)))
	if mariaDB {
		return append(all, fmt.Sprintf("max_statement_time = %.3f", max(timeout.Seconds(), 0.001)))
	}
	return append(all, fmt.Sprintf("max_execution_time = %d", max(timeout.Milliseconds(), 1)))
}

// killOn stops what runs on a connection, by another to the same server.
func (d *db) killOn(ctx context.Context, victim *conn) error {
	c, err := d.dial(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	c.kill = func(context.Context, *conn) error { return errors.New("nobody kills the killer") }
	if err := c.identify(ctx); err != nil {
		return err
	}
	if c.server != victim.server {
		return errors.New("the address leads to another server by now") // if the number is somebody else's
	}
	return c.exec(ctx, "KILL QUERY "+strconv.FormatUint(victim.id, 10))
}
