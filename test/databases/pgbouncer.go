package main

import (
	"errors"
	"fmt"
	"net/url"
)

// pgBouncer is PgBouncer in transaction pooling before the PostgreSQL of a URI. It keeps no prepared statements, as
// releases before 1.21 do not.
type pgBouncer struct {
	unpacked
	primary string
}

func (pgBouncer) account() string { return "postgres" }
func (b pgBouncer) find() string  { return b.unpacked.find("pgbouncer") }
func (pgBouncer) halt() string    { return haltProcesses }
func (pgBouncer) crash() string   { return killProcesses }

// serverBehind is the server that a pooler stands before.
func serverBehind(primary string) (*url.URL, error) {
	u, err := url.Parse(primary)
	if err != nil || primary == "" {
		return nil, errors.New("a pooler needs -primary, the URI of the PostgreSQL behind it")
	}
	return u, nil
}

func (b pgBouncer) initialise(s *server, _ string) error {
	u, err := serverBehind(b.primary)
	if err != nil {
		return err
	}
	password, _ := u.User.Password()
	if err := s.write("password.new", password); err != nil { // of the server behind it
		return err
	}
	return s.write("users", fmt.Sprintf("%q %q\n", u.User.Username(), password))
}

func (pgBouncer) running(s *server) (int, error) { return s.process() }

func (b pgBouncer) launch(s *server, port int) error {
	u, err := serverBehind(b.primary)
	if err != nil {
		return err
	}
	err = s.write("ini", fmt.Sprintf(`[databases]
* = host=%s port=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = scram-sha-256
auth_file = %s
pool_mode = transaction
max_prepared_statements = 0
max_client_conn = 500
default_pool_size = 10
server_tls_sslmode = disable
pidfile = %s
`, u.Hostname(), u.Port(), port, s.path("users"), s.path("pid")))
	if err != nil {
		return err
	}
	return s.detach(s.program("pgbouncer", s.path("ini")), "port", port, listens)
}

func (b pgBouncer) uri(_ *server, port int, password string) string {
	return postgres{}.uri(nil, port, password)
}
