package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

// fleet is the servers beside which a command runs.
type fleet struct {
	data string
	// temporary reports whether the folder goes in the end.
	temporary bool

	mu       sync.Mutex
	servers  []*server
	releases []func() error
	failures []error
}

// run runs a command beside the servers, and stops them however the command ends.
func run(data string, which scope, args []string) (outcome error) {
	if len(args) == 0 {
		return errors.New("run needs a command after --")
	}
	f := &fleet{data: data, temporary: data == ""}
	if f.temporary {
		var err error
		if f.data, err = os.MkdirTemp("", "mcp-admin-databases-"); err != nil {
			return err
		}
		// The servers' owners must get through to their own folders.
		if err := os.Chmod(f.data, 0o711); err != nil { //nolint:gosec // G302: nothing lies in it but folders of their own
			return err
		}
		defer os.RemoveAll(f.data)
	}
	defer func() {
		if err := f.release(); err != nil {
			outcome = errors.Join(outcome, err)
		}
	}()
	// The command gets the terminal's signals as well; what is left to do here is to wait for it, and to stop the servers.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	c := exec.Command(args[0], args[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.Env = append(os.Environ(), f.startBase()...)
	if err := errors.Join(f.failures...); err != nil {
		return err
	}
	if which.further {
		c.Env = append(c.Env, f.startFurther(which, c.Env))
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
	outcome = c.Wait()
	if err := f.checkRunning(); err != nil {
		return errors.Join(outcome, err)
	}
	return outcome
}

// checkRunning returns an error if a server has ended already: all tests that came after its end failed by that.
func (f *fleet) checkRunning() error {
	var failures []error
	for _, s := range f.servers {
		failures = append(failures, s.checkRunning())
	}
	return errors.Join(failures...)
}

// startBase starts the servers that every suite runs on, and returns the variables that name them.
func (f *fleet) startBase() []string {
	var variables []string
	var starting sync.WaitGroup
	for _, k := range kinds {
		if k.variable == "" || os.Getenv(k.variable) != "" {
			continue
		}
		starting.Go(func() {
			uri, _, err := f.start(k, "")
			f.mu.Lock()
			defer f.mu.Unlock()
			variables = append(variables, k.variable+"="+uri)
			f.failures = append(f.failures, err)
		})
	}
	starting.Wait()
	return variables
}

// startFurther starts the other servers, and returns the variable that names them and the missing ones.
func (f *fleet) startFurther(which scope, environment []string) string {
	base := ""
	for _, variable := range environment {
		if uri, ok := strings.CutPrefix(variable, "MCP_TEST_POSTGRES="); ok {
			base = uri
		}
	}
	var servers []*databasetest.Server
	var starting sync.WaitGroup
	for _, k := range kinds {
		if k.variable != "" || k.product == "" || !which.has(k) {
			continue
		}
		server := &databasetest.Server{Title: k.title, Product: k.product}
		servers = append(servers, server)
		starting.Go(func() {
			var err error
			if server.URI, server.Behind, err = f.start(k, base); err != nil {
				server.Missing = err.Error()
				warn("%s is not tested: %v", k.title, err)
			}
			if _, follows := k.open("").(follower); follows {
				server.Direct = base
			}
		})
	}
	starting.Wait()
	for _, s := range servers {
		if slices.ContainsFunc(kinds, func(k kind) bool { return k.title == s.Title && k.shards }) {
			spread := *s
			spread.Title, spread.Shards = s.Title+" with two shards", true
			servers = append(servers, &spread)
		}
	}
	text, _ := json.Marshal(servers) // strings: it cannot fail
	return databasetest.FurtherVariable + "=" + string(text)
}

// start starts a server that is stopped when the fleet is released. It returns its URI, and those of the servers behind it.
func (f *fleet) start(k kind, primary string) (uri string, behind []string, err error) {
	_, e, err := openKind(k.name, primary)
	if err != nil {
		return "", nil, err
	}
	s, err := newServer(k.title, filepath.Join(f.data, k.name), e)
	if err != nil {
		return "", nil, err
	}
	if uri, err = s.start(0); err != nil {
		return "", nil, err
	}
	release, err := s.keep(f.temporary)
	if err != nil {
		return "", nil, errors.Join(err, s.stop())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.servers, f.releases = append(f.servers, s), append(f.releases, release)
	behind, err = s.behind()
	return uri, behind, err
}

// release stops the servers.
func (f *fleet) release() error {
	var stopping sync.WaitGroup
	failures := make([]error, len(f.releases))
	for i, release := range f.releases {
		stopping.Go(func() { failures[i] = release() })
	}
	stopping.Wait()
	return errors.Join(failures...)
}
