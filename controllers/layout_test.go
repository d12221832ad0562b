package controllers_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

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
