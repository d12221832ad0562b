package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

type mariaDB struct{}

func (mariaDB) variable() string { return "MCP_TEST_MARIADB" }
func (mariaDB) account() string  { return "mysql" }
func (mariaDB) find() string     { return findProgram("mariadb-install-db", "/usr/bin/mariadb-install-db") }

// packages are the server's programs, without those that make and start a server of the system's.
func (mariaDB) packages() error {
	return install("MariaDB", "mariadb-install-db and mariadbd", "mariadb-server-core", "mariadb-client-core")
}

// initialise makes a user who is asked for the password, whatever name the server has for the loopback address.
func (mariaDB) initialise(s *server, password string) error {
	err := quietly(s.program("mariadb-install-db", "--no-defaults", "--datadir="+s.path("cluster"), "--skip-test-db",
		"--auth-root-authentication-method=normal"))
	if err != nil {
		return err
	}
	return s.write("users.sql", strings.ReplaceAll(`CREATE USER IF NOT EXISTS 'tester'@'127.0.0.1' IDENTIFIED BY 'PASSWORD';
GRANT ALL PRIVILEGES ON *.* TO 'tester'@'127.0.0.1' WITH GRANT OPTION;
ALTER USER 'root'@'localhost' IDENTIFIED BY 'PASSWORD';
`, "PASSWORD", password))
}

// running goes by the process and by the port that launch noted.
func (mariaDB) running(s *server) (int, error) {
	pid, err := readNumber(s.path("pid"))
	if err != nil || syscall.Kill(pid, 0) != nil {
		return 0, nil //nolint:nilerr // without a process there is no server
	}
	return readNumber(s.path("port"))
}

// launch starts the server in a group of its own, where a signal to ours does not reach it.
func (m mariaDB) launch(s *server, port int) error {
	mariadbd, err := exec.LookPath("mariadbd")
	if err != nil {
		mariadbd = "/usr/sbin/mariadbd"
	}
	c := s.program("mariadbd", "--no-defaults", "--datadir="+s.path("cluster"), "--port="+strconv.Itoa(port), "--bind-address=127.0.0.1",
		"--skip-name-resolve", "--socket="+s.path("socket"), "--pid-file="+s.path("pid"), "--init-file="+s.path("users.sql"),
		"--log-error="+s.path("log"), "--max-connections=200", "--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync",
		"--innodb-buffer-pool-size=64M", "--skip-log-bin")
	c.Path = filepath.Clean(mariadbd)
	c.SysProcAttr.Setpgid = true
	if err := s.write("port", strconv.Itoa(port)); err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for deadline := time.After(time.Minute); ; {
		select {
		case err := <-ended:
			return fmt.Errorf("it ended: %w", errors.Join(err))
		case <-deadline:
			return errors.Join(errors.New("it does not answer"), s.stop())
		case <-time.After(50 * time.Millisecond):
		}
		if m.answers(port) {
			return nil
		}
	}
}

// answers is whether a server greets whoever connects: it has made its users by then.
func (mariaDB) answers(port int) bool {
	c, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), time.Second)
	if err != nil {
		return false
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return false
	}
	n, _ := c.Read(make([]byte, 1))
	return n == 1
}

func (mariaDB) uri(port int, password string) string {
	uri := url.URL{Scheme: "mysql", User: url.UserPassword("tester", password), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Path: "/"}
	return uri.String()
}

// halt waits for the process to end, as its files are in use until then.
func (mariaDB) halt() string {
	return `if pid=$(cat "$1/pid" 2>/dev/null) && kill "$pid" 2>/dev/null; then while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done; fi`
}

func readNumber(path string) (int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}
