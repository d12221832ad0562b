package controllers_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/controllers"
)

var _ = Describe("Two installations", func() {
	named := func(name, image string) func(*controllers.Options) {
		return func(o *controllers.Options) { o.Installation, o.ServerImage = name, image }
	}
	BeforeEach(func() {
		running.stop()
		DeferCleanup(func() { running = startManager(apiServer.Config) })
	})

	It("for the whole cluster: the second leaves everything alone until the first ends", func() {
		w := newWorld()
		first := startManagerWith(apiServer.Config, named("first", "server:1"))
		w.create(w.endpoint("shop"), w.token("agent", "shop"))
		Eventually(reads(w.token("agent", "shop"), "Issued")).Should(Equal("True Issued"))

		second := startManagerWith(apiServer.Config, named("second", "server:2"))
		DeferCleanup(func() { second.stop() })
		w.create(w.token("other", "shop"))
		Eventually(reads(w.token("other", "shop"), "Issued")).Should(Equal("True Issued"))
		Consistently(func() []string { return second.writes.to(w.namespace) }).Should(BeEmpty())

		first.stop()
		w.create(w.token("late", "shop"))
		Eventually(reads(w.token("late", "shop"), "Issued")).Should(Equal("True Issued"))
		Eventually(reads(w.endpoint("shop"), "Ready")).ShouldNot(BeEmpty(), "the managers end before the statuses are checked")
	})

	It("one for the whole cluster leaves the namespaces of the other alone", func() {
		shared, theirs := newWorld(), newWorld()
		few := startManagerWith(apiServer.Config, named("few", "server:1"), theirs.namespace)
		DeferCleanup(few.stop)
		Eventually(func() string { return installationOf(theirs.namespace) }).Should(Equal("few"))
		all := startManagerWith(apiServer.Config, named("all", "server:2"))
		DeferCleanup(all.stop)
		for _, w := range []*world{shared, theirs} {
			w.create(w.endpoint("shop"), w.token("agent", "shop"))
			Eventually(reads(w.token("agent", "shop"), "Issued")).Should(Equal("True Issued"))
			Eventually(reads(w.endpoint("shop"), "Ready")).ShouldNot(BeEmpty(), "the managers end before the statuses are checked")
		}
		Expect(all.writes.to(theirs.namespace)).To(BeEmpty())
		Expect(few.writes.to(shared.namespace)).To(BeEmpty())
	})
})

// installationOf is who has the Lease on a namespace.
func installationOf(namespace string) string {
	lease := &coordinationv1.Lease{}
	if err := k8s.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: "installation.mcpadmin.dev"}, lease); err != nil || lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}
