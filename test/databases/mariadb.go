package main

import (
	"cmp"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// mariaDB is Debian's MariaDB.
type mariaDB struct{ unpacked }

func newMariaDB(project string) mariaDB {
	packages := in(project, "mariadb-server-core", false)
	packages.Also = []string{"mariadb-client-core"}
	return mariaDB{packages}
}

// newestMariaDB is the release in Debian's newest suite. Its programs are wrapped, as a script starts them.
func newestMariaDB(project string) mariaDB {
	packages := in(project, "mariadb-server-core", true)
	packages.Also, packages.Folder = []string{"mariadb-client-core"}, "mariadb-sid"
	return mariaDB{packages}
}

func (mariaDB) account() string { return "mysql" }

func (m mariaDB) find() string {
	if m.Sid && m.unpacked.find("mariadbd"+unwrapped) == "" {
		return ""
	}
	return m.folderOf("mariadb-install-db", "/usr/bin/mariadb-install-db")
}

// folderOf returns the folder of a program: the machine's own goes first, unless another release is wanted.
func (m mariaDB) folderOf(program, path string) string {
	own := ""
	if !m.Sid {
		own = findProgram(program, path)
	}
	return cmp.Or(own, m.unpacked.find(program))
}

// install brings the server's programs, without the packages that make and start a server of the system's.
func (m mariaDB) install() error {
	if m.Sid {
		if err := m.unpacked.install(); err != nil {
			return err
		}
		return m.wrap("mariadbd", "my_print_defaults", "resolveip")
	}
	if !isRoot() {
		return m.unpacked.install()
	}
	return installPackages("mariadb-server-core", "mariadb-client-core")
}

// loader is nil: what needs one is wrapped.
func (mariaDB) loader() []string { return nil }

// home tells programs that were unpacked where they lie; nil for programs of the system.
func (m mariaDB) home(s *server) []string {
	if !m.holds(s.binaries) {
		return nil
	}
	return []string{"--basedir=" + filepath.Join(m.Root(), "usr")}
}

func (m mariaDB) initialise(s *server, password string) error {
	args := append([]string{"--no-defaults", "--datadir=" + s.path("cluster"), "--skip-test-db", "--auth-root-authentication-method=normal"},
		m.home(s)...)
	err := quietly(s.program("mariadb-install-db", args...))
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

func (m mariaDB) launch(s *server, port int) error {
	defaults := "--no-defaults"
	if _, err := os.Stat(s.path("my.cnf")); err == nil { // a test's own settings
		defaults = "--defaults-file=" + s.path("my.cnf")
	}
	args := append([]string{defaults, "--datadir=" + s.path("cluster"), "--skip-log-bin", "--init-file=" + s.path("users.sql")}, m.home(s)...)
	return s.detach(m.mariadbd(s, append(args, networkOptions(s, "", port)...)...), "port", port, greets)
}

// mariadbd prepares a call of the server's program, which Debian keeps apart from the others.
func (m mariaDB) mariadbd(s *server, args ...string) *exec.Cmd {
	folder := m.folderOf("mariadbd", "/usr/sbin/mariadbd")
	return s.prepare(append([]string{filepath.Join(folder, "mariadbd")}, args...))
}

func (mariaDB) uri(_ *server, port int, password string) string {
	uri := url.URL{Scheme: "mysql", User: url.UserPassword("tester", password), Host: address(port), Path: "/"}
	return uri.String()
}

func (mariaDB) halt() string  { return haltProcesses }
func (mariaDB) crash() string { return killProcesses }
