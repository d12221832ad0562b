package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cri-streaming/pkg/streaming/portforward"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/program"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/server/audit"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
	"github.com/mcp-admin/mcp-admin-operator/test/apiserver"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// patience ends a test that waits for what never happens.
const patience = 10 * time.Minute

// world is a real API server with the controllers, a node whose kubelet answers for logs and ports, and servers in this
// process in the place of pods.
type world struct {
	t          *testing.T
	k8s        client.Client
	kubeconfig string
	env        *envtest.Environment
	stop       context.CancelFunc
	// untimed makes the node refuse to say when a line was written.
	untimed atomic.Bool
	// printed is the last command's output, with its error.
	printed string

	mu   sync.Mutex
	pods map[string]*serverPod // by name
}

// newWorld starts all that. It skips the test if there is no API server to start.
func newWorld(t *testing.T) *world {
	ctrl.SetLogger(logr.Discard())
	w := &world{t: t, pods: map[string]*serverPod{}}
	environment, config := apiserver.Start(t, filepath.Join("..", "..", "config", "crd", "bases"))
	w.env = environment
	admin, err := w.env.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}}, nil)
	w.check(err)
	text, err := admin.KubeConfig()
	w.check(err)
	w.kubeconfig = w.file("kubeconfig", text)
	scheme, err := controllers.NewScheme()
	w.check(err)
	w.k8s, err = client.New(config, client.Options{Scheme: scheme})
	w.check(err)
	_, key, err := ed25519.GenerateKey(nil)
	w.check(err)
	mgr, err := ctrl.NewManager(config, manager.Options{Scheme: scheme, Cache: cluster.CacheOptions(nil), Metrics: metricsserver.Options{BindAddress: "0"}})
	w.check(err)
	w.check(controllers.Setup(mgr, nil, controllers.Options{
		ServerImage: "server:test", ConfigKey: key, LookAgain: 500 * time.Millisecond, Installation: "test", PodAddress: w.adminOf,
		UsageInterval: 200 * time.Millisecond,
	}))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	w.stop = sync.OnceFunc(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the manager: %v", err)
		}
	})
	t.Cleanup(w.stop)
	w.startKubelet()
	return w
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) file(name string, content []byte) string {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), name)
	w.check(os.WriteFile(path, content, 0o600))
	return path
}

// create makes objects.
func (w *world) create(objects ...client.Object) {
	w.t.Helper()
	for _, o := range objects {
		w.check(w.k8s.Create(context.Background(), o))
	}
}

// run is a case; what fails in it fails it alone.
func (w *world) run(name string, test func(t *testing.T)) {
	all := w.t
	all.Run(name, func(t *testing.T) {
		w.t = t
		defer func() { w.t = all }()
		test(t)
	})
}

// eventually waits until something holds. If it does not, the failure shows the last command's output.
func (w *world) eventually(what string, holds func() bool) {
	w.t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("%s: it does not come; the last command printed\n%s", what, w.printed)
		}
	}
}

// command calls mcp-admin with the world's cluster, and returns what it printed, and its error.
func (w *world) command(args ...string) (string, error) {
	var out bytes.Buffer
	err := w.commandTo(w.t.Context(), &out, args...)
	w.printed = fmt.Sprintf("%s%v", out.String(), err)
	return out.String(), err
}

func (w *world) commandTo(ctx context.Context, out io.Writer, args ...string) error {
	command := program.New("mcp-admin")
	command.SetArgs(append(args, "--kubeconfig", w.kubeconfig))
	command.SetOut(out)
	command.SetErr(out)
	return command.ExecuteContext(ctx)
}

// serverPod is a Pod object, and a real server that follows the Config of its endpoint.
type serverPod struct {
	world           *world
	pod             *corev1.Pod
	endpoint, admin string
	audit           harness.Log
	// full makes the disk for audit lines take none.
	full atomic.Bool
	stop context.CancelFunc
	// ended ends the kubelet's logs of the pod.
	ended context.Context
	// container is the log of the present container; the world's lock guards it.
	container containerLog
}

// other_log is no audit table.
const script = `CREATE TABLE orders (id INTEGER PRIMARY KEY, region VARCHAR(10) NOT NULL, total INTEGER NOT NULL);
INSERT INTO orders VALUES (1, 'north', 10), (2, 'south', 20), (3, 'north', 30);
CREATE TABLE other_log (id INTEGER PRIMARY KEY);`

// runServer starts a pod of an endpoint.
func (w *world) runServer(namespace, endpoint, name string) *serverPod {
	w.t.Helper()
	database, _ := harness.OnFile(w.t, filepath.Join(w.t.TempDir(), endpoint+".sqlite"), script)
	agents, err := net.Listen("tcp", "127.0.0.1:0")
	w.check(err)
	admin, err := net.Listen("tcp", "127.0.0.1:0")
	w.check(err)
	p := &serverPod{world: w, endpoint: agents.Addr().String(), admin: admin.Addr().String()}
	ctx, stop := context.WithCancel(context.Background())
	p.ended = ctx
	s := &server.Server{
		Source: configSource{w.k8s, namespace, endpoint + "-mcp-config"}, Endpoint: []net.Listener{agents}, Admin: []net.Listener{admin}, SQLiteFile: database.SQLiteFile, InPod: true,
		Version: "test", Log: slog.New(slog.DiscardHandler), Audit: audit.NewLog(&disk{to: &p.audit, full: &p.full}),
	}
	done := make(chan struct{})
	go func() {
		_ = s.Run(ctx)
		close(done)
	}()
	p.stop = func() {
		stop()
		<-done
	}
	w.t.Cleanup(p.stop)
	p.pod = w.podOf(namespace, endpoint, name)
	w.mu.Lock()
	w.pods[name] = p
	w.mu.Unlock()
	p.create()
	return p
}

// disk takes audit lines while it is not full.
type disk struct {
	to   io.Writer
	full *atomic.Bool
}

func (d *disk) Write(line []byte) (int, error) {
	if d.full.Load() {
		return 0, syscall.ENOSPC
	}
	return d.to.Write(line)
}

// podOf is a pod of the endpoint's Deployment, which it makes available.
func (w *world) podOf(namespace, endpoint, name string) *corev1.Pod {
	w.t.Helper()
	ctx := context.Background()
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: endpoint + "-mcp"}}
	w.eventually("the Deployment", func() bool {
		if w.k8s.Get(ctx, client.ObjectKeyFromObject(d), d) != nil {
			return false
		}
		d.Status = appsv1.DeploymentStatus{
			ObservedGeneration: d.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
			Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}},
		}
		return w.k8s.Status().Update(ctx, d) == nil
	})
	rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: endpoint + "-mcp-1", Labels: d.Spec.Template.Labels}}
	rs.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
	rs.Spec.Selector, rs.Spec.Template = d.Spec.Selector, d.Spec.Template
	if err := w.k8s.Create(ctx, rs); apierrors.IsAlreadyExists(err) {
		w.check(w.k8s.Get(ctx, client.ObjectKeyFromObject(rs), rs))
	} else {
		w.check(err)
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, Labels: map[string]string{"mcpadmin.dev/endpoint": endpoint, "mcpadmin.dev/component": "server"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(rs, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))},
		},
		Spec: corev1.PodSpec{NodeName: nodeName, Containers: []corev1.Container{{
			Name: "server", Image: "server:test", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}, {Name: "admin", ContainerPort: adminPort}},
		}}},
	}
}

// create makes the Pod, which is Ready at once.
func (p *serverPod) create() {
	p.world.t.Helper()
	p.world.create(p.pod)
	p.pod.Status.PodIP, p.pod.Status.Phase = "10.0.0.1", corev1.PodRunning
	p.pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	p.world.check(p.world.k8s.Status().Update(context.Background(), p.pod))
}

// ask lists the tools with a token, and returns the answer's status.
func (p *serverPod) ask(token string) int {
	w := p.world
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, "http://"+p.endpoint+"/mcp/", strings.NewReader(`{"method":"tools/list"}`))
	w.check(err)
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(request)
	w.check(err)
	w.check(answer.Body.Close())
	return answer.StatusCode
}

// delete takes the pod away as a kubelet does.
func (p *serverPod) delete() {
	p.world.t.Helper()
	p.stop()
	p.world.check(p.world.k8s.Delete(context.Background(), p.pod, client.GracePeriodSeconds(0)))
}

// configSource is the Config as the controllers write it.
type configSource struct {
	k8s             client.Client
	namespace, base string
}

// Run implements source.Source.
func (s configSource) Run(ctx context.Context, apply func(source.Update)) error {
	read := func(name string) contract.Part {
		var secret corev1.Secret
		_ = s.k8s.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, &secret)
		return secret.Data
	}
	for last := ""; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		main, err := contract.DecodeMain(read(contract.MainSecret(s.base)))
		if err != nil {
			continue
		}
		tokens, err := contract.DecodeTokens(read(contract.TokensSecret(s.base, 0)), 0)
		if err != nil {
			continue
		}
		if now := fmt.Sprint(main.Revision, tokens.Revision); now != last {
			last = now
			apply(source.Update{Config: main, TokenParts: []*contract.TokenPart{tokens}})
		}
	}
	return nil
}

func (w *world) serverPod(name string) *serverPod {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pods[name]
}

// adminOf is where the manager asks a pod.
func (w *world) adminOf(pod *corev1.Pod) string {
	if p := w.serverPod(pod.Name); p != nil {
		return p.admin
	}
	return "127.0.0.1:1"
}

const nodeName = "node"

// startKubelet makes a node whose kubelet answers the API server for the world's pods: with the audit lines as logs, and with
// the servers' ports.
func (w *world) startKubelet() {
	w.t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", w.logs)
	mux.HandleFunc("/portForward/{namespace}/{pod}", w.forward)
	kubelet := httptest.NewUnstartedServer(mux)
	kubelet.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	kubelet.StartTLS()
	w.t.Cleanup(kubelet.CloseClientConnections)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}}
	w.create(node)
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(kubelet.Listener.Addr().(*net.TCPAddr).Port)
	w.check(w.k8s.Status().Update(context.Background(), node))
}

// adminPort is the admin port of the world's pods.
const adminPort = 8081

// forward leads to the pod's server: to its admin port, or to that of agents, whatever the port.
func (w *world) forward(out http.ResponseWriter, r *http.Request) {
	options, err := portforward.NewV4Options(r)
	if err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	p := w.serverPod(r.PathValue("pod"))
	portforward.ServePortForward(out, r, p, p.pod.Name, string(p.pod.UID), options, patience, patience, portforward.SupportedProtocols)
}

// PortForward implements portforward.PortForwarder.
func (p *serverPod) PortForward(_ context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	address := p.endpoint
	if port == adminPort {
		address = p.admin
	}
	server, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, stream)
		_ = server.(*net.TCPConn).CloseWrite()
	}()
	_, err = io.Copy(stream, server)
	_ = stream.Close()
	return err
}
