package controllers_test

import (
	"context"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// installKind installs a kind of testdata for a case.
func installKind(name string) {
	GinkgoHelper()
	options := envtest.CRDInstallOptions{Paths: []string{filepath.Join("testdata", "crds", name+".yaml")}, ErrorIfPathMissing: true}
	_, err := envtest.InstallCRDs(apiServer.Config, options)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { uninstallKind(name) })
}

func uninstallKind(name string) {
	GinkgoHelper()
	options := envtest.CRDInstallOptions{Paths: []string{filepath.Join("testdata", "crds", name+".yaml")}}
	kind := (&world{}).unstructured("apiextensions.k8s.io/v1", "CustomResourceDefinition", map[string]string{
		"httproute": "httproutes.gateway.networking.k8s.io", "podmonitor": "podmonitors.monitoring.coreos.com",
	}[name])
	Expect(envtest.UninstallCRDs(apiServer.Config, options)).To(Succeed())
	Eventually(exists(kind)).Should(BeFalse()) // it empties itself first
}

var _ = Describe("An endpoint's HTTPRoute", func() {
	withRoute := func(s *v1alpha1.MCPEndpointSpec) {
		s.Network.HTTPRoute = &v1alpha1.HTTPRouteSpec{
			ObjectMetadata: v1alpha1.ObjectMetadata{Labels: map[string]v1alpha1.LabelValue{"team": "sales"}},
			ParentRefs:     []v1alpha1.RouteParent{{Name: "public", Namespace: "infra", SectionName: "https", Port: 443}},
			Hostnames:      []v1alpha1.Hostname{"mcp.example.com", "mcp.example.org"},
		}
	}
	parent := map[string]any{"name": "public", "namespace": "infra", "sectionName": "https", "port": int64(443)}
	report := func(w *world, accepted, reason string) {
		GinkgoHelper()
		Eventually(func() error {
			route := w.unstructured("gateway.networking.k8s.io/v1", "HTTPRoute", "shop-mcp")
			if err := k8s.Get(context.Background(), client.ObjectKeyFromObject(route), route); err != nil {
				return err
			}
			route.Object["status"] = map[string]any{"parents": []any{map[string]any{
				"parentRef": parent, "controllerName": "example.com/gateway",
				"conditions": []any{map[string]any{
					"type": "Accepted", "status": accepted, "reason": reason, "message": "told by the test",
					"lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": route.GetGeneration(),
				}},
			}}}
			return k8s.Status().Update(context.Background(), route)
		}).Should(Succeed())
	}

	It("waits for its kind and for its Gateway, and goes when nobody asks for it", func() {
		w := newWorld()
		e := w.endpoint("shop")
		withRoute(&e.Spec)
		w.create(e)
		w.runServer("shop", "shop-0")
		Eventually(reads(e, "Ready")).Should(Equal("False KindNotInstalled"))
		Expect(message(e, "Ready")).To(ContainSubstring("HTTPRoute of gateway.networking.k8s.io/v1"))

		installKind("httproute")
		Eventually(reads(e, "Ready")).Should(Equal("False WaitingForGateway"))
		Expect(message(e, "Ready")).To(ContainSubstring("Gateway infra/public"))
		route := w.unstructured("gateway.networking.k8s.io/v1", "HTTPRoute", "shop-mcp")
		Expect(exists(route)()).To(BeTrue())
		Expect(metav1.IsControlledBy(route, e)).To(BeTrue())
		Expect(route.GetLabels()).To(And(HaveKeyWithValue("team", "sales"), HaveKeyWithValue("mcpadmin.dev/endpoint", "shop")))
		Expect(route.Object["spec"]).To(Equal(map[string]any{
			"parentRefs": []any{map[string]any{
				"group": "gateway.networking.k8s.io", "kind": "Gateway", // as the kind's schema has them
				"name": "public", "namespace": "infra", "sectionName": "https", "port": int64(443),
			}},
			"hostnames": []any{"mcp.example.com", "mcp.example.org"},
			"rules": []any{map[string]any{
				"matches":     []any{map[string]any{"path": map[string]any{"type": "PathPrefix", "value": "/mcp"}}},
				"backendRefs": []any{map[string]any{"name": "shop-mcp", "port": int64(80), "group": "", "kind": "Service", "weight": int64(1)}},
			}},
		}))
		Consistently(reads(e, "Ready")).WithTimeout(1500*time.Millisecond).Should(Equal("False WaitingForGateway"),
			"the Gateway API has controllers report, so the endpoint goes on waiting")

		report(w, "False", "NotAllowedByListeners")
		Eventually(reads(e, "Ready")).Should(Equal("False RouteNotAccepted"))
		Expect(message(e, "Ready")).To(ContainSubstring("NotAllowedByListeners: told by the test"))
		report(w, "True", "Accepted")
		expectReady(e)
		Expect(message(e, "Routed")).To(Equal(`HTTPRoute "shop-mcp" is accepted by Gateway infra/public`))
		Expect(e.Status.URL).To(Equal("https://mcp.example.com/mcp/"))
		w.expectQuiet()

		w.delete(route)
		Eventually(exists(route)).Should(BeTrue(), "it is made again, though nobody watches it")
		report(w, "True", "Accepted")
		expectReady(e)
		edit(e, func(e *endpointType) { e.Spec.Server.BasePath = "/shop" })
		Eventually(reads(e, "Ready")).Should(Equal("False WaitingForGateway"), "what was reported is about the route before")
		report(w, "True", "Accepted")
		expectReady(e)
		edit(e, withIssuers("corp"))
		Eventually(func() int {
			Expect(exists(route)()).To(BeTrue())
			rules, _, _ := unstructured.NestedSlice(route.Object, "spec", "rules")
			return len(rules[0].(map[string]any)["matches"].([]any))
		}).Should(Equal(2), "the path of the metadata leads to the server, too")
		edit(e, withIssuers())
		edit(e, func(e *endpointType) { e.Spec.Network.HTTPRoute, e.Spec.Network.ExternalURL = nil, "" })
		Eventually(exists(route)).Should(BeFalse())
		expectReady(e)
		w.expectQuiet()
	})

	It("says so when its kind is uninstalled, and is there again with it", func() {
		w := newWorld()
		installKind("httproute")
		e := w.endpoint("shop")
		withRoute(&e.Spec)
		w.create(e)
		w.runServer("shop", "shop-0")
		Eventually(reads(e, "Routed")).Should(Equal("False WaitingForGateway"))
		report(w, "True", "Accepted")
		expectReady(e)
		uninstallKind("httproute")
		Eventually(reads(e, "Ready")).Should(Equal("False KindNotInstalled"))
		installKind("httproute")
		Eventually(reads(e, "Routed")).Should(Equal("False WaitingForGateway"))
	})

	It("is not somebody else's, whether it is asked for or not", func() {
		w := newWorld()
		installKind("httproute")
		foreign := w.unstructured("gateway.networking.k8s.io/v1", "HTTPRoute", "shop-mcp")
		foreign.Object["spec"] = map[string]any{"hostnames": []any{"theirs.example.com"}}
		w.create(foreign)
		e := w.readyEndpoint("shop", func(*v1alpha1.MCPEndpointSpec) {})
		edit(e, func(e *endpointType) { withRoute(&e.Spec) })
		Eventually(reads(e, "Ready")).Should(Equal("False OwnershipConflict"))
		Expect(message(e, "Routed")).To(ContainSubstring(`HTTPRoute "shop-mcp"`))
		edit(e, func(e *endpointType) { e.Spec.Network.HTTPRoute = nil })
		expectReady(e)
		Expect(exists(foreign)()).To(BeTrue())
		edit(e, func(e *endpointType) { withRoute(&e.Spec) })
		Eventually(reads(e, "Ready")).Should(Equal("False OwnershipConflict"))
		w.delete(foreign)
		Eventually(reads(e, "Routed")).Should(Equal("False WaitingForGateway"))
	})
})

var _ = Describe("An endpoint's PodMonitor", func() {
	withMonitor := func(s *v1alpha1.MCPEndpointSpec) {
		s.Observability.PodMonitor = &v1alpha1.PodMonitorSpec{
			ObjectMetadata: v1alpha1.ObjectMetadata{Labels: map[string]v1alpha1.LabelValue{"release": "prometheus"}},
			Interval:       &metav1.Duration{Duration: 90 * time.Second},
		}
	}

	It("comes with its kind, and the endpoint is Ready without it", func() {
		w := newWorld()
		e := w.readyEndpoint("shop", withMonitor)
		Expect(reads(e, "Monitored")()).To(Equal("False KindNotInstalled"))
		Expect(message(e, "Monitored")).To(ContainSubstring("PodMonitor of monitoring.coreos.com/v1"))
		w.expectQuiet()

		installKind("podmonitor")
		Eventually(reads(e, "Monitored")).Should(Equal("True Monitored"))
		monitor := w.unstructured("monitoring.coreos.com/v1", "PodMonitor", "shop-mcp")
		Expect(exists(monitor)()).To(BeTrue())
		Expect(monitor.GetLabels()).To(HaveKeyWithValue("release", "prometheus"))
		Expect(monitor.Object["spec"]).To(Equal(map[string]any{
			"selector":            map[string]any{"matchLabels": map[string]any{"mcpadmin.dev/endpoint": "shop", "mcpadmin.dev/component": "server"}},
			"podTargetLabels":     []any{"mcpadmin.dev/endpoint"},
			"podMetricsEndpoints": []any{map[string]any{"port": "admin", "path": "/metrics", "interval": "90s"}},
		}))
		edit(e, func(e *endpointType) { e.Spec.Observability.PodMonitor.Interval = nil })
		Eventually(func() map[string]any {
			exists(monitor)()
			return monitor.Object["spec"].(map[string]any)["podMetricsEndpoints"].([]any)[0].(map[string]any)
		}).ShouldNot(HaveKey("interval"))
		w.expectQuiet()

		edit(e, func(e *endpointType) { e.Spec.Observability.PodMonitor = nil })
		Eventually(exists(monitor)).Should(BeFalse())
		Eventually(func() *metav1.Condition {
			exists(e)()
			return meta.FindStatusCondition(e.Status.Conditions, "Monitored")
		}).Should(BeNil())
		expectReady(e)
	})

	It("is deleted by a manager that was started later", func() {
		w := newWorld()
		installKind("podmonitor")
		e := w.readyEndpoint("shop", withMonitor)
		Eventually(reads(e, "Monitored")).Should(Equal("True Monitored"))
		running.stop()
		edit(e, func(e *endpointType) { e.Spec.Observability.PodMonitor = nil })
		running = startManager(apiServer.Config)
		monitor := w.unstructured("monitoring.coreos.com/v1", "PodMonitor", "shop-mcp")
		Eventually(exists(monitor)).Should(BeFalse())
	})
})

var _ = Describe("A namespace that is about to go", func() {
	It("does not make a kind look uninstalled", func() {
		err := k8s.Create(context.Background(), &networkingv1.Ingress{
			ObjectMeta: metav1.ObjectMeta{Namespace: "no-such-namespace", Name: "x"},
			Spec: networkingv1.IngressSpec{DefaultBackend: &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
				Name: "x", Port: networkingv1.ServiceBackendPort{Number: 80},
			}}},
		})
		Expect(apierrors.IsNotFound(err)).To(BeTrue())
		Expect(apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)).To(BeFalse())
	})
})
