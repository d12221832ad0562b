package monitoring

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/hack/platform"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
	"github.com/mcp-admin/mcp-admin-operator/test/wire"
)

// world is the local cluster with the operator, two endpoints in namespaces of their own, a Prometheus that reads all of their pods, and
// a Collector that gets their traces: books has three pods and a PostgreSQL database, notes one pod and a file.
type world struct {
	*scraper
	t        *testing.T
	cluster  *platform.Platform
	pods     typedcorev1.PodInterface
	database *wire.Wire
	traces   *collector
	// urls are where the endpoints answer, by their names.
	urls map[string]string
}

const manifests = `
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Namespace
metadata: {name: desk}
---
apiVersion: v1
kind: Secret
metadata: {name: books-db, namespace: shop}
stringData: {uri: %q}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPEndpoint
metadata: {name: books, namespace: shop}
spec:
  database: {connectionSecretRef: {name: books-db}}
  server: {replicas: 3}
  observability: {tracing: {endpoint: "http://%s"}}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPModelExposure
metadata: {name: book, namespace: shop}
spec: {endpointRef: {name: books}, table: {name: book}, expose: true}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPToken
metadata: {name: reader, namespace: shop}
spec: {endpointRef: {name: books}, ttl: 72h, permissions: [{models: ["*"], verbs: [view, change]}]}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPEndpoint
metadata: {name: notes, namespace: desk}
spec:
  database: {sqlite: {emptyDir: {}}}
  server: {limits: {requestsPerSecondPerToken: 1}}
  observability: {tracing: {endpoint: "http://%s", protocol: HTTP}}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPToken
metadata: {name: clerk, namespace: desk}
spec: {endpointRef: {name: notes}, permissions: [{models: ["*"], verbs: [view]}]}
`

// newWorld starts all that, and returns once everything is Ready and every pod is read.
func newWorld(t *testing.T) *world {
	t.Helper()
	if os.Getenv("MCP_TEST_MONITORING") == "" {
		t.Skip("MCP_TEST_MONITORING is not set: make test-monitoring sets it, and builds what the local cluster runs")
	}
	prometheusProgram(t, "prometheus")
	w := &world{t: t, traces: startCollector(t), urls: map[string]string{}}
	given, _ := harness.Engines[1].Open(t, "CREATE TABLE book (id int PRIMARY KEY, title text); INSERT INTO book VALUES (1, 'Dune'), (2, 'Emma')")
	uri, err := url.Parse(string(given.Connection["uri"]))
	w.check(err)
	w.database, err = wire.To(uri.Host)
	w.check(err)
	t.Cleanup(w.database.Cut)
	uri.Host = fmt.Sprintf("127.0.0.1:%d", w.database.Port)

	project, err := filepath.Abs(root)
	w.check(err)
	ctx := context.Background()
	w.cluster, err = platform.Start(ctx, project, filepath.Join(project, ".local", "monitoring"), io.Discard)
	w.check(err)
	t.Cleanup(func() { w.check(w.cluster.Stop()) })
	client, err := typedcorev1.NewForConfig(w.cluster.RESTConfig())
	w.check(err)
	w.pods = client.Pods(metav1.NamespaceAll)
	w.kubectl("set", "env", "-n", "mcp-admin-system", "deployment/mcp-admin-manager", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+w.traces.grpc)
	w.kubectl("rollout", "status", "-n", "mcp-admin-system", "deployment/mcp-admin-manager", "--timeout=10m")
	_, err = w.cluster.KubectlInput(ctx, fmt.Sprintf(manifests, uri.String(), w.traces.grpc, w.traces.http), "apply", "--server-side", "-f", "-")
	w.check(err)
	for endpoint, namespace := range map[string]string{"books": "shop", "notes": "desk"} {
		address, err := w.cluster.Forward(namespace+"/"+endpoint+"-mcp:80", "127.0.0.1:0")
		w.check(err)
		w.urls[endpoint] = "http://" + address + "/mcp/"
		w.kubectl("wait", "-n", namespace, "--timeout=10m", "--for=condition=Ready", "mcpendpoint,mcptoken", "--all")
	}
	w.scraper = startPrometheus(t, w.targets)
	w.holds("count(up == 1) == 5") // the manager's, and four of servers
	return w
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) kubectl(args ...string) string {
	w.t.Helper()
	text, err := w.cluster.Kubectl(context.Background(), args...)
	w.check(err)
	return text
}

// targets are the running pods of managers and servers, as the PodMonitors select and label them.
func (w *world) targets() ([]target, error) {
	pods, err := w.pods.List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	found := []target{}
	for _, pod := range pods.Items {
		if pod.Status.PodIP == "" || pod.Status.Phase != corev1.PodRunning {
			continue
		}
		for _, container := range pod.Spec.Containers {
			for _, port := range container.Ports {
				job, labels := pod.Namespace+"/mcp-admin-manager", map[string]string{}
				if port.Name == "admin" {
					endpoint := pod.Labels["mcpadmin.dev/endpoint"]
					job, labels = pod.Namespace+"/"+endpoint+"-mcp", map[string]string{"mcpadmin_dev_endpoint": endpoint}
				} else if port.Name != "metrics" {
					continue
				}
				labels["namespace"], labels["pod"], labels["container"], labels["job"] = pod.Namespace, pod.Name, container.Name, job
				found = append(found, target{[]string{fmt.Sprintf("%s:%d", pod.Status.PodIP, port.ContainerPort)}, labels})
			}
		}
	}
	return found, nil
}

// text is the text of a token.
func (w *world) text(namespace, token string) string {
	w.t.Helper()
	data, err := w.cluster.Secret(context.Background(), namespace, token)
	w.check(err)
	return string(data["token"])
}

// post sends an endpoint a request, and returns the status and the body of the answer; status 0 is none.
func (w *world) post(endpoint, token, body string) (int, string) {
	request, err := http.NewRequest(http.MethodPost, w.urls[endpoint], strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	answer, err := (&http.Client{Timeout: time.Minute}).Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error()
	}
	return answer.StatusCode, string(text)
}

// call calls a tool of an endpoint; the answer must hold a text.
func (w *world) call(endpoint, token, tool, arguments, wants string) {
	w.t.Helper()
	status, text := w.post(endpoint, token, fmt.Sprintf(`{"method":"tools/call","name":%q,"arguments":%s}`, tool, arguments))
	if status != http.StatusOK || !strings.Contains(text, wants) {
		w.t.Fatalf("%s: got %d %s, want %s", tool, status, text, wants)
	}
}

// configSecret is the name of the Secret with the main part of an endpoint's Config.
func configSecret(endpoint string) string { return contract.MainSecret(endpoint + "-mcp-config") }
