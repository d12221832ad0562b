package e2e

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("the bookshop", Ordered, func() {
	var b bench
	BeforeAll(func(ctx SpecContext) { b = newBench(ctx, "books") })

	It("answers what a token was granted, and nothing else", func(ctx SpecContext) {
		clerk, owner := b.token(ctx, "clerk"), b.token(ctx, "owner")

		text := b.must(clerk, "list_book", `{"filters":{"author__country":"Poland"},"fields":["title"]}`)
		Expect(text).To(MatchJSON(`{"count":2,"total_count":2,"results":[{"id":4,"title":"Solaris"},{"id":5,"title":"The Cyberiad"}]}`))

		text = b.refused(clerk, "list_customer", `{}`, "permission_denied")
		Expect(text).To(MatchJSON(`{"error":"Permission denied: cannot view customer","code":"permission_denied"}`))

		text = b.must(owner, "get_customer", `{"id":1}`)
		Expect(text).To(MatchJSON(`{"id":1,"name":"Ada Example","email":"ada@example.com","joined":"2026-01-05T09:30:00"}`))

		_, tools := b.post(clerk, `{"method":"tools/list"}`)
		Expect(tools).To(ContainSubstring(`"list_author"`))
		Expect(tools).NotTo(ContainSubstring("customer"))

		status, body := b.post("", `{"method":"tools/list"}`)
		Expect(status).To(Equal(http.StatusUnauthorized))
		Expect(body).To(Equal(`{"error":"Invalid or missing authentication token"}`))
	})

	It("tells the truth to kubectl wait: a Ready token works at once", func(ctx SpecContext) {
		for i := range 5 {
			Expect(b.answers(b.addToken(ctx, fmt.Sprintf("prompt-%d", i)))).To(Equal(http.StatusOK))
		}
	})

	It("shows in kubectl get what works, and where", func(ctx SpecContext) {
		Expect(b.kubectl(ctx, "get", "mcpendpoint")).To(MatchRegexp(`(?m)^bookshop +True +Ready +http://bookshop-mcp\.books\.svc/mcp/ +SQLite 3\S+ +5 +\d+ +1/1 `))
		Expect(b.kubectl(ctx, "get", "mcpm", "book")).To(MatchRegexp(`(?m)^book +True +Ready +bookshop +book +book +true +13 `))
		Expect(b.kubectl(ctx, "get", "mcpt", "clerk")).To(MatchRegexp(`(?m)^clerk +True +Ready +bookshop +clerks +clerk `))
		Expect(b.kubectl(ctx, "get", "mcpt", "owner")).To(ContainSubstring("2036-01-01"))
	})

	It("refuses a revoked token with no pod restarted, and tells how soon", func(ctx SpecContext) {
		pods := func() string {
			return b.kubectl(ctx, "get", "pods", "-o", `jsonpath={range .items[*]}{.metadata.uid} {.status.containerStatuses[*].restartCount}{"\n"}{end}`)
		}
		before := pods()
		const revocations = 50
		var manifests, names []string
		for i := range revocations {
			names = append(names, fmt.Sprintf("mcptoken/brief-%d", i))
			manifests = append(manifests, fmt.Sprintf(`{apiVersion: mcpadmin.dev/v1alpha1, kind: MCPToken, metadata: {name: brief-%d, namespace: %s},
  spec: {endpointRef: {name: bookshop}, groups: [clerks]}}`, i, b.namespace))
		}
		apply(ctx, strings.Join(manifests, "\n---\n"))
		b.wait(ctx, "Ready", names...)

		revoker := newRevoker(ctx)
		var delays []time.Duration
		for i := range revocations {
			token := b.token(ctx, fmt.Sprintf("brief-%d", i))
			Expect(b.answers(token)).To(Equal(http.StatusOK))
			takeAway := revoker.remove
			if i%2 == 1 {
				takeAway = revoker.deactivate
			}
			begun := time.Now()
			Expect(takeAway(ctx, b.namespace, fmt.Sprintf("brief-%d", i))).To(Succeed())
			Eventually(func() int { return b.answers(token) }).WithPolling(time.Millisecond).Should(Equal(http.StatusUnauthorized))
			delays = append(delays, time.Since(begun))
		}
		slices.Sort(delays)
		median, worst := delays[len(delays)/2], delays[len(delays)-1]
		fmt.Printf("revocation: median %d ms, worst %d ms, of %d\n", median.Milliseconds(), worst.Milliseconds(), len(delays))
		Expect(pods()).To(Equal(before))

		b.wait(ctx, "Ready", "mcptoken/brief-1")
		Expect(b.condition(ctx, "mcptoken/brief-1", "Ready")).To(HavePrefix("True Inactive:"))
	})

	It("goes on when a server's process is killed", func(ctx SpecContext) {
		owner := b.token(ctx, "owner")
		pod := b.killServer(ctx)
		Eventually(func() int { return b.answers(owner) }).Should(Equal(http.StatusOK))
		b.must(owner, "get_book", `{"id":4}`)
		Expect(b.kubectl(ctx, "get", "pod", pod, "-o", "jsonpath={.status.containerStatuses[0].restartCount}")).To(Equal("1"))
		b.wait(ctx, "Ready", "mcpendpoint/bookshop")
	})

	It("keeps every token when the manager is restarted", func(ctx SpecContext) {
		owner := b.token(ctx, "owner")
		// All parts of the Config have one counter: a token that is added takes its next value if nothing else was written.
		revision := func(token string) int {
			GinkgoHelper()
			number, err := strconv.Atoi(b.kubectl(ctx, "get", "mcptoken", token, "-o", "jsonpath={.status.revision}"))
			Expect(err).NotTo(HaveOccurred())
			return number
		}
		b.addToken(ctx, "before-restart")
		kubectl(ctx, "-n", "mcp-admin-system", "delete", "pod", "--all", "--wait")
		kubectl(ctx, "-n", "mcp-admin-system", "rollout", "status", "deployment", "--timeout=10m")
		added := b.addToken(ctx, "after-restart")
		Expect(b.answers(added)).To(Equal(http.StatusOK))
		Expect(b.answers(owner)).To(Equal(http.StatusOK))
		Expect(b.token(ctx, "owner")).To(Equal(owner))
		Expect(revision("after-restart")).To(Equal(revision("before-restart")+1), func() string {
			return "the restart itself writes no part of the Config; the manager's log:\n" + kubectl(ctx, "-n", "mcp-admin-system", "logs", "-l", "app.kubernetes.io/name=mcp-admin-operator", "--tail=-1")
		})
	})

	It("goes on answering while the API server is away, and revokes when it is back", func(ctx SpecContext) {
		owner := b.token(ctx, "owner")
		leaver := b.addToken(ctx, "leaver")
		Expect(cluster.StopAPIServer()).To(Succeed())
		for range 20 {
			b.must(owner, "get_author", `{"id":3}`)
			time.Sleep(100 * time.Millisecond)
		}
		Expect(cluster.StartAPIServer(ctx)).To(Succeed())
		Expect(newRevoker(ctx).remove(ctx, b.namespace, "leaver")).To(Succeed())
		Eventually(func() int { return b.answers(leaver) }).Should(Equal(http.StatusUnauthorized))
		Expect(b.answers(owner)).To(Equal(http.StatusOK))
	})

	It("uses no more memory than it asks for", func(ctx SpecContext) {
		for namespace, container := range map[string]string{b.namespace: "server", "mcp-admin-system": "manager"} {
			pod := strings.Fields(kubectl(ctx, "-n", namespace, "get", "pods", "-o", "jsonpath={.items[*].metadata.name}"))[0]
			pid, ok := cluster.PodProcess(namespace, pod)
			Expect(ok).To(BeTrue())
			peak := peakMemory(pid)
			fmt.Printf("memory of the %s: peak %d MiB\n", container, peak>>10)
			Expect(peak>>10).To(BeNumerically("<", 256), "the limit of the container")
		}
	})
})

// peakMemory is the most resident memory that a process ever had, in KiB.
func peakMemory(pid int) int {
	GinkgoHelper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	Expect(err).NotTo(HaveOccurred())
	_, rest, found := strings.Cut(string(status), "VmHWM:")
	Expect(found).To(BeTrue())
	peak, err := strconv.Atoi(strings.Fields(rest)[0])
	Expect(err).NotTo(HaveOccurred())
	return peak
}
