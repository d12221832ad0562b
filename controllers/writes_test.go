package controllers_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("A new object", func() {
	It("has its status written once, when it is Ready", func() {
		const objects = 10
		w := newWorld()
		endpoint := w.endpoint("shop")
		w.create(endpoint)
		w.runServer("shop", "shop-0")
		expectReady(endpoint)
		for i := range objects {
			w.create(w.token(fmt.Sprintf("agent-%d", i), "shop"), w.exposure(fmt.Sprintf("table-%d", i), "shop"))
		}
		for i := range objects {
			expectReady(w.token(fmt.Sprintf("agent-%d", i), "shop"), w.exposure(fmt.Sprintf("table-%d", i), "shop"))
		}
		written := 0
		for _, request := range running.writes.to(w.namespace) {
			if strings.HasSuffix(request, "/status") && !strings.Contains(request, "/mcpendpoints/") {
				written++
			}
		}
		AddReportEntry("statuses written", fmt.Sprintf("%d of %d objects", written, 2*objects))
		// One that waits longer than a second, as on a machine that is busy, is written twice.
		Expect(written).To(BeNumerically("<", 3*objects))
	})
})
