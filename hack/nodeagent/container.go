package nodeagent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/hack/nodeagent/process"
)

// The pause before a restart doubles from the first to the last, and begins anew after a run that was
// long enough.
const (
	firstBackoff = time.Second
	lastBackoff  = 30 * time.Second
	steadyRun    = 2 * lastBackoff
)

// container is one container of a pod, run as a local process as often as its restart policy says.
type container struct {
	pod     *worker
	spec    *corev1.Container
	restart corev1.RestartPolicy
	// stop is closed when the container has to end.
	stop <-chan struct{}

	// The rest is guarded by the pod's lock.

	state, last    corev1.ContainerState
	restarts       int32
	started, ready bool
	process        *process.Process
	path           string // of the last process's program
}

// A startError says why a container cannot be started, with the reason that the status shall have.
type startError struct {
	reason string
	err    error
}

func (e *startError) Error() string { return e.err.Error() }

// run keeps the container running. It returns how it ended at last, or nil if it never ran.
func (c *container) run() *process.Exit {
	backoff := firstBackoff
	var last *process.Exit
	for {
		began := time.Now()
		p, err := c.start()
		if err != nil {
			c.waiting(err)
			if !c.pause(time.Second) {
				return last
			}
			continue
		}
		c.supervise(p)
		exit := p.Exit()
		last = &exit
		c.ended(exit)
		c.pod.logf("container %s ended with exit code %d", c.spec.Name, exit.Code)
		if c.isStopped() || c.restart == corev1.RestartPolicyNever || c.restart == corev1.RestartPolicyOnFailure && exit.Code == 0 {
			return last
		}
		if time.Since(began) > steadyRun {
			backoff = firstBackoff
		}
		c.waiting(&startError{reason: "CrashLoopBackOff", err: fmt.Errorf("back-off %s restarting failed container=%s pod=%s", backoff, c.spec.Name, c.pod.name)})
		if !c.pause(backoff) {
			return last
		}
		backoff = min(2*backoff, lastBackoff)
	}
}

// start starts the process.
func (c *container) start() (*process.Process, error) {
	path, args, env, err := c.command()
	if err != nil {
		return nil, err
	}
	log, err := c.openLog()
	if err != nil {
		return nil, &startError{reason: "CreateContainerError", err: err}
	}
	defer log.Close() // the process has its own descriptor
	p, err := process.Start(process.Spec{
		Path: path, Args: args, Env: env, Dir: c.pod.dir, Output: log,
		Record: filepath.Join(c.pod.agent.o.RecordDir, fmt.Sprintf("pod-%s-%s.pid", c.pod.uid, c.spec.Name)),
	})
	if err != nil {
		return nil, &startError{reason: "RunContainerError", err: err}
	}
	c.pod.update(func() {
		if c.last.Terminated != nil {
			c.restarts++
		}
		c.process, c.path = p, path
		c.state = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now().Rfc3339Copy()}}
		c.started, c.ready = c.spec.StartupProbe == nil, c.spec.StartupProbe == nil && c.spec.ReadinessProbe == nil
	})
	c.pod.logf("container %s runs as process %d", c.spec.Name, p.PID())
	return p, nil
}

// command returns the program, its arguments and its environment.
func (c *container) command() (path string, args, env []string, err error) {
	path, ok := c.pod.agent.executable(c.spec)
	if !ok {
		name := c.spec.Image
		if _, known := c.pod.agent.image(c.spec.Image); known {
			name = filepath.Base(c.spec.Command[0])
		}
		return "", nil, nil, &startError{reason: "ErrImagePull", err: fmt.Errorf("no local executable for %q: the cluster runs local programs only; pass --image %s=PATH", name, name)}
	}
	if err := process.Executable(path); err != nil {
		return "", nil, nil, &startError{reason: "ErrImagePull", err: err}
	}
	m, err := c.pod.mounts(c.spec)
	if err != nil {
		return "", nil, nil, &startError{reason: "CreateContainerConfigError", err: err}
	}
	vars, err := c.pod.baseEnvironment(c.spec)
	if err == nil {
		err = environment(vars, c.pod.current(), c.spec, c.pod, m)
	}
	if err != nil {
		return "", nil, nil, &startError{reason: "CreateContainerConfigError", err: err}
	}
	words := append([]string{}, c.spec.Args...)
	if len(c.spec.Command) > 1 {
		words = append(append([]string{}, c.spec.Command[1:]...), words...)
	}
	for i, word := range words {
		words[i] = m.rewrite(expand(word, vars.lookup))
	}
	return path, words, vars.list(), nil
}

// supervise probes the process until it has ended, and ends it when it is unhealthy or has to stop.
func (c *container) supervise(p *process.Process) {
	ctx, cancel := context.WithCancel(c.pod.killed)
	defer cancel()
	defer context.AfterFunc(c.pod.killed, func() { p.Signal(syscall.SIGKILL) })()
	unhealthy := make(chan *corev1.Probe, 2)
	go c.probe(ctx, unhealthy)
	select {
	case <-p.Done():
	case <-c.stop:
		c.shutDown(p)
	case probe := <-unhealthy:
		grace := c.pod.grace()
		if probe.TerminationGracePeriodSeconds != nil {
			grace = time.Duration(*probe.TerminationGracePeriodSeconds) * time.Second
		}
		p.Stop(grace)
	}
}

// probe runs the container's probes: the startup probe first, the others once it has succeeded.
func (c *container) probe(ctx context.Context, unhealthy chan<- *corev1.Probe) {
	t := target{ip: c.pod.address(), container: c.spec}
	// alive reports false, after asking for the end, when the probe has failed for good.
	alive := func(kind string, probe *corev1.Probe, ok bool, why error) bool {
		if !ok {
			c.pod.logf("container %s: %s probe failed: %v", c.spec.Name, kind, why)
			unhealthy <- probe
		}
		return ok
	}
	if probe := c.spec.StartupProbe; probe != nil {
		runProbe(ctx, t, probe, true, func(ok bool, why error) bool {
			if alive("startup", probe, ok, why) {
				c.pod.update(func() { c.started, c.ready = true, c.spec.ReadinessProbe == nil })
			}
			return false
		})
		if !c.hasStarted() {
			return
		}
	}
	if probe := c.spec.LivenessProbe; probe != nil {
		go func() {
			// The kubelet takes about as long to notice that the container runs. A program that is
			// asked in its first milliseconds, and may not fail once, would never get up.
			sleep(ctx, time.Second)
			runProbe(ctx, t, probe, false, func(ok bool, why error) bool { return alive("liveness", probe, ok, why) })
		}()
	}
	if probe := c.spec.ReadinessProbe; probe != nil {
		runProbe(ctx, t, probe, true, func(ok bool, why error) bool {
			c.pod.update(func() {
				if c.ready != ok {
					c.ready = ok
					c.pod.logf("container %s: ready: %v (%v)", c.spec.Name, ok, why)
				}
			})
			return true
		})
	}
}

// shutDown ends the process within the pod's grace period, the preStop hook included.
func (c *container) shutDown(p *process.Process) {
	grace := c.pod.grace()
	deadline := time.Now().Add(grace)
	if hook := c.spec.Lifecycle; hook != nil && hook.PreStop != nil && grace > 0 {
		ctx, cancel := context.WithDeadline(c.pod.killed, deadline)
		go func() { // a program that has ended needs no hook
			select {
			case <-p.Done():
				cancel()
			case <-ctx.Done():
			}
		}()
		if err := (target{ip: c.pod.address(), container: c.spec}).runHook(ctx, hook.PreStop); err != nil {
			c.pod.logf("container %s: preStop hook: %v", c.spec.Name, err)
		}
		cancel()
		deadline = later(deadline, time.Now().Add(2*time.Second)) // the kubelet's least
	}
	p.Stop(time.Until(deadline))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (c *container) ended(exit process.Exit) {
	reason := "Error"
	if exit.Code == 0 {
		reason = "Completed"
	}
	message := ""
	if exit.Code != 0 && c.spec.TerminationMessagePolicy == corev1.TerminationMessageFallbackToLogsOnError {
		message = tail(c.logPath(), 2048)
	}
	c.pod.update(func() {
		began := metav1.Time{}
		if c.state.Running != nil {
			began = c.state.Running.StartedAt
		}
		c.state = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: int32(exit.Code), Signal: int32(exit.Signal), Reason: reason, Message: message,
			StartedAt: began, FinishedAt: metav1.NewTime(exit.At).Rfc3339Copy(), ContainerID: containerID(c.process),
		}}
		c.started, c.ready = false, false
	})
}

// waiting records why the container does not run.
func (c *container) waiting(err error) {
	reason := "CreateContainerError"
	var why *startError
	if errors.As(err, &why) {
		reason = why.reason
	}
	c.pod.update(func() {
		if c.state.Terminated != nil {
			c.last = corev1.ContainerState{Terminated: c.state.Terminated}
		}
		next := &corev1.ContainerStateWaiting{Reason: reason, Message: err.Error()}
		if old := c.state.Waiting; old == nil || *old != *next {
			c.pod.logf("container %s waits: %s: %v", c.spec.Name, reason, err)
		}
		c.state = corev1.ContainerState{Waiting: next}
		c.started, c.ready, c.process = false, false, nil
	})
}

// status is called with the pod's lock held.
func (c *container) status() corev1.ContainerStatus {
	started := c.started
	return corev1.ContainerStatus{
		Name: c.spec.Name, Image: c.spec.Image, ImageID: c.path, ContainerID: containerID(c.process),
		State: *c.state.DeepCopy(), LastTerminationState: *c.last.DeepCopy(),
		RestartCount: c.restarts, Ready: c.ready, Started: &started,
	}
}

func containerID(p *process.Process) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("process://%d", p.PID())
}

func (c *container) hasStarted() bool {
	c.pod.mu.Lock()
	defer c.pod.mu.Unlock()
	return c.started
}

func (c *container) isStopped() bool {
	select {
	case <-c.stop:
		return true
	case <-c.pod.killed.Done():
		return true
	default:
		return false
	}
}

// pause waits and reports whether the container is still wanted.
func (c *container) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c.stop:
	case <-c.pod.killed.Done():
	case <-timer.C:
	}
	return !c.isStopped()
}

func (c *container) logPath() string { return filepath.Join(c.pod.dir, c.spec.Name+".log") }

func (c *container) previousLogPath() string {
	return filepath.Join(c.pod.dir, c.spec.Name+".previous.log")
}

// openLog begins a log for a new run and keeps the one of the run before.
func (c *container) openLog() (*os.File, error) {
	path := c.logPath()
	if err := os.Rename(path, c.previousLogPath()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
}

// tail returns at most the last n bytes of a file.
func tail(path string, n int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > n {
		_, _ = f.Seek(-n, io.SeekEnd)
	}
	text, _ := io.ReadAll(io.LimitReader(f, n))
	return string(text)
}
