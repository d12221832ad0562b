package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract/memlimit"
	"github.com/mcp-admin/mcp-admin-operator/hack/nodeagent/process"
	"github.com/mcp-admin/mcp-admin-operator/test/project"
	"github.com/mcp-admin/mcp-admin-operator/test/usage"
)

// manager is the manager as a process of its own, with the rights and the memory limit that config/default gives it.
type manager struct {
	program, kubeconfig, log string
	memoryLimit              int64
	garbage                  string // GOGC
	profiled                 bool

	mu      sync.Mutex
	running *process.Process
	metrics string
	pprof   string
	// spent is the CPU time of the processes that have ended.
	spent time.Duration
}

// start starts the manager and returns when it answers.
func (m *manager) start(ctx context.Context) error {
	address, err := project.FreeAddress()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(m.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	pprof, debug := "0", ""
	if m.profiled {
		if pprof, err = project.FreeAddress(); err != nil {
			return err
		}
		debug = "memprofilerate=16384"
	}
	running, err := process.Start(process.Spec{
		Path: m.program, Output: log, Dir: os.TempDir(),
		Args: []string{
			"--kubeconfig=" + m.kubeconfig, "--manager-namespace=" + managerNamespace,
			"--metrics-bind-address=" + address, "--pprof-bind-address=" + pprof, "--server-image=mcp-admin/server:scale",
		},
		Env: []string{memlimit.Variable + "=" + strconv.FormatInt(m.memoryLimit, 10), "GOGC=" + m.garbage, "GODEBUG=" + debug, "HOME=" + os.TempDir()},
	})
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.running, m.metrics, m.pprof = running, address, pprof
	m.mu.Unlock()
	for deadline := time.Now().Add(30 * time.Second); ; pause(ctx, 20*time.Millisecond) {
		if _, err = m.scrape(); err == nil {
			return nil
		}
		select {
		case <-running.Done():
			return fmt.Errorf("the manager ended; see %s", m.log)
		default:
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			return fmt.Errorf("the manager does not answer: %w; see %s", err, m.log)
		}
	}
}

// kill ends the manager as a node's failure does.
func (m *manager) kill() {
	m.mu.Lock()
	running := m.running
	m.running = nil
	m.mu.Unlock()
	if running != nil {
		m.spent += usage.Of(running.PID()).CPU
		running.Signal(syscall.SIGKILL)
		<-running.Done()
	}
}

func (m *manager) pid() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running == nil {
		return 0
	}
	return m.running.PID()
}

func (m *manager) usage() usage.Process {
	u := usage.Of(m.pid())
	u.CPU += m.spent
	return u
}

// scrape reads the manager's metrics.
func (m *manager) scrape() (metrics, error) {
	m.mu.Lock()
	address := m.metrics
	m.mu.Unlock()
	text, err := read(context.Background(), "http://"+address+"/metrics")
	if err != nil {
		return nil, err
	}
	return parseMetrics(string(text)), nil
}

// read reads a page of the manager's.
func read(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, errors.New(url + ": " + response.Status)
	}
	return io.ReadAll(response.Body)
}

const pageTimeout = 10 * time.Second

// saveProfiles writes what is in the manager's memory, and where all of it was allocated, into a folder, if it is profiled.
func (m *manager) saveProfiles(ctx context.Context, folder string) error {
	if !m.profiled {
		return nil
	}
	for file, page := range map[string]string{"heap": "heap?gc=1", "allocs": "allocs", "goroutines": "goroutine"} {
		profile, err := read(ctx, "http://"+m.pprof+"/debug/pprof/"+page)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, file+".pprof"), profile, 0o600); err != nil {
			return err
		}
	}
	return nil
}
