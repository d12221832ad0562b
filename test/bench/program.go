package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/project"
)

// folder is where the programs, Configs and SQLite files lie. It is below the project, and "make clean" removes it.
func folder() string { return filepath.Join(project.Root(), ".local", "bench") }

// program is a server in a process of its own.
type program struct {
	// side names it in the table; address is where agents call it, metrics the URL of its metrics.
	side, address, metrics string
	command                *exec.Cmd
	log                    string
	// ended is closed once the program has ended; failure says how.
	ended   chan struct{}
	failure error
}

// The memory limit of a server's container, if the endpoint asks for no other.
const memoryLimit = 256 << 20

// serve starts the server over a database, as the operator would, and returns once it is ready.
func serve(ctx context.Context, side, path string, e *engine, database string, config *contract.Config, flags ...string) (*program, error) {
	home, err := os.MkdirTemp(folder(), "served-")
	if err != nil {
		return nil, err
	}
	configs, err := writeConfig(config, filepath.Join(home, "config"))
	if err != nil {
		return nil, err
	}
	endpoint, err := project.FreeAddress()
	if err != nil {
		return nil, err
	}
	admin, err := project.FreeAddress()
	if err != nil {
		return nil, err
	}
	arguments := append([]string{"serve", "--listen=" + endpoint, "--admin-listen=" + admin, "--config-secret=books-mcp-config", "--config-dir=" + configs, "--drain-delay=0s"}, flags...)
	if e.variable == "" {
		arguments = append(arguments, "--sqlite-file="+database)
	} else {
		connection := filepath.Join(home, "connection")
		if err := writeFiles(connection, map[string][]byte{"uri": []byte(database)}); err != nil {
			return nil, err
		}
		arguments = append(arguments, "--connection-secret=db", "--connection-dir="+connection)
	}
	p := &program{side: side, address: endpoint, metrics: "http://" + admin + "/metrics", log: filepath.Join(home, "log")}
	p.command = exec.CommandContext(ctx, path, arguments...)
	p.command.Env = append(os.Environ(), fmt.Sprintf("CONTAINER_MEMORY_LIMIT=%d", memoryLimit))
	return p, p.start(ctx, "http://"+admin+"/readyz")
}

// serveLimit starts the bare server over a database. answers are what it sends back to bodies that need none.
func serveLimit(ctx context.Context, path string, e *engine, database string, pool int, answers map[string][]byte) (*program, error) {
	home, err := os.MkdirTemp(folder(), "served-")
	if err != nil {
		return nil, err
	}
	address, err := project.FreeAddress()
	if err != nil {
		return nil, err
	}
	source := database
	if e.driver == "mariadb" {
		if source, err = sourceName(database); err != nil {
			return nil, err
		}
	}
	given := filepath.Join(home, "answers.json")
	text, err := json.Marshal(answers)
	if err == nil {
		err = os.WriteFile(given, text, 0o600)
	}
	if err != nil {
		return nil, err
	}
	p := &program{side: "limit", address: address, metrics: "http://" + address + "/metrics", log: filepath.Join(home, "log")}
	p.command = exec.CommandContext(ctx, path, "-engine", e.driver, "-listen", address, "-pool", fmt.Sprint(pool), "-answers", given)
	p.command.Env = append(os.Environ(), "LIMIT_DATABASE="+source)
	return p, p.start(ctx, p.metrics)
}

// patience ends the wait for a server that hangs.
const patience = 2 * time.Minute

// start runs the program until a page of it answers.
func (p *program) start(ctx context.Context, page string) error {
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	output, err := p.command.StdoutPipe()
	if err != nil {
		return err
	}
	p.command.Stderr = log
	p.command.Cancel = func() error { return p.command.Process.Signal(syscall.SIGTERM) }
	p.command.WaitDelay = time.Minute
	if err := p.command.Start(); err != nil {
		return err
	}
	p.ended = make(chan struct{})
	go p.follow(output, log)
	for hangs := time.After(patience); ; {
		if _, err = fetch(page); err == nil {
			return nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
			continue
		case <-p.ended:
		case <-ctx.Done():
		case <-hangs:
		}
		said, _ := os.ReadFile(p.log)
		return errors.Join(fmt.Errorf("%s does not get ready: %w\n%s", filepath.Base(p.command.Path), err, said), p.stop())
	}
}

// follow reads what the program writes, through a pipe as in a container, until it ends. The first lines say why it does
// not start; later there is an audit line for each write.
func (p *program) follow(output io.Reader, log *os.File) {
	lines := bufio.NewReader(output)
	for range 100 {
		line, _ := lines.ReadString('\n')
		_, _ = log.WriteString(line)
	}
	_, _ = io.Copy(io.Discard, lines)
	p.failure = p.command.Wait()
	_ = log.Close()
	close(p.ended)
}

// fetch gets a page.
func fetch(page string) (string, error) {
	response, err := http.Get(page)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, text)
	}
	return string(text), err
}

// stop ends the program, and removes what it was given.
func (p *program) stop() error {
	_ = p.command.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	<-p.ended
	err := p.failure
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		err = nil // a signal ended it, or it said itself why
	}
	return errors.Join(err, os.RemoveAll(filepath.Dir(p.log)))
}

// allocated is how many bytes the program has allocated so far.
func (p *program) allocated() (float64, error) {
	text, err := fetch(p.metrics)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		if value, found := strings.CutPrefix(line, "go_memstats_alloc_bytes_total "); found {
			var bytes float64
			_, err := fmt.Sscan(value, &bytes)
			return bytes, err
		}
	}
	return 0, errors.New("the metrics have no go_memstats_alloc_bytes_total")
}
