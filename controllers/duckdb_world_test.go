package controllers_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/controllers"
)

var _ = Describe("An endpoint over DuckDB", func() {
	It("says who can name an image with DuckDB, and runs when one is named", func() {
		w := newWorld()
		endpoint := w.endpoint("sales")
		endpoint.Spec.Database = overDuckDB("sales.duckdb")
		w.create(endpoint)
		Eventually(reads(endpoint, "WorkloadAvailable")).Should(Equal("False DuckDBImageMissing"))
		Expect(message(endpoint, "WorkloadAvailable")).To(And(ContainSubstring("--duckdb-server-image"), ContainSubstring("duckdbServerImage"), ContainSubstring("spec.server.image")))
		Eventually(reads(endpoint, "Stalled")).Should(Equal("True DuckDBImageMissing"))
		err := k8s.Get(context.Background(), client.ObjectKey{Namespace: w.namespace, Name: "sales-mcp"}, &appsv1.Deployment{})
		Expect(client.IgnoreNotFound(err)).To(Succeed())
		Expect(err).To(HaveOccurred())

		edit(endpoint, func(e *endpointType) { e.Spec.Server.Image = "server:mine" })
		w.runServer("sales", "sales-0")
		expectReady(endpoint)
		Expect(serverOf(w.deployment("sales")).Image).To(Equal("server:mine"))
	})

	It("reads the files of its claim, in several pods of the manager's image", func() {
		running.stop()
		running = startManagerWith(apiServer.Config, func(o *controllers.Options) { o.DuckDBServerImage = "registry.example.com/duckdb:1" })
		DeferCleanup(func() {
			running.stop()
			running = startManager(apiServer.Config)
		})
		w := newWorld()
		endpoint := w.endpoint("sales")
		endpoint.Spec.Database = overDuckDB("orders/2026")
		endpoint.Spec.Server.Replicas = new(int32(2))
		w.create(endpoint)
		deployment := w.deployment("sales")
		Expect(*deployment.Spec.Replicas).To(BeEquivalentTo(2))
		Expect(deployment.Spec.Strategy.RollingUpdate.MaxSurge.IntValue()).To(BeZero())
		server := serverOf(deployment)
		Expect(server.Image).To(Equal("registry.example.com/duckdb:1"))
		Expect(server.Args).To(ContainElement("--duckdb=/var/lib/mcp-admin/orders/2026"))
		Expect(server.VolumeMounts).To(ContainElement(corev1.VolumeMount{Name: "database", MountPath: "/var/lib/mcp-admin", ReadOnly: true}))
		Expect(deployment.Spec.Template.Spec.Volumes).To(ContainElement(corev1.Volume{Name: "database", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "files", ReadOnly: true},
		}}))

		w.runServer("sales", "sales-0")
		w.runServer("sales", "sales-1")
		expectReady(endpoint)
	})

	It("stays what it is", func() {
		w := newWorld()
		endpoint := w.endpoint("sales")
		endpoint.Spec.Database = overDuckDB("")
		w.create(endpoint)
		changed := endpoint.DeepCopy()
		changed.Spec.Database = w.endpoint("other").Spec.Database
		Expect(k8s.Update(context.Background(), changed)).To(MatchError(ContainSubstring("the kind of database cannot be changed")))
		edit(endpoint, func(e *endpointType) { e.Spec.Database = overDuckDB("other") })
	})
})
