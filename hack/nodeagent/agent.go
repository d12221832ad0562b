// Package nodeagent is a Kubernetes node for development: it registers a Node and runs the containers
// of the pods bound to it as local processes, each pod on a loopback address of its own. It needs
// Linux, and neither root nor a container runtime. It takes the kubelet's place towards the API server
// (status, probes, volumes, service account tokens, graceful deletion), and gives none of a container's
// isolation: see the README of package localcluster, which imports it, beside tests.
package nodeagent

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"github.com/mcp-admin/mcp-admin-operator/hack/nodeagent/watch"
)

// Options describe an agent.
type Options struct {
	// Config is the node's identity: user system:node:NodeName in the group system:nodes.
	Config   *rest.Config
	NodeName string
	// Dir is the folder in which the pods' folders are made.
	Dir string
	// RecordDir is where running processes are recorded; see [process.EndRecorded].
	RecordDir string
	// Serving is the TLS configuration of the port of the kubelet's API: its own certificate, and the
	// clients that it answers. Nil means no such port.
	Serving *tls.Config
	// Images maps an image reference, or a program's base name, to a local executable.
	Images map[string]string
	// Log receives a line for each event, and the messages of the Kubernetes client.
	Log io.Writer
}

// Agent is a node.
type Agent struct {
	o      Options
	client *kubernetes.Clientset

	ctx         context.Context
	cancel      context.CancelFunc
	running     sync.WaitGroup
	addresses   *addresses
	objects     *objects
	services    *services
	kubeletAPI  *http.Server
	kubeletPort int

	logging sync.Mutex

	mu       sync.Mutex
	images   map[string]string
	workers  map[types.UID]*worker
	stopped  bool
	forwards map[string]*forward
}

// Start registers the node and begins to run its pods.
func Start(ctx context.Context, o Options) (*Agent, error) {
	client, err := kubernetes.NewForConfig(o.Config)
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	a := &Agent{
		o: o, client: client,
		addresses: newAddresses(podRange), services: newServices(),
		images: map[string]string{}, workers: map[types.UID]*worker{}, forwards: map[string]*forward{},
	}
	for reference, path := range o.Images {
		if err := a.SetImage(reference, path); err != nil {
			return nil, err
		}
	}
	for _, dir := range []string{o.Dir, o.RecordDir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	if o.Serving != nil {
		if a.kubeletPort, err = a.serveKubeletAPI(o.Serving); err != nil {
			return nil, err
		}
	}
	if err := a.register(ctx); err != nil {
		a.stopKubeletAPI()
		return nil, err
	}
	// The agent outlives the context of its start, which may have a deadline.
	logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(locked{&a.logging, o.Log})))
	a.ctx, a.cancel = context.WithCancel(klog.NewContext(context.Background(), logger))
	core := client.CoreV1().RESTClient()
	a.objects = newObjects(a.ctx, core)
	a.running.Go(func() { a.keepAlive(a.ctx) })
	a.running.Go(func() {
		watch.Run(a.ctx, watch.Resource{
			Client: core, Name: "pods", Selector: fields.OneTermEqualSelector("spec.nodeName", o.NodeName),
		}, &corev1.Pod{}, watch.Handler[*corev1.Pod]{Set: a.setPod, Gone: a.podGone})
	})
	a.running.Go(func() {
		watch.Run(a.ctx, watch.Resource{Client: core, Name: "services"}, &corev1.Service{},
			watch.Handler[*corev1.Service]{Set: a.services.set, Gone: a.services.remove})
	})
	return a, nil
}

func (a *Agent) setPod(pod *corev1.Pod) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if w, ok := a.workers[pod.UID]; ok {
		w.set(pod)
		return
	}
	if a.stopped || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return
	}
	w := newWorker(a, pod)
	a.workers[pod.UID] = w
	w.logf("begins")
	if pod.DeletionTimestamp != nil {
		w.set(pod)
	}
	a.running.Go(func() {
		w.run()
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.workers, w.uid)
	})
}

func (a *Agent) podGone(pod *corev1.Pod) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if w, ok := a.workers[pod.UID]; ok {
		w.vanish()
	}
}

// Stop ends the agent and all pods, each within the grace period. It does not tell the API server.
func (a *Agent) Stop(grace time.Duration) {
	a.mu.Lock()
	a.stopped = true
	for name, f := range a.forwards {
		f.close()
		delete(a.forwards, name)
	}
	var workers []*worker
	for _, w := range a.workers {
		workers = append(workers, w)
	}
	a.mu.Unlock()
	a.cancel()
	a.stopKubeletAPI()
	deadline := time.AfterFunc(grace+time.Second, func() {
		for _, w := range workers {
			w.kill()
		}
	})
	defer deadline.Stop()
	for _, w := range workers {
		w.stop(grace)
	}
	a.running.Wait()
}

// SetImage sets the executable that an image reference stands for. Running containers keep theirs.
func (a *Agent) SetImage(reference, path string) error {
	if reference == "" || path == "" {
		return errors.New("an image needs a reference and the path of an executable")
	}
	absolute, err := filepath.Abs(path) // processes start in another working folder
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.images[reference] = absolute
	return nil
}

func (a *Agent) image(reference string) (string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	path, ok := a.images[reference]
	return path, ok
}

// executable returns the program of a container. It is the image's. If the pod has a command, it is the program of the
// command's base name, which may be the image's, too.
func (a *Agent) executable(c *corev1.Container) (string, bool) {
	path, ok := a.image(c.Image)
	if len(c.Command) == 0 || !ok {
		return path, ok
	}
	name := filepath.Base(c.Command[0])
	if filepath.Base(path) == name {
		return path, true
	}
	return a.image(name)
}

// PodProcess returns the process id of a pod's first running container.
func (a *Agent) PodProcess(namespace, name string) (pid int, ok bool) {
	if w := a.workerOf(namespace, name); w != nil {
		return w.process()
	}
	return 0, false
}

// logf writes a line to the log.
func (a *Agent) logf(format string, args ...any) {
	a.logging.Lock()
	defer a.logging.Unlock()
	fmt.Fprintf(a.o.Log, "%s %s\n", time.Now().Format("15:04:05.000"), fmt.Sprintf(format, args...))
}

type locked struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
