package controllers_test

import (
	"context"
	"crypto/ed25519"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/mcp-admin/mcp-admin-operator/controllers"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/test/apiserver"
)

// The real API server and etcd that the cases share, and the manager that works on it.
var (
	apiServer *envtest.Environment
	k8s       client.WithWatch
	running   *testManager
	recorded  *versionRecorder
)

// patience ends a test that waits for what never happens. What the controllers would find by looking again some time
// (ForeignRetry) they find later than that, so nothing passes by it.
const patience = 10 * time.Minute

// configKey signs the Configs of every manager of the suite.
var _, configKey, _ = ed25519.GenerateKey(nil)

func TestControllers(t *testing.T) {
	// controller-runtime throws away all that is logged if nobody has set a logger half a minute after the start.
	ctrl.SetLogger(zap.New(zap.WriteTo(GinkgoWriter), zap.UseDevMode(true)))
	apiServer, _ = apiserver.Start(t, filepath.Join("..", "config", "crd", "bases"))
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(patience)
	SetDefaultEventuallyPollingInterval(10 * time.Millisecond)
	SetDefaultConsistentlyDuration(300 * time.Millisecond)
	SetDefaultConsistentlyPollingInterval(20 * time.Millisecond)
	RunSpecs(t, "Controllers")
}

var _ = BeforeSuite(func() {
	config := apiServer.Config
	config.QPS, config.Burst = -1, -1
	scheme, err := controllers.NewScheme()
	Expect(err).NotTo(HaveOccurred())
	own := rest.CopyConfig(config)
	own.Wrap(askAgain)
	direct, err := client.NewWithWatch(own, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	k8s = newPatientClient(direct)
	recorded = startRecorder(config)
	running = startManager(config)
})

var _ = AfterSuite(func() {
	if running != nil {
		// The last case may just have started it. A manager that is stopped before all its workers run takes half a minute.
		w := &world{"default"}
		objects := []client.Object{w.endpoint("shop"), w.exposure("order", "shop"), w.token("agent", "shop")}
		w.create(objects...)
		for _, o := range objects {
			Eventually(reads(o, "Ready")).ShouldNot(BeEmpty())
		}
		running.stop()
	}
	if recorded != nil {
		recorded.finish()
	}
})

// testManager is a manager as cmd/manager runs it, with its requests counted.
type testManager struct {
	cancel context.CancelFunc
	ended  chan error
	writes *writeCounter
}

func startManager(restConfig *rest.Config, namespaces ...string) *testManager {
	return startManagerWith(restConfig, func(*controllers.Options) {}, namespaces...)
}

func startManagerWith(restConfig *rest.Config, change func(*controllers.Options), namespaces ...string) *testManager {
	counted := rest.CopyConfig(restConfig)
	m := &testManager{ended: make(chan error, 1), writes: &writeCounter{}}
	counted.Wrap(func(next http.RoundTripper) http.RoundTripper { return m.writes.count(next) })
	scheme, err := controllers.NewScheme()
	Expect(err).NotTo(HaveOccurred())
	mgr, err := ctrl.NewManager(counted, manager.Options{
		Scheme:     scheme,
		Cache:      cluster.CacheOptions(namespaces),
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)}, // one case runs a second one
	})
	Expect(err).NotTo(HaveOccurred())
	options := controllers.Options{
		ServerImage:   "server:test",
		AllowedImages: []string{"server:*"},
		ConfigKey:     configKey,
		// Its pods' namespace, and a short wait for what no watch tells.
		ManagerNamespace: "mcp-admin-system",
		LookAgain:        500 * time.Millisecond,
		PodAddress:       func(pod *corev1.Pod) string { return pod.Annotations[addressAnnotation] },
		UsageInterval:    200 * time.Millisecond,
	}
	change(&options)
	Expect(controllers.Setup(mgr, namespaces, options)).To(Succeed())
	var ctx context.Context
	ctx, m.cancel = context.WithCancel(context.Background())
	go func() { m.ended <- mgr.Start(ctx) }()
	return m
}

func (m *testManager) stop() {
	m.cancel()
	Eventually(m.ended).Should(Receive(BeNil()))
}

// writeCounter counts what a manager sends to be written, but for events, and which single objects it reads from the API
// server.
type writeCounter struct {
	mu         sync.Mutex
	sent, read []string
	// refuses reports whether the API server forbids a request; nil forbids none.
	refuses func(*http.Request) bool
}

// refuse makes the API server forbid requests; nil ends that.
func (w *writeCounter) refuse(requests func(*http.Request) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refuses = requests
}

func (w *writeCounter) count(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		w.mu.Lock()
		switch {
		case r.Method == http.MethodGet:
			w.read = append(w.read, r.URL.Path)
		case !strings.HasSuffix(r.URL.Path, "/events"):
			w.sent = append(w.sent, r.Method+" "+r.URL.Path)
		}
		refused := w.refuses != nil && w.refuses(r)
		w.mu.Unlock()
		if refused {
			answer := httptest.NewRecorder()
			answer.Header().Set("Content-Type", "application/json")
			answer.WriteHeader(http.StatusForbidden)
			_, _ = answer.WriteString(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"a webhook says no","code":403}`)
			return answer.Result(), nil
		}
		return next.RoundTrip(r)
	})
}

// to returns what was written to a namespace so far.
func (w *writeCounter) to(namespace string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return within(namespace, w.sent)
}

// reads returns what was read from a namespace so far.
func (w *writeCounter) reads(namespace string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return within(namespace, w.read)
}

func within(namespace string, requests []string) []string {
	var found []string
	for _, request := range requests {
		if strings.Contains(request, "/namespaces/"+namespace+"/") {
			found = append(found, request)
		}
	}
	return found
}

// askAgain repeats requests of the cases that had no answer, as a manager does with its own: on a machine with very many busy
// programs, handshakes exceed their ten seconds.
func askAgain(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (answer *http.Response, err error) {
		for range 20 {
			again := r.Clone(r.Context())
			if r.GetBody != nil {
				if again.Body, err = r.GetBody(); err != nil {
					return nil, err
				}
			}
			if answer, err = next.RoundTrip(again); err == nil || r.Context().Err() != nil {
				return answer, err
			}
		}
		return answer, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
