package v1alpha1

import (
	"regexp"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	volumeName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	percentage = regexp.MustCompile(`^(100|[0-9]{1,2})%$`)
)

// workload checks what the schema says of the pods. What is within a field that has a pod's own form, and podTemplate, the
// controllers check when they make the pods.
func (v *validator) workload(path *field.Path, w *WorkloadSpec) {
	if w.Replicas != nil && (*w.Replicas < 0 || *w.Replicas > 100) {
		v.invalid(path.Child("replicas"), *w.Replicas, "must be between 0 and 100")
	}
	if w.Replicas != nil && w.Autoscaling != nil {
		v.invalid(path, "", "replicas and autoscaling exclude each other: remove one of them")
	}
	v.autoscaling(path.Child("autoscaling"), w.Autoscaling)
	v.disruptionBudget(path.Child("podDisruptionBudget"), w.PodDisruptionBudget)
	at := path.Child("imagePullSecrets")
	v.atMost(at, len(w.ImagePullSecrets), 10)
	distinct(v, at, w.ImagePullSecrets, func(r SecretReference) string { return r.Name })
	for i, ref := range w.ImagePullSecrets {
		v.required(at.Index(i).Child("name"), ref.Name, 253, nil)
	}
	if w.Resources != nil {
		v.atMost(path.Child("resources", "requests"), len(w.Resources.Requests), 50)
		v.atMost(path.Child("resources", "limits"), len(w.Resources.Limits), 50)
	}
	v.annotations(path.Child("serviceAccount", "annotations"), w.ServiceAccount.Annotations)
	v.labels(path.Child("podLabels"), w.PodLabels)
	v.annotations(path.Child("podAnnotations"), w.PodAnnotations)
	v.nodeLabels(path.Child("nodeSelector"), w.NodeSelector)
	v.atMost(path.Child("tolerations"), len(w.Tolerations), 50)
	at = path.Child("topologySpreadConstraints")
	v.atMost(at, len(w.TopologySpreadConstraints), 20)
	distinct(v, at, w.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) string {
		return c.TopologyKey + " " + string(c.WhenUnsatisfiable)
	})
	v.optional(path.Child("priorityClassName"), w.PriorityClassName, 253, nil)
	v.optional(path.Child("runtimeClassName"), w.RuntimeClassName, 253, nil)
	v.atMost(path.Child("env"), len(w.Env), 100)
	distinct(v, path.Child("env"), w.Env, func(e corev1.EnvVar) string { return e.Name })
	v.volumes(path.Child("volumes"), w.Volumes)
	v.atMost(path.Child("volumeMounts"), len(w.VolumeMounts), 50)
	distinct(v, path.Child("volumeMounts"), w.VolumeMounts, func(m corev1.VolumeMount) string { return m.MountPath })
	v.period(path.Child("startupTimeout"), w.StartupTimeout, 5*time.Second, time.Hour, "must be between 5s and 1h")
	v.period(path.Child("terminationGracePeriod"), w.TerminationGracePeriod, 25*time.Second, time.Hour, "must be between 25s and 1h")
}

func (v *validator) autoscaling(path *field.Path, a *AutoscalingSpec) {
	if a == nil {
		return
	}
	within(v, path.Child("minReplicas"), a.MinReplicas, 1, 100)
	if a.MaxReplicas == 0 {
		v.add(field.Required(path.Child("maxReplicas"), "say how many pods there may be"))
	}
	within(v, path.Child("maxReplicas"), a.MaxReplicas, 1, 100)
	if a.MinReplicas > a.MaxReplicas {
		v.invalid(path, "", "minReplicas must be at most maxReplicas")
	}
	within(v, path.Child("targetCPUUtilizationPercentage"), a.TargetCPUUtilizationPercentage, 1, 1000)
	within(v, path.Child("targetMemoryUtilizationPercentage"), a.TargetMemoryUtilizationPercentage, 1, 1000)
}

func (v *validator) disruptionBudget(path *field.Path, b *PodDisruptionBudgetSpec) {
	if b == nil {
		return
	}
	if (b.MinAvailable != nil) == (b.MaxUnavailable != nil) {
		v.invalid(path, "", "exactly one of minAvailable and maxUnavailable must be given")
	}
	v.podCount(path.Child("minAvailable"), b.MinAvailable)
	v.podCount(path.Child("maxUnavailable"), b.MaxUnavailable)
}

// podCount is a number of pods, or a percentage of them.
func (v *validator) podCount(path *field.Path, n *intstr.IntOrString) {
	if n == nil || n.Type == intstr.Int && n.IntVal >= 0 || n.Type == intstr.String && percentage.MatchString(n.StrVal) {
		return
	}
	v.invalid(path, n.String(), "must be a number of pods or a percentage such as 50%")
}

func (v *validator) volumes(path *field.Path, volumes []Volume) {
	v.atMost(path, len(volumes), 50)
	distinct(v, path, volumes, func(volume Volume) string { return volume.Name })
	for i, volume := range volumes {
		v.required(path.Index(i).Child("name"), volume.Name, 63, volumeName)
		sources := 0
		for _, given := range []bool{
			volume.ConfigMap != nil, volume.Secret != nil, volume.Projected != nil, volume.EmptyDir != nil,
			volume.PersistentVolumeClaim != nil, volume.CSI != nil,
		} {
			if given {
				sources++
			}
		}
		if sources != 1 {
			v.invalid(path.Index(i), volume.Name, "exactly one of configMap, secret, projected, emptyDir, persistentVolumeClaim and csi must be given")
		}
	}
}
