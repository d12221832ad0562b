// Package localcluster is a Kubernetes cluster for development and tests on one Linux machine, without
// root and without a container runtime: a real control plane (etcd, kube-apiserver,
// kube-controller-manager, kube-scheduler) of local processes, and the node agent of package nodeagent,
// which runs pods as local processes too. The README beside it says what it is not.
//
// It is for the demo and for tests; nothing that is shipped may import it.
package localcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"github.com/mcp-admin/mcp-admin-operator/hack/nodeagent"
	"github.com/mcp-admin/mcp-admin-operator/hack/nodeagent/process"
	"github.com/mcp-admin/mcp-admin-operator/hack/pki"
)

// Options describe a cluster.
type Options struct {
	// Dir holds all that the cluster writes. It must be empty, or belong to an earlier cluster, which is removed.
	Dir string
	// Assets is the folder with the executables etcd, kube-apiserver, kube-controller-manager and kube-scheduler.
	Assets string
	// Port is the API server's, on 127.0.0.1; 0 takes a free one.
	Port int
	// Images maps an image reference to the local executable that its containers run.
	Images map[string]string
	// Forwards maps "namespace/service:port" to a local address, such as "127.0.0.1:18080". Its connections go to the
	// Service's ready pods.
	Forwards map[string]string
	// Out receives a line for each step of the start; nil discards them.
	Out io.Writer
}

// Cluster is a running cluster.
type Cluster struct {
	o      Options
	layout layout
	lock   *os.File
	log    *os.File
	creds  *credentials
	ports  ports
	began  time.Time
	agent  *nodeagent.Agent
	cancel context.CancelFunc

	stopOnce sync.Once
	mu       sync.Mutex
	running  map[string]*process.Process
}

const (
	etcd              = "etcd"
	apiServer         = "kube-apiserver"
	controllerManager = "kube-controller-manager"
	scheduler         = "kube-scheduler"
)

// Start starts a cluster and returns when a pod can be created in it. The context bounds the start only; [Cluster.Stop]
// ends the cluster.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	for _, name := range []string{etcd, apiServer, controllerManager, scheduler} {
		if err := process.Executable(filepath.Join(o.Assets, name)); err != nil {
			return nil, fmt.Errorf("the control plane's executables (--assets or $KUBEBUILDER_ASSETS; make kube-cluster builds them): %w", err)
		}
	}
	assets, err := filepath.Abs(o.Assets)
	if err != nil {
		return nil, err
	}
	o.Assets = assets
	if o.Out == nil {
		o.Out = io.Discard
	}
	l, lock, err := takeDirectory(o.Dir)
	if err != nil {
		return nil, err
	}
	c := &Cluster{o: o, layout: l, lock: lock, began: time.Now(), running: map[string]*process.Process{}}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) (err error) {
	if c.log, err = os.Create(c.layout.log("nodeagent")); err != nil {
		return err
	}
	if c.ports, err = freePorts(c.o.Port); err != nil {
		return err
	}
	if c.creds, err = makeCredentials(c.layout); err != nil {
		return err
	}
	for name, id := range map[string]*pki.Identity{"admin": c.creds.admin, controllerManager: c.creds.controllers, scheduler: c.creds.scheduler} {
		if err := pki.WriteKubeconfig(c.layout.kubeconfig(name), c.server(), c.creds.ca.PEM, id); err != nil {
			return err
		}
	}
	if err := c.launch(etcd, etcdArgs(c.layout, c.creds, c.ports)); err != nil {
		return err
	}
	if err := c.StartAPIServer(ctx); err != nil {
		return err
	}
	c.progress("the API server answers at %s", c.server())

	client, err := kubernetes.NewForConfig(c.RESTConfig())
	if err != nil {
		return err
	}
	logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(c.log)))
	background, cancel := context.WithCancel(klog.NewContext(context.Background(), logger))
	c.cancel = cancel
	storage := &storage{client: client, layout: c.layout, logf: func(format string, args ...any) {
		fmt.Fprintf(c.log, format+"\n", args...)
	}}
	if err := storage.createClass(ctx); err != nil {
		return err
	}
	go storage.run(background)

	serving, err := c.creds.ca.Serving(c.creds.nodeServer, nodeClientName)
	if err != nil {
		return err
	}
	c.agent, err = nodeagent.Start(ctx, nodeagent.Options{
		Config: pki.RESTConfig(c.server(), c.creds.ca.PEM, c.creds.node), NodeName: nodeName, Serving: serving,
		Dir: c.layout.pods(), RecordDir: c.layout.run(), Images: c.o.Images, Log: c.log,
	})
	if err != nil {
		return err
	}
	for service, address := range c.o.Forwards {
		if _, err := c.agent.Forward(service, address); err != nil {
			return err
		}
	}
	c.progress("node %s is ready", nodeName)
	if err := c.waitUsable(ctx, client); err != nil {
		return err
	}
	c.progress("the cluster is up")
	return nil
}

// waitUsable waits for what a first pod needs: its service account, and the CA certificate that is mounted with its
// token.
func (c *Cluster) waitUsable(ctx context.Context, client kubernetes.Interface) error {
	return c.poll(ctx, "the default service account", func(ctx context.Context) error {
		if _, err := client.CoreV1().ServiceAccounts(corev1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{}); err != nil {
			return err
		}
		_, err := client.CoreV1().ConfigMaps(corev1.NamespaceDefault).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return err
	})
}

// startPatience ends a start that hangs. On a machine with many other programs the API server alone may take minutes.
const startPatience = 10 * time.Minute

// poll tries until a function succeeds, a component has died, or the context or startPatience ends.
func (c *Cluster) poll(ctx context.Context, what string, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		if name := c.dead(); name != "" {
			return fmt.Errorf("waiting for %s: %s ended; see %s", what, name, c.layout.log(name))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (c *Cluster) progress(format string, args ...any) {
	fmt.Fprintf(c.o.Out, "%5.1fs  %s\n", time.Since(c.began).Seconds(), fmt.Sprintf(format, args...))
}

func (c *Cluster) server() string { return fmt.Sprintf("https://127.0.0.1:%d", c.ports.api) }

// RESTConfig returns a configuration with all rights.
func (c *Cluster) RESTConfig() *rest.Config {
	return pki.RESTConfig(c.server(), c.creds.ca.PEM, c.creds.admin)
}

// Kubeconfig returns the path of a kubeconfig with all rights.
func (c *Cluster) Kubeconfig() string { return c.layout.kubeconfig("admin") }

// Dir returns the cluster's directory.
func (c *Cluster) Dir() string { return c.layout.root }

// SetImage sets the executable that an image reference stands for. Running containers keep theirs.
func (c *Cluster) SetImage(reference, path string) error { return c.agent.SetImage(reference, path) }

// Forward forwards connections from a local address to the ready pods of a Service, "namespace/service:port". It
// returns the address, with the port that was chosen if it was 0. It lasts as long as the cluster.
func (c *Cluster) Forward(service, address string) (string, error) {
	listening, err := c.agent.Forward(service, address)
	if err != nil {
		return "", err
	}
	return listening.String(), nil
}

// PodProcess returns the process id of a pod's first running container.
func (c *Cluster) PodProcess(namespace, name string) (pid int, ok bool) {
	return c.agent.PodProcess(namespace, name)
}

// PodLog returns the path of a container's log.
func (c *Cluster) PodLog(pod *corev1.Pod, container string) string {
	return c.layout.path("pods", fmt.Sprintf("%s_%s_%s", pod.Namespace, pod.Name, pod.UID), container+".log")
}
