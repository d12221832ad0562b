package controllers_test

import (
	"context"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers"
)

func (w *world) namespaceMeta() metav1.ObjectMeta { return metav1.ObjectMeta{Name: w.namespace} }

// read reads an object's present state.
func read[O client.Object](o O) O {
	GinkgoHelper()
	Expect(k8s.Get(context.Background(), client.ObjectKeyFromObject(o), o)).To(Succeed())
	return o
}

// isThere polls whether an object exists.
func isThere(o client.Object) func() bool {
	return func() bool { return k8s.Get(context.Background(), client.ObjectKeyFromObject(o), o) == nil }
}

// workload is one empty object of each kind that runs an endpoint's server.
func (w *world) workload(endpoint string) []client.Object {
	meta := w.meta(endpoint + "-mcp")
	return []client.Object{
		&corev1.ServiceAccount{ObjectMeta: meta}, &rbacv1.Role{ObjectMeta: meta}, &rbacv1.RoleBinding{ObjectMeta: meta},
		&corev1.Service{ObjectMeta: meta}, &appsv1.Deployment{ObjectMeta: meta},
		&autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: meta}, &policyv1.PodDisruptionBudget{ObjectMeta: meta},
	}
}

var _ = Describe("The number of pods", func() {
	var w *world
	BeforeEach(func() { w = newWorld() })

	// watched counts the values that a Deployment's replicas had.
	watched := func() *[]int32 {
		GinkgoHelper()
		watching, err := k8s.Watch(context.Background(), &appsv1.DeploymentList{}, client.InNamespace(w.namespace))
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(watching.Stop)
		seen := &[]int32{}
		go func() {
			for event := range watching.ResultChan() {
				if d, is := event.Object.(*appsv1.Deployment); is {
					*seen = append(*seen, *d.Spec.Replicas)
				}
			}
		}()
		return seen
	}

	It("stays as it is when it is handed over to an autoscaler, and back", func() {
		seen := watched()
		e := w.connected("shop")
		e.Spec.Server.Replicas = new(int32(3))
		w.create(e)
		d := w.deployment("shop")
		Expect(*d.Spec.Replicas).To(BeEquivalentTo(3))
		for _, n := range []int32{5, 4, 6} { // the second time and later, too
			edit(e, func(e *endpointType) {
				e.Spec.Server.Replicas = nil
				e.Spec.Server.Autoscaling = &v1alpha1.AutoscalingSpec{MaxReplicas: 10}
			})
			hpa := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: w.meta("shop-mcp")}
			Eventually(isThere(hpa)).Should(BeTrue())
			Expect(hpa.Spec.ScaleTargetRef).To(Equal(autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "shop-mcp"}))
			Expect(*hpa.Spec.Metrics[0].Resource.Target.AverageUtilization).To(BeEquivalentTo(80))

			// The autoscaler scales, and nobody puts it back, whatever else changes.
			scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: n}}
			Expect(k8s.SubResource("scale").Update(context.Background(), d, client.WithSubResourceBody(scale), client.FieldOwner("kube-controller-manager"))).To(Succeed())
			edit(e, func(e *endpointType) {
				e.Spec.Server.PodAnnotations = map[string]v1alpha1.AnnotationValue{"n": v1alpha1.AnnotationValue(strconv.Itoa(int(n)))}
			})
			Eventually(func() string { return read(d).Spec.Template.Annotations["n"] }).ShouldNot(BeEmpty())
			Consistently(func() int32 { return *read(d).Spec.Replicas }).Should(Equal(n))

			edit(e, func(e *endpointType) {
				e.Spec.Server.Replicas, e.Spec.Server.Autoscaling = &n, nil
			})
			Eventually(isThere(hpa)).Should(BeFalse())
			Consistently(func() int32 { return *read(d).Spec.Replicas }).Should(Equal(n))
		}
		edit(e, func(e *endpointType) { e.Spec.Server.Replicas = new(int32(2)) })
		Eventually(func() int32 { return *read(d).Spec.Replicas }).Should(BeEquivalentTo(2))
		edit(e, func(e *endpointType) { e.Spec.Server.Replicas = nil })
		Consistently(func() int32 { return *read(d).Spec.Replicas }).Should(BeEquivalentTo(2))
		Expect(*seen).NotTo(ContainElement(BeEquivalentTo(1)))
	})

	It("is scaled by kubectl scale, and can be read by an autoscaler", func() {
		e := w.connected("shop")
		e.Spec.Server.Replicas = new(int32(1))
		w.create(e)
		w.runServer("shop", "shop-0")
		Eventually(func() string { return read(e).Status.ReadyDisplay }).Should(Equal("1/1"))
		scale := &autoscalingv1.Scale{}
		Expect(k8s.SubResource("scale").Get(context.Background(), e, scale)).To(Succeed())
		Expect(scale.Status.Replicas).To(BeEquivalentTo(1))
		Expect(scale.Status.Selector).To(Equal("mcpadmin.dev/component=server,mcpadmin.dev/endpoint=shop"))
		scale.Spec.Replicas = 3
		Expect(k8s.SubResource("scale").Update(context.Background(), e, client.WithSubResourceBody(scale))).To(Succeed())
		Eventually(func() int32 { return *w.deployment("shop").Spec.Replicas }).Should(BeEquivalentTo(3))
		Eventually(func() string { return read(e).Status.ReadyDisplay }).Should(Equal("1/3"))
	})

	It("can be scaled though the endpoint does not say it", func() {
		e := w.connected("shop")
		w.create(e)
		w.deployment("shop")
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":2}}`))
		Expect(k8s.SubResource("scale").Patch(context.Background(), e, patch)).To(Succeed())
		Eventually(func() int32 { return *w.deployment("shop").Spec.Replicas }).Should(BeEquivalentTo(2))
	})

	It("says why its autoscaler does not scale", func() {
		e := w.connected("shop")
		e.Spec.Server.Autoscaling = &v1alpha1.AutoscalingSpec{MaxReplicas: 3, TargetMemoryUtilizationPercentage: 70}
		w.create(e)
		w.runServer("shop", "shop-0")
		hpa := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: w.meta("shop-mcp")}
		Eventually(isThere(hpa)).Should(BeTrue())
		Expect(hpa.Spec.Metrics).To(HaveLen(1))
		Expect(hpa.Spec.Metrics[0].Resource.Name).To(Equal(corev1.ResourceMemory))
		hpa.Status = autoscalingv2.HorizontalPodAutoscalerStatus{Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{{
			Type: autoscalingv2.ScalingActive, Status: corev1.ConditionFalse, Reason: "FailedGetResourceMetric", LastTransitionTime: metav1.Now(),
		}}}
		Expect(k8s.Status().Update(context.Background(), hpa)).To(Succeed())
		Eventually(func() string {
			reads(e, "WorkloadAvailable")()
			return message(e, "WorkloadAvailable")
		}).Should(ContainSubstring("FailedGetResourceMetric"))
	})

	It("is kept by a budget, as long as the endpoint asks for one", func() {
		e := w.connected("shop")
		e.Spec.Server = serverSpec(`{replicas: 3, podDisruptionBudget: {maxUnavailable: 1}}`)
		w.create(e)
		pdb := &policyv1.PodDisruptionBudget{ObjectMeta: w.meta("shop-mcp")}
		Eventually(isThere(pdb)).Should(BeTrue())
		Expect(pdb.Spec.MaxUnavailable.IntValue()).To(Equal(1))
		Expect(pdb.Spec.Selector.MatchLabels).To(Equal(w.deployment("shop").Spec.Selector.MatchLabels))
		edit(e, func(e *endpointType) {
			e.Spec.Server = serverSpec(`{replicas: 3, podDisruptionBudget: {minAvailable: 50%}}`)
		})
		Eventually(func() string {
			read(pdb)
			return pdb.Spec.MinAvailable.String()
		}).Should(Equal("50%"))
		Expect(pdb.Spec.MaxUnavailable).To(BeNil())
		edit(e, func(e *endpointType) { e.Spec.Server.PodDisruptionBudget = nil })
		Eventually(isThere(pdb)).Should(BeFalse())
	})
})

var _ = Describe("What others do to an endpoint's objects", func() {
	var w *world
	BeforeEach(func() { w = newWorld() })

	It("is kept if admission adds it, and sent no more", func() {
		inject(w.namespace)
		e, token := w.connected("shop"), w.token("agent", "shop")
		e.Spec.Server = serverSpec(`{tolerations: [{key: ours, operator: Exists}], env: [{name: A, value: a}]}`)
		w.create(e, token)
		w.runServer("shop", "shop-0")
		expectReady(e, token)
		d := w.deployment("shop")
		expectInjected := func() {
			GinkgoHelper()
			pod := read(d).Spec.Template.Spec
			Expect(pod.Containers).To(ContainElement(HaveField("Name", "injected")))
			Expect(pod.Volumes).To(ContainElement(HaveField("Name", "injected")))
			Expect(pod.Tolerations).To(ConsistOf(HaveField("Key", "ours"), HaveField("Key", "injected")))
			for _, c := range pod.Containers {
				if c.Name == "server" {
					Expect(c.Env).To(ContainElement(HaveField("Name", "INJECTED")))
				}
			}
		}
		expectInjected()
		Expect(w.deploymentWrites()).To(HaveLen(1), "what the creation became is accepted")

		// A foreign change of what is ours is put back, and what admission does to that write is accepted at once.
		edit(d, func(d *appsv1.Deployment) { d.Spec.Template.Spec.PriorityClassName = "theirs" })
		for i := range d.Spec.Template.Spec.Containers {
			if d.Spec.Template.Spec.Containers[i].Name == "server" {
				edit(d, func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[i].Image = "evil" })
			}
		}
		Eventually(func() string { return serverOf(read(d)).Image }).Should(Equal("server:test"))
		expectInjected()
		w.deploymentAvailable("shop")
		expectReady(e)

		time.Sleep(300 * time.Millisecond) // what was under way has ended
		written, generation := len(w.deploymentWrites()), read(d).Generation
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			another := w.token(name, "shop")
			w.create(another)
			expectReady(another)
		}
		edit(e, func(e *endpointType) { e.Spec.Server.Limits.MaxBodyBytes = 2048 })
		expectReady(e)
		Consistently(func() int64 { return read(d).Generation }).Should(Equal(generation))
		Expect(w.deploymentWrites()).To(HaveLen(written))

		// What the endpoint wants otherwise is sent, once.
		edit(e, func(e *endpointType) { e.Spec.Server.Tolerations[0].Key = "others" })
		Eventually(func() []corev1.Toleration { return read(d).Spec.Template.Spec.Tolerations }).Should(ConsistOf(HaveField("Key", "others"), HaveField("Key", "injected")))
		Consistently(func() int { return len(w.deploymentWrites()) }).Should(Equal(written + 1))
	})

	It("is put back at once if it is a label or an owner that is taken away", func() {
		e := w.connected("shop")
		e.Spec.Server = serverSpec(`{autoscaling: {maxReplicas: 3}, podDisruptionBudget: {maxUnavailable: 1}}`)
		w.create(e)
		w.runServer("shop", "shop-0")
		expectReady(e)
		for _, o := range w.workload("shop") {
			read(o)
			labels, owners := o.GetLabels(), o.GetOwnerReferences()
			for what, change := range map[string]func(client.Object){
				"all labels":          func(o client.Object) { o.SetLabels(nil) },
				"the component label": func(o client.Object) { withoutLabel(o, "mcpadmin.dev/component") },
				"another label":       func(o client.Object) { withoutLabel(o, "app.kubernetes.io/name") },
				"the owner":           func(o client.Object) { o.SetOwnerReferences(nil) },
				"labels and owner":    func(o client.Object) { o.SetLabels(nil); o.SetOwnerReferences(nil) },
			} {
				edit(o, change)
				Eventually(func(g Gomega) {
					read(o)
					g.Expect(o.GetLabels()).To(Equal(labels))
					g.Expect(o.GetOwnerReferences()).To(Equal(owners))
				}).Should(Succeed(), "%T without %s", o, what)
			}
		}
	})

	It("stands in the way as long as it is there, and no longer", func() {
		for _, theirs := range w.workload("shop") {
			if a, is := theirs.(*autoscalingv2.HorizontalPodAutoscaler); is {
				a.Spec = autoscalingv2.HorizontalPodAutoscalerSpec{MaxReplicas: 1, ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "x", Name: "x"}}
			}
			switch o := theirs.(type) {
			case *corev1.Service:
				o.Spec.Ports = []corev1.ServicePort{{Port: 1}}
			case *appsv1.Deployment:
				o.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
				o.Spec.Template.Labels = map[string]string{"a": "b"}
				o.Spec.Template.Spec.Containers = []corev1.Container{{Name: "x", Image: "x"}}
			case *rbacv1.RoleBinding:
				o.RoleRef = rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: "x"}
			}
			w.create(theirs)
		}
		e := w.connected("shop")
		e.Spec.Server = serverSpec(`{autoscaling: {maxReplicas: 3}, podDisruptionBudget: {maxUnavailable: 1}}`)
		w.create(e)
		for _, theirs := range w.workload("shop") {
			Eventually(func() string {
				reads(e, "WorkloadAvailable")()
				return message(e, "WorkloadAvailable")
			}).Should(ContainSubstring("exists and is not this object's own"))
			w.delete(read(theirs))
			Eventually(func() bool {
				return isThere(theirs)() && metav1.GetControllerOfNoCopy(theirs) != nil
			}).Should(BeTrue(), "%T", theirs)
		}
	})
})

var _ = Describe("Two managers that want different things", func() {
	It("do not fight: one gives way", func() {
		w := newWorld()
		e := w.connected("shop")
		w.create(e)
		w.runServer("shop", "shop-0")
		expectReady(e)
		other := startManagerWith(apiServer.Config, func(o *controllers.Options) { o.ServerImage = "server:other" }, w.namespace)
		DeferCleanup(func() { recorded.forgiveOlder(w.namespace) })
		DeferCleanup(other.stop)
		d := w.deployment("shop")
		before := d.Generation
		for _, n := range []int64{2048, 4096, 8192} { // both have something to do
			edit(e, func(e *endpointType) { e.Spec.Server.Limits.MaxBodyBytes = n })
			edit(d, func(d *appsv1.Deployment) { metav1.SetMetaDataLabel(&d.ObjectMeta, "n", strconv.FormatInt(n, 10)) })
			time.Sleep(200 * time.Millisecond)
		}
		time.Sleep(time.Second)
		Expect(read(d).Generation-before).To(BeNumerically("<=", 3), "each takes over once, and the one that comes first in order once more")
		settled := d.Generation
		Consistently(func() int64 { return read(d).Generation }).WithTimeout(2 * time.Second).Should(Equal(settled))
	})
})

func withoutLabel(o client.Object, key string) {
	labels := o.GetLabels()
	delete(labels, key)
	o.SetLabels(labels)
}

// serverOf is the server's container.
func serverOf(d *appsv1.Deployment) *corev1.Container {
	for i := range d.Spec.Template.Spec.Containers {
		if d.Spec.Template.Spec.Containers[i].Name == "server" {
			return &d.Spec.Template.Spec.Containers[i]
		}
	}
	return &corev1.Container{}
}

// deploymentWrites are the requests that the manager sent to write Deployments.
func (w *world) deploymentWrites() []string {
	var sent []string
	for _, request := range running.writes.to(w.namespace) {
		if strings.Contains(request, "/deployments") {
			sent = append(sent, request)
		}
	}
	return sent
}

// inject makes the API server add a sidecar, a volume, a toleration and a variable to each Deployment of a namespace, as
// a mesh's webhook does, whenever it is written.
func inject(namespace string) {
	GinkgoHelper()
	name := "inject-" + namespace
	policy := &admissionv1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
	policy.Spec = admissionv1.MutatingAdmissionPolicySpec{
		ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
		FailurePolicy:      new(admissionv1.Fail),
		MatchConstraints: &admissionv1.MatchResources{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace}},
			ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
				Rule:       admissionv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
			}}},
		},
	}
	for _, patch := range []string{
		`object.spec.template.spec.containers.exists(c, c.name == "injected") ? [] : [
			JSONPatch{op: "add", path: "/spec/template/spec/containers/0", value: Object.spec.template.spec.containers{name: "injected", image: "proxy"}}]`,
		`has(object.spec.template.spec.volumes) && object.spec.template.spec.volumes.exists(v, v.name == "injected") ? [] : [
			JSONPatch{op: "add", path: "/spec/template/spec/volumes/0", value: Object.spec.template.spec.volumes{name: "injected"}}]`,
		`object.spec.template.spec.tolerations.exists(t, t.key == "injected") ? [] : [
			JSONPatch{op: "add", path: "/spec/template/spec/tolerations/-", value: Object.spec.template.spec.tolerations{key: "injected", operator: "Exists"}}]`,
		`object.spec.template.spec.containers.exists(c, c.name == "server" && c.env.exists(e, e.name == "INJECTED")) ? [] :
			object.spec.template.spec.containers.map(c, c.name).indexOf("server") < 0 ? [] : [
			JSONPatch{op: "add", path: "/spec/template/spec/containers/" + string(object.spec.template.spec.containers.map(c, c.name).indexOf("server")) + "/env/0",
				value: Object.spec.template.spec.containers.env{name: "INJECTED", value: "yes"}}]`,
	} {
		policy.Spec.Mutations = append(policy.Spec.Mutations, admissionv1.Mutation{
			PatchType: admissionv1.PatchTypeJSONPatch, JSONPatch: &admissionv1.JSONPatch{Expression: patch},
		})
	}
	binding := &admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}}
	binding.Spec.PolicyName = name
	for _, o := range []client.Object{policy, binding} {
		Expect(k8s.Create(context.Background(), o)).To(Succeed())
		DeferCleanup(func() { Expect(k8s.Delete(context.Background(), o)).To(Succeed()) })
	}
	// It takes effect some time later.
	Eventually(func() int {
		probe := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "probe"}}
		probe.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
		probe.Spec.Template.Labels = map[string]string{"a": "b"}
		probe.Spec.Template.Spec.Containers = []corev1.Container{{Name: "server", Image: "x", Env: []corev1.EnvVar{{Name: "A"}}}}
		probe.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists}}
		probe.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "a"}}
		Expect(k8s.Create(context.Background(), probe, client.DryRunAll)).To(Succeed())
		return len(probe.Spec.Template.Spec.Containers)
	}).Should(Equal(2))
}
