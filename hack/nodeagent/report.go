package nodeagent

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// report keeps the pod's status at the API server up to date until the pod has ended. While the API server is away it
// keeps trying, and finally reports the status of that moment.
func (w *worker) report() {
	for {
		select {
		case <-w.changed:
		case <-w.ended:
			return
		}
		for wait := 50 * time.Millisecond; ; wait = min(2*wait, time.Second) {
			err := w.patchStatus(w.killed)
			if err == nil || apierrors.IsNotFound(err) {
				break
			}
			w.logf("status: %v", err)
			select {
			case <-time.After(wait):
			case <-w.ended:
				return
			}
		}
	}
}

// patchStatus sends what differs from the API server's status.
func (w *worker) patchStatus(ctx context.Context) error {
	w.mu.Lock()
	pod, hasIP := w.pod, w.ip.IsValid()
	status := w.statusLocked()
	w.mu.Unlock()
	if !equality.Semantic.DeepEqual(pod.Status, status) {
		patch, err := statusPatch(pod, status)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		patched, err := w.agent.client.CoreV1().Pods(w.namespace).Patch(ctx, w.name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
		if err != nil {
			return err
		}
		w.mu.Lock()
		if !older(patched.ResourceVersion, w.pod.ResourceVersion) {
			w.pod = patched
		}
		w.mu.Unlock()
	}
	if hasIP {
		w.reportedOnce.Do(func() { close(w.reported) })
	}
	return nil
}

// statusPatch names the pod's uid: a status is never written to another pod of the same name.
func statusPatch(pod *corev1.Pod, status corev1.PodStatus) ([]byte, error) {
	before, err := json.Marshal(corev1.Pod{Status: pod.Status})
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: pod.UID}, Status: status})
	if err != nil {
		return nil, err
	}
	return strategicpatch.CreateTwoWayMergePatch(before, after, corev1.Pod{})
}

// statusLocked returns the status to report; the lock is held.
func (w *worker) statusLocked() corev1.PodStatus {
	v := view{startTime: w.born}
	if w.ip.IsValid() {
		v.ip = w.ip.String()
	}
	explain := func(s corev1.ContainerStatus) corev1.ContainerStatus {
		problem := w.problem
		if problem == nil {
			problem = w.mountProblem
		}
		if problem == nil || s.State.Waiting == nil {
			return s
		}
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ContainerCreating", Message: problem.Error()}
		var why *startError
		if errors.As(problem, &why) {
			s.State.Waiting.Reason = why.reason
		}
		return s
	}
	for _, c := range w.inits {
		v.inits = append(v.inits, explain(c.status()))
		v.oneShot = append(v.oneShot, !isSidecar(c.spec))
	}
	for _, c := range w.mains {
		v.mains = append(v.mains, explain(c.status()))
	}
	return podStatus(w.pod, v, time.Now())
}

// isReady reports whether the pod may get connections.
func (w *worker) isReady() bool {
	select {
	case <-w.stopping:
		return false
	default:
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	status := w.statusLocked()
	return isTrue(&status, corev1.PodReady)
}

// finish reports how the pod ended and deletes it from the API server, however long that is away. If the pod vanished,
// or ends because the agent does, there is nothing to report.
func (w *worker) finish() {
	pod := w.current()
	if pod.DeletionTimestamp == nil {
		return
	}
	var now int64
	remove := metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &w.uid}}
	for wait := 50 * time.Millisecond; w.killed.Err() == nil; wait = min(2*wait, time.Second) {
		err := w.patchStatus(w.killed)
		if err == nil {
			ctx, cancel := context.WithTimeout(w.killed, 5*time.Second)
			err = w.agent.client.CoreV1().Pods(w.namespace).Delete(ctx, w.name, remove)
			cancel()
		}
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return
		}
		w.logf("delete: %v", err)
		sleep(w.killed, wait)
	}
}
