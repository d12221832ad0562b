// Package process runs programs that must not outlive the program that started them: the control
// plane's and the pods' processes of the local cluster. Each leads a process group of its own, so
// that what it started ends with it, and each is recorded in a file, so that a later run can end
// what a killed run left behind.
package process

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Spec says what to run. The environment is exactly Env: nothing is inherited.
type Spec struct {
	Path string
	// Args are the arguments after the program's own name, which is Path.
	Args []string
	Env  []string
	Dir  string
	// Input is standard input; nil is an empty one. Output receives standard output; nil discards it. Errors receives standard
	// error; nil sends it to Output.
	Input, Output, Errors *os.File
	// Terminal is all three of them, and the process's terminal; nil is none ([OpenTerminal]).
	Terminal *os.File
	// Record is the file that says, while the process runs, which process it is; see [EndRecorded].
	Record string
}

// Exit tells how a process ended.
type Exit struct {
	// Code is the exit code, or 128 plus the signal's number, as a shell and the kubelet have it.
	Code int
	// Signal is the signal that ended the process, or 0.
	Signal syscall.Signal
	At     time.Time
}

// Process is a running or ended process.
type Process struct {
	pid    int
	record string
	done   chan struct{}

	mu   sync.Mutex
	over bool
	exit Exit
}

// launches is served by one thread that never ends. The kernel sends the parent-death signal when the
// thread that forked goes away, not the process, so that thread has to live as long as we do.
var launches = sync.OnceValue(func() chan<- func() {
	queue := make(chan func())
	go func() {
		runtime.LockOSThread()
		for launch := range queue {
			launch()
		}
	}()
	return queue
})

// Start starts the process that the spec describes.
func Start(spec Spec) (*Process, error) {
	cmd := exec.Command(spec.Path, spec.Args...)
	cmd.Env, cmd.Dir = spec.Env, spec.Dir
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would mean our own environment
	}
	if spec.Input != nil {
		cmd.Stdin = spec.Input
	}
	if spec.Output != nil {
		cmd.Stdout, cmd.Stderr = spec.Output, spec.Output
	}
	if spec.Errors != nil {
		cmd.Stderr = spec.Errors
	}
	if t := spec.Terminal; t != nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = t, t, t
	}
	var err error
	if cmd.SysProcAttr, err = attributes(spec.Terminal != nil); err != nil {
		return nil, err
	}

	started := make(chan error, 1)
	launches() <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, err
	}
	p := &Process{pid: cmd.Process.Pid, record: spec.Record, done: make(chan struct{})}
	if p.record != "" {
		if err := writeRecord(p.record, p.pid); err != nil {
			p.Signal(syscall.SIGKILL)
			_ = cmd.Wait()
			return nil, err
		}
	}
	go p.wait(cmd)
	return p, nil
}

// wait collects the process, then ends what is left of its group, as the end of a container's first process does.
func (p *Process) wait(cmd *exec.Cmd) {
	_ = cmd.Wait() // how the process ended stands in its state
	p.mu.Lock()
	p.over = true
	p.exit = exitOf(cmd.ProcessState)
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	p.mu.Unlock()
	if p.record != "" {
		_ = os.Remove(p.record)
	}
	close(p.done)
}

func exitOf(state *os.ProcessState) Exit {
	exit := Exit{At: time.Now()}
	if state == nil {
		exit.Code = -1
		return exit
	}
	exit.Code = state.ExitCode()
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		exit.Signal = status.Signal()
		exit.Code = 128 + int(status.Signal())
	}
	return exit
}

// PID is the process's id, which is its process group's too.
func (p *Process) PID() int { return p.pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit says how the process ended; it is only meaningful once Done is closed.
func (p *Process) Exit() Exit {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit
}

// Signal sends a signal to the whole process group. After the end it does nothing.
func (p *Process) Signal(signal syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over { // the id may be another's by then
		_ = syscall.Kill(-p.pid, signal)
	}
}

// Stop asks the process to end, waits at most for the grace period, kills it, and returns when it has ended.
func (p *Process) Stop(grace time.Duration) Exit {
	if grace > 0 {
		p.Signal(syscall.SIGTERM)
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-p.done:
			return p.Exit()
		case <-timer.C:
		}
	}
	p.Signal(syscall.SIGKILL)
	<-p.done
	return p.Exit()
}

// Executable reports why a path cannot be run, or nil.
func Executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir() || info.Mode()&0o111 == 0:
		return &os.PathError{Op: "run", Path: path, Err: errors.New("not an executable file")}
	}
	return nil
}
