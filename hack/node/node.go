// Package node is a whole Kubernetes node on this machine: a control plane, kubelet, containerd, CNI plugins, kube-proxy and
// CoreDNS, all built from Go modules. It needs root, and takes away all that it made when it ends. The README beside it says
// what it needs and what it leaves out.
//
// It is for tests; nothing that is shipped may import it.
package node

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/mcp-admin/mcp-admin-operator/hack/nodeagent/process"
	"github.com/mcp-admin/mcp-admin-operator/hack/pki"
)

// Name is the node's name in the cluster.
const Name = "node"

// Options describe a node.
type Options struct {
	// Dir holds all that the node writes. It must be empty or an earlier node's, and its path short: sockets lie in it.
	Dir string
	// Kubernetes is the folder of the control plane's programs, kubelet, kube-proxy and kubectl; Programs the folder of
	// the container runtime and CoreDNS.
	Kubernetes, Programs string
	// Images are archives of images (OCI or Docker), which pods may name without a registry.
	Images []string
	// Out receives a line for each step of the start; nil discards them.
	Out io.Writer
}

// Node is a running node.
type Node struct {
	o       Options
	lock    *os.File
	address string
	ports   ports
	creds   *credentials
	began   time.Time

	mu      sync.Mutex
	running map[string]*process.Process
}

//go:embed coredns.yaml
var coreDNS string

// Start starts a node and returns when pods run in it. What an earlier node left behind goes first. The context bounds the
// start only; [Node.Stop] ends the node.
func Start(ctx context.Context, o Options) (*Node, error) {
	if o.Out == nil {
		o.Out = io.Discard
	}
	if err := Check(); err != nil {
		return nil, err
	}
	for _, folder := range []*string{&o.Dir, &o.Kubernetes, &o.Programs} {
		absolute, err := filepath.Abs(*folder)
		if err != nil {
			return nil, err
		}
		*folder = absolute
	}
	lock, err := take(o.Dir)
	if err != nil {
		return nil, err
	}
	n := &Node{o: o, lock: lock, began: time.Now(), running: map[string]*process.Process{}}
	if err := n.start(ctx); err != nil {
		return nil, errors.Join(err, n.Stop())
	}
	return n, nil
}

func (n *Node) start(ctx context.Context) (err error) {
	if err := clean(n.o.Dir); err != nil {
		return err
	}
	for _, folder := range []string{"pki", "conf", "conf/cni", "logs", "run", "tools", "images"} {
		if err := os.MkdirAll(n.path(folder), 0o700); err != nil {
			return err
		}
	}
	if n.address, err = nodeAddress(); err != nil {
		return err
	}
	if n.ports, err = freePorts(); err != nil {
		return err
	}
	if n.creds, err = n.makeCredentials(); err != nil {
		return err
	}
	if err := errors.Join(n.prepareMachine(), n.writeConfigurations()); err != nil {
		return err
	}
	for _, step := range []struct {
		what string
		run  func(context.Context) error
	}{
		{"the API server answers", n.startControlPlane},
		{"containerd has its images", n.startContainerd},
		{"the node is Ready", n.startKubelet},
		{"cluster DNS answers", n.startDNS},
	} {
		if err := step.run(ctx); err != nil {
			return err
		}
		fmt.Fprintf(n.o.Out, "%5.1fs  %s\n", time.Since(n.began).Seconds(), step.what)
	}
	return nil
}

func (n *Node) startControlPlane(ctx context.Context) error {
	if err := n.launch("etcd", n.etcdArgs()); err != nil {
		return err
	}
	return n.StartAPIServer(ctx)
}

// StartAPIServer starts the API server, with the same port and data as before, and the components that follow it.
func (n *Node) StartAPIServer(ctx context.Context) error {
	if err := n.launch("kube-apiserver", n.apiServerArgs()); err != nil {
		return err
	}
	if err := n.poll(ctx, "the API server", func(ctx context.Context) error {
		_, err := n.Kubectl(ctx, "get", "--raw=/readyz")
		return err
	}); err != nil {
		return err
	}
	if err := n.launch("kube-controller-manager", n.controllerManagerArgs()); err != nil {
		return err
	}
	return n.launch("kube-scheduler", n.schedulerArgs())
}

// StopAPIServer makes an outage: the API server dies at once, with the controller manager and the scheduler, which can do
// nothing without it.
func (n *Node) StopAPIServer() { n.end("kube-controller-manager", "kube-scheduler", "kube-apiserver") }

func (n *Node) startContainerd(ctx context.Context) error {
	if err := n.launch("containerd", []string{"--config", n.path("conf/containerd.toml")}); err != nil {
		return err
	}
	if err := n.poll(ctx, "containerd", func(ctx context.Context) error { return n.ctr(ctx, "version") }); err != nil {
		return err
	}
	own, err := n.packOwnImages()
	if err != nil {
		return err
	}
	for _, archive := range append(own, n.o.Images...) {
		if err := n.Import(ctx, archive); err != nil {
			return err
		}
	}
	return nil
}

// Import gives the node the images of an archive.
func (n *Node) Import(ctx context.Context, archive string) error {
	return n.ctr(ctx, "images", "import", "--digests=false", archive)
}

func (n *Node) startKubelet(ctx context.Context) error {
	if err := n.poll(ctx, "the roles of nodes", func(ctx context.Context) error {
		_, err := n.Kubectl(ctx, "get", "clusterrolebinding", "system:node-proxier")
		return err
	}); err != nil {
		return err
	}
	if err := errors.Join(n.launch("kubelet", n.kubeletArgs()),
		n.launch("kube-proxy", []string{"--config=" + n.path("conf/kube-proxy.yaml")})); err != nil {
		return err
	}
	return n.poll(ctx, "the node", func(ctx context.Context) error {
		_, err := n.Kubectl(ctx, "wait", "--for=condition=Ready", "--timeout=1s", "node/"+Name)
		if err != nil {
			return err
		}
		_, err = n.Kubectl(ctx, "-n", "default", "get", "serviceaccount/default", "configmap/kube-root-ca.crt")
		return err
	})
}

func (n *Node) startDNS(ctx context.Context) error {
	if _, err := n.KubectlInput(ctx, coreDNS, "apply", "--server-side", "-f", "-"); err != nil {
		return err
	}
	return n.poll(ctx, "CoreDNS", func(ctx context.Context) error {
		_, err := n.Kubectl(ctx, "-n", "kube-system", "wait", "--for=condition=Available", "--timeout=1s", "deployment/coredns")
		return err
	})
}

// Address is the node's address, which pods reach as well.
func (n *Node) Address() string { return n.address }

// Kubeconfig returns the path of a kubeconfig with all rights.
func (n *Node) Kubeconfig() string { return n.path("conf/admin.kubeconfig") }

// RESTConfig returns a configuration with all rights.
func (n *Node) RESTConfig() *rest.Config {
	return pki.RESTConfig(n.server(), n.creds.ca.PEM, n.creds.admin)
}

// Logs is the folder of the components' logs, which outlives the node.
func (n *Node) Logs() string { return n.path("logs") }

// Kubectl runs kubectl with all rights and returns what it printed; an error holds what it printed to stderr.
func (n *Node) Kubectl(ctx context.Context, args ...string) (string, error) {
	return n.KubectlInput(ctx, "", args...)
}

// KubectlInput is Kubectl with a standard input.
func (n *Node) KubectlInput(ctx context.Context, input string, args ...string) (string, error) {
	command := n.Command(ctx, filepath.Join(n.o.Kubernetes, "kubectl"), args...)
	command.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return stdout.String(), fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// Command prepares a program that finds the node by its environment.
func (n *Node) Command(ctx context.Context, program string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, program, args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+n.Kubeconfig(), "KUBECACHEDIR="+n.path("kubectl-cache"),
		"PATH="+n.o.Kubernetes+":"+os.Getenv("PATH"))
	return command
}

func (n *Node) ctr(ctx context.Context, args ...string) error {
	args = append([]string{"--address", n.path("containerd.sock"), "--namespace", "k8s.io"}, args...)
	text, err := exec.CommandContext(ctx, filepath.Join(n.o.Programs, "ctr"), args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ctr %s: %w: %s", strings.Join(args, " "), err, text)
	}
	return nil
}

// Stop ends the node with all its pods, and takes away what it made on this machine. The logs stay.
func (n *Node) Stop() error {
	// The kubelet goes first: it would start anew what ends.
	n.end("kubelet", "kube-proxy", "kube-scheduler", "kube-controller-manager")
	endPods()
	n.end("containerd", "kube-apiserver", "etcd")
	return errors.Join(clean(n.o.Dir), n.lock.Close())
}

func (n *Node) path(name string) string { return filepath.Join(n.o.Dir, name) }

// poll tries until a function succeeds, a component has died, or the context or ten minutes end.
func (n *Node) poll(ctx context.Context, what string, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		if name := n.dead(); name != "" {
			return fmt.Errorf("waiting for %s: %s ended; see %s", what, name, n.path("logs/"+name+".log"))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
