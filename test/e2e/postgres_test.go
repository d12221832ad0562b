package e2e

import (
	"net/http"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mcp-admin/mcp-admin-operator/test/wire"
)

var _ = Describe("a PostgreSQL database", Ordered, func() {
	var b bench
	var way *wire.Wire
	connection := func(password string) string {
		return postgresKeys("127.0.0.1", strconv.Itoa(way.Port), "mcp_e2e", password)
	}
	BeforeAll(func(ctx SpecContext) {
		var err error
		way, err = wire.To(makeDatabase(ctx, "mcp_e2e").Host)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(way.Cut)
		b = newShop(ctx, "shop", `{database: {connectionSecretRef: {name: shop-db}, schemas: [stock], access: ReadOnly, statementTimeout: 5s}}`, "view")
	})

	It("may lack its Secret: the endpoint says so, and what waits for what", func(ctx SpecContext) {
		Eventually(func() string { return b.condition(ctx, "mcpe/shop", "DatabaseReady") }).Should(MatchRegexp(`^False Secret\w+: .*shop-db|^False Secret\w+: .*Secret`))
		Expect(b.condition(ctx, "mcpe/shop", "Ready")).To(HavePrefix("False "))
	})

	It("may have a Secret that lacks a key: the message names it", func(ctx SpecContext) {
		b.connect(ctx, "host: 127.0.0.1, dbname: mcp_e2e, user: mcp_e2e")
		Eventually(func() string { return b.condition(ctx, "mcpe/shop", "DatabaseReady") }).Should(MatchRegexp(`^False SecretIncomplete: .*password`))
	})

	It("may refuse a wrong password, which is never repeated", func(ctx SpecContext) {
		b.connect(ctx, connection("not-the-password"))
		Eventually(func() string { return b.condition(ctx, "mcpe/shop", "DatabaseReady") }).Should(HavePrefix("False AuthenticationFailed: "))
		Expect(b.kubectl(ctx, "get", "mcp,events", "-o", "yaml")).NotTo(ContainSubstring("not-the-password"))
	})

	It("works as soon as the password is right, with no pod restarted", func(ctx SpecContext) {
		b.connect(ctx, connection("right-password"))
		b.wait(ctx, "Ready", "mcpe/shop", "mcpm/item", "mcptoken/agent")
		text := b.must(b.token(ctx, "agent"), "list_item", `{"filters":{"price__gt":"1.10"}}`)
		Expect(text).To(MatchJSON(`{"count":1,"total_count":1,"results":[{"id":"9007199254740993","name":"lamp","price":"12.50","added":"2026-01-02T02:04:05Z"}]}`))
		Expect(b.kubectl(ctx, "get", "pods", "-o", "jsonpath={.items[*].status.containerStatuses[*].restartCount}")).To(Equal("0"))
		Expect(b.kubectl(ctx, "get", "mcpe", "shop")).To(MatchRegexp(`PostgreSQL \d+`))
	})

	It("may go away: calls say unavailable, no token is touched, and all is well when it is back", func(ctx SpecContext) {
		agent := b.token(ctx, "agent")
		way.Cut()
		Eventually(func() string {
			text, _ := b.call(agent, "list_item", `{}`)
			return text
		}).Should(ContainSubstring(`"code":"unavailable"`))
		Eventually(func() string { return b.condition(ctx, "mcpe/shop", "DatabaseReady") }).
			Should(MatchRegexp(`^False Unreachable: .*127\.0\.0\.1:%d`, way.Port))
		Expect(b.answers(agent)).To(Equal(http.StatusOK))
		Expect(b.condition(ctx, "mcptoken/agent", "Ready")).To(HavePrefix("True "))

		// A revocation is not delayed by a dead database.
		leaver := b.newTokenOf(ctx, "shop", "leaver")
		Expect(newRevoker(ctx).remove(ctx, "shop", "leaver")).To(Succeed())
		Eventually(func() int { return b.answers(leaver) }).Should(Equal(http.StatusUnauthorized))

		Expect(way.Mend()).To(Succeed())
		Eventually(func() bool {
			_, isError := b.call(agent, "list_item", `{}`)
			return isError
		}).Should(BeFalse())
		b.wait(ctx, "Ready", "mcpe/shop")
	})
})
