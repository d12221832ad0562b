package e2enode

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mcp-admin/mcp-admin-operator/test/e2enode/load"
)

const namespaceManifest = `{apiVersion: v1, kind: Namespace, metadata: {name: %s, labels: {pod-security.kubernetes.io/enforce: restricted}}}`

const shopManifest = `
%[2]s
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPModelExposure
metadata: {name: %[1]s-item, namespace: shop}
spec: {endpointRef: {name: %[1]s}, table: {name: item}, model: item, expose: true}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPEndpoint
metadata: {name: %[1]s, namespace: shop}
spec:
  database: {connectionSecretRef: {name: %[1]s-db}%[3]s}
  server: {replicas: 2}
`

const tokenManifest = `
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPToken
metadata: {name: %[2]s, namespace: shop}
spec: {endpointRef: {name: %[1]s}, permissions: [{models: ["*"], verbs: [view, add]}]}
`

// agentManifest is a pod that calls a shop all the while, by the name of its Service.
const agentManifest = `
apiVersion: v1
kind: Pod
metadata: {name: agent-%[1]s, namespace: shop}
spec:
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 1
  securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: agent
    image: %[2]s
    args: ["http://%[1]s-mcp.shop.svc.cluster.local/mcp/", /token/token]
    env: [{name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}]
    readinessProbe: {httpGet: {path: /counts, port: 8080}, periodSeconds: 1}
    securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
    volumeMounts: [{name: token, mountPath: /token, readOnly: true}]
  volumes: [{name: token, secret: {secretName: %[1]s-agent}}]
`

func (s *shop) create(ctx context.Context) {
	GinkgoHelper()
	apply(ctx, fmt.Sprintf(shopManifest, s.name, s.secret("first"), s.options)+fmt.Sprintf(tokenManifest, s.name, s.name+"-agent"))
	ready(ctx, "mcpendpoint/"+s.name, "mcpmodelexposure/"+s.name+"-item", "mcptoken/"+s.name+"-agent")
}

func ready(ctx context.Context, objects ...string) {
	GinkgoHelper()
	kubectl(ctx, append([]string{"-n", "shop", "wait", "--for=condition=Ready", "--timeout=600s"}, objects...)...)
}

// databaseReady waits until the endpoint says this of its database.
func (s *shop) databaseReady(ctx context.Context, reason string) {
	GinkgoHelper()
	kubectl(ctx, "-n", "shop", "wait", `--for=jsonpath={.status.conditions[?(@.type=="DatabaseReady")].reason}=`+reason, "--timeout=600s",
		"mcpendpoint/"+s.name)
}

// token returns the text in an MCPToken's Secret.
func token(ctx context.Context, name string) string {
	GinkgoHelper()
	text, err := base64.StdEncoding.DecodeString(kubectl(ctx, "-n", "shop", "get", "secret", name, "-o", "jsonpath={.data.token}"))
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}

// agent is a pod that calls a shop.
type agent struct{ address string }

func newAgent(ctx context.Context, s *shop) *agent {
	GinkgoHelper()
	apply(ctx, fmt.Sprintf(agentManifest, s.name, agentImage))
	ready(ctx, "pod/agent-"+s.name)
	return &agent{kubectl(ctx, "-n", "shop", "get", "pod", "agent-"+s.name, "-o", "jsonpath={.status.podIP}")}
}

func (a *agent) counts() load.Counts {
	GinkgoHelper()
	response, err := (&http.Client{Timeout: time.Minute}).Get("http://" + a.address + ":8080/counts")
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	var counts load.Counts
	Expect(json.NewDecoder(response.Body).Decode(&counts)).To(Succeed())
	return counts
}

// agents are all of them together.
type agents []*agent

func (all agents) counts() (sum load.Counts) {
	GinkgoHelper()
	for _, a := range all {
		c := a.counts()
		sum.Sent, sum.Written, sum.Unavailable = sum.Sent+c.Sent, sum.Written+c.Written, sum.Unavailable+c.Unavailable
		sum.Refused, sum.Lost = sum.Refused+c.Refused, sum.Lost+c.Lost
		if c.Problem != "" {
			sum.Problem = c.Problem
		}
	}
	return sum
}

// during does something while the agents call, all of whom must get the right answer.
func (all agents) during(name string, do func() string) {
	GinkgoHelper()
	Expect(all.duringOutage(name, do).Unavailable).To(BeZero(), "calls were told that the database cannot be reached")
}

// duringOutage does something while the agents call, who may be told that the database cannot be reached, and notes what became
// of the calls. do returns a remark for the report.
func (all agents) duringOutage(name string, do func() string) load.Counts {
	GinkgoHelper()
	before, began := all.counts(), time.Now()
	note := do()
	took := time.Since(began)
	time.Sleep(2 * time.Second) // what is lost may be known a little later
	counts := all.counts().Since(before)
	told.situations = append(told.situations, situation{name, counts, took, note})
	fmt.Printf("%s: %d requests, %d lost, %d refused, %d while the database was away; %.1f s; %s %s\n",
		name, counts.Sent, counts.Lost, counts.Refused, counts.Unavailable, took.Seconds(), note, counts.Problem)
	Expect(counts.Sent).To(BeNumerically(">", 0))
	Expect(counts.Lost+counts.Refused).To(BeZero(), counts.Problem)
	return counts
}

// pods are a shop's pods, as name and address.
func (s *shop) pods(ctx context.Context) map[string]string {
	GinkgoHelper()
	pods := map[string]string{}
	listed := kubectl(ctx, "-n", "shop", "get", "pods", "-l", "mcpadmin.dev/endpoint="+s.name, "-o",
		`jsonpath={range .items[*]}{.metadata.name} {.status.podIP} {.metadata.deletionTimestamp}{"\n"}{end}`)
	for line := range strings.Lines(listed) {
		if fields := strings.Fields(line); len(fields) == 2 { // a third is the time at which it was deleted
			pods[fields[0]] = fields[1]
		}
	}
	return pods
}

// settled waits until a shop has its two pods, and no others that end.
func (s *shop) settled(ctx context.Context) {
	GinkgoHelper()
	kubectl(ctx, "-n", "shop", "rollout", "status", "deployment/"+s.name+"-mcp", "--timeout=600s")
	kubectl(ctx, "-n", "shop", "wait", "--for=jsonpath={.status.readyReplicas}=2", "--timeout=600s", "mcpendpoint/"+s.name)
	Eventually(func() int {
		return len(strings.Fields(kubectl(ctx, "-n", "shop", "get", "pods", "-l", "mcpadmin.dev/endpoint="+s.name, "-o", "name")))
	}).Should(Equal(2))
}

// connect starts "mcp-admin connect --port-forward" for a token, and returns the environment that it tells.
func connect(ctx context.Context, name string) map[string]string {
	GinkgoHelper()
	lines := follow(cluster.Command(context.WithoutCancel(ctx), filepath.Join(root, "bin", "mcp-admin"), "connect", name, "-n", "shop", "--client", "env", "--port-forward=0"))
	environment := map[string]string{}
	for len(environment) < 2 && lines.Scan() {
		if variable, value, ok := strings.Cut(lines.Text(), "="); ok && strings.HasPrefix(variable, "MCP_") {
			environment[variable] = strings.Trim(value, `"'`)
		}
	}
	Expect(environment).To(And(HaveKey("MCP_URL"), HaveKey("MCP_TOKEN")))
	return environment
}

// follow starts a command that runs until the test ends, and returns the lines that it prints.
func follow(command *exec.Cmd) *bufio.Scanner {
	GinkgoHelper()
	command.Stderr = GinkgoWriter
	out, err := command.StdoutPipe()
	Expect(err).NotTo(HaveOccurred())
	Expect(command.Start()).To(Succeed())
	DeferCleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	return bufio.NewScanner(out)
}

var forwarding = regexp.MustCompile(`Forwarding from (127\.0\.0\.1:\d+)`)

// portForward starts "kubectl port-forward" and returns the local address.
func portForward(ctx context.Context, namespace, object, port string) string {
	GinkgoHelper()
	lines := follow(cluster.Command(context.WithoutCancel(ctx), filepath.Join(root, "bin", "k8s", "kubectl"), "-n", namespace, "port-forward", object, ":"+port))
	for lines.Scan() {
		if found := forwarding.FindStringSubmatch(lines.Text()); found != nil {
			return found[1]
		}
	}
	Fail("kubectl port-forward " + object + " says no address")
	return ""
}
