package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract/memlimit"
	"github.com/mcp-admin/mcp-admin-operator/hack/nodeagent/process"
)

// manager is the manager as a process of its own, with the rights and the memory limit that config/default gives it.
type manager struct {
	program, kubeconfig, log string
	memoryLimit              int64
	garbage                  string // GOGC

	mu      sync.Mutex
	running *process.Process
	metrics string
	// spent is the CPU time of the processes that have ended.
	spent time.Duration
}

// start starts the manager and returns when it answers.
func (m *manager) start(ctx context.Context) error {
	address, err := freeAddress()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(m.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	running, err := process.Start(process.Spec{
		Path: m.program, Output: log, Dir: os.TempDir(),
		Args: []string{
			"--kubeconfig=" + m.kubeconfig, "--manager-namespace=" + managerNamespace,
			"--metrics-bind-address=" + address, "--server-image=mcp-admin/server:scale",
		},
		Env: []string{memlimit.Variable + "=" + strconv.FormatInt(m.memoryLimit, 10), "GOGC=" + m.garbage, "HOME=" + os.TempDir()},
	})
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.running, m.metrics = running, address
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
		m.spent += usageOf(running.PID()).cpu
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

func (m *manager) usage() usage {
	u := usageOf(m.pid())
	u.cpu += m.spent
	return u
}

// scrape reads the manager's metrics.
func (m *manager) scrape() (metrics, error) {
	m.mu.Lock()
	address := m.metrics
	m.mu.Unlock()
	response, err := (&http.Client{Timeout: 5 * time.Second}).Get("http://" + address + "/metrics")
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, errors.New("/metrics: " + response.Status)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	return parseMetrics(string(text)), nil
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}
