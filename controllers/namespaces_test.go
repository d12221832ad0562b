package controllers_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("A manager of some namespaces", func() {
	It("works in them and in no other", func() {
		running.stop()
		first, second, other := newWorld(), newWorld(), newWorld()
		running = startManager(apiServer.Config, first.namespace, second.namespace)
		DeferCleanup(func() {
			running.stop()
			running = startManager(apiServer.Config)
		})
		for _, w := range []*world{other, first, second} {
			w.create(w.endpoint("shop"), w.token("agent", "shop"))
		}
		first.runServer("shop", "shop-0")
		expectReady(first.token("agent", "shop"))
		Eventually(reads(second.token("agent", "shop"), "Issued")).Should(Equal("True Issued"))
		Expect(running.writes.to(other.namespace)).To(BeEmpty())
		other.clear()
	})
})
