package controllers_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

var _ = Describe("The API server and admission about an endpoint's pods", func() {
	var w *world
	BeforeEach(func() { w = newWorld() })

	DescribeTable("agree on an endpoint", func(valid bool, change func(*v1alpha1.ServerSpec)) {
		e := w.connected("shop")
		change(&e.Spec.Server)
		agree(e, valid)
	},
		Entry("with all that it may have", true, func(s *v1alpha1.ServerSpec) {
			*s = serverSpec(`
autoscaling: {minReplicas: 2, maxReplicas: 5, targetCPUUtilizationPercentage: 70, targetMemoryUtilizationPercentage: 90}
podDisruptionBudget: {maxUnavailable: 1}
resources: {requests: {cpu: 100m}, limits: {memory: 1Gi}}
serviceAccount: {annotations: {eks.amazonaws.com/role-arn: "arn:aws:iam::1:role/x"}}
podLabels: {team: a}
podAnnotations: {note: any text}
nodeSelector: {kubernetes.io/arch: arm64}
tolerations: [{key: a, operator: Exists}]
affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}
topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]
priorityClassName: high
runtimeClassName: gvisor
env: [{name: A, valueFrom: {secretKeyRef: {name: a, key: a}}}]
volumes: [{name: ca, secret: {secretName: ca}}]
volumeMounts: [{name: ca, mountPath: /ca}]
podSecurityContext: {fsGroup: 1}
securityContext: {runAsUser: 1}
startupTimeout: 5m
terminationGracePeriod: 1m
podTemplate: {spec: {dnsPolicy: Default}}
`)
		}),
		Entry("with replicas and an autoscaler", false, func(s *v1alpha1.ServerSpec) {
			s.Replicas, s.Autoscaling = new(int32(1)), &v1alpha1.AutoscalingSpec{MaxReplicas: 2}
		}),
		Entry("with an autoscaler without a maximum", false, func(s *v1alpha1.ServerSpec) { s.Autoscaling = &v1alpha1.AutoscalingSpec{} }),
		Entry("with an autoscaler of more at least than at most", false, func(s *v1alpha1.ServerSpec) {
			s.Autoscaling = &v1alpha1.AutoscalingSpec{MinReplicas: 3, MaxReplicas: 2}
		}),
		Entry("with an autoscaler of too many", false, func(s *v1alpha1.ServerSpec) { s.Autoscaling = &v1alpha1.AutoscalingSpec{MaxReplicas: 101} }),
		Entry("with an autoscaler of a negative target", false, func(s *v1alpha1.ServerSpec) {
			s.Autoscaling = &v1alpha1.AutoscalingSpec{MaxReplicas: 2, TargetCPUUtilizationPercentage: -1}
		}),
		Entry("with a budget in percent", true, func(s *v1alpha1.ServerSpec) {
			s.PodDisruptionBudget = &v1alpha1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromString("50%"))}
		}),
		Entry("with a budget of nothing", false, func(s *v1alpha1.ServerSpec) { s.PodDisruptionBudget = &v1alpha1.PodDisruptionBudgetSpec{} }),
		Entry("with a budget of both", false, func(s *v1alpha1.ServerSpec) {
			s.PodDisruptionBudget = &v1alpha1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(1)), MaxUnavailable: new(intstr.FromInt32(1))}
		}),
		Entry("with a negative budget", false, func(s *v1alpha1.ServerSpec) {
			s.PodDisruptionBudget = &v1alpha1.PodDisruptionBudgetSpec{MaxUnavailable: new(intstr.FromInt32(-1))}
		}),
		Entry("with a budget of more than all", false, func(s *v1alpha1.ServerSpec) {
			s.PodDisruptionBudget = &v1alpha1.PodDisruptionBudgetSpec{MaxUnavailable: new(intstr.FromString("101%"))}
		}),
		Entry("with a label of ours", false, func(s *v1alpha1.ServerSpec) {
			s.PodLabels = map[string]v1alpha1.LabelValue{"mcpadmin.dev/endpoint": "other"}
		}),
		Entry("with a label that is none", false, func(s *v1alpha1.ServerSpec) { s.PodLabels = map[string]v1alpha1.LabelValue{"a": "no way"} }),
		Entry("with an annotation of ours", false, func(s *v1alpha1.ServerSpec) {
			s.PodAnnotations = map[string]v1alpha1.AnnotationValue{"mcpadmin.dev/x": "x"}
		}),
		Entry("with an annotation of ours on the ServiceAccount", false, func(s *v1alpha1.ServerSpec) {
			s.ServiceAccount.Annotations = map[string]v1alpha1.AnnotationValue{"mcpadmin.dev/x": "x"}
		}),
		Entry("with a node's label that is none", false, func(s *v1alpha1.ServerSpec) { s.NodeSelector = map[string]v1alpha1.LabelValue{"no way": "x"} }),
		Entry("with too many tolerations", false, func(s *v1alpha1.ServerSpec) { s.Tolerations = make([]corev1.Toleration, 51) }),
		Entry("with a variable twice", false, func(s *v1alpha1.ServerSpec) { s.Env = []corev1.EnvVar{{Name: "A"}, {Name: "A"}} }),
		Entry("with a volume of two kinds", false, func(s *v1alpha1.ServerSpec) {
			s.Volumes = []v1alpha1.Volume{{Name: "a", EmptyDir: &corev1.EmptyDirVolumeSource{}, Secret: &corev1.SecretVolumeSource{}}}
		}),
		Entry("with a volume of no kind", false, func(s *v1alpha1.ServerSpec) { s.Volumes = []v1alpha1.Volume{{Name: "a"}} }),
		Entry("with a volume without a name", false, func(s *v1alpha1.ServerSpec) {
			s.Volumes = []v1alpha1.Volume{{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
		}),
		Entry("with a volume twice", false, func(s *v1alpha1.ServerSpec) {
			v := v1alpha1.Volume{Name: "a", EmptyDir: &corev1.EmptyDirVolumeSource{}}
			s.Volumes = []v1alpha1.Volume{v, v}
		}),
		Entry("with two volumes at one place", false, func(s *v1alpha1.ServerSpec) {
			s.VolumeMounts = []corev1.VolumeMount{{Name: "a", MountPath: "/a"}, {Name: "b", MountPath: "/a"}}
		}),
		Entry("with a zone twice", false, func(s *v1alpha1.ServerSpec) {
			c := corev1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule}
			s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{c, c}
		}),
		Entry("with too short a start", false, func(s *v1alpha1.ServerSpec) { s.StartupTimeout = &metav1.Duration{Duration: time.Second} }),
		Entry("with too short an end", false, func(s *v1alpha1.ServerSpec) { s.TerminationGracePeriod = &metav1.Duration{Duration: 20 * time.Second} }),
		Entry("with a template that the controllers refuse", true, func(s *v1alpha1.ServerSpec) {
			s.PodTemplate = &runtime.RawExtension{Raw: []byte(`{"spec": {"contaners": []}}`)}
		}),
	)

	It("agree that one pod serves a SQLite file", func() {
		e := w.endpoint("shop")
		e.Spec.Server.Autoscaling = &v1alpha1.AutoscalingSpec{MaxReplicas: 2}
		agree(e, false)
	})
})
