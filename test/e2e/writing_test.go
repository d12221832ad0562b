package e2e

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("an agent that writes", Ordered, func() {
	var b bench
	BeforeAll(func(ctx SpecContext) { b = newBench(ctx, "writing") })
	pods := func(ctx context.Context) string {
		return b.kubectl(ctx, "get", "pods", "-o", "jsonpath={.items[*].metadata.uid}")
	}

	It("sees and writes the rows that its token's attributes allow, and others when they change, with no pod restarted", func(ctx SpecContext) {
		before := pods(ctx)
		b.kubectl(ctx, "patch", "mcpm", "book", "--type=merge", "-p", `{"spec":{"rowPolicies":[
			{"name":"own-authors","appliesTo":"Everyone","filters":[{"field":"author_id","tokenAttribute":"author"}]}]}}`)
		apply(ctx, `{apiVersion: mcpadmin.dev/v1alpha1, kind: MCPToken, metadata: {name: publisher, namespace: writing},
  spec: {endpointRef: {name: bookshop}, permissions: [{models: ["*"], verbs: ["*"]}], attributes: {author: "2"}}}`)
		b.wait(ctx, "Ready", "mcpm/book", "mcptoken/publisher")
		publisher, owner := b.token(ctx, "publisher"), b.token(ctx, "owner")
		titles := func() string { return b.must(publisher, "list_book", `{"fields":["title"]}`) }

		Expect(titles()).To(MatchJSON(`{"count":2,"total_count":2,"rows":"policy","results":[{"id":4,"title":"Solaris"},{"id":5,"title":"The Cyberiad"}]}`))
		Expect(b.must(owner, "list_book", `{}`)).To(ContainSubstring(`"total_count":0`), "the owner has no such attribute")
		Expect(b.must(publisher, "create_book", `{"data":{"title":"Fiasco","price":"9.00"},"dry_run":true}`)).
			To(ContainSubstring(`"author_id":2`), "what the policy fixes is filled in")
		b.refused(publisher, "create_book", `{"data":{"title":"Piranesi","price":"9.00","author_id":1}}`, "validation_error")
		b.refused(publisher, "update_book", `{"id":6,"data":{"price":"1.00"}}`, "not_found")

		b.kubectl(ctx, "patch", "mcpt", "publisher", "--type=merge", "-p", `{"spec":{"attributes":{"author":"3"}}}`)
		Eventually(titles).Should(ContainSubstring("The Summer Book"))
		Expect(titles()).NotTo(ContainSubstring("Solaris"))
		b.kubectl(ctx, "patch", "mcpm", "book", "--type=merge", "-p", `{"spec":{"rowPolicies":null}}`)
		Eventually(titles).Should(ContainSubstring(`"total_count":11`))
		Expect(pods(ctx)).To(Equal(before))
	})

	It("is asked before an action acts, and the history tells of it after a restart", func(ctx SpecContext) {
		owner, clerk := b.token(ctx, "owner"), b.token(ctx, "clerk")
		b.refused(clerk, "get_review", `{"id":3}`, "not_found")
		b.refused(clerk, "action_review", `{"action":"publish","ids":[1]}`, "permission_denied")

		var page struct {
			RequiresConfirmation bool   `json:"requires_confirmation"`
			Token                string `json:"confirmation_token"`
		}
		Expect(json.Unmarshal([]byte(b.must(owner, "action_review", `{"action":"publish","ids":[3]}`)), &page)).To(Succeed())
		Expect(page.RequiresConfirmation).To(BeTrue())
		b.refused(clerk, "get_review", `{"id":3}`, "not_found")
		done := b.must(owner, "action_review", fmt.Sprintf(`{"action":"publish","ids":[3],"confirm":true,"confirmation_token":%q}`, page.Token))
		Expect(done).To(And(ContainSubstring(`"success":true`), ContainSubstring(`"affected_count":1`)))
		Expect(b.must(clerk, "get_review", `{"id":3}`)).To(ContainSubstring(`"state":"published"`))

		history := b.must(owner, "history_review", `{"id":3}`)
		Expect(history).To(And(ContainSubstring(`"action":"action:publish"`), ContainSubstring(`"token":"writing/owner"`)))
		b.killServer(ctx)
		Eventually(func() int { return b.answers(owner) }).Should(Equal(http.StatusOK))
		Expect(b.must(owner, "history_review", `{"id":3}`)).To(MatchJSON(history))
	})

	It("has a webhook called, signed, once its Secret is there and is for its host", func(ctx SpecContext) {
		const key = "a long random text that signs"
		received := make(chan *http.Request, 1)
		bodies := make(chan string, 1)
		host := serveBesideLoopback(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body) // a piece of it does not have the signature
			received <- r
			bodies <- string(body)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"sent":1}`)
		})
		b.kubectl(ctx, "patch", "mcpm", "purchase", "--type=merge", "-p", fmt.Sprintf(`{"spec":{"actions":[{"name":"send_invoice",
			"description":"Send the invoice again.","requires":["change"],"webhook":{"url":"http://%s/send","headersSecretRef":{"name":"billing-hook"}}}]}}`, host))
		Eventually(func() string { return b.condition(ctx, "mcpm/purchase", "Ready") }).
			Should(Equal(`False SecretNotFound: action "send_invoice": Secret "billing-hook" does not exist`))
		owner := b.token(ctx, "owner")
		b.refused(owner, "action_purchase", `{"action":"send_invoice","ids":[1]}`, "unavailable")
		b.must(owner, "get_purchase", `{"id":1}`)

		secret := func(annotations string) {
			GinkgoHelper()
			apply(ctx, fmt.Sprintf(`{apiVersion: v1, kind: Secret, metadata: {name: billing-hook, namespace: writing, annotations: {%s}},
  stringData: {X-Shop: books, signing-key: %s}}`, annotations, key))
		}
		secret("")
		Eventually(func() string { return b.condition(ctx, "mcpm/purchase", "Ready") }).
			Should(HavePrefix(`False WebhookSecretInvalid: action "send_invoice": `))
		secret(fmt.Sprintf("mcpadmin.dev/webhook-host: %q", host))
		b.wait(ctx, "Ready", "mcpm/purchase")
		Expect(b.must(owner, "action_purchase", `{"action":"send_invoice","ids":[1,99]}`)).
			To(And(ContainSubstring(`"result":{"sent":1}`), ContainSubstring(`"missing_ids":[99]`)))
		request, body := <-received, <-bodies
		Expect(request.Header.Get("X-Shop")).To(Equal("books"))
		Expect(body).To(And(ContainSubstring(`"ids":[1]`), ContainSubstring(`"token":"writing/owner"`)))
		at, signature, _ := strings.Cut(strings.TrimPrefix(request.Header.Get("Mcp-Admin-Signature"), "t="), ",v1=")
		right := hmac.New(sha256.New, []byte(key))
		_, _ = io.WriteString(right, at+"."+body) // a hash takes all
		Expect(signature).To(Equal(hex.EncodeToString(right.Sum(nil))))
		Expect(b.kubectl(ctx, "get", "mcp,events", "-o", "yaml")).NotTo(ContainSubstring(key))
	})

	It("loses the tools that write when the endpoint becomes read-only", func(ctx SpecContext) {
		owner := b.token(ctx, "owner")
		tools := func() string {
			_, body := b.post(owner, `{"method":"tools/list"}`)
			return body
		}
		Expect(tools()).To(And(ContainSubstring(`"create_book"`), ContainSubstring(`"bulk_book"`)))
		b.kubectl(ctx, "patch", "mcpe", "bookshop", "--type=merge", "-p", `{"spec":{"database":{"access":"ReadOnly"}}}`)
		for _, tool := range []string{"create_book", "update_book", "delete_book", "bulk_book", "action_review"} {
			Eventually(tools).ShouldNot(ContainSubstring(`"` + tool + `"`))
		}
		Expect(tools()).To(And(ContainSubstring(`"list_book"`), ContainSubstring(`"history_book"`)))
		b.refused(owner, "update_book", `{"id":4,"data":{"price":"1.00"}}`, "permission_denied")
		Expect(b.must(owner, "get_book", `{"id":4}`)).To(ContainSubstring(`"price":"9.99"`))
	})
})

// serveBesideLoopback serves on an address of this machine that is no loopback one, as webhooks are refused those, until
// the spec ends, and returns host and port. Without such an address the spec is skipped.
func serveBesideLoopback(handler http.HandlerFunc) string {
	GinkgoHelper()
	addresses, err := net.InterfaceAddrs()
	Expect(err).NotTo(HaveOccurred())
	for _, address := range addresses {
		ip, _, err := net.ParseCIDR(address.String())
		if err != nil || ip.To4() == nil || !ip.IsGlobalUnicast() {
			continue
		}
		listener, err := net.Listen("tcp", net.JoinHostPort(ip.String(), "0"))
		Expect(err).NotTo(HaveOccurred())
		server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
		go func() { _ = server.Serve(listener) }() // ends with Close
		DeferCleanup(server.Close)
		return listener.Addr().String()
	}
	Skip("this machine has none but loopback addresses, which webhooks are refused")
	return ""
}
