package controllers

import (
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// podProblem says why the server's pods are not there or do not run, as far as Kubernetes tells, and begins with a colon;
// "" if it tells nothing. It stays the same for as long as the same is wrong: what differs between two attempts is
// left out.
func podProblem(d *appsv1.Deployment, pods []corev1.Pod) string {
	if failure := deploymentCondition(d, appsv1.DeploymentReplicaFailure); failure != nil && failure.Status == corev1.ConditionTrue {
		return ": " + failure.Message
	}
	for i := range pods {
		if isReady(&pods[i]) {
			continue
		}
		if why := stuck(&pods[i]); why != "" {
			return ": " + why
		}
	}
	return ""
}

func stuck(pod *corev1.Pod) string {
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
			return "the image " + quote(c.Image) + " cannot be pulled"
		case ended != nil:
			return fmt.Sprintf("container %s of a pod ended with exit code %d; its log says why", quote(c.Name), ended.ExitCode)
		case waiting != nil && strings.HasSuffix(waiting.Reason, "Error"):
			return waiting.Reason + ": " + waiting.Message
		}
	}
	return ""
}

// refusal is what the API server says where it refuses for good: a quota, a policy or a right that is missing. Other
// errors are in the log alone, since what they say may be different each time.
func refusal(err error) string {
	var answer apierrors.APIStatus
	if errors.As(err, &answer) && (apierrors.IsForbidden(err) || apierrors.IsBadRequest(err)) {
		return ": " + answer.Status().Message
	}
	return ""
}
