// Command postgres gives the tests a PostgreSQL server of their own: on its own port of the loopback address, with its
// own data folder and a password of its own. Binaries that are there are used; without any, root on a Debian system
// gets the package installed. Nothing imports it.
//
//	go run ./test/postgres run [-data DIR] [-port N] -- COMMAND ARG…   start, run COMMAND with MCP_TEST_POSTGRES set, stop
//	go run ./test/postgres start -data DIR [-port N]                   start, and print the URI
//	go run ./test/postgres stop -data DIR                              stop
//
// A data folder that holds a server is used again; run without one takes a folder that is removed in the end. Without a
// port a free one is taken.
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
		fmt.Fprintln(os.Stderr, "test/postgres:", err)
		os.Exit(1)
	}
}

func command(args []string) error {
	if len(args) == 0 {
		return errors.New("say what to do: run, start or stop")
	}
	flags := flag.NewFlagSet(args[0], flag.ExitOnError)
	data := flags.String("data", "", "data folder")
	port := flags.Int("port", 0, "port; 0 takes a free one")
	_ = flags.Parse(args[1:]) // it exits where it fails
	if *data == "" && args[0] != "run" {
		return errors.New("-data is missing")
	}
	switch args[0] {
	case "run":
		return run(*data, *port, flags.Args())
	case "start":
		s, err := newServer(*data)
		if err != nil {
			return err
		}
		uri, err := s.start(*port)
		if err == nil {
			fmt.Println(uri)
		}
		return err
	case "stop":
		s, err := newServer(*data)
		if err != nil {
			return err
		}
		return s.stop()
	}
	return fmt.Errorf("%q is none of run, start and stop", args[0])
}

// run runs a command beside a server, and stops the server however the command ends.
func run(data string, port int, args []string) (err error) {
	if len(args) == 0 {
		return errors.New("run needs a command after --")
	}
	temporary := data == ""
	if temporary {
		if data, err = os.MkdirTemp("", "mcp-admin-postgres-"); err != nil {
			return err
		}
		defer os.RemoveAll(data)
	}
	s, err := newServer(data)
	if err != nil {
		return err
	}
	// The command gets the terminal's signals as well; what is left to do here is to wait for it, and to stop the server.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	uri, err := s.start(port)
	if err != nil {
		return err
	}
	release, err := s.keep(temporary)
	if err != nil {
		return errors.Join(err, s.stop())
	}
	defer func() { err = errors.Join(err, release()) }()

	c := exec.Command(args[0], args[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.Env = append(os.Environ(), "MCP_TEST_POSTGRES="+uri)
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

// absolute returns a folder's absolute path, links resolved, making the folder where there is none.
func absolute(folder string) (string, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	path, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// quietly runs a program whose output matters only where it fails.
func quietly(c *exec.Cmd) error {
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, text)
	}
	return nil
}
