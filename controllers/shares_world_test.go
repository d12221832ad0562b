package controllers_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

var _ = Describe("Limits of all pods", func() {
	It("are shared among the pods that there are, and move no revision of what objects ask for", func() {
		w := newWorld()
		e := w.connected("shop")
		e.Spec.Database.Pool.MaxConnections, e.Spec.Server.Limits.RequestsPerSecondPerToken = 12, 30
		w.create(e)
		pods := func() contract.Pods { return w.config("shop").Pods }
		shares := func() []float64 {
			config := w.config("shop")
			rate, _ := config.TokenRate()
			return []float64{float64(config.OfOnePod().Database.MaxConnections), rate}
		}
		_, second := w.runTwo("shop")
		expectReady(e)
		Eventually(pods).Should(Equal(contract.Pods{Running: 2, Answering: 2}))
		Expect(shares()).To(Equal([]float64{6, 15}))
		revision := w.config("shop").Endpoint.Revision

		third := w.runServer("shop", "shop-2")
		Eventually(shares).Should(Equal([]float64{4, 10}))
		third.setReady(false)
		Eventually(shares).Should(Equal([]float64{4, 15}), "it may still have connections, and nobody reaches it")
		w.delete(second.pod)
		w.delete(third.pod)
		Eventually(shares).Should(Equal([]float64{12, 30}))
		Expect(w.config("shop").Endpoint.Revision).To(Equal(revision))
		expectReady(e)

		edit(e, func(e *endpointType) {
			e.Spec.Database.Pool.MaxConnections, e.Spec.Server.Limits.RequestsPerSecondPerToken = 0, 0
		})
		Eventually(pods).Should(Equal(contract.Pods{}), "nothing is shared any more")
		Expect(w.config("shop").OfOnePod().Database.MaxConnections).To(Equal(8))
	})
})
