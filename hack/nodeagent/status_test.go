package nodeagent

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPodStatusPhaseAndConditions(t *testing.T) {
	started := true
	waiting := corev1.ContainerStatus{Name: "c", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}}
	running := corev1.ContainerStatus{Name: "c", Started: &started, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	ready := running
	ready.Ready = true
	ended := func(code int32) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: "c", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}
	}
	between := waiting
	between.LastTerminationState = ended(1).State
	type statuses = []corev1.ContainerStatus

	for name, test := range map[string]struct {
		policy             corev1.RestartPolicy
		inits, mains       statuses
		oneShot            []bool
		phase              corev1.PodPhase
		initialized, ready bool
	}{
		"nothing has run yet":            {mains: statuses{waiting}, phase: corev1.PodPending, initialized: true},
		"runs":                           {mains: statuses{running}, phase: corev1.PodRunning, initialized: true},
		"runs and is ready":              {mains: statuses{ready}, phase: corev1.PodRunning, initialized: true, ready: true},
		"one of two is ready":            {mains: statuses{ready, running}, phase: corev1.PodRunning, initialized: true},
		"between two runs":               {mains: statuses{between}, phase: corev1.PodRunning, initialized: true},
		"has succeeded":                  {mains: statuses{ended(0)}, phase: corev1.PodSucceeded, initialized: true},
		"has failed":                     {mains: statuses{ended(0), ended(1)}, phase: corev1.PodFailed, initialized: true},
		"an init container runs":         {inits: statuses{running}, oneShot: []bool{true}, mains: statuses{waiting}, phase: corev1.PodPending},
		"an init container is through":   {inits: statuses{ended(0)}, oneShot: []bool{true}, mains: statuses{ready}, phase: corev1.PodRunning, initialized: true, ready: true},
		"an init container fails":        {inits: statuses{ended(1)}, oneShot: []bool{true}, mains: statuses{waiting}, phase: corev1.PodPending},
		"an init container fails at all": {policy: corev1.RestartPolicyNever, inits: statuses{ended(1)}, oneShot: []bool{true}, mains: statuses{waiting}, phase: corev1.PodFailed},
		"a sidecar is not ready":         {inits: statuses{running}, oneShot: []bool{false}, mains: statuses{ready}, phase: corev1.PodRunning, initialized: true},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{RestartPolicy: test.policy}}
			got := podStatus(pod, view{ip: "127.77.0.1", inits: test.inits, oneShot: test.oneShot, mains: test.mains}, time.Now())
			if got.Phase != test.phase || isTrue(&got, corev1.PodInitialized) != test.initialized || isTrue(&got, corev1.PodReady) != test.ready {
				t.Errorf("phase %s, conditions %+v", got.Phase, got.Conditions)
			}
		})
	}
}

func TestPodStatusKeepsWhatOthersOwn(t *testing.T) {
	before := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
	pod := &corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: before},
		{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: before},
	}}}
	v := view{mains: []corev1.ContainerStatus{{Name: "c"}}}
	first := podStatus(pod, v, time.Now())
	if !isTrue(&first, corev1.PodScheduled) {
		t.Error("the scheduler's condition is gone")
	}
	if at := first.Conditions[1].LastTransitionTime; !at.Equal(&before) {
		t.Errorf("the transition time moved to %s although the status is the same", at)
	}
	v.mains[0].Ready = true
	second := podStatus(pod, v, time.Now())
	if at := second.Conditions[1].LastTransitionTime; at.Equal(&before) {
		t.Error("the transition time did not move with the status")
	}
}
