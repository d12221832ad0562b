package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("an endpoint of two replicas", Ordered, func() {
	var b bench
	BeforeAll(func(ctx SpecContext) {
		at := makeDatabase(ctx, "mcp_rolling")
		b = newShop(ctx, "rolling", `{database: {connectionSecretRef: {name: shop-db}, schemas: [stock], access: ReadOnly}, server: {replicas: 2}}`, "view")
		b.connect(ctx, postgresKeys(at.Hostname(), at.Port(), "mcp_rolling", "right-password"))
		b.wait(ctx, "Ready", "mcpe/shop", "mcpm/item", "mcptoken/agent")
		b.kubectl(ctx, "rollout", "status", "deployment/shop-mcp", "--timeout=10m")
	})
	pods := func(ctx context.Context) []string {
		return strings.Fields(b.kubectl(ctx, "get", "pods", "-o", "jsonpath={.items[*].metadata.uid}"))
	}

	It("loses no request while its pods are replaced", func(ctx SpecContext) {
		before := pods(ctx)
		Expect(before).To(HaveLen(2))
		load := startLoad(b.url, b.token(ctx, "agent"))
		time.Sleep(time.Second)
		b.kubectl(ctx, "rollout", "restart", "deployment/shop-mcp")
		b.kubectl(ctx, "rollout", "status", "deployment/shop-mcp", "--timeout=10m")
		Eventually(func() []string { return pods(ctx) }).Should(And(HaveLen(2), Not(ContainElements(before[0])), Not(ContainElements(before[1]))),
			"the pods from before have ended")
		load.end()
		fmt.Printf("rolling update: %d requests over kept connections (%d of them), %d over new ones, lost %d\n",
			load.kept.requests, load.kept.connections, load.fresh.requests, len(load.failures))
		Expect(load.failures).To(BeEmpty())
		Expect(load.kept.requests).To(BeNumerically(">", 200))
		Expect(load.fresh.requests).To(BeNumerically(">", 200))
		Expect(load.kept.connections).To(And(BeNumerically(">", workers), BeNumerically("<", load.kept.requests/4)), "connections were kept, and given up")
	})

	It("speaks TLS with the certificate of a Secret, and with the next one, with no pod restarted", func(ctx SpecContext) {
		address, err := cluster.Forward("rolling/shop-mcp:443", "127.0.0.1:0")
		Expect(err).NotTo(HaveOccurred())
		secure := "https://" + address + "/mcp/"
		b.kubectl(ctx, "patch", "mcpe", "shop", "--type=merge", "-p", `{"spec":{"server":{"tls":{"certificateSecretRef":{"name":"shop-tls"}}}}}`)
		Eventually(func() string { return b.condition(ctx, "mcpe/shop", "WorkloadAvailable") }).
			Should(Equal(`False SecretNotFound: Secret "shop-tls" does not exist`))
		agent := b.token(ctx, "agent")

		first := b.newCertificate(ctx)
		b.wait(ctx, "Ready", "mcpe/shop")
		b.kubectl(ctx, "rollout", "status", "deployment/shop-mcp", "--timeout=10m")
		Expect(b.kubectl(ctx, "get", "mcpe", "shop", "-o", "jsonpath={.status.url}")).To(Equal("https://shop-mcp.rolling.svc/mcp/"))
		Eventually(func() string { return askOver(first, secure, agent) }).Should(Equal("HTTP/2.0 200 OK"))
		var before []string
		Eventually(func() []string { before = pods(ctx); return before }).Should(HaveLen(2), "the pods from before have ended")

		second := b.newCertificate(ctx)
		renewed := time.Now()
		for range 6 { // whichever replica answers
			Eventually(func() string { return askOver(second, secure, agent) }).Should(Equal("HTTP/2.0 200 OK"))
		}
		fmt.Printf("certificate: in use %d ms after its Secret was written\n", time.Since(renewed).Milliseconds())
		Expect(askOver(first, secure, agent)).To(ContainSubstring("certificate"))
		Expect(pods(ctx)).To(Equal(before))
	})
})

// workers is how many clients of each kind a load has.
const workers = 4

// A load asks all the time, over connections that are kept and over new ones, until it is ended.
type load struct {
	stop    chan struct{}
	running sync.WaitGroup

	mu          sync.Mutex
	kept, fresh struct{ requests, connections int }
	failures    []string
}

func startLoad(endpoint, token string) *load {
	l := &load{stop: make(chan struct{})}
	for range workers {
		l.running.Go(func() { l.ask(endpoint, token, true) })
		l.running.Go(func() { l.ask(endpoint, token, false) })
	}
	return l
}

func (l *load) end() {
	close(l.stop)
	l.running.Wait()
}

func (l *load) ask(endpoint, token string, keep bool) {
	transport := &http.Transport{DisableKeepAlives: !keep}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: time.Minute}
	connected := true
	for {
		select {
		case <-l.stop:
			return
		case <-time.After(5 * time.Millisecond):
		}
		outcome, closed := oneRequest(client, endpoint, token)
		l.mu.Lock()
		count := &l.fresh
		if keep {
			count = &l.kept
		}
		count.requests++
		if connected {
			count.connections++
		}
		if outcome != "" {
			l.failures = append(l.failures, fmt.Sprintf("%s (kept: %v): %s", time.Now().Format("15:04:05.000"), keep, outcome))
		}
		connected = closed
		l.mu.Unlock()
	}
}

// oneRequest says what went wrong, and whether the connection is not used again. The request cannot be sent a second
// time behind the test's back: its body can be read once.
func oneRequest(client *http.Client, endpoint, token string) (failure string, closed bool) {
	const body = `{"method":"tools/call","name":"list_item","arguments":{}}`
	request, err := http.NewRequest(http.MethodPost, endpoint, io.NopCloser(strings.NewReader(body)))
	if err != nil {
		return err.Error(), true
	}
	request.ContentLength = int64(len(body))
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := client.Do(request)
	if err != nil {
		return err.Error(), true
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error(), true
	}
	if response.StatusCode != http.StatusOK || !strings.Contains(string(answer), "lamp") {
		return fmt.Sprintf("%d %s", response.StatusCode, answer), response.Close
	}
	return "", response.Close
}

// newCertificate writes a new pair to the Secret shop-tls, and returns a client that trusts that one alone.
func (b bench) newCertificate(ctx context.Context) *http.Client {
	GinkgoHelper()
	certificate, key := selfSigned("127.0.0.1")
	encode := base64.StdEncoding.EncodeToString
	apply(ctx, fmt.Sprintf(`{apiVersion: v1, kind: Secret, metadata: {name: shop-tls, namespace: %s}, type: kubernetes.io/tls,
  data: {tls.crt: %s, tls.key: %s}}`, b.namespace, encode(certificate), encode(key)))
	roots := x509.NewCertPool()
	Expect(roots.AppendCertsFromPEM(certificate)).To(BeTrue())
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true, ForceAttemptHTTP2: true,
	}}
}

// askOver returns the answer's protocol and status, or why there is none.
func askOver(client *http.Client, endpoint, token string) string {
	request, err := http.NewRequest(http.MethodPost, endpoint, strings.NewReader(`{"method":"tools/list"}`))
	if err != nil {
		return err.Error()
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := client.Do(request)
	if err != nil {
		return err.Error()
	}
	_ = response.Body.Close()
	return response.Proto + " " + response.Status
}
