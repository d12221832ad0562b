package controllers_test

import (
	"context"
	"os"
	"regexp"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// manifest is an example of a document that can be applied.
var manifest = regexp.MustCompile("(?s)```yaml\n(apiVersion:.*?)```")

// applyExamples creates the examples of a document in the namespace, and returns how many there are.
func (w *world) applyExamples(page string) int {
	GinkgoHelper()
	content, err := os.ReadFile(page)
	Expect(err).NotTo(HaveOccurred())
	examples := manifest.FindAllStringSubmatch(string(content), -1)
	for _, example := range examples {
		object := &unstructured.Unstructured{}
		Expect(yaml.Unmarshal([]byte(example[1]), object)).To(Succeed())
		object.SetNamespace(w.namespace)
		Expect(k8s.Create(context.Background(), object, client.FieldValidation("Strict"))).To(Succeed(), example[1])
	}
	return len(examples)
}

var _ = Describe("The examples of docs/network.md", func() {
	It("make what the page says", func() {
		installKind("httproute")
		installKind("podmonitor")
		w := newWorld()
		Expect(w.applyExamples("../docs/network.md")).To(Equal(5))

		service := &corev1.Service{ObjectMeta: w.meta("balanced-mcp")}
		Eventually(exists(service)).Should(BeTrue())
		Expect(service.Spec.Type).To(Equal(corev1.ServiceTypeLoadBalancer))
		for _, made := range []client.Object{
			&networkingv1.Ingress{ObjectMeta: w.meta("shop-mcp")},
			w.unstructured("gateway.networking.k8s.io/v1", "HTTPRoute", "routed-mcp"),
			&networkingv1.NetworkPolicy{ObjectMeta: w.meta("guarded-mcp")},
			w.unstructured("monitoring.coreos.com/v1", "PodMonitor", "guarded-mcp"),
		} {
			Eventually(exists(made)).Should(BeTrue(), "%T %s", made, made.GetName())
		}
		for name, url := range map[string]string{
			"balanced": "https://mcp.example.com/mcp/", "shop": "https://mcp.example.com/shop/mcp/", "routed": "https://mcp.example.com/shop/mcp/",
			"guarded": "http://guarded-mcp." + w.namespace + ".svc/mcp/",
		} {
			e := w.endpoint(name)
			Eventually(func() string {
				exists(e)()
				return e.Status.URL
			}).Should(Equal(url))
		}

		egress, deployment := &networkingv1.NetworkPolicy{ObjectMeta: w.meta("guarded-egress")}, &appsv1.Deployment{ObjectMeta: w.meta("guarded-mcp")}
		Expect(exists(egress)()).To(BeTrue())
		Eventually(exists(deployment)).Should(BeTrue())
		selected, err := metav1.LabelSelectorAsSelector(&egress.Spec.PodSelector)
		Expect(err).NotTo(HaveOccurred())
		Expect(selected.Matches(labels.Set(deployment.Spec.Template.Labels))).To(BeTrue())
	})
})
