package pages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Session runs the blocks of one page in their order, as one reader would in one folder.
type Session struct {
	// Folder is where the blocks are run and their files are saved, Checkout the project's folder.
	Folder, Checkout string
	// Environment is the environment of all commands.
	Environment []string
	// Given are the values of variables that are the reader's own.
	Given map[string]string

	terminals []*terminal
}

// terminal is a program that keeps running.
type terminal struct {
	command *exec.Cmd
	output  lockedBuffer
	ended   chan error
}

// Run does what a block says, and returns what it printed. A block that is not run, or that needs what is not there, is
// the caller's to leave out.
func (s *Session) Run(ctx context.Context, b *Block) (string, error) {
	switch {
	case b.File != "":
		return "", os.WriteFile(filepath.Join(s.Folder, b.File), []byte(b.Text()), 0o600)
	case b.Language != "sh":
		return "", nil
	case b.Given:
		return "", s.give(b)
	case b.Until != "":
		return s.open(ctx, b)
	}
	output, err := s.command(ctx, b).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("line %d: %w\n%s\n%s", b.Line, err, strings.TrimSpace(b.Text()), output)
	}
	return string(output), err
}

// variables is the file that hands a block's variables on to the next one.
const variables = ".variables"

// export is a line that gives a variable its value.
var export = regexp.MustCompile(`^export ([A-Z_]+)=`)

// give sets the variables of a block to the values of the session.
func (s *Session) give(b *Block) error {
	file, err := os.OpenFile(filepath.Join(s.Folder, variables), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for _, line := range b.Lines {
		name := export.FindStringSubmatch(line)
		if name == nil {
			continue
		}
		value, known := s.Given[name[1]]
		if !known {
			return errors.Join(fmt.Errorf("line %d: nobody gave a value for %s", b.Line, name[1]), file.Close())
		}
		fmt.Fprintf(file, "declare -x %s=%q\n", name[1], value)
	}
	return file.Close()
}

// command is a block for bash, with the variables of those before it.
func (s *Session) command(ctx context.Context, b *Block) *exec.Cmd {
	handed := filepath.Join(s.Folder, variables)
	script := fmt.Sprintf("[ ! -e %[1]q ] || . %[1]q\nset -aeuo pipefail\n%[2]s\nexport -p > %[1]q\n", handed, b.Text())
	command := exec.CommandContext(ctx, "bash", "-c", script)
	command.Dir, command.Env = s.Folder, s.Environment
	if b.InCheckout {
		command.Dir = s.Checkout
	}
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGTERM) }
	command.WaitDelay = 30 * time.Second
	return command
}

// patience is how long a program in a terminal may take until it is ready.
const patience = 15 * time.Minute

// open starts a block in a terminal of its own, and waits until its output has what the fence says.
func (s *Session) open(ctx context.Context, b *Block) (string, error) {
	t := &terminal{command: s.command(ctx, b), ended: make(chan error, 1)}
	t.command.Stdout, t.command.Stderr = &t.output, &t.output
	if err := t.command.Start(); err != nil {
		return "", err
	}
	s.terminals = append(s.terminals, t)
	go func() { t.ended <- t.command.Wait() }()
	deadline := time.After(patience)
	for !strings.Contains(t.output.String(), b.Until) {
		select {
		case err := <-t.ended:
			t.ended <- err
			return "", fmt.Errorf("line %d: it ended: %w\n%s", b.Line, err, t.output.String())
		case <-deadline:
			return "", fmt.Errorf("line %d: %q did not come\n%s", b.Line, b.Until, t.output.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return t.output.String(), nil
}

// Close ends what still runs.
func (s *Session) Close() error {
	for _, t := range s.terminals {
		group := -t.command.Process.Pid
		_ = syscall.Kill(group, syscall.SIGINT) // it may have ended
		select {
		case <-t.ended: //nolint:errcheck // it was told to end
		case <-time.After(30 * time.Second):
			_ = syscall.Kill(group, syscall.SIGKILL)
			<-t.ended //nolint:errcheck // it was killed
		}
	}
	s.terminals = nil
	return nil
}

// Fits reports whether a page shows what was printed; "…" stands for anything.
func Fits(shown, printed string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(shown)), "…", "(?s:.*)")
	return regexp.MustCompile("^" + pattern + "$").MatchString(strings.TrimSpace(printed))
}

// lockedBuffer is a buffer for two goroutines.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
