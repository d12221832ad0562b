package controllers_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/controllers"
)

var _ = Describe("A manager that asks for opt-in", func() {
	It("uses a Secret only where the Secret allows it", func() {
		running.stop()
		w := newWorld()
		running = startManagerWith(apiServer.Config, func(o *controllers.Options) { o.RequireSecretOptIn = true }, w.namespace)
		DeferCleanup(func() {
			running.stop()
			running = startManager(apiServer.Config)
		})
		endpoint, token := w.endpoint("shop"), w.token("agent", "shop")
		endpoint.Spec.Database.SQLite = nil
		endpoint.Spec.Database.ConnectionSecretRef = connection("db")
		token.Spec.TokenSecretRef = secretKey("db", "password")
		db := &corev1.Secret{ObjectMeta: w.meta("db"), Data: map[string][]byte{"password": []byte("a password of at least thirty-two characters")}}
		w.create(db, endpoint, token)
		Eventually(reads(endpoint, "WorkloadAvailable")).Should(Equal("False SecretNotAllowed"))
		Eventually(reads(endpoint, "DatabaseReady")).Should(Equal("False SecretNotAllowed"))
		Eventually(reads(token, "Issued")).Should(Equal("False SecretNotAllowed"))

		edit(db, func(s *corev1.Secret) {
			metav1.SetMetaDataAnnotation(&s.ObjectMeta, "mcpadmin.dev/allow-endpoints", "shop")
		})
		w.runServer("shop", "shop-0")
		expectReady(endpoint, token)

		// So it is with Secrets that the pods get beside the server's own.
		edit(endpoint, func(e *endpointType) {
			e.Spec.Server = serverSpec(`{podTemplate: {spec: {containers: [{name: server, envFrom: [{secretRef: {name: more}}]}]}}}`)
		})
		Eventually(reads(endpoint, "WorkloadAvailable")).Should(Equal("False SecretNotFound"))
		more := &corev1.Secret{ObjectMeta: w.meta("more")}
		w.create(more)
		Eventually(reads(endpoint, "WorkloadAvailable")).Should(Equal("False SecretNotAllowed"))
		Expect(serverOf(w.deployment("shop")).EnvFrom).To(BeEmpty())
		edit(more, func(s *corev1.Secret) {
			metav1.SetMetaDataAnnotation(&s.ObjectMeta, "mcpadmin.dev/allow-endpoints", "shop")
		})
		Eventually(func() int { return len(serverOf(w.deployment("shop")).EnvFrom) }).Should(Equal(1))
	})
})
