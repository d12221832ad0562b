package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// ServerContainer is the name of the server's container in its pods.
const ServerContainer = "server"

// PodLabels select the pods of an endpoint's server.
func PodLabels(endpoint string) client.MatchingLabels {
	return client.MatchingLabels{"mcpadmin.dev/endpoint": endpoint, "mcpadmin.dev/component": "server"}
}

// Pods are the pods of an endpoint's server, by name.
func (c *Cluster) Pods(ctx context.Context, endpoint client.ObjectKey) ([]corev1.Pod, error) {
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.InNamespace(endpoint.Namespace), PodLabels(endpoint.Name)); err != nil {
		return nil, Explain(err)
	}
	slices.SortFunc(pods.Items, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return pods.Items, nil
}

// IsReady reports whether a pod answers agents: it is Ready and not terminating.
func IsReady(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp.IsZero() && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// choosePod is the pod to connect to: the youngest that is Ready, because it will be there longest during a rollout; nil if
// none is. The pod from before stays as long as it is Ready.
func choosePod(pods []corev1.Pod, before string) *corev1.Pod {
	var best *corev1.Pod
	for i := range pods {
		pod := &pods[i]
		switch {
		case !IsReady(pod):
		case string(pod.UID) == before:
			return pod
		case best == nil || best.CreationTimestamp.Before(&pod.CreationTimestamp):
			best = pod
		}
	}
	return best
}

// agentPort is the port of a pod at which agents are answered, and the scheme there.
func agentPort(pod *corev1.Pod) (scheme string, port int32, err error) {
	for _, container := range pod.Spec.Containers {
		for _, p := range container.Ports {
			if container.Name == ServerContainer && (p.Name == "http" || p.Name == "https") {
				return p.Name, p.ContainerPort, nil
			}
		}
	}
	return "", 0, fmt.Errorf("pod %s has no container %q with a port named http or https", pod.Name, ServerContainer)
}

// Scheme is the URL scheme of an endpoint's pods: http, or https if it has a certificate of its own.
func Scheme(e *v1alpha1.MCPEndpoint) string {
	if e.Spec.Server.TLS != nil {
		return "https"
	}
	return "http"
}
