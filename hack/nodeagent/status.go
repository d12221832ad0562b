package nodeagent

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// hostIP is the address of the pods' host, for them and for the API server: this machine.
const hostIP = "127.0.0.1"

// view has what the agent knows of a pod and the API server does not.
type view struct {
	ip        string
	startTime time.Time
	// inits and mains are in the pod's order.
	inits, mains []corev1.ContainerStatus
	// oneShot reports for each of inits whether it runs to completion (and is not a sidecar).
	oneShot []bool
}

// podStatus returns the status to report: the pod's present status, in which the agent replaces its own parts.
func podStatus(pod *corev1.Pod, v view, now time.Time) corev1.PodStatus {
	status := *pod.Status.DeepCopy()
	status.ObservedGeneration = pod.Generation
	status.HostIP, status.HostIPs = hostIP, []corev1.HostIP{{IP: hostIP}}
	if v.ip != "" {
		status.PodIP, status.PodIPs = v.ip, []corev1.PodIP{{IP: v.ip}}
	}
	if status.StartTime == nil {
		start := metav1.NewTime(v.startTime).Rfc3339Copy()
		status.StartTime = &start
	}
	status.InitContainerStatuses, status.ContainerStatuses = v.inits, v.mains
	status.Phase = phase(pod, v)

	initialized := isInitialized(v)
	unready := unreadyNames(v)
	completed := status.Phase == corev1.PodSucceeded || status.Phase == corev1.PodFailed
	set := func(kind corev1.PodConditionType, ok bool, reason, message string) {
		setCondition(&status, pod, kind, ok, reason, message, now)
	}
	switch {
	case initialized:
		set(corev1.PodInitialized, true, "", "")
	default:
		set(corev1.PodInitialized, false, "ContainersNotInitialized", "init containers have not completed")
	}
	switch {
	case completed:
		set(corev1.ContainersReady, false, "PodCompleted", "")
		set(corev1.PodReady, false, "PodCompleted", "")
	case len(unready) > 0:
		message := fmt.Sprintf("containers with unready status: [%s]", strings.Join(unready, " "))
		set(corev1.ContainersReady, false, "ContainersNotReady", message)
		set(corev1.PodReady, false, "ContainersNotReady", message)
	default:
		set(corev1.ContainersReady, true, "", "")
		if gate := closedGate(pod); gate != "" {
			set(corev1.PodReady, false, "ReadinessGatesNotReady", fmt.Sprintf("the condition %s of the readiness gates is not true", gate))
		} else {
			set(corev1.PodReady, true, "", "")
		}
	}
	return status
}

func phase(pod *corev1.Pod, v view) corev1.PodPhase {
	for i, s := range v.inits {
		if v.oneShot[i] && s.State.Terminated != nil && s.State.Terminated.ExitCode != 0 && pod.Spec.RestartPolicy == corev1.RestartPolicyNever {
			return corev1.PodFailed
		}
	}
	if !isInitialized(v) {
		return corev1.PodPending
	}
	waiting, running, failed := false, false, false
	for _, s := range v.mains {
		switch {
		case s.State.Running != nil:
			running = true
		case s.State.Terminated != nil:
			failed = failed || s.State.Terminated.ExitCode != 0
		case s.LastTerminationState.Terminated != nil:
			running = true // between two runs
		default:
			waiting = true
		}
	}
	switch {
	case waiting:
		return corev1.PodPending
	case running:
		return corev1.PodRunning
	case failed:
		return corev1.PodFailed
	}
	return corev1.PodSucceeded
}

func isInitialized(v view) bool {
	for i, s := range v.inits {
		if v.oneShot[i] && (s.State.Terminated == nil || s.State.Terminated.ExitCode != 0) {
			return false
		}
		if !v.oneShot[i] && (s.Started == nil || !*s.Started) {
			return false
		}
	}
	return true
}

func unreadyNames(v view) []string {
	var names []string
	for i, s := range v.inits {
		if !v.oneShot[i] && !s.Ready {
			names = append(names, s.Name)
		}
	}
	for _, s := range v.mains {
		if !s.Ready {
			names = append(names, s.Name)
		}
	}
	return names
}

// closedGate returns a readiness gate that is not true, or "".
func closedGate(pod *corev1.Pod) string {
	for _, gate := range pod.Spec.ReadinessGates {
		open := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == gate.ConditionType && c.Status == corev1.ConditionTrue
		})
		if !open {
			return string(gate.ConditionType)
		}
	}
	return ""
}

// setCondition sets a condition. Its transition time changes only with its status. Conditions of other owners stay.
func setCondition(status *corev1.PodStatus, pod *corev1.Pod, kind corev1.PodConditionType, ok bool, reason, message string, now time.Time) {
	value := corev1.ConditionFalse
	if ok {
		value = corev1.ConditionTrue
	}
	at := metav1.NewTime(now).Rfc3339Copy()
	next := corev1.PodCondition{
		Type: kind, Status: value, Reason: reason, Message: message,
		LastTransitionTime: at, ObservedGeneration: pod.Generation,
	}
	for i, c := range status.Conditions {
		if c.Type != kind {
			continue
		}
		if c.Status == value {
			next.LastTransitionTime = c.LastTransitionTime
		}
		status.Conditions[i] = next
		return
	}
	status.Conditions = append(status.Conditions, next)
}

func isTrue(status *corev1.PodStatus, kind corev1.PodConditionType) bool {
	return slices.ContainsFunc(status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == kind && c.Status == corev1.ConditionTrue
	})
}
