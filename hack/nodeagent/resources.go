package nodeagent

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// capacity is the capacity that the node reports. Nothing is reserved or limited, so the numbers only have to let the
// scheduler place the samples, also on a small machine.
var capacity = corev1.ResourceList{
	corev1.ResourceCPU:              resource.MustParse("64"),
	corev1.ResourceMemory:           resource.MustParse("256Gi"),
	corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
	corev1.ResourcePods:             resource.MustParse("500"),
}

// resourceValue reads a resource field of the downward API: the container's request or limit in units of the divisor,
// rounded up. The limit of a container without one is the node's capacity.
func resourceValue(pod *corev1.Pod, container string, field *corev1.ResourceFieldSelector) (string, error) {
	if field.ContainerName != "" {
		container = field.ContainerName
	}
	spec, ok := containerOf(pod, container)
	if !ok {
		return "", fmt.Errorf("the pod has no container %q", container)
	}
	list, name, _ := strings.Cut(field.Resource, ".")
	of := corev1.ResourceName(name)
	most, known := capacity[of]
	if list != "limits" && list != "requests" || !known {
		return "", fmt.Errorf("the node agent does not know the resource field %s", field.Resource)
	}
	quantity := spec.Resources.Requests[of]
	if list == "limits" {
		if quantity, ok = spec.Resources.Limits[of]; !ok {
			quantity = most
		}
	}
	divisor := field.Divisor
	if divisor.IsZero() {
		divisor = resource.MustParse("1")
	}
	if of == corev1.ResourceCPU {
		return roundedUp(quantity.MilliValue(), divisor.MilliValue()), nil
	}
	return roundedUp(quantity.Value(), divisor.Value()), nil
}

func roundedUp(quantity, divisor int64) string {
	return strconv.FormatInt((quantity+divisor-1)/divisor, 10)
}

func containerOf(pod *corev1.Pod, name string) (corev1.Container, bool) {
	for _, c := range allContainers(pod) {
		if c.Name == name {
			return c, true
		}
	}
	return corev1.Container{}, false
}
