package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/config/rbac"
)

// takeOvers is how often the leader is killed, and whether the time that it takes counts: MCP_TEST_TAKEOVERS=20 measures
// it so often, on a machine that does nothing else.
func takeOvers(t *testing.T) (times int, measured bool) {
	t.Helper()
	given := os.Getenv("MCP_TEST_TAKEOVERS")
	if given == "" {
		return 2, false
	}
	n, err := strconv.Atoi(given)
	if err != nil {
		t.Fatal(err)
	}
	return n, true
}

// Real processes, with Roles alone, over an API server that the test can stall.
func TestAStandbyFollowsTheLeader(t *testing.T) {
	c := startCluster(t)
	c.install(t, func(*apiextensionsv1.CustomResourceDefinition) {})
	c.grant(t, ownNamespaceName, rbac.OwnNamespaceRole, "", "")
	c.grant(t, "shop", rbac.ManagerRole, "", "")
	p := newProcesses(t, c)
	endpoint := &v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "books"}}
	endpoint.Spec.Database.SQLite = &v1alpha1.SQLiteSpec{EmptyDir: &v1alpha1.SQLiteEmptyDir{}}
	endpoint.Spec.Groups = []v1alpha1.Group{{Name: "readers", Permissions: []v1alpha1.PermissionRule{
		{Models: []string{"*"}, Verbs: []v1alpha1.Verb{v1alpha1.VerbView}},
	}}}
	c.create(t, endpoint)

	leader := p.start()
	p.programs(c, "first", time.Minute)
	var times []time.Duration
	kills, measured := takeOvers(t)
	for i := range kills {
		standby := p.start()
		standby.waitFor("ttempting to acquire leader lease")
		time.Sleep(time.Second) // its caches fill
		killed := time.Now()
		leader.kill()
		p.programs(c, fmt.Sprintf("after-%d", i), 2*time.Minute)
		times = append(times, time.Since(killed))
		leader = standby
	}
	slices.Sort(times)
	t.Logf("from the kill of the leader until the next one programs a token: median %s, longest %s of %d", times[len(times)/2], times[len(times)-1], len(times))
	if measured && times[len(times)-1] > 5*time.Second {
		t.Errorf("it took %v, want 5 s at most", times)
	}

	p.stall(5 * time.Second)
	stalled := time.Now()
	p.programs(c, "after-a-stall", 2*time.Minute)
	t.Logf("after the API server was silent for 5 s, it took %s to program a token; the manager started anew %d times",
		time.Since(stalled), strings.Count(leader.output(), "this manager starts anew"))
	if leader.hasEnded() {
		t.Error("the process ended: the kubelet would wait longer each time before it starts another")
	}
	for _, line := range strings.Split(p.log(), "\n") {
		if strings.Contains(line, "forbidden") {
			t.Errorf("a right is missing: %s", line)
		}
	}
}

// processes are managers of one installation, which reach the API server through a proxy.
type processes struct {
	t          *testing.T
	binary     string
	kubeconfig string
	silent     atomic.Bool
	all        []*process
}

func newProcesses(t *testing.T, c *testCluster) *processes {
	t.Helper()
	p := &processes{t: t, binary: filepath.Join(t.TempDir(), "manager")}
	if out, err := exec.Command("go", "build", "-o", p.binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	kubeconfig, err := c.user.KubeConfig()
	if err != nil {
		t.Fatal(err)
	}
	server, err := url.Parse(c.config.Host)
	if err != nil {
		t.Fatal(err)
	}
	address := server.Host
	if address == "" {
		address = c.config.Host
	}
	p.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	kubeconfig = bytes.ReplaceAll(kubeconfig, []byte(address), []byte(p.proxy(address)))
	if err := os.WriteFile(p.kubeconfig, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, one := range p.all {
			one.kill()
		}
		if t.Failed() {
			t.Log(p.log())
		}
	})
	return p
}

// proxy passes bytes on to an address, but for the time in which it is silent; it returns its own address.
func (p *processes) proxy(address string) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = listener.Close() })
	pass := func(to io.WriteCloser, from io.Reader) {
		defer to.Close()
		buffer := make([]byte, 64<<10)
		for {
			n, err := from.Read(buffer)
			for p.silent.Load() {
				time.Sleep(10 * time.Millisecond)
			}
			if _, failed := to.Write(buffer[:n]); err != nil || failed != nil {
				return
			}
		}
	}
	go func() {
		for {
			inbound, err := listener.Accept()
			if err != nil {
				return
			}
			outbound, err := net.Dial("tcp", address)
			if err != nil {
				_ = inbound.Close()
				continue
			}
			go pass(outbound, inbound)
			go pass(inbound, outbound)
		}
	}()
	return listener.Addr().String()
}

// stall makes the API server silent for a while, as the managers see it.
func (p *processes) stall(d time.Duration) {
	p.silent.Store(true)
	time.Sleep(d)
	p.silent.Store(false)
}

// programs makes a token, and waits until a manager has written it into the Config.
func (p *processes) programs(c *testCluster, name string, patience time.Duration) {
	p.t.Helper()
	token := &v1alpha1.MCPToken{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	token.Spec.EndpointRef.Name, token.Spec.Groups = "books", []string{"readers"}
	c.create(p.t, token)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if err := c.admin.Get(p.t.Context(), client.ObjectKeyFromObject(token), token); err == nil && token.Status.Revision > 0 {
			return
		}
	}
	p.t.Fatalf("token %s was not programmed within %s", name, patience)
}

func (p *processes) log() string {
	var text strings.Builder
	for i, one := range p.all {
		fmt.Fprintf(&text, "== process %d\n%s", i, one.output())
	}
	return text.String()
}

// process is one manager.
type process struct {
	t       *testing.T
	command *exec.Cmd
	ended   chan struct{}
	mu      sync.Mutex
	said    bytes.Buffer
}

func (p *processes) start() *process {
	p.t.Helper()
	one := &process{t: p.t, ended: make(chan struct{})}
	one.command = exec.Command(p.binary, "--kubeconfig="+p.kubeconfig, "--server-image=server:test", "--leader-elect",
		"--manager-namespace="+ownNamespaceName, "--namespace=shop")
	one.command.Stdout, one.command.Stderr = one, one
	if err := one.command.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() {
		_ = one.command.Wait()
		close(one.ended)
	}()
	p.all = append(p.all, one)
	return one
}

func (o *process) Write(said []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.said.Write(said)
}

func (o *process) output() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.said.String()
}

func (o *process) waitFor(text string) {
	o.t.Helper()
	for range 12000 {
		if strings.Contains(o.output(), text) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	o.t.Fatalf("it never said %q", text)
}

func (o *process) hasEnded() bool {
	select {
	case <-o.ended:
		return true
	default:
		return false
	}
}

func (o *process) kill() {
	_ = o.command.Process.Kill()
	<-o.ended
}
