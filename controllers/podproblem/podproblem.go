// Package podproblem says why a pod does not run, as far as Kubernetes tells. The controllers and mcp-admin import it.
package podproblem

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Of says why a pod does not run; "" if Kubernetes tells nothing. It leaves out what differs between two attempts, so that the
// text stays the same as long as the problem does.
func Of(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return "no node takes a pod: " + c.Message
		}
	}
	for _, c := range pod.Status.ContainerStatuses {
		waiting, ended := c.State.Waiting, c.LastTerminationState.Terminated
		if ended == nil {
			ended = c.State.Terminated
		}
		switch {
		case waiting != nil && strings.Contains(waiting.Reason, "Image"): // ErrImagePull and ImagePullBackOff take turns
			return fmt.Sprintf("the image %q cannot be pulled", c.Image)
		case ended != nil:
			return fmt.Sprintf("container %q of a pod ended with exit code %d; its log says why", c.Name, ended.ExitCode)
		case waiting != nil && strings.HasSuffix(waiting.Reason, "Error"):
			return waiting.Reason + ": " + waiting.Message
		}
	}
	return ""
}
