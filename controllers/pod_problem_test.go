package controllers

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

func TestWhatKeepsPodsFromRunningIsTold(t *testing.T) {
	waiting := func(reason, message string) corev1.PodStatus {
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			Name: "server", Image: "ghcr.io/x/server:1",
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		}}}
	}
	crashed := waiting("CrashLoopBackOff", "back-off 20s restarting failed container")
	crashed.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 3}
	ready := waiting("ImagePullBackOff", "")
	ready.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	for name, row := range map[string]struct {
		deployment appsv1.DeploymentStatus
		pod        corev1.PodStatus
		want       string
	}{
		"nothing is wrong":           {want: ""},
		"the pod is being made":      {pod: waiting("ContainerCreating", ""), want: ""},
		"the pod is Ready":           {pod: ready, want: ""},
		"the image does not exist":   {pod: waiting("ErrImagePull", "attempt 1"), want: `: the image "ghcr.io/x/server:1" cannot be pulled`},
		"and is waited for":          {pod: waiting("ImagePullBackOff", "back-off 20s"), want: `: the image "ghcr.io/x/server:1" cannot be pulled`},
		"the program ends":           {pod: crashed, want: `: container "server" of a pod ended with exit code 3; its log says why`},
		"a ConfigMap has no key":     {pod: waiting("CreateContainerConfigError", "no key x"), want: ": CreateContainerConfigError: no key x"},
		"there is no room for a pod": {pod: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available"}}}, want: ": no node takes a pod: 0/3 nodes are available"},
		"no pod may be made": {
			deployment: appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: "exceeded quota: few"}}},
			want:       ": exceeded quota: few",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := podProblem(&appsv1.Deployment{Status: row.deployment}, []corev1.Pod{{Status: row.pod}}); got != row.want {
				t.Errorf("told %q, want %q", got, row.want)
			}
		})
	}
}
