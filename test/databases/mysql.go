package main

import (
	"path/filepath"
	"strconv"
)

// mySQL is MySQL proper, which Debian has in its newest suite alone.
type mySQL struct {
	mariaDB
	unpacked
}

func (m mySQL) find() string     { return m.unpacked.find("mysqld") }
func (m mySQL) install() error   { return m.unpacked.install() }
func (m mySQL) loader() []string { return m.unpacked.loader() }

// environment is nil: the loader knows where the libraries are.
func (mySQL) environment(string) []string { return nil }

// options come with every call: the program was not made for the folder that it lies in.
func (m mySQL) options(s *server) []string {
	share := filepath.Join(m.Root(), "usr/share/mysql")
	return []string{"--no-defaults", "--datadir=" + s.path("cluster"), "--lc-messages-dir=" + share, "--lc-messages=en_US",
		"--character-sets-dir=" + filepath.Join(share, "charsets"), "--plugin-dir=" + filepath.Join(m.Root(), "usr/lib/mysql/plugin"),
		"--secure-file-priv=", "--mysqlx=OFF", "--innodb-redo-log-capacity=32M", "--performance-schema=OFF"}
}

func (m mySQL) initialise(s *server, password string) error {
	if err := quietly(s.program("mysqld", append(m.options(s), "--initialize-insecure")...)); err != nil {
		return err
	}
	return writeUsers(s, password)
}

func (m mySQL) launch(s *server, port int) error {
	args := append(append(m.options(s), "--init-file="+s.path("users.sql")), networkOptions(s, "", port)...)
	return s.detach(s.program("mysqld", append(args, "--skip-log-bin")...), "port", port, greets)
}

// networkOptions are common to MariaDB and MySQL. node tells servers of one folder apart.
func networkOptions(s *server, node string, port int) []string {
	return []string{"--port=" + strconv.Itoa(port), "--bind-address=127.0.0.1", "--skip-name-resolve",
		"--socket=" + s.path("socket"+node), "--pid-file=" + s.path("pid"+node), "--log-error=" + s.path("error"+node+".log"),
		"--max-connections=200", "--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync", "--innodb-buffer-pool-size=64M"}
}
