package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// startupParameters are those that PgBouncer takes at the start of a connection, and keeps for each of its clients.
var startupParameters = map[string]string{
	"application_name": "mcp-admin-server",
	"client_encoding":  "UTF8",
	"DateStyle":        "ISO, YMD",
	"TimeZone":         "UTC",
}

// passedOptions are the parameters of a connection URI that are handed on. The others of libpq concern its own files
// and sockets, and have no meaning here; unknown ones would be refused by the server.
var passedOptions = map[string]bool{
	"application_name": true, "channel_binding": true, "connect_timeout": true, "options": true, "require_auth": true,
	"search_path": true, "sslnegotiation": true, "target_session_attrs": true,
}

// beforeConnect fills in where the next connection goes, and who we are there, as the settings have it now.
func (d *db) beforeConnect(_ context.Context, config *pgx.ConnConfig) error {
	if err := d.gate.Check(); err != nil {
		return err
	}
	c, err := d.settings.Connection()
	if err != nil {
		return incomplete(err)
	}
	if err := d.configure(&config.Config, c); err != nil {
		return err // a nil *database.Error would be no nil error
	}
	return nil
}

// configure writes a connection into a pgx configuration, in place of all that stood there.
func (d *db) configure(config *pgconn.Config, c contract.Connection) *database.Error {
	options := "host=localhost user=postgres sslmode=disable"
	for _, name := range slices.Sorted(maps.Keys(c.Options)) {
		if passedOptions[name] {
			options += " " + name + "='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(c.Options[name]) + "'"
		}
	}
	parsed, err := pgconn.ParseConfig(options)
	if err != nil {
		// The error is left out: pgx quotes what it could not read.
		return incomplete(fmt.Errorf("the options %s of the connection are not understood", strings.Join(slices.Sorted(maps.Keys(c.Options)), ", ")))
	}
	config.ChannelBinding, config.RequireAuth, config.SSLNegotiation = parsed.ChannelBinding, parsed.RequireAuth, parsed.SSLNegotiation
	config.ValidateConnect = parsed.ValidateConnect
	if parsed.ConnectTimeout > 0 && parsed.ConnectTimeout < connectTimeout {
		config.ConnectTimeout = parsed.ConnectTimeout
	}
	config.RuntimeParams = maps.Clone(startupParameters)
	maps.Copy(config.RuntimeParams, parsed.RuntimeParams)
	config.Host, config.Port, config.Database = c.Host, uint16(c.Port), c.Database
	config.User, config.Password = c.User, c.Password

	attempts, tlsErr := d.tlsAttempts(c)
	if tlsErr != nil {
		return tlsErr
	}
	config.TLSConfig = attempts[0]
	config.Fallbacks = nil
	for _, attempt := range attempts[1:] {
		config.Fallbacks = append(config.Fallbacks, &pgconn.FallbackConfig{Host: config.Host, Port: config.Port, TLSConfig: attempt})
	}
	return nil
}

// tlsAttempts returns what is tried one after the other, as libpq's sslmode has it; nil is no TLS.
func (d *db) tlsAttempts(c contract.Connection) ([]*tls.Config, *database.Error) {
	mode := d.settings.TLSMode
	if mode == "" {
		mode = c.SSLMode
	}
	if strings.HasPrefix(c.Host, "/") {
		mode = "disable" // a socket of this machine
	}
	config := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}
	if net.ParseIP(c.Host) == nil {
		config.ServerName = c.Host
	}
	if d.settings.CA != nil {
		pem, err := d.settings.CA()
		if err != nil {
			return nil, tlsFailed(c.Address(), "the CA certificates cannot be read", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, tlsFailed(c.Address(), "the CA holds no PEM certificate", nil)
		}
	}
	switch mode {
	case "disable":
		return []*tls.Config{nil}, nil
	case "allow":
		return []*tls.Config{nil, config}, nil
	case "", "prefer":
		return []*tls.Config{config, nil}, nil
	case "require":
		if config.RootCAs != nil {
			config.VerifyConnection = verifyChain(config.RootCAs) // as libpq does where there is a CA
		}
		return []*tls.Config{config}, nil
	case "verify-ca":
		config.VerifyConnection = verifyChain(config.RootCAs)
		return []*tls.Config{config}, nil
	case "verify-full":
		config.InsecureSkipVerify = false
		config.ServerName = c.Host
		return []*tls.Config{config}, nil
	}
	return nil, incomplete(errors.New("the sslmode is not one of libpq's"))
}

// verifyChain checks the server's certificate against the roots, but not its name.
func verifyChain(roots *x509.CertPool) func(tls.ConnectionState) error {
	return func(state tls.ConnectionState) error {
		options := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
		for _, certificate := range state.PeerCertificates[1:] {
			options.Intermediates.AddCert(certificate)
		}
		_, err := state.PeerCertificates[0].Verify(options)
		return err
	}
}

// sessionSettings make the server write values as package jsontext reads them.
const sessionSettings = `set_config('bytea_output', 'hex', $1), set_config('IntervalStyle', 'postgres', $1), ` +
	`set_config('extra_float_digits', '3', $1), set_config('statement_timeout', $2, $1)`

// afterConnect makes the connection's session. Where the process that answers is not the one that greeted us, a pooler
// is in between, and its server connections are not ours to set.
func (d *db) afterConnect(ctx context.Context, conn *pgx.Conn) error {
	d.gate.Succeeded()
	c := conn.PgConn()
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
	return nil
}
