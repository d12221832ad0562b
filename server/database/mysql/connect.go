package mysql

import (
	"cmp"
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

// connect opens a connection to the address that the settings give now, and prepares its session.
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
	if failure.Reason != contract.ReasonSecretIncomplete { // the settings can be read again at no cost
		d.gate.Failed(failure)
	}
	return nil, failure
}

// dial opens a connection to the first host that answers. If the database is used for writing, a host that takes no writes
// is only the last resort: another server has taken over from it, or will.
func (d *db) dial(ctx context.Context) (*conn, error) {
	settings, err := d.settings.Connection()
	if err != nil {
		return nil, dial.Incomplete(err)
	}
	hosts := settings.Hosts()
	var failure error
	var standby *conn
	for _, host := range hosts {
		c, err := d.dialHost(ctx, settings.At(host), dial.HostTimeout(len(hosts)))
		switch {
		case err != nil:
			failure = cmp.Or(failure, err)
		case len(hosts) > 1 && !d.settings.ReadOnly && c.isStandby(ctx):
			if standby != nil {
				c.Close()
				continue
			}
			standby = c
		default:
			if standby != nil {
				standby.Close()
			}
			return c, nil
		}
	}
	if standby != nil {
		return standby, nil
	}
	return nil, failure
}

// isStandby reports whether the server takes no writes of ours.
func (c *conn) isStandby(ctx context.Context) (standby bool) {
	limited, cancel := context.WithTimeout(ctx, dial.Timeout)
	defer cancel()
	err := c.texts(limited, "SELECT @@global.read_only", nil, func(v []string) { standby = v[0] != "0" && v[0] != "OFF" })
	return err == nil && standby
}

// dialHost opens a connection to one host.
func (d *db) dialHost(ctx context.Context, settings contract.Connection, timeout time.Duration) (*conn, error) {
	generation := d.generation.Load()
	c := &conn{
		statements: map[string]driver.Stmt{}, born: time.Now(), kill: d.killOn, host: settings,
		spread:  d.spread.Load,
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
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if c.raw, err = connector.Connect(limited); err != nil {
		if limited.Err() != nil {
			err = context.DeadlineExceeded
		}
		return nil, connectFailure(settings.Address(), err)
	}
	return c, nil
}

// configure tells the driver how to connect.
func (d *db) configure(c contract.Connection) (*mysql.Config, *database.Error) {
	config := mysql.NewConfig()
	config.User, config.Passwd, config.DBName = c.User, c.Password, c.Database
	config.Net, config.Addr = "tcp", c.Address()
	if strings.HasPrefix(c.Host, "/") {
		config.Net, config.Addr = "unix", c.Host
	}
	config.ClientFoundRows = true
	config.ConnectionAttributes = "program_name:" + cmp.Or(d.settings.Application, database.DefaultApplication)
	config.Logger = &mysql.NopLogger{}
	if mode := c.Options[modeOption]; mode != "" && !slices.Contains(modes, strings.ToUpper(mode)) {
		return nil, dial.Incomplete(errors.New("the URI's parameter " + modeOption + " is not one of " + strings.Join(modes, ", ")))
	}
	if err := config.Apply(mysql.Charset("utf8mb4", "")); err != nil {
		return nil, dial.Incomplete(err)
	}
	return config, d.configureTLS(config, c)
}

// configureTLS follows libpq's sslmode. It treats "allow" as "prefer": if a server demands TLS, its refusal without TLS
// looks like the refusal of a wrong password.
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

// serverQuery asks which server this is. Several servers may share one address.
const serverQuery = `SELECT VERSION(), CONNECTION_ID(), CONCAT_WS('/', @@hostname, @@port, @@server_id), DATABASE()`

// identify reads which server this is.
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

// sqlMode is the part of the session's sql_mode that is needed, and no more. Values that do not fit are errors, in
// tables of every engine; a key of 0 is 0. Zero dates stay allowed: rows may hold them and they can be looked for, but
// package lookup accepts none from callers.
const sqlMode = "STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO"

// prepareSession makes a session in which a plan means the same on every server.
//
// Transactions see what others have committed, like PostgreSQL's: if a row turns out to have changed, a second reading
// shows its present values. A wait for a lock ends before the statement's time does, so that a call learns what it waited
// for. Messages are in English, because constraints' names are read from them.
func (d *db) prepareSession(ctx context.Context, c *conn) error {
	limited, cancel := context.WithTimeout(ctx, dial.Timeout)
	defer cancel()
	if err := c.identify(limited); err != nil {
		return err
	}
	d.servers.Store(c.server, nil)
	isolation := "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"
	if d.settings.ReadOnly {
		isolation += ", READ ONLY"
	}
	if err := d.setSession(limited, c); err != nil {
		return err
	}
	return c.exec(limited, isolation)
}

// required are the session settings without which plans would mean something else. The texts of a group have room for as many values as
// they may have.
const required = "sql_mode = '" + sqlMode + "', time_zone = '+00:00', autocommit = 1, group_concat_max_len = 262144"

// setSession applies the session's settings in one statement. It leaves out the settings that the server has turned out to
// lack.
func (d *db) setSession(ctx context.Context, c *conn) error {
	wanted := slices.DeleteFunc(d.optionalSettings(c), func(setting string) bool {
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

// ownWork are settings of MariaDB's Spider, which most servers do not have: the server itself groups and counts the rows of Spider's
// tables, and reads each part of them as a whole. The statements by which Spider has other servers group name columns that these do not
// know, and lack collations; a page of joined rows that it reads piece by piece has some rows twice, and others not (10.11).
var ownWork = []string{"spider_disable_group_by_handler = ON", "spider_direct_aggregate = OFF", "spider_semi_split_read = 0"}

// optionalSettings are settings that a server may lack: one without Spider, or one that speaks MySQL's protocol but is neither MySQL
// nor MariaDB.
func (d *db) optionalSettings(c *conn) []string {
	all := []string{"lc_messages = 'en_US'"}
	if c.mariaDB {
		all = append(all, ownWork...)
	}
	if mode := c.host.Options[modeOption]; mode != "" {
		all = append(all, modeOption+" = '"+strings.ToUpper(mode)+"'")
	}
	timeout := d.statementTimeout()
	if timeout <= 0 {
		return all
	}
	all = append(all, fmt.Sprintf("innodb_lock_wait_timeout = %d", max(int(timeout.Seconds()/2), 1)))
	return append(all, timeSetting(c.mariaDB, timeout))
}

// timeSetting is the setting by which the server itself ends a read that takes longer.
func timeSetting(mariaDB bool, timeout time.Duration) string {
	if mariaDB {
		return fmt.Sprintf("max_statement_time = %.3f", max(timeout.Seconds(), 0.001))
	}
	return fmt.Sprintf("max_execution_time = %d", max(timeout.Milliseconds(), 1))
}

// allow gives the connection's reads the time of a stream, which may be nil, until restore is called. The server waits for a slow taker
// of rows as long: by itself it would hang up after a minute (net_write_timeout).
func (d *db) allow(ctx context.Context, c *conn, stream *database.Stream) (restore func(), err error) {
	if !stream.Lengthens() {
		return func() {}, nil
	}
	longer := fmt.Sprintf("SET SESSION net_write_timeout = %d", max(int(stream.Within.Seconds()), 1))
	back := "SET SESSION net_write_timeout = @@global.net_write_timeout" // DEFAULT, which not every server takes
	if d.gateway.Load() {
		longer += ", workload = 'OLAP'" // else it puts no more than 10,000 rows together (--queryserver-config-max-result-size)
		back += ", workload = 'OLTP'"
	}
	usual := d.statementTimeout()
	if _, lacks := d.lacking.Load(settingName(timeSetting(c.mariaDB, usual))); usual > 0 && !lacks {
		longer += ", " + timeSetting(c.mariaDB, stream.Within)
		back += ", " + timeSetting(c.mariaDB, usual)
	}
	if err := d.exec(ctx, c, longer); err != nil {
		return nil, err
	}
	return func() {
		if !c.lost && d.exec(context.WithoutCancel(ctx), c, back) != nil {
			c.lost = true // it would allow others too much
		}
	}, nil
}

// killOn stops the statement that runs on a connection, through another connection to the same server.
//
// A gateway is not asked: its connections are numbered, and nothing tells it from the others behind the same address.
func (d *db) killOn(ctx context.Context, victim *conn) error {
	if d.gateway.Load() {
		return errors.New("the connection leads to one of several gateways")
	}
	c, err := d.dialHost(ctx, victim.host, dial.Timeout)
	if err != nil {
		return err
	}
	defer c.Close()
	c.kill = func(context.Context, *conn) error { return errors.New("nobody kills the killer") }
	if err := c.identify(ctx); err != nil {
		return err
	}
	if c.server != victim.server {
		return errors.New("the address leads to another server by now") // if the number belongs to another connection
	}
	return c.exec(ctx, "KILL QUERY "+strconv.FormatUint(victim.id, 10))
}
