package controllers_test

import (
	"context"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers"
)

// exists polls whether an object is there, and reads it.
func exists(o client.Object) func() bool {
	return func() bool {
		err := k8s.Get(context.Background(), client.ObjectKeyFromObject(o), o)
		Expect(client.IgnoreNotFound(err)).To(Succeed())
		return err == nil
	}
}

// expectQuiet waits until nothing was written to the namespace for longer than a reconcile takes. Two who write over each
// other never get there; a number that an endpoint tells later does (countDelay).
func (w *world) expectQuiet() {
	GinkgoHelper()
	written, since := -1, time.Now()
	Eventually(func() time.Duration {
		if now := len(running.writes.to(w.namespace)); now != written {
			written, since = now, time.Now()
		}
		return time.Since(since)
	}).WithPolling(20*time.Millisecond).Should(BeNumerically(">", 1200*time.Millisecond), func() string {
		all := running.writes.to(w.namespace)
		return "the last writes: " + strings.Join(all[max(0, len(all)-3):], ", ")
	})
}

// readyEndpoint is an endpoint with a server, Ready.
func (w *world) readyEndpoint(name string, change func(*v1alpha1.MCPEndpointSpec)) *endpointType {
	GinkgoHelper()
	e := w.endpoint(name)
	change(&e.Spec)
	w.create(e)
	w.runServer(name, name+"-0")
	expectReady(e)
	return e
}

var _ = Describe("An endpoint's Service", func() {
	It("is made as asked for, and as before once nothing is asked for", func() {
		w := newWorld()
		e := w.readyEndpoint("shop", func(s *v1alpha1.MCPEndpointSpec) {
			s.Network.Service = v1alpha1.ServiceSpec{
				ObjectMetadata: v1alpha1.ObjectMetadata{
					Labels:      map[string]v1alpha1.LabelValue{"team": "sales", "app.kubernetes.io/name": "mine"},
					Annotations: map[string]v1alpha1.AnnotationValue{"example.com/internal": "true"},
				},
				Type: "LoadBalancer", IPFamilies: []v1alpha1.IPFamily{"IPv4"}, IPFamilyPolicy: "PreferDualStack",
				LoadBalancerClass: "example.com/internal", LoadBalancerSourceRanges: []v1alpha1.CIDR{"10.0.0.0/8", "fd00::/8"},
				ExternalTrafficPolicy: "Local", InternalTrafficPolicy: "Local", TrafficDistribution: "PreferClose",
			}
		})
		service := &corev1.Service{ObjectMeta: w.meta("shop-mcp")}
		Expect(exists(service)()).To(BeTrue())
		Expect(service.Labels).To(And(HaveKeyWithValue("team", "sales"), HaveKeyWithValue("mcpadmin.dev/endpoint", "shop"),
			HaveKeyWithValue("app.kubernetes.io/name", "mcp-admin-server")))
		Expect(service.Annotations).To(HaveKeyWithValue("example.com/internal", "true"))
		spec := service.Spec
		Expect(spec.Type).To(Equal(corev1.ServiceTypeLoadBalancer))
		Expect(spec.IPFamilies).To(Equal([]corev1.IPFamily{"IPv4"}))
		Expect(*spec.IPFamilyPolicy).To(Equal(corev1.IPFamilyPolicyPreferDualStack))
		Expect(*spec.LoadBalancerClass).To(Equal("example.com/internal"))
		Expect(spec.LoadBalancerSourceRanges).To(Equal([]string{"10.0.0.0/8", "fd00::/8"}))
		Expect(spec.ExternalTrafficPolicy).To(Equal(corev1.ServiceExternalTrafficPolicyLocal))
		Expect(*spec.InternalTrafficPolicy).To(Equal(corev1.ServiceInternalTrafficPolicyLocal))
		Expect(*spec.TrafficDistribution).To(Equal("PreferClose"))
		Expect(spec.Ports).To(HaveLen(1), "the admin port is not on it")
		Expect(spec.Ports[0].Port).To(BeEquivalentTo(80))

		// Nothing gives it an address. The endpoint does not wait for ever, and the condition still tells it.
		Expect(reads(e, "Routed")()).To(Equal("Unknown WaitingForAddress"))
		Expect(e.Status.URL).To(Equal("http://shop-mcp." + w.namespace + ".svc/mcp/"))
		service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}}
		Expect(k8s.Status().Update(context.Background(), service)).To(Succeed())
		Eventually(reads(e, "Routed")).Should(Equal("True Routed"))
		Expect(message(e, "Routed")).To(Equal(`Service "shop-mcp" has the address 192.0.2.1`))
		w.expectQuiet()

		edit(e, func(e *endpointType) { e.Spec.Network.Service = v1alpha1.ServiceSpec{} })
		Eventually(func() corev1.ServiceType {
			exists(service)()
			return service.Spec.Type
		}).Should(Equal(corev1.ServiceTypeClusterIP))
		Expect(service.Labels).NotTo(HaveKey("team"))
		Expect(service.Annotations).NotTo(HaveKey("example.com/internal"))
		Expect(service.Spec.LoadBalancerClass).To(BeNil())
		Expect(service.Spec.LoadBalancerSourceRanges).To(BeEmpty())
		Expect(service.Spec.ExternalTrafficPolicy).To(BeEmpty())
		Expect(service.Spec.TrafficDistribution).To(BeNil())
		Expect(service.Spec.Ports[0].NodePort).To(BeZero())
		expectReady(e)
		Expect(message(e, "Routed")).To(Equal(`Service "shop-mcp" leads to the server's pods from within the cluster`))
		w.expectQuiet()
	})

	It("says what the API server has against a change, until the Service is made again", func() {
		w := newWorld()
		e := w.readyEndpoint("shop", func(s *v1alpha1.MCPEndpointSpec) {
			s.Network.Service = v1alpha1.ServiceSpec{Type: "LoadBalancer", LoadBalancerClass: "example.com/a"}
		})
		edit(e, func(e *endpointType) { e.Spec.Network.Service.LoadBalancerClass = "example.com/b" })
		Eventually(reads(e, "Stalled")).Should(Equal("True Invalid"))
		Expect(message(e, "WorkloadAvailable")).To(ContainSubstring("loadBalancerClass"))
		w.delete(&corev1.Service{ObjectMeta: w.meta("shop-mcp")})
		service := &corev1.Service{ObjectMeta: w.meta("shop-mcp")}
		Eventually(func() string {
			if !exists(service)() || service.Spec.LoadBalancerClass == nil {
				return ""
			}
			return *service.Spec.LoadBalancerClass
		}).Should(Equal("example.com/b"))
		expectReady(e)
	})
})

var _ = Describe("An endpoint's Ingress", func() {
	withIngress := func(s *v1alpha1.MCPEndpointSpec) {
		s.Server.BasePath = "/shop"
		s.Network.Ingress = &v1alpha1.IngressSpec{
			ObjectMetadata: v1alpha1.ObjectMetadata{
				Labels:      map[string]v1alpha1.LabelValue{"team": "sales"},
				Annotations: map[string]v1alpha1.AnnotationValue{"cert-manager.io/cluster-issuer": "letsencrypt"},
			},
			ClassName: "nginx", Host: "mcp.example.com",
			TLS: &v1alpha1.IngressTLS{SecretRef: &v1alpha1.SecretReference{Name: "mcp-tls"}},
		}
	}

	It("leads to the server's path, waits for an address, and goes when nobody asks for it", func() {
		w := newWorld()
		e := w.endpoint("shop")
		withIngress(&e.Spec)
		w.create(e, w.token("agent", "shop"))
		server := w.runServer("shop", "shop-0")
		Eventually(reads(e, "Ready")).Should(Equal("False SecretNotFound"))
		Expect(message(e, "Ready")).To(ContainSubstring(`Secret "mcp-tls"`))
		w.create(&corev1.Secret{ObjectMeta: w.meta("mcp-tls")}) // as cert-manager does, once the Ingress is there
		Eventually(reads(e, "Routed")).Should(Equal("Unknown WaitingForAddress"))
		ingress := &networkingv1.Ingress{ObjectMeta: w.meta("shop-mcp")}
		Expect(exists(ingress)()).To(BeTrue())
		Expect(ingress.Labels).To(HaveKeyWithValue("team", "sales"))
		Expect(ingress.Annotations).To(HaveKeyWithValue("cert-manager.io/cluster-issuer", "letsencrypt"))
		Expect(metav1.IsControlledBy(ingress, e)).To(BeTrue())
		prefix := networkingv1.PathTypePrefix
		Expect(ingress.Spec).To(Equal(networkingv1.IngressSpec{
			IngressClassName: new("nginx"),
			TLS:              []networkingv1.IngressTLS{{Hosts: []string{"mcp.example.com"}, SecretName: "mcp-tls"}},
			Rules: []networkingv1.IngressRule{{Host: "mcp.example.com", IngressRuleValue: networkingv1.IngressRuleValue{
				HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{
					Path: "/shop/mcp", PathType: &prefix,
					Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
						Name: "shop-mcp", Port: networkingv1.ServiceBackendPort{Name: "http"},
					}},
				}}},
			}}},
		}))
		expectReady(e) // some controllers never report an address
		Expect(reads(e, "Routed")()).To(Equal("Unknown WaitingForAddress"))
		Expect(e.Status.URL).To(Equal("https://mcp.example.com/shop/mcp/"))
		Expect(server.applied().Endpoint.URL).To(Equal(e.Status.URL))
		w.text("agent")
		Expect(string(w.secret("agent").Data["url"])).To(Equal(e.Status.URL))
		w.expectQuiet()

		ingress.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{Hostname: "lb.example.com"}}
		Expect(k8s.Status().Update(context.Background(), ingress)).To(Succeed())
		Eventually(reads(e, "Routed")).Should(Equal("True Routed"))
		Expect(message(e, "Routed")).To(Equal(`Ingress "shop-mcp" has the address lb.example.com`))

		edit(e, withIssuers("corp"))
		edit(e, func(e *endpointType) { e.Spec.Network.ExternalURL = "" })
		paths := func() (led []string) {
			Expect(exists(ingress)()).To(BeTrue())
			for _, path := range ingress.Spec.Rules[0].HTTP.Paths {
				led = append(led, path.Path+" "+path.Backend.Service.Name)
			}
			return led
		}
		Eventually(paths).Should(Equal([]string{"/shop/mcp shop-mcp", "/.well-known/oauth-protected-resource/shop/mcp shop-mcp"}))
		edit(e, withIssuers())
		edit(e, func(e *endpointType) { e.Spec.Network.ExternalURL = "" })
		Eventually(paths).Should(Equal([]string{"/shop/mcp shop-mcp"}))

		w.delete(ingress)
		Eventually(exists(ingress)).Should(BeTrue(), "it is made again")
		edit(e, func(e *endpointType) { e.Spec.Network.Ingress = nil })
		Eventually(exists(ingress)).Should(BeFalse())
		expectReady(e)
		Expect(e.Status.URL).To(Equal("http://shop-mcp." + w.namespace + ".svc/shop/mcp/"))
		Eventually(func() string { return string(w.secret("agent").Data["url"]) }).Should(Equal(e.Status.URL))
	})

	It("shows no certificate whose Secret does not allow it, if Secrets must", func() {
		running.stop()
		running = startManagerWith(apiServer.Config, func(o *controllers.Options) { o.RequireSecretOptIn = true })
		DeferCleanup(func() {
			running.stop()
			running = startManager(apiServer.Config)
		})
		w := newWorld()
		w.create(&corev1.Secret{ObjectMeta: w.meta("mcp-tls")})
		e := w.endpoint("shop")
		withIngress(&e.Spec)
		w.create(e)
		w.runServer("shop", "shop-0")
		Eventually(reads(e, "Ready")).Should(Equal("False SecretNotAllowed"))
		ingress := &networkingv1.Ingress{ObjectMeta: w.meta("shop-mcp")}
		Expect(exists(ingress)()).To(BeFalse())
		edit(w.secret("mcp-tls"), func(s *corev1.Secret) {
			s.Annotations = map[string]string{"mcpadmin.dev/allow-endpoints": "shop"}
		})
		Eventually(exists(ingress)).Should(BeTrue())
		expectReady(e)
	})

	It("is not somebody else's, whether it is asked for or not", func() {
		w := newWorld()
		foreign := &networkingv1.Ingress{ObjectMeta: w.meta("shop-mcp")}
		foreign.Spec.DefaultBackend = &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
			Name: "other", Port: networkingv1.ServiceBackendPort{Number: 80},
		}}
		w.create(foreign)
		e := w.readyEndpoint("shop", func(*v1alpha1.MCPEndpointSpec) {})
		edit(e, func(e *endpointType) { withIngress(&e.Spec) })
		Eventually(reads(e, "Ready")).Should(Equal("False OwnershipConflict"))
		Expect(message(e, "Routed")).To(ContainSubstring(`Ingress "shop-mcp"`))
		edit(e, func(e *endpointType) { e.Spec.Network.Ingress = nil })
		expectReady(e)
		Expect(exists(foreign)()).To(BeTrue())
		Expect(foreign.Spec.DefaultBackend.Service.Name).To(Equal("other"))
	})

	It("is not made before a Service that is somebody else's", func() {
		w := newWorld()
		e := w.endpoint("shop")
		withIngress(&e.Spec)
		w.create(&corev1.Service{ObjectMeta: w.meta("shop-mcp"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}}}, e)
		Eventually(reads(e, "WorkloadAvailable")).Should(Equal("False OwnershipConflict"))
		Consistently(exists(&networkingv1.Ingress{ObjectMeta: w.meta("shop-mcp")})).Should(BeFalse())
	})
})

var _ = Describe("An endpoint's NetworkPolicy", func() {
	withPolicy := func(s *v1alpha1.MCPEndpointSpec) {
		s.Network.NetworkPolicy = &v1alpha1.NetworkPolicySpec{
			From: []v1alpha1.NetworkPeer{
				{PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "agent"}}},
				{NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
					{Key: "team", Operator: "In", Values: []string{"sales"}},
				}}},
				{IPBlock: &v1alpha1.IPBlock{CIDR: "10.0.0.0/8", Except: []v1alpha1.CIDR{"10.1.0.0/16"}}},
			},
			MetricsFrom: []v1alpha1.NetworkPeer{{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": "monitoring"}},
				PodSelector:       &metav1.LabelSelector{},
			}},
		}
	}

	It("lets in who may call, and to the admin port the manager and who reads metrics", func() {
		w := newWorld()
		e := w.readyEndpoint("shop", withPolicy)
		policy := &networkingv1.NetworkPolicy{ObjectMeta: w.meta("shop-mcp")}
		Expect(exists(policy)()).To(BeTrue())
		Expect(policy.Spec.PolicyTypes).To(Equal([]networkingv1.PolicyType{"Ingress"}), "what the pods reach is left alone")

		deployment := &appsv1.Deployment{ObjectMeta: w.meta("shop-mcp")}
		Expect(exists(deployment)()).To(BeTrue())
		pods, err := metav1.LabelSelectorAsSelector(&policy.Spec.PodSelector)
		Expect(err).NotTo(HaveOccurred())
		Expect(pods.Matches(labels.Set(deployment.Spec.Template.Labels))).To(BeTrue(), "it selects the server's pods")
		Expect(pods.Matches(labels.Set{"mcpadmin.dev/endpoint": "other", "mcpadmin.dev/component": "server"})).To(BeFalse())

		ports := map[string]int32{}
		for _, port := range deployment.Spec.Template.Spec.Containers[0].Ports {
			ports[port.Name] = port.ContainerPort
		}
		Expect(policy.Spec.Ingress).To(HaveLen(2))
		agents, admin := policy.Spec.Ingress[0], policy.Spec.Ingress[1]
		Expect(agents.Ports).To(HaveLen(1))
		Expect(agents.Ports[0].Port.IntVal).To(Equal(ports["http"]))
		Expect(agents.From).To(Equal([]networkingv1.NetworkPolicyPeer{
			{PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "agent"}}},
			{NamespaceSelector: e.Spec.Network.NetworkPolicy.From[1].NamespaceSelector},
			{IPBlock: &networkingv1.IPBlock{CIDR: "10.0.0.0/8", Except: []string{"10.1.0.0/16"}}},
		}))
		Expect(admin.Ports).To(HaveLen(1))
		Expect(admin.Ports[0].Port.IntVal).To(Equal(ports["admin"]))
		Expect(admin.From).To(Equal([]networkingv1.NetworkPolicyPeer{
			{NamespaceSelector: e.Spec.Network.NetworkPolicy.MetricsFrom[0].NamespaceSelector, PodSelector: &metav1.LabelSelector{}},
			{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": "mcp-admin-system"}},
				PodSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/component": "manager"}},
			},
		}))
		w.expectQuiet()

		edit(e, func(e *endpointType) { e.Spec.Network.NetworkPolicy.MetricsFrom = nil })
		Eventually(func() int {
			exists(policy)()
			return len(policy.Spec.Ingress[1].From)
		}).Should(Equal(1), "the manager alone")
		edit(e, func(e *endpointType) {
			e.Spec.Server.TLS = &v1alpha1.ServerTLS{CertificateSecretRef: v1alpha1.SecretReference{Name: "shop-tls"}}
		})
		Eventually(func() int32 {
			exists(policy)()
			return policy.Spec.Ingress[0].Ports[0].Port.IntVal
		}).Should(BeEquivalentTo(8443))
		edit(e, func(e *endpointType) { e.Spec.Network.NetworkPolicy = nil })
		Eventually(exists(policy)).Should(BeFalse())
	})

	It("is there before the pods, or there are none", func() {
		w := newWorld()
		foreign := &networkingv1.NetworkPolicy{ObjectMeta: w.meta("shop-mcp")}
		e := w.endpoint("shop")
		withPolicy(&e.Spec)
		w.create(foreign, e)
		Eventually(reads(e, "WorkloadAvailable")).Should(Equal("False OwnershipConflict"))
		Expect(message(e, "Ready")).To(ContainSubstring(`NetworkPolicy "shop-mcp"`))
		deployment := &appsv1.Deployment{ObjectMeta: w.meta("shop-mcp")}
		Consistently(exists(deployment)).Should(BeFalse())
		edit(e, func(e *endpointType) { e.Spec.Network.NetworkPolicy = nil })
		Eventually(exists(deployment)).Should(BeTrue())
		Expect(exists(foreign)()).To(BeTrue(), "it is not ours to delete")
	})
})
