package main

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// mariaDB is Debian's MariaDB.
type mariaDB struct{}

func (mariaDB) account() string  { return "mysql" }
func (mariaDB) find() string     { return findProgram("mariadb-install-db", "/usr/bin/mariadb-install-db") }
func (mariaDB) loader() []string { return nil }

// install brings the server's programs, without the packages that make and start a server of the system's.
func (mariaDB) install() error { return installPackages("mariadb-server-core", "mariadb-client-core") }

func (mariaDB) initialise(s *server, password string) error {
	err := quietly(s.program("mariadb-install-db", "--no-defaults", "--datadir="+s.path("cluster"), "--skip-test-db",
		"--auth-root-authentication-method=normal"))
	if err != nil {
		return err
	}
	return writeUsers(s, password)
}

// writeUsers writes a script that makes a user who is asked for the password, whatever name the server has for the loopback
// address. The server runs it when it starts.
func writeUsers(s *server, password string) error {
	return s.write("users.sql", strings.ReplaceAll(`CREATE USER IF NOT EXISTS 'tester'@'127.0.0.1' IDENTIFIED BY 'PASSWORD';
GRANT ALL PRIVILEGES ON *.* TO 'tester'@'127.0.0.1' WITH GRANT OPTION;
ALTER USER 'root'@'localhost' IDENTIFIED BY 'PASSWORD';
`, "PASSWORD", password))
}

func (mariaDB) running(s *server) (int, error) { return s.process() }

func (mariaDB) launch(s *server, port int) error {
	defaults := "--no-defaults"
	if _, err := os.Stat(s.path("my.cnf")); err == nil { // a test's own settings
		defaults = "--defaults-file=" + s.path("my.cnf")
	}
	args := []string{defaults, "--datadir=" + s.path("cluster"), "--skip-log-bin", "--init-file=" + s.path("users.sql")}
	return s.detach(s.mariadbd(append(args, networkOptions(s, "", port)...)...), "port", port, greets)
}

// mariadbd prepares a call of the server's program, which Debian keeps apart from the others.
func (s *server) mariadbd(args ...string) *exec.Cmd {
	c := s.program("mariadbd", args...)
	if path, err := exec.LookPath("mariadbd"); err == nil {
		c.Path = path
	} else {
		c.Path = filepath.Clean("/usr/sbin/mariadbd")
	}
	return c
}

func (mariaDB) uri(_ *server, port int, password string) string {
	uri := url.URL{Scheme: "mysql", User: url.UserPassword("tester", password), Host: address(port), Path: "/"}
	return uri.String()
}

func (mariaDB) halt() string  { return haltProcesses }
func (mariaDB) crash() string { return killProcesses }
