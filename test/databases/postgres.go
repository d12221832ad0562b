package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/test/node"
)

// postgres is Debian's PostgreSQL, or, with a release, the one of npm's package.
type postgres struct {
	unpacked
	project, release string
}

const superuser = "postgres"

func (postgres) account() string { return "postgres" }

func (p postgres) find() string {
	if p.release == "" {
		return cmp.Or(findProgram("initdb", "/usr/lib/postgresql/*/bin/initdb"), p.unpacked.find("initdb"))
	}
	if newest(filepath.Join(p.npm(), "native/lib/libpq.so")) == "" { // the last that installRelease makes
		return ""
	}
	return filepath.Join(p.npm(), "native/bin")
}

// npm is the folder of npm's package.
func (p postgres) npm() string {
	return filepath.Join(p.project, "test/databases/node_modules", "postgres"+p.release)
}

func (p postgres) install() error {
	if p.release != "" {
		return p.installRelease()
	}
	if !isRoot() {
		return p.unpacked.install()
	}
	// Without the cluster that Debian would make and start.
	if err := installPackages("postgresql-common"); err != nil {
		return err
	}
	if err := os.WriteFile("/etc/postgresql-common/createcluster.conf", []byte("create_main_cluster = false\n"), 0o600); err != nil {
		return err
	}
	return installPackages("postgresql")
}

// installRelease installs npm's packages, and makes the links between their libraries, which npm cannot keep.
func (p postgres) installRelease() error {
	if _, err := exec.LookPath("npm"); err != nil {
		if err := installPackages("npm"); err != nil {
			return err
		}
	}
	if err := node.Install(context.Background(), filepath.Join(p.project, "test/databases")); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(p.npm(), "native/pg-symlinks.json"))
	if err != nil {
		return fmt.Errorf("npm has no PostgreSQL %s for this machine: %w", p.release, err)
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(text, &links); err != nil {
		return err
	}
	for _, link := range links {
		err := os.Symlink(filepath.Base(link.Source), filepath.Join(p.npm(), link.Target))
		if err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
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
	return s.program("pg_ctl", "start", "--wait", "--pgdata", s.path("cluster"), "--log", s.path("error.log"), "--options", options).Run()
}

func (postgres) uri(_ *server, port int, password string) string {
	uri := url.URL{
		Scheme: "postgres", User: url.UserPassword(superuser, password), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		Path: "/postgres", RawQuery: "sslmode=disable",
	}
	return uri.String()
}

func (postgres) halt() string {
	return `if "$0/pg_ctl" status --pgdata "$1/cluster" >/dev/null; then "$0/pg_ctl" stop --wait --mode fast --pgdata "$1/cluster"; fi`
}

func (postgres) crash() string {
	return `"$0/pg_ctl" stop --wait --mode immediate --pgdata "$1/cluster"`
}

// standby is a PostgreSQL that follows another one, whose URI it is given, until it is promoted.
type standby struct {
	postgres
	primary string
}

func (y standby) initialise(s *server, _ string) error {
	if y.primary == "" {
		return errors.New("a standby needs -primary, the URI of the server that it follows")
	}
	// It is a client's program, which need not lie beside initdb.
	copier := cmp.Or(findProgram("pg_basebackup", "/usr/lib/postgresql/*/bin/pg_basebackup"), y.unpacked.find("pg_basebackup"))
	err := quietly(s.prepare([]string{filepath.Join(copier, "pg_basebackup"), "--pgdata", s.path("cluster"), "--dbname", y.primary,
		"--write-recovery-conf", "--checkpoint=fast", "--no-sync"}))
	if err != nil {
		return errors.New("pg_basebackup made no copy of the server") // whose words may hold the password
	}
	primary, err := url.Parse(y.primary)
	if err != nil {
		return errors.New("-primary is no URI")
	}
	password, _ := primary.User.Password()
	return s.write("password.new", password) // a copy has the users of what it copies
}
