package controllers_test

import (
	"fmt"
	"math/rand/v2"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

var _ = Describe("Tokens that outgrow their part of a Config", func() {
	It("are laid out in more parts", func() {
		w := newWorld()
		w.create(w.endpoint("shop"))
		server := w.runServer("shop", "shop-0")
		const fit = 256
		var tokens []*tokenType
		for i := range fit {
			tokens = append(tokens, w.token(fmt.Sprint("agent-", i), "shop"))
			w.create(tokens[i])
		}
		expectReady(tokens[fit-1])
		Eventually(func() int { return len(w.config("shop").Tokens) }).Should(Equal(fit))
		Expect(w.config("shop").Layout).To(Equal(contract.Layout{Parts: 1}))
		w.expectQuiet()

		last := w.token("last", "shop")
		w.create(last)
		expectReady(last)
		Eventually(func() contract.Layout { return w.config("shop").Layout }).Should(Equal(contract.Layout{Parts: 4}), "no pod reads the old layout")
		Expect(server.lets(w.text("last"))).To(BeTrue())
		Expect(server.lets(w.text("agent-0"))).To(BeTrue())
	})
})

// bulky is a text that takes almost two bytes a character, however it is packed.
func bulky(characters int) v1alpha1.AttributeValue {
	text := make([]rune, characters)
	for i := range text {
		text[i] = rune(0x4E00 + rand.IntN(20000))
	}
	return v1alpha1.AttributeValue(text)
}

var _ = Describe("Tokens that do not fit into the parts of a Config", func() {
	It("keep nobody from being revoked, and are laid out once they can be", func() {
		w := newWorld()
		w.create(w.endpoint("shop"))
		server, slow := w.runTwo("shop")
		leaver, narrowed := w.token("leaver", "shop"), w.token("narrowed", "shop")
		w.create(leaver, narrowed)
		expectReady(leaver, narrowed)
		text := w.text("leaver")
		slow.change(func(s *fakeServer) { s.frozen = true }) // it keeps the layout, so the growth does not end

		tokens := make([]*tokenType, 220)
		for i := range tokens {
			tokens[i] = w.token(fmt.Sprint("bulky-", i), "shop")
			tokens[i].Spec.Attributes = map[string]v1alpha1.AttributeValue{"a": bulky(1000), "b": bulky(1000), "c": bulky(1000)}
		}
		for _, token := range tokens {
			w.create(token)
		}
		Eventually(func() int { return w.config("shop").Layout.Parts }).Should(BeNumerically(">", 1))
		w.delete(leaver)
		edit(narrowed, func(t *tokenType) { t.Spec.Active = new(false) })
		Eventually(func() bool { return server.lets(text) }).Should(BeFalse())
		Eventually(func() bool { return server.lets(w.text("narrowed")) }).Should(BeFalse())

		slow.change(func(s *fakeServer) { s.frozen = false })
		for _, token := range tokens {
			Eventually(reads(token, "Ready")).Should(Equal("True Ready"))
			Expect(server.lets(w.text(token.Name))).To(BeTrue())
		}
	})
})

var _ = Describe("A pod that has had higher revisions", func() {
	It("gets all parts above them, and it is told that there may have been a restore from a backup", func() {
		w, endpoint, server := newShop()
		token := w.token("agent", "shop")
		w.create(token)
		expectReady(token)
		server.change(func(s *fakeServer) {
			s.frozen = true
			s.status.Refused = &contract.Refusal{Secret: "shop-mcp-config-tokens-0", Revision: 2, Highest: 700, Message: "it is older"}
		})
		Eventually(func() int64 { return w.config("shop").Revision }).Should(BeNumerically(">", 700))
		Eventually(func() int64 { return contract.Part(w.secret("shop-mcp-config-tokens-0").Data).Revision() }).Should(BeNumerically(">", 700))
		server.change(func(s *fakeServer) { s.frozen, s.status.Refused = false, nil })
		expectReady(endpoint, token)
		w.expectTold(map[string]int{"shop: Warning OlderConfig": 1})
		Expect(metric("mcp_admin_manager_configs_overtaken_total", "")).To(BeNumerically(">", 0))
	})
})
