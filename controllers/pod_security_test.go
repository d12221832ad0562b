package controllers_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// serverSpec is a spec.server as YAML has it.
func serverSpec(text string) v1alpha1.ServerSpec {
	GinkgoHelper()
	var spec v1alpha1.ServerSpec
	Expect(yaml.UnmarshalStrict([]byte(text), &spec)).To(Succeed())
	return spec
}

// deployment is an endpoint's Deployment, once it is there.
func (w *world) deployment(endpoint string) *appsv1.Deployment {
	GinkgoHelper()
	d := &appsv1.Deployment{ObjectMeta: w.meta(endpoint + "-mcp")}
	Eventually(func() error {
		return k8s.Get(context.Background(), client.ObjectKeyFromObject(d), d)
	}).Should(Succeed())
	return d
}

// connected is an endpoint over a connection, whose Secret it makes.
func (w *world) connected(name string) *v1alpha1.MCPEndpoint {
	GinkgoHelper()
	w.create(&corev1.Secret{ObjectMeta: w.meta("db")})
	e := w.endpoint(name)
	e.Spec.Database.SQLite = nil
	e.Spec.Database.ConnectionSecretRef = connection("db")
	return e
}

var _ = Describe("A namespace that enforces the Pod Security level restricted", func() {
	var w *world
	admit := func(template corev1.PodTemplateSpec) error {
		template.Spec.PriorityClassName = "" // there is no such class here
		pod := &corev1.Pod{ObjectMeta: w.meta("try"), Spec: template.Spec}
		pod.Labels, pod.Annotations = template.Labels, template.Annotations
		return k8s.Create(context.Background(), pod, client.DryRunAll)
	}

	BeforeEach(func() {
		w = newWorld()
		edit(&corev1.Namespace{ObjectMeta: w.namespaceMeta()}, func(n *corev1.Namespace) {
			n.Labels["pod-security.kubernetes.io/enforce"] = "restricted"
		})
		// The API server's admission sees the label a moment later. From then on it refuses other pods.
		Eventually(func() bool {
			return apierrors.IsForbidden(admit(corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "root", Image: "root"}}}}))
		}).Should(BeTrue())
	})

	DescribeTable("takes the pods of an endpoint", func(change func(*endpointType)) {
		e := w.connected("shop")
		change(e)
		w.create(e)
		Expect(admit(w.deployment("shop").Spec.Template)).To(Succeed())
	},
		Entry("with a connection", func(*endpointType) {}),
		Entry("with a CA", func(e *endpointType) {
			e.Spec.Database.TLS = &v1alpha1.DatabaseTLS{Mode: "VerifyFull", CASecretRef: secretKey("ca", "ca.crt")}
		}),
		Entry("with TLS of its own", func(e *endpointType) {
			e.Spec.Server.TLS = &v1alpha1.ServerTLS{CertificateSecretRef: v1alpha1.SecretReference{Name: "tls"}}
		}),
		Entry("with SQLite in an emptyDir", func(e *endpointType) {
			e.Spec.Database = v1alpha1.DatabaseSpec{SQLite: &v1alpha1.SQLiteSpec{EmptyDir: &v1alpha1.SQLiteEmptyDir{}}}
		}),
		Entry("with SQLite in a claim", func(e *endpointType) {
			e.Spec.Database = v1alpha1.DatabaseSpec{SQLite: &v1alpha1.SQLiteSpec{
				Claim: &v1alpha1.DatabaseClaim{Name: "data"}, InitConfigMapRef: &v1alpha1.ConfigMapReference{Name: "init"},
			}}
		}),
		Entry("with files for DuckDB", func(e *endpointType) {
			e.Spec.Database, e.Spec.Server.Image = overDuckDB(""), "server:duckdb"
		}),
		Entry("with every field, and a sidecar", func(e *endpointType) {
			e.Spec.Server = serverSpec(`
imagePullSecrets: [{name: registry}]
podLabels: {team: a}
nodeSelector: {disk: ssd}
tolerations: [{key: agents, operator: Exists}]
topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]
priorityClassName: high
env: [{name: A, value: a}]
volumes: [{name: company-ca, projected: {sources: [{configMap: {name: ca}}]}}]
volumeMounts: [{name: company-ca, mountPath: /ca, readOnly: true}]
podSecurityContext: {runAsUser: 1000, fsGroup: 1000}
securityContext: {capabilities: {add: [NET_BIND_SERVICE]}}
podTemplate:
  spec:
    containers:
    - {name: proxy, image: "server:proxy", securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}
`)
		}),
	)

	It("is what an endpoint may ask for anywhere: what it refuses, the manager refuses first", func() {
		e := w.connected("shop")
		e.Spec.Server = serverSpec(`podTemplate: {spec: {hostPID: true}}`)
		w.create(e)
		Eventually(reads(e, "WorkloadAvailable")).Should(Equal("False PodTemplateInvalid"))
		Expect(message(e, "WorkloadAvailable")).To(HavePrefix("spec.server.podTemplate.spec.hostPID"))
		Eventually(reads(e, "Stalled")).Should(Equal("True PodTemplateInvalid"))
		edit(e, func(e *endpointType) { e.Spec.Server.PodTemplate = nil })
		w.deployment("shop")
	})
})
