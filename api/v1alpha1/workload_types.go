package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// WorkloadSpec says how the server's pods are placed, scaled and shaped. Each field has the name and the form that a pod
// or its controller has it in; what has no field here goes through podTemplate.
type WorkloadSpec struct {
	// replicas is the number of pods. Absent, whoever scales the Deployment decides; a new one starts with 1 pod. If the
	// field is removed, the number of pods does not change. A SQLite file has at most one pod.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Replicas *int32 `json:"replicas,omitempty"`
	// autoscaling makes a HorizontalPodAutoscaler for the Deployment; none when absent. It and replicas exclude each other.
	// +optional
	Autoscaling *AutoscalingSpec `json:"autoscaling,omitempty"`
	// podDisruptionBudget makes a PodDisruptionBudget for the pods; none when absent.
	// +optional
	PodDisruptionBudget *PodDisruptionBudgetSpec `json:"podDisruptionBudget,omitempty"`
	// resources are the resources of the server's container. Absent, it requests 50m CPU and 64Mi of memory, with a limit
	// of 256Mi of memory; with duckdb 256Mi of memory, with a limit of 1Gi.
	// +optional
	Resources *ResourceRequirements `json:"resources,omitempty"`
	// imagePullSecrets name Secrets with the credentials of the image's registry; none when absent.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=10
	ImagePullSecrets []SecretReference `json:"imagePullSecrets,omitempty"`
	// serviceAccount is about the pods' own ServiceAccount, which the manager makes.
	// +optional
	ServiceAccount ServiceAccountSpec `json:"serviceAccount,omitempty,omitzero"`
	// podLabels are added to the pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="self.all(k, !format.qualifiedName().validate(k).hasValue() && !format.labelValue().validate(self[k]).hasValue() && !k.startsWith('mcpadmin.dev/'))",message="must be labels, and none of mcpadmin.dev, whose labels are the controllers' own"
	PodLabels map[string]LabelValue `json:"podLabels,omitempty"`
	// podAnnotations are added to the pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="self.all(k, !format.qualifiedName().validate(k).hasValue() && !k.startsWith('mcpadmin.dev/'))",message="must be annotations, and none of mcpadmin.dev, whose annotations are the controllers' own"
	PodAnnotations map[string]AnnotationValue `json:"podAnnotations,omitempty"`
	// nodeSelector are the labels that a pod's node must have.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="self.all(k, !format.qualifiedName().validate(k).hasValue() && !format.labelValue().validate(self[k]).hasValue())",message="must be labels of nodes"
	NodeSelector map[string]LabelValue `json:"nodeSelector,omitempty"`
	// tolerations are the taints of nodes that the pods tolerate.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// affinity says which nodes, and which other pods, the pods like to be with or apart from.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
	// topologySpreadConstraints spread the pods over zones or nodes. A constraint without labelSelector is about the
	// endpoint's own pods.
	// +optional
	// +listType=map
	// +listMapKey=topologyKey
	// +listMapKey=whenUnsatisfiable
	// +kubebuilder:validation:MaxItems=20
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	// priorityClassName is the pods' PriorityClass; absent, the cluster's default.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self).hasValue()",message="must be a name that an object can have: lower-case letters, digits, '-' and '.', first and last a letter or digit"
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// runtimeClassName is the pods' RuntimeClass; absent, the nodes' default runtime.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self).hasValue()",message="must be a name that an object can have: lower-case letters, digits, '-' and '.', first and last a letter or digit"
	RuntimeClassName string `json:"runtimeClassName,omitempty"`
	// env are environment variables of the server's container, in addition to its own.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	Env []corev1.EnvVar `json:"env,omitempty"`
	// volumes are volumes of the pods, in addition to their own: for CA certificates, for example.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=50
	Volumes []Volume `json:"volumes,omitempty"`
	// volumeMounts are where the server's container has volumes.
	// +optional
	// +listType=map
	// +listMapKey=mountPath
	// +kubebuilder:validation:MaxItems=50
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`
	// podSecurityContext is merged over the pods' own security context.
	// +optional
	PodSecurityContext *corev1.PodSecurityContext `json:"podSecurityContext,omitempty"`
	// securityContext is merged over the security context of the server's container.
	// +optional
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty"`
	// startupTimeout is how long a pod may take to start before it is restarted; 60s when absent.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+$') && duration(self) >= duration('5s') && duration(self) <= duration('1h')",message="must be a duration such as 500ms, 30s or 1m30s, between 5s and 1h"
	StartupTimeout *metav1.Duration `json:"startupTimeout,omitempty"`
	// terminationGracePeriod is how long a pod may take to end before it is killed; 30s when absent. The server ends within
	// 25 seconds; more time is for the other containers of its pod.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+$') && duration(self) >= duration('25s') && duration(self) <= duration('1h')",message="must be a duration such as 500ms, 30s or 1m30s, between 25s and 1h"
	TerminationGracePeriod *metav1.Duration `json:"terminationGracePeriod,omitempty"`
	// podTemplate is a PodTemplateSpec that is merged over all of the above by the rules of a strategic merge patch: lists
	// by the names of their items. The server's container is named server. What breaks the server, or goes beyond the Pod
	// Security level restricted, is refused: WorkloadAvailable is then False with reason PodTemplateInvalid.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	PodTemplate *runtime.RawExtension `json:"podTemplate,omitempty"`
}

// AutoscalingSpec is a HorizontalPodAutoscaler of the server's pods.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || self.minReplicas <= self.maxReplicas",message="minReplicas must be at most maxReplicas"
type AutoscalingSpec struct {
	// minReplicas is the least number of pods; 1 when absent.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	MinReplicas int32 `json:"minReplicas,omitempty"`
	// maxReplicas is the largest number of pods.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	MaxReplicas int32 `json:"maxReplicas,omitempty"`
	// targetCPUUtilizationPercentage is how much of its requested CPU a pod should use, on average; 80 when neither target
	// is given.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	TargetCPUUtilizationPercentage int32 `json:"targetCPUUtilizationPercentage,omitempty"`
	// targetMemoryUtilizationPercentage is how much of its requested memory a pod should use, on average.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	TargetMemoryUtilizationPercentage int32 `json:"targetMemoryUtilizationPercentage,omitempty"`
}

// PodDisruptionBudgetSpec bounds how many pods may be away by intent, such as while nodes are drained.
//
// +kubebuilder:validation:XValidation:rule="has(self.minAvailable) != has(self.maxUnavailable)",message="exactly one of minAvailable and maxUnavailable must be given"
type PodDisruptionBudgetSpec struct {
	// minAvailable is how many pods must stay, as a number or a percentage.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 : self.matches('^(100|[0-9]{1,2})%$')",message="must be a number of pods or a percentage such as 50%"
	MinAvailable *intstr.IntOrString `json:"minAvailable,omitempty"`
	// maxUnavailable is how many pods may be away, as a number or a percentage.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 : self.matches('^(100|[0-9]{1,2})%$')",message="must be a number of pods or a percentage such as 50%"
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}

// ResourceRequirements are the resources that a container requests, and its limits.
type ResourceRequirements struct {
	// requests are the resources that a node must have left.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	Requests map[corev1.ResourceName]resource.Quantity `json:"requests,omitempty"`
	// limits are the most that the container gets.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	Limits map[corev1.ResourceName]resource.Quantity `json:"limits,omitempty"`
}

// ServiceAccountSpec is about the ServiceAccount of an endpoint's pods.
type ServiceAccountSpec struct {
	// annotations are added to the ServiceAccount: for a cloud's IAM, for example.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="self.all(k, !format.qualifiedName().validate(k).hasValue() && !k.startsWith('mcpadmin.dev/'))",message="must be annotations, and none of mcpadmin.dev, whose annotations are the controllers' own"
	Annotations map[string]AnnotationValue `json:"annotations,omitempty"`
}

// Volume is a volume of the server's pods. Each source has the form that a pod has it in.
//
// +kubebuilder:validation:XValidation:rule="[has(self.configMap), has(self.secret), has(self.projected), has(self.emptyDir), has(self.persistentVolumeClaim), has(self.csi)].filter(x, x).size() == 1",message="exactly one of configMap, secret, projected, emptyDir, persistentVolumeClaim and csi must be given"
type Volume struct {
	// name is the volume's name in volumeMounts.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`
	// configMap holds the keys of a ConfigMap.
	// +optional
	ConfigMap *corev1.ConfigMapVolumeSource `json:"configMap,omitempty"`
	// secret holds the keys of a Secret.
	// +optional
	Secret *corev1.SecretVolumeSource `json:"secret,omitempty"`
	// projected holds several sources in one folder.
	// +optional
	Projected *corev1.ProjectedVolumeSource `json:"projected,omitempty"`
	// emptyDir is an empty folder that lives as long as the pod.
	// +optional
	EmptyDir *corev1.EmptyDirVolumeSource `json:"emptyDir,omitempty"`
	// persistentVolumeClaim is a claim in the endpoint's namespace.
	// +optional
	PersistentVolumeClaim *corev1.PersistentVolumeClaimVolumeSource `json:"persistentVolumeClaim,omitempty"`
	// csi is a volume of a CSI driver, such as the Secrets Store.
	// +optional
	CSI *corev1.CSIVolumeSource `json:"csi,omitempty"`
}
