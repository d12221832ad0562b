package controllers

import (
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/mcp-admin/mcp-admin-operator/controllers/observe"
	"github.com/mcp-admin/mcp-admin-operator/controllers/podproblem"
)

// podProblem says why the server's pods are missing or do not run, as far as Kubernetes tells. It begins with a colon,
// and is "" if Kubernetes tells nothing. It leaves out what differs between two attempts, so that the text stays the
// same as long as the problem does.
func podProblem(d *appsv1.Deployment, pods []corev1.Pod) string {
	if failure := deploymentCondition(d, appsv1.DeploymentReplicaFailure); failure != nil && failure.Status == corev1.ConditionTrue {
		return ": " + failure.Message
	}
	for i := range pods {
		if observe.IsReady(&pods[i]) {
			continue
		}
		if why := podproblem.Of(&pods[i]); why != "" {
			return ": " + why
		}
	}
	return ""
}

// refusal is the API server's message if it refuses for good: a quota, a policy or a missing right. Other errors are
// only logged, because their text may differ each time.
func refusal(err error) string {
	var answer apierrors.APIStatus
	if errors.As(err, &answer) && (apierrors.IsForbidden(err) || apierrors.IsBadRequest(err)) {
		return ": " + answer.Status().Message
	}
	return ""
}
