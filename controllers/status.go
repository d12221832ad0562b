package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	apply "github.com/mcp-admin/mcp-admin-operator/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/excerpt"
)

// statusWriter writes the status of one kind by server-side apply, and sends nothing if it is as found. It is safe
// for concurrent use.
type statusWriter[O client.Object, S any] struct {
	client client.Client
	events events.EventRecorder
	// statusOf points to an object's status, conditionsOf to the conditions in one.
	statusOf     func(O) *S
	conditionsOf func(*S) []metav1.Condition
	// configuration is the JSON that is applied for a status; after is the resourceVersion that the write gave.
	configuration func(obj O, status []byte) (want runtime.ApplyConfiguration, resourceVersion func() string, err error)

	// written is what was written last to each object.
	written memo[types.NamespacedName, writtenStatus[S]]
}

type writtenStatus[S any] struct {
	resourceVersion string
	status          S
}

func newEndpointStatus(c client.Client, recorder events.EventRecorder) *statusWriter[*v1alpha1.MCPEndpoint, v1alpha1.MCPEndpointStatus] {
	return &statusWriter[*v1alpha1.MCPEndpoint, v1alpha1.MCPEndpointStatus]{
		client: c, events: recorder,
		statusOf:     func(e *v1alpha1.MCPEndpoint) *v1alpha1.MCPEndpointStatus { return &e.Status },
		conditionsOf: func(s *v1alpha1.MCPEndpointStatus) []metav1.Condition { return s.Conditions },
		configuration: func(e *v1alpha1.MCPEndpoint, status []byte) (runtime.ApplyConfiguration, func() string, error) {
			want := apply.MCPEndpoint(e.Name, e.Namespace).WithUID(e.UID).WithStatus(apply.MCPEndpointStatus())
			return want, func() string { return *want.ResourceVersion }, json.Unmarshal(status, want.Status)
		},
	}
}

func newExposureStatus(c client.Client, recorder events.EventRecorder) *statusWriter[*v1alpha1.MCPModelExposure, v1alpha1.MCPModelExposureStatus] {
	return &statusWriter[*v1alpha1.MCPModelExposure, v1alpha1.MCPModelExposureStatus]{
		client: c, events: recorder,
		statusOf:     func(e *v1alpha1.MCPModelExposure) *v1alpha1.MCPModelExposureStatus { return &e.Status },
		conditionsOf: func(s *v1alpha1.MCPModelExposureStatus) []metav1.Condition { return s.Conditions },
		configuration: func(e *v1alpha1.MCPModelExposure, status []byte) (runtime.ApplyConfiguration, func() string, error) {
			want := apply.MCPModelExposure(e.Name, e.Namespace).WithUID(e.UID).WithStatus(apply.MCPModelExposureStatus())
			return want, func() string { return *want.ResourceVersion }, json.Unmarshal(status, want.Status)
		},
	}
}

func newTokenStatus(c client.Client, recorder events.EventRecorder) *statusWriter[*v1alpha1.MCPToken, v1alpha1.MCPTokenStatus] {
	return &statusWriter[*v1alpha1.MCPToken, v1alpha1.MCPTokenStatus]{
		client: c, events: recorder,
		statusOf:     func(t *v1alpha1.MCPToken) *v1alpha1.MCPTokenStatus { return &t.Status },
		conditionsOf: func(s *v1alpha1.MCPTokenStatus) []metav1.Condition { return s.Conditions },
		configuration: func(t *v1alpha1.MCPToken, status []byte) (runtime.ApplyConfiguration, func() string, error) {
			want := apply.MCPToken(t.Name, t.Namespace).WithUID(t.UID).WithStatus(apply.MCPTokenStatus())
			return want, func() string { return *want.ResourceVersion }, json.Unmarshal(status, want.Status)
		},
	}
}

// refresh gives an object from the cache the status that was written last, if the cache has not seen that yet.
func (w *statusWriter[O, S]) refresh(obj O) {
	if last, ok := w.written.get(keyOf(obj)); ok && olderThan(obj.GetResourceVersion(), last.resourceVersion) {
		*w.statusOf(obj) = last.status
	}
}

// write makes an object's status as wanted.
func (w *statusWriter[O, S]) write(ctx context.Context, obj O, status S) error {
	old := w.statusOf(obj)
	if equality.Semantic.DeepEqual(*old, status) {
		return nil
	}
	encoded, err := json.Marshal(status)
	if err != nil {
		return err
	}
	want, resourceVersion, err := w.configuration(obj, encoded)
	if err != nil {
		return err
	}
	defer timeStep(reflect.TypeFor[O]().Elem().Name(), stepWriteStatus)()
	if err := w.client.Status().Apply(ctx, want, fieldOwner, client.ForceOwnership); err != nil {
		if apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			return nil // the object is gone, or about to go
		}
		return fmt.Errorf("writing the status: %w", err)
	}
	w.written.set(keyOf(obj), writtenStatus[S]{resourceVersion(), status})
	tellChanges(ctx, obj, w.conditionsOf(old), w.conditionsOf(&status))
	w.tell(obj, w.conditionsOf(old), w.conditionsOf(&status))
	return nil
}

// troubles are the reasons that cause an event at once, because somebody must act.
var troubles = []string{
	contract.ReasonAuthenticationFailed, contract.ReasonUnreachable, contract.ReasonTableNotFound, v1alpha1.ReasonSecretNotFound,
}

// tell emits an event when an object becomes Ready, when it stops being Ready, and when somebody must act for a new
// reason. Waiting causes no event.
func (w *statusWriter[O, S]) tell(obj O, old, next []metav1.Condition) {
	ready, before := meta.FindStatusCondition(next, v1alpha1.ConditionReady), meta.FindStatusCondition(old, v1alpha1.ConditionReady)
	wasReady := before != nil && before.Status == metav1.ConditionTrue
	stuck := meta.IsStatusConditionTrue(next, v1alpha1.ConditionStalled) || slices.Contains(troubles, ready.Reason)
	switch {
	case ready.Status == metav1.ConditionTrue && !wasReady:
		w.events.Eventf(obj, nil, corev1.EventTypeNormal, ready.Reason, "Reconcile", "%s", excerpt.Of(ready.Message, maxEventNote))
	case ready.Status == metav1.ConditionFalse && (wasReady || stuck && (before == nil || before.Reason != ready.Reason)):
		w.events.Eventf(obj, nil, severity(ready.Reason), ready.Reason, "Reconcile", "%s", excerpt.Of(ready.Message, maxEventNote))
	}
}

// severity is the type of the event about an object that is not Ready. Every change waits for the pods; that is no warning.
func severity(reason string) string {
	if reason == v1alpha1.ReasonWaitingForPods {
		return corev1.EventTypeNormal
	}
	return corev1.EventTypeWarning
}

// maxEventNote bounds an event's text, in bytes.
const maxEventNote = 1024
