// Package e2e asks the whole product its main questions, on the local cluster: objects go in through a real API server,
// real controllers compile them, real server processes answer over HTTP.
package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mcp-admin/mcp-admin-operator/hack/platform"
)

// cluster is shared by all specs; each works in a namespace of its own.
var cluster *platform.Platform

func TestEndToEnd(t *testing.T) {
	if os.Getenv("MCP_TEST_E2E") == "" {
		t.Skip("MCP_TEST_E2E is not set: make test sets it, and builds the programs that the local cluster runs")
	}
	RegisterFailHandler(Fail)
	log.SetLogger(GinkgoLogr)
	SetDefaultEventuallyTimeout(10 * time.Minute)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	RunSpecs(t, "end to end")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	root, err := filepath.Abs("../..")
	Expect(err).NotTo(HaveOccurred())
	cluster, err = platform.Start(ctx, root, filepath.Join(root, ".local", "e2e"), GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(cluster.Stop()).To(Succeed()) })
})

// bench is one namespace with an endpoint in it, and a local address that leads to the endpoint.
type bench struct {
	namespace, url string
}

// newNamespace returns the bench of a namespace that is about to be applied; it is deleted after the specs.
func newNamespace(namespace, endpoint string) bench {
	GinkgoHelper()
	address, err := cluster.Forward(namespace+"/"+endpoint+"-mcp:80", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		kubectl(ctx, "delete", "namespace", namespace, "--wait=false", "--ignore-not-found")
	})
	return bench{namespace: namespace, url: "http://" + address + "/mcp/"}
}

// newBench applies the samples into a new namespace and waits until they are Ready.
func newBench(ctx context.Context, namespace string) bench {
	GinkgoHelper()
	b := newNamespace(namespace, "bookshop")
	apply(ctx, fmt.Sprintf(`{apiVersion: v1, kind: Namespace, metadata: {name: %s, labels: {pod-security.kubernetes.io/enforce: restricted}}}`, namespace))
	samples := strings.Split(kubectl(ctx, "kustomize", "../../config/samples"), "\n---\n")
	samples = slices.DeleteFunc(samples, func(object string) bool { return strings.Contains(object, "kind: Namespace") })
	apply(ctx, strings.ReplaceAll(strings.Join(samples, "\n---\n"), "namespace: bookshop", "namespace: "+namespace))
	b.wait(ctx, "Ready", "mcpendpoint,mcpmodelexposure,mcptoken", "--all")
	return b
}

func kubectl(ctx context.Context, args ...string) string {
	GinkgoHelper()
	output, err := cluster.Kubectl(ctx, args...)
	if err != nil {
		Fail(err.Error())
	}
	return output
}

func apply(ctx context.Context, manifest string) {
	GinkgoHelper()
	if _, err := cluster.KubectlInput(ctx, manifest, "apply", "--server-side", "-f", "-"); err != nil {
		Fail(err.Error())
	}
}

func (b bench) kubectl(ctx context.Context, args ...string) string {
	GinkgoHelper()
	return kubectl(ctx, append([]string{"-n", b.namespace}, args...)...)
}

func (b bench) wait(ctx context.Context, condition string, what ...string) {
	GinkgoHelper()
	_, err := cluster.Kubectl(ctx, append([]string{"-n", b.namespace, "wait", "--timeout=10m", "--for=condition=" + condition}, what...)...)
	if err != nil {
		Fail(err.Error() + "\n" + b.kubectl(ctx, "get", "mcp,pods", "-o", "yaml"))
	}
}

// condition is "status reason: message" of an object's condition.
func (b bench) condition(ctx context.Context, object, condition string) string {
	path := fmt.Sprintf(`jsonpath={range .status.conditions[?(@.type==%q)]}{.status} {.reason}: {.message}{end}`, condition)
	output, err := cluster.Kubectl(ctx, "-n", b.namespace, "get", object, "-o", path)
	if err != nil {
		return err.Error()
	}
	return output
}

func (b bench) token(ctx context.Context, name string) string {
	GinkgoHelper()
	data, err := cluster.Secret(ctx, b.namespace, name)
	Expect(err).NotTo(HaveOccurred())
	return string(data["token"])
}

// addToken makes a token of the bookshop; see newTokenOf.
func (b bench) addToken(ctx context.Context, name string) string {
	GinkgoHelper()
	return b.newTokenOf(ctx, "bookshop", name)
}

// newTokenOf makes a token that may view everything of an endpoint, waits until it is Ready, and returns its text.
func (b bench) newTokenOf(ctx context.Context, endpoint, name string) string {
	GinkgoHelper()
	apply(ctx, fmt.Sprintf(`{apiVersion: mcpadmin.dev/v1alpha1, kind: MCPToken, metadata: {name: %s, namespace: %s},
  spec: {endpointRef: {name: %s}, permissions: [{models: ["*"], verbs: [view]}]}}`, name, b.namespace, endpoint))
	b.wait(ctx, "Ready", "mcptoken/"+name)
	return b.token(ctx, name)
}

// post sends one request and returns the status and body; status 0 is a request that got no answer.
func (b bench) post(token, body string) (int, string) {
	request, err := http.NewRequest(http.MethodPost, b.url, strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := (&http.Client{Timeout: time.Minute}).Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(content)
}

// must calls a tool that is to succeed, and returns its text.
func (b bench) must(token, tool, arguments string) string {
	GinkgoHelper()
	text, isError := b.call(token, tool, arguments)
	Expect(isError).To(BeFalse(), text)
	return text
}

// refused calls a tool that is to fail with a code, and returns its text.
func (b bench) refused(token, tool, arguments, code string) string {
	GinkgoHelper()
	text, isError := b.call(token, tool, arguments)
	Expect(isError).To(BeTrue(), text)
	Expect(text).To(ContainSubstring(`"code":%q`, code))
	return text
}

// call calls a tool in the simple form and returns its text, and whether it is an error.
func (b bench) call(token, tool, arguments string) (string, bool) {
	GinkgoHelper()
	status, body := b.post(token, fmt.Sprintf(`{"method":"tools/call","name":%q,"arguments":%s}`, tool, arguments))
	Expect(status).To(Equal(http.StatusOK), body)
	var answer struct {
		Content []struct{ Type, Text string }
		IsError bool
	}
	Expect(json.Unmarshal([]byte(body), &answer)).To(Succeed(), body)
	Expect(answer.Content).To(HaveLen(1))
	Expect(answer.Content[0].Type).To(Equal("text"))
	return answer.Content[0].Text, answer.IsError
}

// answers is the status that a harmless request with the token gets.
func (b bench) answers(token string) int {
	status, _ := b.post(token, `{"method":"tools/list"}`)
	return status
}

// killServer kills the process of the endpoint's one pod, and returns the pod's name.
func (b bench) killServer(ctx context.Context) string {
	GinkgoHelper()
	pod := strings.Fields(b.kubectl(ctx, "get", "pods", "-o", "jsonpath={.items[*].metadata.name}"))[0]
	pid, ok := cluster.PodProcess(b.namespace, pod)
	Expect(ok).To(BeTrue())
	Expect(syscall.Kill(pid, syscall.SIGKILL)).To(Succeed())
	return pod
}
