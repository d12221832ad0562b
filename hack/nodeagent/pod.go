package nodeagent

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// worker runs one pod, from when it is first seen on this node until it is deleted.
type worker struct {
	agent           *Agent
	name, namespace string
	uid             types.UID
	dir             string
	born            time.Time
	tokens          tokens

	// killed ends when nothing of the pod may go on, because it has vanished from the API server.
	killed context.Context
	kill   context.CancelFunc
	// stopping is closed when the pod has to end in its grace period; stopSidecars when its main containers have ended;
	// ended when nothing of it runs any more; gone when the worker has finished.
	stopping, stopSidecars, ended, gone chan struct{}
	// changed asks to report the status, sources asks to write the volumes.
	changed, sources chan struct{}
	// reported is closed once the API server knows the pod's address.
	reported     chan struct{}
	reportedOnce sync.Once
	keeping      sync.WaitGroup // keepVolumes

	mu           sync.Mutex
	pod          *corev1.Pod // as the API server last gave it
	ip           netip.Addr
	graceLeft    time.Duration
	stopOnce     sync.Once
	problem      error // why the pod cannot run at all
	mountProblem error
	inits, mains []*container
}

func newWorker(a *Agent, pod *corev1.Pod) *worker {
	w := &worker{
		agent: a, name: pod.Name, namespace: pod.Namespace, uid: pod.UID, pod: pod, born: time.Now(),
		dir:      filepath.Join(a.o.Dir, fmt.Sprintf("%s_%s_%s", pod.Namespace, pod.Name, pod.UID)),
		tokens:   tokens{client: a.client},
		stopping: make(chan struct{}), stopSidecars: make(chan struct{}), ended: make(chan struct{}), gone: make(chan struct{}),
		changed: make(chan struct{}, 1), sources: make(chan struct{}, 1), reported: make(chan struct{}),
		graceLeft: 30 * time.Second,
	}
	w.killed, w.kill = context.WithCancel(context.Background())
	if s := pod.Spec.TerminationGracePeriodSeconds; s != nil {
		w.graceLeft = time.Duration(*s) * time.Second
	}
	for i := range pod.Spec.InitContainers {
		c := &container{pod: w, spec: &pod.Spec.InitContainers[i], stop: w.stopping, restart: corev1.RestartPolicyOnFailure}
		switch {
		case isSidecar(c.spec):
			c.stop, c.restart = w.stopSidecars, corev1.RestartPolicyAlways
		case pod.Spec.RestartPolicy == corev1.RestartPolicyNever:
			c.restart = corev1.RestartPolicyNever
		}
		w.inits = append(w.inits, c)
	}
	for i := range pod.Spec.Containers {
		w.mains = append(w.mains, &container{pod: w, spec: &pod.Spec.Containers[i], stop: w.stopping, restart: pod.Spec.RestartPolicy})
	}
	for _, c := range append(append([]*container{}, w.inits...), w.mains...) {
		c.state.Waiting = &corev1.ContainerStateWaiting{Reason: "PodInitializing"}
	}
	return w
}

func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// run runs the pod from beginning to end.
func (w *worker) run() {
	defer close(w.gone)
	go w.report()
	for _, key := range references(w.current()) {
		w.agent.objects.use(key, w.uid, w.touchSources)
	}
	if w.prepare() {
		w.runContainers()
	}
	w.closeOnce(w.stopSidecars)
	<-w.stopping // a completed pod stays until it is deleted
	close(w.ended)
	w.agent.objects.release(w.uid)
	w.finish()
	w.kill()
	w.keeping.Wait()
	w.cleanUp()
}

// prepare does what must be done before the first container, and reports whether it may start.
func (w *worker) prepare() bool {
	if err := unsupported(w.current()); err != nil {
		w.update(func() { w.problem = err })
		w.logf("cannot run: %v", err)
		return false
	}
	for _, dir := range []string{w.dir, filepath.Join(w.dir, "home"), filepath.Join(w.dir, "tmp")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			w.update(func() { w.problem = err })
			return false
		}
	}
	ip, err := w.agent.addresses.allocate()
	if err != nil {
		w.update(func() { w.problem = err })
		return false
	}
	w.update(func() { w.ip = ip })
	mounted := make(chan struct{})
	w.keeping.Go(func() { w.keepVolumes(mounted) })
	// It waits for both: a program may look up its own pod, and then finds the address that it was given.
	for _, ready := range []<-chan struct{}{w.reported, mounted} {
		select {
		case <-ready:
		case <-w.stopping:
			return false
		}
	}
	return true
}

// runContainers runs the init containers, then the others, and returns when all but the sidecars have ended.
func (w *worker) runContainers() {
	var sidecars sync.WaitGroup
	defer sidecars.Wait()
	defer w.closeOnce(w.stopSidecars) // before the wait
	for _, c := range w.inits {
		if isSidecar(c.spec) {
			sidecars.Go(func() { c.run() })
			if !w.waitStarted(c) {
				return
			}
			continue
		}
		if exit := c.run(); exit == nil || exit.Code != 0 || c.isStopped() {
			return
		}
	}
	var mains sync.WaitGroup
	for _, c := range w.mains {
		mains.Go(func() { c.run() })
	}
	mains.Wait()
}

// waitStarted waits for a sidecar, and reports false if the pod ends first.
func (w *worker) waitStarted(c *container) bool {
	for !c.hasStarted() {
		select {
		case <-w.stopping:
			return false
		case <-time.After(50 * time.Millisecond):
		}
	}
	return true
}

// set takes a new version of the pod from the API server.
func (w *worker) set(pod *corev1.Pod) {
	w.mu.Lock()
	if older(pod.ResourceVersion, w.pod.ResourceVersion) {
		w.mu.Unlock()
		return
	}
	w.pod = pod
	w.mu.Unlock()
	poke(w.changed)
	poke(w.sources) // labels and annotations may be mounted
	if pod.DeletionTimestamp != nil {
		grace := 30 * time.Second
		if s := pod.DeletionGracePeriodSeconds; s != nil {
			grace = time.Duration(*s) * time.Second
		}
		w.stop(grace)
	}
}

// stop ends the pod within the grace period.
func (w *worker) stop(grace time.Duration) {
	w.stopOnce.Do(func() {
		w.logf("ends within %s", grace)
		w.update(func() { w.graceLeft = grace })
		close(w.stopping)
	})
}

// vanish ends the pod at once, after a forced deletion.
func (w *worker) vanish() {
	w.kill()
	w.stop(0)
}

func (w *worker) cleanUp() {
	w.mu.Lock()
	ip := w.ip
	w.mu.Unlock()
	if ip.IsValid() {
		w.agent.addresses.release(ip)
	}
	// The logs stay; files that may be secret do not.
	for _, path := range []string{"volumes", "home", "tmp"} {
		if err := os.RemoveAll(filepath.Join(w.dir, path)); err != nil {
			w.logf("clean up: %v", err)
		}
	}
	w.logf("is gone")
}

// process returns the id of the first main container's process.
func (w *worker) process() (int, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.mains {
		if c.process != nil && c.state.Running != nil {
			return c.process.PID(), true
		}
	}
	return 0, false
}

// current returns the pod, with the addresses that the agent gave it.
func (w *worker) current() *corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ip.IsValid() || w.pod.Status.PodIP == w.ip.String() {
		return w.pod
	}
	pod := w.pod.DeepCopy()
	pod.Status.PodIP, pod.Status.HostIP = w.ip.String(), hostIP
	return pod
}

func (w *worker) address() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ip.String()
}

func (w *worker) grace() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.graceLeft
}

// update changes what the lock guards, and asks to report the status.
func (w *worker) update(change func()) {
	w.mu.Lock()
	change()
	w.mu.Unlock()
	poke(w.changed)
}

func (w *worker) touchSources() { poke(w.sources) }

func (w *worker) logf(format string, args ...any) {
	w.agent.logf("pod %s/%s: %s", w.namespace, w.name, fmt.Sprintf(format, args...))
}

// closeOnce closes a channel that only the pod's own goroutine closes.
func (w *worker) closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// poke notes that something changed, unless that is already noted.
func poke(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// older compares resource versions, which are numbers that grow within one kind.
func older(a, b string) bool {
	x, errX := strconv.ParseUint(a, 10, 64)
	y, errY := strconv.ParseUint(b, 10, 64)
	return errX == nil && errY == nil && x < y
}

func (w *worker) secret(namespace, name string) (*corev1.Secret, error) {
	object, err := w.agent.objects.get(objectKey{secrets, namespace, name})
	if err != nil {
		return nil, err
	}
	return object.(*corev1.Secret), nil
}

func (w *worker) configMap(namespace, name string) (*corev1.ConfigMap, error) {
	object, err := w.agent.objects.get(objectKey{configMaps, namespace, name})
	if err != nil {
		return nil, err
	}
	return object.(*corev1.ConfigMap), nil
}

func (w *worker) token(pod *corev1.Pod, source *corev1.ServiceAccountTokenProjection) (string, error) {
	ctx, cancel := context.WithTimeout(w.killed, 10*time.Second)
	defer cancel()
	return w.tokens.get(ctx, pod, source)
}

// unsupported names what a pod asks for and the agent does not support. If the agent ignored it, it would be hard to
// find.
func unsupported(pod *corev1.Pod) error {
	var not []string
	for _, v := range pod.Spec.Volumes {
		s := v.VolumeSource
		if s.Secret == nil && s.ConfigMap == nil && s.EmptyDir == nil && s.Projected == nil && s.DownwardAPI == nil && s.PersistentVolumeClaim == nil && s.HostPath == nil {
			not = append(not, "the kind of volume "+v.Name)
		}
	}
	for _, c := range allContainers(pod) {
		for kind, probe := range map[string]*corev1.Probe{"startup": c.StartupProbe, "liveness": c.LivenessProbe, "readiness": c.ReadinessProbe} {
			if probe != nil && probe.HTTPGet == nil && probe.TCPSocket == nil {
				not = append(not, fmt.Sprintf("the %s probe of container %s (httpGet and tcpSocket only)", kind, c.Name))
			}
		}
		if c.Lifecycle != nil && c.Lifecycle.PostStart != nil {
			not = append(not, "the postStart hook of container "+c.Name)
		}
		if c.Lifecycle != nil && c.Lifecycle.PreStop != nil && c.Lifecycle.PreStop.Exec != nil {
			not = append(not, "the exec preStop hook of container "+c.Name)
		}
	}
	if len(not) == 0 {
		return nil
	}
	return &startError{reason: "CreateContainerConfigError", err: fmt.Errorf("the node agent does not support %s", strings.Join(not, ", "))}
}
