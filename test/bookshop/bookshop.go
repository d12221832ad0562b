// Package bookshop serves config/samples with the real program, as "mcp-admin dev" does for a user, so that the
// programs of others have a server to ask. Only commands under test import it; they are run from the project's root,
// after "make build".
package bookshop

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

// Server is a running bookshop.
type Server struct {
	// URL is the address that agents call; Token the text of a token that may do everything.
	URL, Token string

	process *exec.Cmd
	state   string
	errors  bytes.Buffer
}

// patience ends the wait for a server that hangs.
const patience = 10 * time.Minute

var served = regexp.MustCompile(` is served at (\S+)$`)

// Start starts a bookshop on a free port of the loopback address, with a database of its own, and returns once it has
// read the schema. It ends with the context, or with Stop.
func Start(ctx context.Context) (s *Server, err error) {
	s = &Server{}
	if s.state, err = os.MkdirTemp("", "mcp-admin-bookshop-"); err != nil {
		return nil, err
	}
	s.process = exec.CommandContext(ctx, filepath.Join("bin", "mcp-admin"), "dev", "-f", "config/samples",
		"--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--state", s.state)
	s.process.Cancel = func() error { return s.process.Process.Signal(syscall.SIGTERM) }
	s.process.Stderr = &s.errors
	out, err := s.process.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.state))
	}
	if err := s.process.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("%w (make build builds it)", err), os.RemoveAll(s.state))
	}
	url := make(chan string, 1)
	go func() {
		defer close(url)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if found := served.FindStringSubmatch(lines.Text()); found != nil {
				select {
				case url <- found[1]:
				default: // it was told before
				}
			}
		}
	}()
	select {
	case s.URL = <-url:
	case <-time.After(patience):
	}
	if s.URL == "" {
		return nil, errors.Join(errors.New("the bookshop did not start"), s.Stop())
	}
	token, err := os.ReadFile(filepath.Join(s.state, "tokens", "bookshop", "owner"))
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	s.Token = string(bytes.TrimSpace(token))
	return s, nil
}

// Stop ends the server and removes what it kept. What it wrote to stderr is part of the error if it did not end well.
func (s *Server) Stop() error {
	_ = s.process.Process.Signal(syscall.SIGTERM) // Wait reports a process that is gone already
	err := s.process.Wait()
	if err != nil {
		err = fmt.Errorf("the bookshop: %w\n%s", err, s.errors.Bytes())
	}
	return errors.Join(err, os.RemoveAll(s.state))
}
