package controllers_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

var _ = Describe("An endpoint with a certificate of its own", func() {
	withTLS := func(e *v1alpha1.MCPEndpoint) *v1alpha1.MCPEndpoint {
		e.Spec.Server.TLS = &v1alpha1.ServerTLS{CertificateSecretRef: v1alpha1.SecretReference{Name: "shop-tls"}}
		return e
	}
	certificate := func(s *fakeServer, c *contract.CertificateStatus) {
		s.change(func(s *fakeServer) { s.status.Certificate = c })
	}

	It("is served over HTTPS, from a Secret that the pod mounts and may read", func() {
		w := newWorld()
		w.create(withTLS(w.endpoint("shop")))
		key := client.ObjectKey{Namespace: w.namespace, Name: "shop-mcp"}
		deployment, role, service := &appsv1.Deployment{}, &rbacv1.Role{}, &corev1.Service{}
		Eventually(func() error { return k8s.Get(context.Background(), key, deployment) }).Should(Succeed())
		Expect(k8s.Get(context.Background(), key, role)).To(Succeed())
		Expect(k8s.Get(context.Background(), key, service)).To(Succeed())
		Expect(role.Rules[0].ResourceNames).To(Equal([]string{"shop-mcp-config", "shop-mcp-config-tokens-0", "shop-tls"}))
		pod := deployment.Spec.Template.Spec
		Expect(pod.Containers[0].Args).To(ContainElements("--tls-secret=shop-tls", "--tls-dir=/etc/mcp-admin/tls", "--listen=127.0.0.1:8443", "--listen=[$(POD_IP)]:8443"))
		Expect(pod.Containers[0].VolumeMounts).To(ContainElement(And(HaveField("Name", "tls"), HaveField("MountPath", "/etc/mcp-admin/tls"), HaveField("ReadOnly", true))))
		Expect(pod.Volumes).To(ContainElement(And(HaveField("Name", "tls"), HaveField("Secret.Optional", HaveValue(BeTrue())))))
		Expect(pod.Containers[0].Ports[0].Name).To(Equal("https"))
		Expect(service.Spec.Ports).To(HaveLen(1))
		Expect(service.Spec.Ports[0].Port).To(BeEquivalentTo(443))
		Expect(service.Spec.Ports[0].TargetPort.StrVal).To(Equal("https"))
		Expect(w.config("shop").Endpoint.URL).To(Equal("https://shop-mcp." + w.namespace + ".svc/mcp/"))
	})

	It("moves its Service's port when TLS comes and goes", func() {
		w := newWorld()
		endpoint := w.endpoint("shop")
		w.create(endpoint)
		ports := func() (ports []int32) {
			service := &corev1.Service{}
			if k8s.Get(context.Background(), client.ObjectKey{Namespace: w.namespace, Name: "shop-mcp"}, service) == nil {
				for _, p := range service.Spec.Ports {
					ports = append(ports, p.Port)
				}
			}
			return ports
		}
		Eventually(ports).Should(Equal([]int32{80}))
		edit(endpoint, func(e *v1alpha1.MCPEndpoint) { withTLS(e) })
		Eventually(ports).Should(Equal([]int32{443}))
		edit(endpoint, func(e *v1alpha1.MCPEndpoint) { e.Spec.Server.TLS = nil })
		Eventually(ports).Should(Equal([]int32{80}))
	})

	It("says what its certificate lacks, and is Ready once it is in use", func() {
		w := newWorld()
		endpoint := withTLS(w.endpoint("shop"))
		w.create(endpoint)
		server := w.runServer("shop", "shop-0")
		certificate(server, &contract.CertificateStatus{Reason: contract.ReasonCertificateMissing, Message: "the Secret does not exist"})
		Eventually(reads(endpoint, "WorkloadAvailable")).Should(Equal("False SecretNotFound"))
		Eventually(reads(endpoint, "Ready")).Should(Equal("False SecretNotFound"))

		w.create(&corev1.Secret{ObjectMeta: w.meta("shop-tls"), StringData: map[string]string{"tls.crt": "x"}})
		certificate(server, &contract.CertificateStatus{Reason: contract.ReasonCertificateMissing, Message: `no key "tls.key"`})
		Eventually(reads(endpoint, "WorkloadAvailable")).Should(Equal("False CertificateMissing"))

		certificate(server, &contract.CertificateStatus{InUse: true, Reason: contract.ReasonCertificateLoaded, NotAfter: "2036-01-01T00:00:00Z"})
		expectReady(endpoint)

		certificate(server, &contract.CertificateStatus{InUse: true, Reason: contract.ReasonCertificateInvalid, Message: "the key does not fit", NotAfter: "2036-01-01T00:00:00Z"})
		Eventually(reads(endpoint, "Programmed")).Should(Equal("False CertificateInvalid"))
		Expect(reads(endpoint, "WorkloadAvailable")()).To(HavePrefix("True "))
		Expect(message(endpoint, "Programmed")).To(Equal("the key does not fit; the certificate from before stays in use, until 2036-01-01T00:00:00Z"))

		certificate(server, &contract.CertificateStatus{InUse: true, Reason: contract.ReasonCertificateLoaded, NotAfter: "2037-01-01T00:00:00Z"})
		expectReady(endpoint)
	})
})
