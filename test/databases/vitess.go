package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/go-sql-driver/mysql"

	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// vitess is Vitess before a MySQL of its own: vtgate, the tablets and the topology in one process, as its makers test with.
// A test makes a keyspace by CREATE DATABASE. It has one shard, unless its name is one of databasetest.ShardedKeyspaces.
type vitess struct {
	mySQL
	project string
}

func newVitess(project string) vitess {
	return vitess{mySQL{mariaDB{}, in(project, "mysql-server-core", true)}, project}
}

const vtcombo = "bin/databases/vitess/vtcombo"

func (v vitess) find() string {
	if _, err := os.Stat(filepath.Join(v.project, vtcombo)); err != nil {
		return ""
	}
	return v.mySQL.find()
}

// install builds Vitess from its Go module, which takes minutes.
func (v vitess) install() error {
	if v.mySQL.find() == "" {
		if err := v.mySQL.install(); err != nil {
			return err
		}
	}
	c := exec.Command("hack/go-build.sh", "test/databases/vitess", vtcombo, "vitess.io/vitess/go/cmd/vtcombo")
	c.Dir, c.Stdout, c.Stderr = v.project, os.Stderr, os.Stderr
	return c.Run()
}

// unsharded is the keyspace that is always there. Sequences, by which tables of several shards count, lie in it. The URI names it, as
// vtgate asks any keyspace for a session that names none, and that one may be dropped at the moment.
const unsharded = "plain"

// shardNames are the two halves of the keys.
var shardNames = []string{"-80", "80-"}

// initialise also makes the databases of the keyspaces, and lets the tablets in by the socket, where no password is seen.
func (v vitess) initialise(s *server, password string) error {
	if err := v.mySQL.initialise(s, password); err != nil {
		return err
	}
	script := fmt.Sprintf("CREATE DATABASE IF NOT EXISTS `vt_%s_0` CHARACTER SET utf8mb4;\n", unsharded)
	for _, host := range []string{"localhost", "127.0.0.1"} { // the tablets come by the socket, tests that look behind the gateway do not
		script += fmt.Sprintf("CREATE USER IF NOT EXISTS 'tester'@'%s' IDENTIFIED BY '%s';\n"+
			"GRANT ALL PRIVILEGES ON *.* TO 'tester'@'%[1]s' WITH GRANT OPTION;\n", host, password)
	}
	for _, name := range databasetest.ShardedKeyspaces {
		for _, shard := range shardNames {
			script += fmt.Sprintf("CREATE DATABASE IF NOT EXISTS `vt_%s_%s` CHARACTER SET utf8mb4;\n", name, shard)
		}
	}
	if err := s.write("users.sql", script); err != nil {
		return err
	}
	credentials, _ := json.Marshal(map[string][]string{"tester": {password}}) // texts: it cannot fail
	return s.write("behind.json", string(credentials))
}

// uri also names the keyspace that is always there.
func (v vitess) uri(s *server, port int, password string) string {
	return v.mySQL.uri(s, port, password) + unsharded
}

// behind returns the URI of the MySQL that has the rows, each shard's in a database of its own.
func (v vitess) behind(s *server, password string) ([]string, error) {
	port, err := readNumber(s.path("port2"))
	if err != nil {
		return nil, err
	}
	return []string{v.mySQL.uri(s, port, password)}, nil
}

// topology says which keyspaces there are. A keyspace that is made again has the shards that it has here.
func topology() string {
	type shard struct {
		Name string `json:"name"`
	}
	type keyspace struct {
		Name   string  `json:"name"`
		Shards []shard `json:"shards"`
		// Replicas counts the primary; a negative number is none.
		Replicas int `json:"replicaCount"`
		ReadOnly int `json:"rdonlyCount"`
	}
	all := []keyspace{{unsharded, []shard{{"0"}}, 1, -1}}
	for _, name := range databasetest.ShardedKeyspaces {
		all = append(all, keyspace{name, []shard{{shardNames[0]}, {shardNames[1]}}, 1, -1})
	}
	text, _ := json.Marshal(map[string]any{"cells": []string{"test"}, "keyspaces": all}) // texts and numbers: it cannot fail
	return string(text)
}

func (v vitess) launch(s *server, port int) error {
	behind, err := freePort(0)
	if err != nil {
		return err
	}
	args := append(append(v.options(s), "--init-file="+s.path("users.sql")), networkOptions(s, "2", behind)...)
	args = append(args, "--skip-log-bin", "--max-connections=2000")
	if err := s.detach(s.program("mysqld", args...), "port2", behind, greets); err != nil {
		return err
	}
	command := []string{filepath.Join(v.project, vtcombo), "--json-topo", topology(), "--pid-file", s.path("pid"), "--log-format", "text",
		"--mysql-server-port", strconv.Itoa(port), "--mysql-server-bind-address", "127.0.0.1", "--mysql-auth-server-impl", "none", // this program has no other

		"--db-socket", s.path("socket2"), "--db-credentials-file", s.path("behind.json"), "--mycnf-server-id", "1", "--mycnf-socket-file", s.path("socket2"),
		"--dbddl-plugin", "vttest", "--vschema-ddl-authorized-users", "%", "--tablet-hostname", "localhost", "--tablet-types-to-wait", "primary",
		// A new keyspace is there once its tablet is found. vtcombo does not lock its map of tablets: it ends if it looks for them, or tries
		// to reach one that is gone, at the moment at which it makes a keyspace. So it does both less often than it could.
		"--tablet-refresh-interval", "100ms", "--healthcheck-retry-delay", "1s"}
	for _, user := range []string{"app", "dba", "allprivs", "appdebug", "repl", "filtered"} {
		command = append(command, "--db-"+user+"-user", "tester")
	}
	c := s.prepare(command)
	c.Env = append(c.Env, "VTDATAROOT="+s.folder)
	log, err := os.Create(s.path("error.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	c.Stderr, c.Stdout = log, log
	if err := s.detach(c, "port", port, greets); err != nil {
		return err
	}
	return v.freeShards(s, port)
}

// freeShards drops the keyspaces of several shards, for tests to make: that tells which ones are in use.
func (v vitess) freeShards(s *server, port int) error {
	password, err := os.ReadFile(s.path("password"))
	if err != nil {
		return err
	}
	config := mysql.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr, config.DBName = "tester", string(password), "tcp", address(port), unsharded
	db, err := sql.Open("mysql", config.FormatDSN())
	if err != nil {
		return err
	}
	defer db.Close()
	for _, name := range databasetest.ShardedKeyspaces {
		if _, err := db.Exec("DROP DATABASE " + name); err != nil {
			return err
		}
	}
	return nil
}
