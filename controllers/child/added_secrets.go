package child

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
)

// AddedSecrets names the Secrets that an endpoint adds to its pods: by its fields, or by its podTemplate. They are the
// containers' own affair; the server's Role does not name them.
func AddedSecrets(e *v1alpha1.MCPEndpoint) []string {
	names := map[string]bool{}
	secretsIn(&fieldsTemplate(e).Spec, names)
	if given := e.Spec.Server.PodTemplate; given != nil {
		var template corev1.PodTemplateSpec
		if err := json.Unmarshal(given.Raw, &template); err == nil { // else no pod is made of it
			secretsIn(&template.Spec, names)
		}
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}

// secretsIn adds the names of the Secrets that the containers of a pod get to see.
func secretsIn(pod *corev1.PodSpec, names map[string]bool) {
	for i := range pod.Volumes {
		v := &pod.Volumes[i]
		if v.Secret != nil {
			names[v.Secret.SecretName] = true
		}
		if v.Projected != nil {
			for _, source := range v.Projected.Sources {
				if source.Secret != nil {
					names[source.Secret.Name] = true
				}
			}
		}
		if v.CSI != nil && v.CSI.NodePublishSecretRef != nil {
			names[v.CSI.NodePublishSecretRef.Name] = true
		}
	}
	for _, containers := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range containers {
			for _, v := range containers[i].Env {
				if v.ValueFrom != nil && v.ValueFrom.SecretKeyRef != nil {
					names[v.ValueFrom.SecretKeyRef.Name] = true
				}
			}
			for _, from := range containers[i].EnvFrom {
				if from.SecretRef != nil {
					names[from.SecretRef.Name] = true
				}
			}
		}
	}
}
