package controllers_test

import (
	"context"
	"os"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// withRights replaces the suite's manager by one that has the rules of its role that keep says, until the case ends.
func withRights(keep func(rbacv1.PolicyRule) bool) {
	GinkgoHelper()
	content, err := os.ReadFile("../config/rbac/role.yaml")
	Expect(err).NotTo(HaveOccurred())
	role := &rbacv1.ClusterRole{}
	Expect(yaml.UnmarshalStrict(content, role)).To(Succeed())
	role.Name = ""
	role.GenerateName = "manager-"
	role.Rules = slices.DeleteFunc(role.Rules, func(r rbacv1.PolicyRule) bool { return !keep(r) })
	Expect(k8s.Create(context.Background(), role)).To(Succeed())
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: role.Name}},
	}
	Expect(k8s.Create(context.Background(), binding)).To(Succeed())
	user, err := apiServer.AddUser(envtest.User{Name: role.Name}, nil)
	Expect(err).NotTo(HaveOccurred())
	config := user.Config()
	config.QPS, config.Burst = -1, -1

	running.stop()
	running = startManager(config)
	DeferCleanup(func() {
		running.stop()
		running = startManager(apiServer.Config)
		Expect(k8s.Delete(context.Background(), binding)).To(Succeed())
		Expect(k8s.Delete(context.Background(), role)).To(Succeed())
	})
}

var _ = Describe("The manager's role", func() {
	everything := func(s *v1alpha1.MCPEndpointSpec) {
		pods := []v1alpha1.NetworkPeer{{PodSelector: &metav1.LabelSelector{}}}
		s.Network.Service.Type = "NodePort"
		s.Network.Ingress = &v1alpha1.IngressSpec{Host: "a.example"}
		s.Network.HTTPRoute = &v1alpha1.HTTPRouteSpec{
			ParentRefs: []v1alpha1.RouteParent{{Name: "public"}}, Hostnames: []v1alpha1.Hostname{"a.example"},
		}
		s.Network.NetworkPolicy = &v1alpha1.NetworkPolicySpec{From: pods, MetricsFrom: pods}
		s.Observability.PodMonitor = &v1alpha1.PodMonitorSpec{}
	}

	It("is enough to make, change and delete all that leads to an endpoint", func() {
		withRights(func(rbacv1.PolicyRule) bool { return true })
		installKind("httproute")
		installKind("podmonitor")
		w := newWorld()
		e := w.endpoint("shop")
		everything(&e.Spec)
		w.create(e)
		w.runServer("shop", "shop-0")
		children := []client.Object{
			&networkingv1.Ingress{ObjectMeta: w.meta("shop-mcp")}, &networkingv1.NetworkPolicy{ObjectMeta: w.meta("shop-mcp")},
			w.unstructured("gateway.networking.k8s.io/v1", "HTTPRoute", "shop-mcp"),
			w.unstructured("monitoring.coreos.com/v1", "PodMonitor", "shop-mcp"),
		}
		for _, child := range children {
			Eventually(exists(child)).Should(BeTrue(), "%T", child)
		}
		edit(e, func(e *endpointType) {
			e.Spec.Server.BasePath, e.Spec.Observability.PodMonitor.Interval = "/shop", &metav1.Duration{Duration: time.Minute}
		})
		Eventually(reads(e, "Monitored")).Should(Equal("True Monitored"))
		for _, child := range children {
			w.delete(child)
			Eventually(exists(child)).Should(BeTrue(), "%T", child)
		}
		edit(e, func(e *endpointType) {
			e.Spec.Network, e.Spec.Observability = v1alpha1.NetworkSpec{}, v1alpha1.ObservabilitySpec{}
		})
		for _, child := range children {
			Eventually(exists(child)).Should(BeFalse(), "%T", child)
		}
		expectReady(e)
	})

	It("may lack the kinds that need not be installed, for endpoints that ask for none", func() {
		withRights(func(r rbacv1.PolicyRule) bool { return !slices.Contains(r.APIGroups, "gateway.networking.k8s.io") })
		installKind("httproute")
		w := newWorld()
		e := w.readyEndpoint("shop", func(*v1alpha1.MCPEndpointSpec) {})
		w.expectQuiet()
		edit(e, func(e *endpointType) { everything(&e.Spec) })
		Eventually(reads(e, "Routed")).Should(Equal("False Unavailable"))
		Expect(message(e, "Routed")).To(ContainSubstring(`cannot get resource "httproutes"`))
	})
})
