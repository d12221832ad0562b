package controllers_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// annotate gives an object an annotation; "" takes it away.
func annotate[O client.Object](o O, key, value string) {
	GinkgoHelper()
	edit(o, func(o O) {
		annotations := o.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		if annotations[key] = value; value == "" {
			delete(annotations, key)
		}
		o.SetAnnotations(annotations)
	})
}

func pause[O client.Object](o O)  { annotate(o, v1alpha1.PausedAnnotation, "true") }
func resume[O client.Object](o O) { annotate(o, v1alpha1.PausedAnnotation, "") }

var _ = Describe("A paused", func() {
	var (
		w        *world
		endpoint *endpointType
		token    *tokenType
		server   *fakeServer
	)
	BeforeEach(func() {
		w = newWorld()
		endpoint, token = w.endpoint("shop"), w.token("agent", "shop")
		w.create(endpoint, token)
		server = w.runServer("shop", "shop-0")
		expectReady(endpoint, token)
	})

	It("endpoint gets nothing new, and loses what is taken away", func() {
		leaver := w.token("leaver", "shop")
		w.create(leaver)
		expectReady(leaver)
		text := w.text("leaver")
		pause(endpoint)
		Eventually(reads(endpoint, "Paused")).Should(Equal("True Paused"))
		Expect(reads(endpoint, "Ready")()).To(Equal("True Ready"), "it works as before")

		deployment := &appsv1.Deployment{ObjectMeta: w.meta("shop-mcp")}
		Expect(k8s.Get(context.Background(), client.ObjectKeyFromObject(deployment), deployment)).To(Succeed())
		generation := deployment.Generation
		late, exposure := w.token("late", "shop"), w.exposure("order", "shop")
		w.create(late, exposure)
		edit(endpoint, func(e *endpointType) { e.Spec.Server.Image = "server:other" })
		edit(leaver, func(t *tokenType) { t.Spec.Active = new(false) })

		Eventually(func() bool { return server.lets(text) }).Should(BeFalse(), "a revocation is never held up")
		Eventually(reads(leaver, "Ready")).Should(Equal("True Inactive"))
		Eventually(reads(late, "Reconciling")).Should(Equal("True Paused"))
		Eventually(reads(exposure, "Reconciling")).Should(Equal("True Paused"))
		Eventually(reads(endpoint, "Reconciling")).Should(Equal("True Paused"), "its Deployment is not as its spec says")
		Expect(message(endpoint, "WorkloadAvailable")).To(HavePrefix(`Deployment "shop-mcp" is not as it should be`))
		Expect(k8s.Get(context.Background(), client.ObjectKeyFromObject(deployment), deployment)).To(Succeed())
		Expect(deployment.Generation).To(Equal(generation))
		Expect(server.lets(w.text("late"))).To(BeFalse())
		Expect(server.lets(w.text("agent"))).To(BeTrue(), "what is in force stays so")

		resume(endpoint)
		Eventually(func() int64 {
			_ = k8s.Get(context.Background(), client.ObjectKeyFromObject(deployment), deployment)
			return deployment.Generation
		}).Should(BeNumerically(">", generation))
		w.deploymentAvailable("shop")
		expectReady(endpoint, late, exposure)
		Expect(server.lets(w.text("late"))).To(BeTrue())
		Expect(reads(endpoint, "Paused")()).To(BeEmpty())
		w.expectTold(map[string]int{})
	})

	It("token is not issued, and a lost one is not issued anew", func() {
		late := w.token("late", "shop")
		late.Annotations = map[string]string{v1alpha1.PausedAnnotation: "true"}
		w.create(late)
		pause(token)
		Eventually(reads(token, "Paused")).Should(Equal("True Paused"))
		Expect(reads(token, "Ready")()).To(Equal("True Ready"))
		Eventually(reads(late, "Reconciling")).Should(Equal("True Paused"))

		text := w.text("agent")
		w.delete(w.secret("agent"))
		Eventually(func() bool { return server.lets(text) }).Should(BeFalse(), "nobody can hold it, so it is refused")
		for _, o := range []client.Object{late, token} {
			Consistently(func() bool {
				return apierrors.IsNotFound(k8s.Get(context.Background(), client.ObjectKeyFromObject(o), &corev1.Secret{}))
			}).Should(BeTrue())
		}
		resume(late)
		resume(token)
		expectReady(late, token)
		Expect(server.lets(w.text("late"))).To(BeTrue())
		Expect(server.lets(w.text("agent"))).To(BeTrue())
	})

	It("exposure is added when it is resumed", func() {
		exposure := w.exposure("order", "shop")
		exposure.Annotations = map[string]string{v1alpha1.PausedAnnotation: "true"}
		w.create(exposure)
		Eventually(reads(exposure, "Reconciling")).Should(Equal("True Paused"))
		Expect(w.config("shop").Models).To(BeEmpty())
		resume(exposure)
		expectReady(exposure)
	})
})

var _ = Describe("A request for a fresh look", func() {
	It("is acted upon once, past every cache, and the status says so", func() {
		w := newWorld()
		endpoint, exposure, token := w.endpoint("shop"), w.exposure("order", "shop"), w.token("agent", "shop")
		w.create(endpoint, exposure, token)
		server := w.runServer("shop", "shop-0")
		expectReady(endpoint, exposure, token)

		before := len(running.writes.reads(w.namespace))
		const now = "2026-01-02T03:04:05Z"
		annotate(endpoint, v1alpha1.ReconcileRequestAnnotation, now)
		Eventually(server.asked).ShouldNot(BeEmpty(), "the pods read the schema again")
		first := server.asked()
		annotate(exposure, v1alpha1.ReconcileRequestAnnotation, now)
		Eventually(server.asked).ShouldNot(Equal(first))
		annotate(token, v1alpha1.ReconcileRequestAnnotation, now)
		Eventually(func() []string {
			expectReady(endpoint, exposure, token)
			return []string{endpoint.Status.LastHandledReconcileAt, exposure.Status.LastHandledReconcileAt, token.Status.LastHandledReconcileAt}
		}).Should(HaveEach(now))
		asked := running.writes.reads(w.namespace)[before:]
		Expect(asked).To(ContainElements(HaveSuffix("/deployments/shop-mcp"), HaveSuffix("/secrets/agent")))

		edit(endpoint, func(e *endpointType) { e.Labels = map[string]string{"touched": "yes"} })
		annotate(token, "example.com/other", "yes")
		Consistently(func() []string { return running.writes.reads(w.namespace)[before:] }).Should(HaveLen(len(asked)), "it is acted upon once")
	})
})
