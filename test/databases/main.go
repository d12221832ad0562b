// Command databases gives the tests database servers of their own, a PostgreSQL and a MariaDB: each on its own port of
// the loopback address, with its own data folder and a password of its own. Programs that are there are used; without
// any, root on a Debian system gets the packages installed. Nothing imports it.
//
//	go run ./test/databases run [-data DIR] -- COMMAND ARG…             start both, run COMMAND, stop both
//	go run ./test/databases start -engine NAME -data DIR [-port N]      start postgres or mariadb, and print the URI
//	go run ./test/databases stop -engine NAME -data DIR                 stop it
//
// COMMAND finds the URIs in MCP_TEST_POSTGRES and MCP_TEST_MARIADB: those of users who may do everything. A data folder
// that holds a server is used again; run without one takes a folder that is removed in the end, and keeps a folder for
// each engine in it. Without a port a free one is taken.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	if err := command(os.Args[1:]); err != nil {
		var ended *exec.ExitError
		if errors.As(err, &ended) && ended.ExitCode() > 0 {
			os.Exit(ended.ExitCode())
		}
		fmt.Fprintln(os.Stderr, "test/databases:", err)
		os.Exit(1)
	}
}

func command(args []string) error {
	if len(args) == 0 {
		return errors.New("say what to do: run, start or stop")
	}
	flags := flag.NewFlagSet(args[0], flag.ExitOnError)
	name := flags.String("engine", "", "postgres or mariadb")
	data := flags.String("data", "", "data folder")
	port := flags.Int("port", 0, "port; 0 takes a free one")
	_ = flags.Parse(args[1:]) // it exits where it fails
	if args[0] == "run" {
		return run(*data, flags.Args())
	}
	if *data == "" {
		return errors.New("-data is missing")
	}
	open := engines[*name]
	if open == nil {
		return errors.New("-engine is neither postgres nor mariadb")
	}
	s, err := newServer(*data, open())
	if err != nil {
		return err
	}
	switch args[0] {
	case "start":
		uri, err := s.start(*port)
		if err == nil {
			fmt.Println(uri)
		}
		return err
	case "stop":
		return s.stop()
	}
	return fmt.Errorf("%q is none of run, start and stop", args[0])
}

// run runs a command beside a server of each engine, and stops the servers however the command ends.
func run(data string, args []string) (outcome error) {
	if len(args) == 0 {
		return errors.New("run needs a command after --")
	}
	temporary := data == ""
	if temporary {
		var err error
		if data, err = os.MkdirTemp("", "mcp-admin-databases-"); err != nil {
			return err
		}
		// The servers' owners must get through to their own folders.
		if err := os.Chmod(data, 0o711); err != nil { //nolint:gosec // G302: nothing lies in it but folders of their own
			return err
		}
		defer os.RemoveAll(data)
	}
	// The command gets the terminal's signals as well; what is left to do here is to wait for it, and to stop the servers.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	c := exec.Command(args[0], args[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.Env = os.Environ()
	for name, open := range engines {
		e := open()
		s, err := newServer(filepath.Join(data, name), e)
		if err != nil {
			return err
		}
		uri, err := s.start(0)
		if err != nil {
			return err
		}
		release, err := s.keep(temporary)
		if err != nil {
			return errors.Join(err, s.stop())
		}
		defer func() { outcome = errors.Join(outcome, release()) }()
		c.Env = append(c.Env, e.variable()+"="+uri)
	}
	if err := c.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case s := <-interrupts:
				_ = c.Process.Signal(s) // it may have ended by itself
			case <-done:
				return
			}
		}
	}()
	return c.Wait()
}

// quietly runs a program whose output matters only where it fails.
func quietly(c *exec.Cmd) error {
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, text)
	}
	return nil
}
