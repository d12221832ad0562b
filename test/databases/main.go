// Command databases gives the tests database servers of their own: each on its own port of the loopback address, with its
// own data folder and a password of its own. Nothing imports it.
//
//	go run ./test/databases install [-further] [-all] [-engine NAME]    install what is not there, or that one alone
//	go run ./test/databases run [-further] [-all] [-data DIR] -- COMMAND ARG…  start servers, run COMMAND, stop them
//	go run ./test/databases start -engine NAME -data DIR [-port N]      start one, and print its URI, and below it those of servers behind it
//	go run ./test/databases stop -engine NAME -data DIR                 stop it
//	go run ./test/databases kill -engine NAME -data DIR                 end it as a crash would
//
// COMMAND finds the URIs of users who may do everything in MCP_TEST_POSTGRES and MCP_TEST_MARIADB; a server that is
// named there already is used, and no other is started. With -further, other releases, engines and a pooler run as well
// (MCP_TEST_FURTHER, see package databasetest), and with -all also what is built from source or much like another one; what is not installed is named there, with the reason. A data folder
// that holds a server is used again; run without one takes a folder that is removed in the end, and keeps a folder for
// each server in it. Without a port a free one is taken.
//
// What is not the machine's own is fetched into bin/databases and test/databases/node_modules.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/test/project"
)

func main() {
	err := command(os.Args[1:])
	if err == nil {
		return
	}
	// The command that was run has said itself why it failed.
	if ended, ok := err.(*exec.ExitError); ok && ended.ExitCode() > 0 { //nolint:errorlint // a wrapped one is of a program of ours
		os.Exit(ended.ExitCode())
	}
	fmt.Fprintln(os.Stderr, "test/databases:", err)
	os.Exit(1)
}

// kind is an engine by its name. Every suite runs on those with a variable, in which tests find their URIs.
type kind struct {
	name, title, variable string
	// product names the engine to the tests, which know its behaviour by it; "" if run does not start it.
	product string
	open    func(project string) engine
	// long reports whether it is built from source, much like another one, or tested for minutes: only -all has it.
	long bool
	// shards reports whether tests also run on databases of several shards.
	shards bool
}

var kinds = []kind{
	{name: "postgres", title: "PostgreSQL", variable: "MCP_TEST_POSTGRES", product: "PostgreSQL", open: func(p string) engine { return postgres{unpacked: in(p, "postgresql", false)} }},
	{name: "mariadb", title: "MariaDB", variable: "MCP_TEST_MARIADB", product: "MariaDB", open: func(p string) engine { return newMariaDB(p) }},
	{name: "postgres18", title: "PostgreSQL 18", product: "PostgreSQL", open: func(p string) engine { return postgres{unpacked{}, p, "18"} }},
	{name: "postgres14", title: "PostgreSQL 14", product: "PostgreSQL", open: func(p string) engine { return postgres{unpacked{}, p, "14"} }},
	{name: "pgvector", title: "PostgreSQL with pgvector", product: "PostgreSQL", open: func(p string) engine { return newPGVector(p) }},
	{name: "pgbouncer", title: "PgBouncer", product: "PostgreSQL", open: func(p string) engine { return pgBouncer{in(p, "pgbouncer", true), ""} }},
	{name: "pgpool", title: "Pgpool-II", product: "PostgreSQL", long: true, open: func(p string) engine { return newPgpool(p, false) }},
	{name: "pgpool-standby", title: "Pgpool-II with a standby", open: func(p string) engine { return newPgpool(p, true) }},
	{name: "mariadb-sid", title: "MariaDB of Debian sid", product: "MariaDB", open: func(p string) engine { return newestMariaDB(p) }},
	{name: "mysql", title: "MySQL", product: "MySQL", open: func(p string) engine { return mySQL{mariaDB{}, in(p, "mysql-server-core", true)} }},
	{name: "vitess", title: "Vitess", product: "MySQL", long: true, shards: true, open: func(p string) engine { return newVitess(p) }},
	{name: "galera", title: "Galera", open: func(p string) engine { return galera{newMariaDB(p)} }},
	{name: "spider", title: "Spider", product: "MariaDB", long: true, open: func(p string) engine { return newSpider(p) }},
	{name: "patroni", title: "Patroni", long: true, open: func(p string) engine { return newPatroni(p) }},
	{name: "standby", title: "PostgreSQL's standby", open: func(p string) engine { return standby{postgres: postgres{unpacked: in(p, "postgresql", false)}} }},
}

// scope says which servers are meant beside those that every suite runs on: other releases and engines, and those of them that
// take long.
type scope struct{ further, long bool }

// has reports whether a kind is meant that is not one of every suite's.
func (s scope) has(k kind) bool { return s.further && (s.long || !k.long) }

// follower is an engine that stands before or behind another server, whose URI it is given.
type follower interface {
	following(primary string) engine
}

func (y standby) following(primary string) engine   { return standby{y.postgres, primary} }
func (b pgBouncer) following(primary string) engine { return pgBouncer{b.unpacked, primary} }
func (p pgpool) following(primary string) engine {
	p.standby.primary = primary
	return p
}

// openKind returns the engine of a name.
func openKind(name, primary string) (kind, engine, error) {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
		if k.name != name {
			continue
		}
		e := k.open(project.Root())
		if f, ok := e.(follower); ok {
			e = f.following(primary)
		}
		return k, e, nil
	}
	return kind{}, nil, errors.New("-engine is none of " + strings.Join(names, ", "))
}

func command(args []string) error {
	if len(args) == 0 {
		return errors.New("say what to do: install, run, start, stop or kill")
	}
	flags := flag.NewFlagSet(args[0], flag.ExitOnError)
	name := flags.String("engine", "", "the engine's name")
	data := flags.String("data", "", "data folder")
	port := flags.Int("port", 0, "port; 0 takes a free one")
	primary := flags.String("primary", "", "the URI of the server that a standby or a pooler is for")
	further := flags.Bool("further", false, "with install and run: the other releases and engines as well")
	all := flags.Bool("all", false, "with install and run: those as well that are built from source, which takes minutes, or much like another one")
	_ = flags.Parse(args[1:]) // it exits if it fails
	switch {
	case args[0] == "install":
		return installAll(scope{*further || *all, *all}, *name)
	case args[0] == "run":
		return run(*data, scope{*further || *all, *all}, flags.Args())
	case *data == "":
		return errors.New("-data is missing")
	}
	k, e, err := openKind(*name, *primary)
	if err != nil {
		return err
	}
	s, err := newServer(k.title, *data, e)
	if err != nil {
		return err
	}
	switch args[0] {
	case "start":
		uri, err := s.start(*port)
		if err != nil {
			return err
		}
		behind, err := s.behind()
		fmt.Println(strings.Join(append([]string{uri}, behind...), "\n"))
		return err
	case "stop":
		return s.stop()
	case "kill":
		return quietly(s.shell(s.crash()))
	}
	return fmt.Errorf("%q is none of install, run, start, stop and kill", args[0])
}

// quietly runs a program whose output matters only if it fails.
func quietly(c *exec.Cmd) error {
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, text)
	}
	return nil
}
