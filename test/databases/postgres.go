package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
)

type postgres struct{}

const superuser = "postgres"

func (postgres) variable() string { return "MCP_TEST_POSTGRES" }
func (postgres) account() string  { return "postgres" }
func (postgres) find() string     { return findProgram("initdb", "/usr/lib/postgresql/*/bin/initdb") }

// packages come without the cluster that Debian would make and start.
func (postgres) packages() error {
	if err := install("PostgreSQL", "initdb and pg_ctl", "postgresql-common"); err != nil {
		return err
	}
	if err := os.WriteFile("/etc/postgresql-common/createcluster.conf", []byte("create_main_cluster = false\n"), 0o600); err != nil {
		return err
	}
	return install("PostgreSQL", "initdb and pg_ctl", "postgresql")
}

func (postgres) initialise(s *server, _ string) error {
	return quietly(s.program("initdb", "--pgdata", s.path("cluster"), "--username", superuser, "--pwfile", s.path("password.new"),
		"--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync"))
}

func (postgres) running(s *server) (int, error) {
	status := s.program("pg_ctl", "status", "--pgdata", s.path("cluster"))
	if err := status.Run(); status.ProcessState == nil {
		return 0, err
	} else if err != nil {
		return 0, nil //nolint:nilerr // it ended, and so said that no server runs
	}
	text, err := os.ReadFile(s.path("cluster/postmaster.pid"))
	if err != nil {
		return 0, err
	}
	const portLine = 3
	lines := strings.Split(string(text), "\n")
	if len(lines) <= portLine {
		return 0, errors.New("the server is starting; try again")
	}
	return strconv.Atoi(lines[portLine])
}

func (postgres) launch(s *server, port int) error {
	options := fmt.Sprintf("-p %d -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=200 "+
		"-c fsync=off -c synchronous_commit=off -c full_page_writes=off", port)
	// Its output is left alone: it would stay open for as long as the server runs.
	return s.program("pg_ctl", "start", "--wait", "--pgdata", s.path("cluster"), "--log", s.path("log"), "--options", options).Run()
}

func (postgres) uri(port int, password string) string {
	uri := url.URL{
		Scheme: "postgres", User: url.UserPassword(superuser, password), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		Path: "/postgres", RawQuery: "sslmode=disable",
	}
	return uri.String()
}

func (postgres) halt() string {
	return `if "$0/pg_ctl" status --pgdata "$1/cluster" >/dev/null; then "$0/pg_ctl" stop --wait --mode fast --pgdata "$1/cluster"; fi`
}
