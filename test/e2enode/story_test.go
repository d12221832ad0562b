package e2enode

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	ginkgo "github.com/onsi/ginkgo/v2/types"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/e2enode/load"
)

var mcpTokens = schema.GroupVersionResource{Group: "mcpadmin.dev", Version: "v1alpha1", Resource: "mcptokens"}

// upgradeStep is the step for which the story begins with images of another tag.
const upgradeStep = "is upgraded, with its objects in use"

var _ = Describe("the product's story", Ordered, func() {
	var postgres, mariaDB *shop
	var calling agents
	BeforeAll(func(ctx SpecContext) { postgres, mariaDB = newPostgres(ctx), newMariaDB(ctx) })
	AfterEach(func() {
		if report := CurrentSpecReport(); !report.Failed() && report.State != ginkgo.SpecStateSkipped {
			told.steps++
		}
	})

	It("installs by its chart into a namespace that enforces Pod Security restricted", func(ctx SpecContext) {
		apply(ctx, fmt.Sprintf(namespaceManifest, "mcp-admin-system")+"\n---\n"+fmt.Sprintf(namespaceManifest, "shop"))
		begun := time.Now()
		if isTold(upgradeStep) {
			install(ctx, beforeTag)
		} else {
			install(ctx, thisTag)
		}
		told.installed = time.Since(begun)
	})

	It("serves a PostgreSQL and a MariaDB database as soon as kubectl wait says so", func(ctx SpecContext) {
		postgres.create(ctx)
		mariaDB.create(ctx)
	})

	It("answers agents in other pods, who know it by its DNS name", func(ctx SpecContext) {
		calling = agents{newAgent(ctx, postgres), newAgent(ctx, mariaDB)}
		Eventually(func() load.Counts { return calling.counts() }).Should(HaveField("Written", BeNumerically(">", 20)))
		calling.during("nothing happens", func() string {
			time.Sleep(5 * time.Second)
			return ""
		})
	})

	It(upgradeStep, func(ctx SpecContext) {
		calling.during("chart upgraded", func() string {
			install(ctx, thisTag)
			for _, s := range []*shop{postgres, mariaDB} {
				Eventually(func() string {
					return kubectl(ctx, "-n", "shop", "get", "deployment", s.name+"-mcp", "-o", "jsonpath={.spec.template.spec.containers[0].image}")
				}).Should(Equal(serverImage + ":" + thisTag))
				s.settled(ctx)
			}
			return ""
		})
		ready(ctx, "mcpendpoint,mcpmodelexposure,mcptoken", "--all")
	})

	It("passes the chart's own test", func(ctx SpecContext) {
		helm(ctx, "test", "mcp-admin", "--namespace", "mcp-admin-system", "--timeout=600s")
	})

	It("answers an agent on the host, by kubectl port-forward", func(ctx SpecContext) {
		client := &http.Client{Timeout: time.Minute}
		address := portForward(ctx, "shop", "service/shop-mcp", "80")
		_, err := load.Ask(client, "http://"+address+"/mcp/", token(ctx, "shop-agent"), false)
		Expect(err).NotTo(HaveOccurred())
		for _, admin := range []struct{ namespace, object, port, path string }{
			{"shop", "deployment/shop-mcp", "8081", "/readyz"}, {"shop", "deployment/shop-mcp", "8081", "/metrics"},
			{"mcp-admin-system", "deployment/mcp-admin-manager", "8080", "/metrics"},
		} {
			response, err := client.Get("http://" + portForward(ctx, admin.namespace, admin.object, admin.port) + admin.path)
			Expect(err).NotTo(HaveOccurred())
			Expect(response.Body.Close()).To(Succeed())
			Expect(response.StatusCode).To(Equal(http.StatusOK), admin.path)
		}
	})

	It("answers an agent on the host, by mcp-admin connect", func(ctx SpecContext) {
		agent := connect(ctx, "shop-agent")
		_, err := load.Ask(&http.Client{Timeout: time.Minute}, agent["MCP_URL"], agent["MCP_TOKEN"], false)
		Expect(err).NotTo(HaveOccurred())
	})

	It("takes whoever follows the quick start to an answer", func(ctx SpecContext) {
		told.quickStart = followQuickStart(ctx)
	})

	It("tells by kubectl logs what was changed, and runs by kubectl exec", func(ctx SpecContext) {
		// Only one of the pods has the connection of the agent that writes.
		Expect(kubectl(ctx, "-n", "shop", "logs", "-l", "mcpadmin.dev/endpoint=shop", "--tail=200")).To(ContainSubstring(`"tool":"create_item"`))
		Expect(kubectl(ctx, "-n", "shop", "exec", "deployment/shop-mcp", "--", "/mcp-admin-server", "--version")).To(ContainSubstring("version"))
	})

	It("shows on its page what pods do, over the kubelet", func(ctx SpecContext) {
		page := openPage(ctx)
		shows(page, "e/shop/shop", "shop-mcp-", "Database in order", "mcp-admin status shop -n shop")
		shows(page, "e/shop/shop/activity", "create_item")
		shows(page, "e/shop/shop/see-as/shop/shop-agent/list_item?arguments="+url.QueryEscape(`{"limit": 1}`), "What it is shown")
	})

	It("refuses a revoked token on every pod", func(ctx SpecContext) {
		calling.during("50 tokens revoked", func() string {
			manifest, names := "", []string{}
			for i := range 50 {
				names = append(names, fmt.Sprintf("leaver-%d", i))
				manifest += fmt.Sprintf(tokenManifest, "shop", names[i])
			}
			apply(ctx, manifest)
			objects := make([]string, len(names))
			for i, name := range names {
				objects[i] = "mcptoken/" + name
			}
			ready(ctx, objects...)
			pods := postgres.pods(ctx)
			for i, name := range names {
				told.revoked = append(told.revoked, revoke(ctx, name, token(ctx, name), pods, i%2 == 0))
			}
			return ""
		})
	})

	It("rotates a token whose agent reads it again", func(ctx SpecContext) {
		calling.during("token rotated", func() string {
			before := token(ctx, "shop-agent")
			kubectl(ctx, "-n", "shop", "patch", "mcptoken", "shop-agent", "--type=merge", "-p", `{"spec":{"rotation":{"overlap":"10m"}}}`)
			kubectl(ctx, "-n", "shop", "annotate", "mcptoken", "shop-agent", "mcpadmin.dev/rotate=now")
			Eventually(func() string { return token(ctx, "shop-agent") }).ShouldNot(Equal(before))
			next := load.Fingerprint(token(ctx, "shop-agent"))
			// The kubelet brings a Secret to its volume when it looks at the pod for whatever reason.
			kubectl(ctx, "-n", "shop", "annotate", "pod", "agent-shop", "seen=now")
			Eventually(func() string { return calling[0].counts().Token }, 10*time.Minute).Should(Equal(next))
			return ""
		})
	})

	It("follows the passwords of its databases, and goes on with the old one if the next is wrong", func(ctx SpecContext) {
		for _, s := range []*shop{postgres, mariaDB} {
			calling.during("password rotated, "+s.name, func() string {
				execute(ctx, s.db, fmt.Sprintf(s.setPassword, "second"))
				changed := time.Now() // from now on only the new password makes connections
				apply(ctx, s.secret("second"))
				Eventually(func() int { return s.relay.olderThan(changed) }).Should(BeZero(), "connections with the old password")
				s.databaseReady(ctx, contract.ReasonConnected)
				return ""
			})
			calling.during("wrong password, "+s.name, func() string {
				apply(ctx, s.secret("wrong"))
				s.databaseReady(ctx, contract.ReasonAuthenticationFailed)
				time.Sleep(5 * time.Second)
				apply(ctx, s.secret("second"))
				s.databaseReady(ctx, contract.ReasonConnected)
				return ""
			})
		}
	})

	It("rolls its pods over", func(ctx SpecContext) {
		calling.during("rolling update", func() string {
			kubectl(ctx, "-n", "shop", "patch", "mcpendpoint", "shop", "--type=merge", "-p", `{"spec":{"server":{"podAnnotations":{"rolled":"once"}}}}`)
			Eventually(func() string {
				return kubectl(ctx, "-n", "shop", "get", "deployment", "shop-mcp", "-o", "jsonpath={.spec.template.metadata.annotations.rolled}")
			}).Should(Equal("once"))
			postgres.settled(ctx)
			return ""
		})
	})

	It("lets its node be drained as far as its budget goes", func(ctx SpecContext) {
		kubectl(ctx, "-n", "shop", "patch", "mcpendpoint", "shop", "--type=merge", "-p", `{"spec":{"server":{"podDisruptionBudget":{"minAvailable":1}}}}`)
		Eventually(func() error {
			_, err := cluster.Kubectl(ctx, "-n", "shop", "wait", "--for=jsonpath={.status.disruptionsAllowed}=1", "--timeout=5s", "poddisruptionbudget/shop-mcp")
			return err
		}).Should(Succeed())
		calling.during("node drained", func() string {
			drain := []string{"drain", "node", "--pod-selector=mcpadmin.dev/endpoint=shop", "--delete-emptydir-data", "--timeout=20s"}
			before := postgres.pods(ctx)
			_, err := cluster.Kubectl(ctx, drain...)
			Expect(err).To(HaveOccurred(), "the budget keeps one of two pods, as there is no other node for the next one")
			kubectl(ctx, "uncordon", "node")
			postgres.settled(ctx)
			for name := range postgres.pods(ctx) {
				if before[name] != "" {
					evict(ctx, name)
				}
			}
			postgres.settled(ctx)
			for name := range postgres.pods(ctx) {
				Expect(before).NotTo(HaveKey(name))
			}
			return ""
		})
	})

	It("goes on without its manager, and the next one takes over", func(ctx SpecContext) {
		calling.during("manager killed", func() string {
			uid := kubectl(ctx, "-n", "mcp-admin-system", "get", "pods", "-l", "app.kubernetes.io/component=manager", "-o", "jsonpath={.items[0].metadata.uid}")
			Expect(cluster.Kill(uid, "mcp-admin-manager")).To(Succeed())
			began := time.Now()
			apply(ctx, fmt.Sprintf(tokenManifest, "shop", "newcomer"))
			ready(ctx, "mcptoken/newcomer")
			return fmt.Sprintf("a new token was Ready after %.1f s", time.Since(began).Seconds())
		})
	})

	It("goes on without the API server", func(ctx SpecContext) {
		calling.during("API server stopped", func() string {
			cluster.StopAPIServer()
			time.Sleep(20 * time.Second)
			Expect(cluster.StartAPIServer(ctx)).To(Succeed())
			began := time.Now()
			Eventually(func() error {
				_, err := cluster.KubectlInput(ctx, fmt.Sprintf(tokenManifest, "shop", "late"), "apply", "--server-side", "-f", "-")
				return err
			}).Should(Succeed())
			ready(ctx, "mcptoken/late")
			note := fmt.Sprintf("a new token was Ready %.1f s after its return", time.Since(began).Seconds())
			revoke(ctx, "late", token(ctx, "late"), postgres.pods(ctx), true)
			return note
		})
	})

	It("says that its database is away, and goes on when it is back", func(ctx SpecContext) {
		for _, s := range []*shop{postgres, mariaDB} {
			counts := calling.duringOutage("database stopped, "+s.name, func() string {
				s.relay.cut()
				time.Sleep(5 * time.Second)
				s.relay.mend()
				began := time.Now()
				written := agents{calling[indexOf(s)]}.counts().Written
				Eventually(func() int { return calling[indexOf(s)].counts().Written }).Should(BeNumerically(">", written))
				back := time.Since(began)
				ready(ctx, "mcpendpoint/"+s.name)
				return fmt.Sprintf("written again after %.1f s", back.Seconds())
			})
			Expect(counts.Unavailable).To(BeNumerically(">", 0))
		}
	})

	It("leaves its definitions, objects and servers when it is uninstalled", func(ctx SpecContext) {
		calling.during("chart uninstalled", func() string {
			helm(ctx, "uninstall", "mcp-admin", "--ignore-not-found", "--namespace", "mcp-admin-system", "--wait", "--timeout=600s")
			Expect(kubectl(ctx, "-n", "mcp-admin-system", "get", "deployments", "-o", "name")).To(BeEmpty())
			kubectl(ctx, "get", "crd", "mcpendpoints.mcpadmin.dev", "mcpmodelexposures.mcpadmin.dev", "mcptokens.mcpadmin.dev")
			kubectl(ctx, "-n", "shop", "get", "mcpendpoint/shop", "mcptoken/shop-agent", "mcpmodelexposure/shop-item")
			return ""
		})
	})

	It("has kept every row that it said it wrote", func(ctx SpecContext) {
		for i, s := range []*shop{postgres, mariaDB} {
			written := calling[i].counts().Written
			Expect(s.rows(ctx)).To(BeNumerically(">=", written+1))
		}
	})
})

// indexOf is the place of a shop's agent among the agents.
func indexOf(s *shop) int {
	if s.name == "shop" {
		return 0
	}
	return 1
}

// revoke takes a token away, by deleting it or by setting it inactive, and returns how long it took until every pod refused it.
func revoke(ctx context.Context, name, text string, pods map[string]string, remove bool) time.Duration {
	GinkgoHelper()
	Expect(pods).NotTo(BeEmpty())
	for _, address := range pods {
		Eventually(func() int { return status(ctx, address, text) }).Should(Equal(http.StatusOK), "before the revocation")
	}
	var err error
	began := time.Now()
	if remove {
		err = api.Resource(mcpTokens).Namespace("shop").Delete(ctx, name, metav1.DeleteOptions{})
	} else {
		_, err = api.Resource(mcpTokens).Namespace("shop").Patch(ctx, name, types.MergePatchType, []byte(`{"spec":{"active":false}}`), metav1.PatchOptions{})
	}
	Expect(err).NotTo(HaveOccurred())
	var mu sync.Mutex
	var worst time.Duration
	var asking sync.WaitGroup
	for _, address := range pods {
		asking.Go(func() {
			for status(ctx, address, text) != http.StatusUnauthorized && time.Since(began) < time.Minute {
				time.Sleep(2 * time.Millisecond)
			}
			mu.Lock()
			defer mu.Unlock()
			worst = max(worst, time.Since(began))
		})
	}
	asking.Wait()
	Expect(worst).To(BeNumerically("<", time.Minute), "%s is not refused", name)
	return worst
}

// asker keeps its connections: a revocation is measured, not the making of connections.
var asker = &http.Client{Timeout: time.Minute}

// status is a pod's answer to a token; 0 is no answer.
func status(ctx context.Context, address, text string) int {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+":8080/mcp/", strings.NewReader(`{"method":"tools/list"}`))
	if err != nil {
		return 0
	}
	request.Header.Set("Authorization", "Bearer "+text)
	request.Header.Set("Content-Type", "application/json")
	response, err := asker.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body) // so that the connection is kept
	return response.StatusCode
}

func evict(ctx context.Context, pod string) {
	GinkgoHelper()
	path := "/api/v1/namespaces/shop/pods/" + pod + "/eviction"
	Eventually(func() error { // the budget hears of a new pod a little later
		_, err := cluster.KubectlInput(ctx, fmt.Sprintf(`{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":%q,"namespace":"shop"}}`, pod),
			"create", "--raw", path, "-f", "-")
		return err
	}).Should(Succeed())
}
