package e2e

import (
	"regexp"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
)

var _ = Describe("a MariaDB database", Ordered, func() {
	var b bench
	BeforeAll(func(ctx SpecContext) {
		at := databasetest.MariaDB(GinkgoTB())
		databasetest.ExecuteMySQL(GinkgoTB(), at, `CREATE TABLE item (id bigint AUTO_INCREMENT PRIMARY KEY, name varchar(40) NOT NULL UNIQUE,
			price decimal(8,2) NOT NULL, sold boolean NOT NULL DEFAULT false);
			INSERT INTO item (name, price) VALUES ('nail', 0.10), ('lamp', 12.50)`)
		b = newShop(ctx, "market", `{database: {connectionSecretRef: {name: shop-db}}, audit: {table: {name: mcp_admin_log}}}`, `"*"`)
		b.connect(ctx, "uri: "+databasetest.URI(at))
		b.wait(ctx, "Ready", "mcpe/shop", "mcpm/item", "mcptoken/agent")
	})

	It("takes an agent's writes, and says of others what is wrong with them", func(ctx SpecContext) {
		agent := b.token(ctx, "agent")
		Expect(b.kubectl(ctx, "get", "mcpe", "shop")).To(MatchRegexp(`(MariaDB|MySQL) \d+`))
		Expect(withoutCall(b.must(agent, "create_item", `{"data":{"name":"rope","price":"3.20"}}`))).
			To(MatchJSON(`{"success":true,"id":3,"object":{"id":3,"name":"rope","price":"3.20","sold":false}}`))
		Expect(withoutCall(b.must(agent, "update_item", `{"id":3,"data":{"price":"2.90","sold":true}}`))).
			To(MatchJSON(`{"success":true,"object":{"id":3,"name":"rope","price":"2.90","sold":true},"inlines":null}`))
		Expect(b.refused(agent, "create_item", `{"data":{"name":"lamp","price":"1.00"}}`, "validation_error")).
			To(ContainSubstring(`"fields_with_errors":["name"]`))
		b.must(agent, "delete_item", `{"id":1}`)
		b.refused(agent, "get_item", `{"id":1}`, "not_found")
	})

	It("keeps the history of a row, which a pod that is replaced tells of as well", func(ctx SpecContext) {
		agent := b.token(ctx, "agent")
		history := b.must(agent, "history_item", `{"id":3}`)
		Expect(history).To(And(ContainSubstring(`"count":2`), ContainSubstring(`"token":"market/agent"`),
			ContainSubstring(`"price":{"before":"3.20","after":"2.90"}`)))
		pod := b.kubectl(ctx, "get", "pods", "-o", "jsonpath={.items[*].metadata.name}")
		b.kubectl(ctx, "delete", "pod", pod, "--wait")
		b.kubectl(ctx, "rollout", "status", "deployment/shop-mcp", "--timeout=10m")
		Expect(b.kubectl(ctx, "get", "pods", "-o", "jsonpath={.items[*].metadata.name}")).NotTo(Equal(pod))
		Eventually(func() int { return b.answers(agent) }).Should(Equal(200))
		Expect(b.must(agent, "history_item", `{"id":3}`)).To(MatchJSON(history))
	})
})

// withoutCall is a change's answer less its id, which is another each time.
func withoutCall(answer string) string {
	GinkgoHelper()
	id := regexp.MustCompile(`,"call":"[A-Z0-9]+"`)
	Expect(answer).To(MatchRegexp(id.String()))
	return id.ReplaceAllString(answer, "")
}
