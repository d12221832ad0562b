package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	apply "github.com/mcp-admin/mcp-admin-operator/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract/excerpt"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// StatusWriter writes the status of one kind by server-side apply, and sends nothing if it is as found. It is safe
// for concurrent use.
type StatusWriter[O client.Object, S any] struct {
	client client.Client
	events events.EventRecorder
	// statusOf points to an object's status, conditionsOf to the conditions in one.
	statusOf     func(O) *S
	conditionsOf func(*S) []metav1.Condition
	table        condition.Table
	now          func() time.Time
	// configuration is the JSON that is applied for a status; after is the resourceVersion that the write gave.
	configuration func(obj O, status []byte) (want runtime.ApplyConfiguration, resourceVersion func() string, err error)

	// written is the last status written to each object, until the cache has it.
	written Memo[types.NamespacedName, writtenStatus[S]]
	// unsettled is since when a status of an object has been held back.
	unsettled Memo[types.NamespacedName, time.Time]
	// warned is the reason of the last Warning about an object that has not been Ready since.
	warned Memo[types.NamespacedName, string]
}

// A status that is not Ready is held back for a while as long as kstatus reads the object as in progress anyway: most of
// what a new or edited object waits for comes meanwhile, so that one write is enough.
const (
	settleTime = time.Second
	// settlePace is the time that each further waiting object adds, about the cost of all its writes: a thousand objects
	// that came together are not ready within a second. maxSettleTime is the longest. A problem of an object is reported
	// after settleTime.
	settlePace    = 50 * time.Millisecond
	maxSettleTime = 3 * time.Minute
)

type writtenStatus[S any] struct {
	resourceVersion string
	status          S
}

// remember keeps what was written until the cache has it. The cache may have it before the API server answers the write.
func (w *StatusWriter[O, S]) remember(ctx context.Context, key types.NamespacedName, resourceVersion string, status S) {
	w.written.Set(key, writtenStatus[S]{resourceVersion, status})
	cached := reflect.New(reflect.TypeFor[O]().Elem()).Interface().(O)
	if err := w.client.Get(ctx, key, cached); err == nil {
		w.Saw(cached)
	}
}

// Saw forgets what was written to an object if the cache has it by now.
func (w *StatusWriter[O, S]) Saw(cached client.Object) {
	key := KeyOf(cached)
	if last, ok := w.written.Get(key); ok && !OlderThan(cached.GetResourceVersion(), last.resourceVersion) {
		w.written.Forget(key)
	}
}

// NewEndpointStatus returns the writer of endpoints' statuses.
func NewEndpointStatus(c client.Client, recorder events.EventRecorder, now func() time.Time) *StatusWriter[*v1alpha1.MCPEndpoint, v1alpha1.MCPEndpointStatus] {
	return &StatusWriter[*v1alpha1.MCPEndpoint, v1alpha1.MCPEndpointStatus]{
		client: c, events: recorder, table: condition.EndpointConditions, now: now,
		statusOf:     func(e *v1alpha1.MCPEndpoint) *v1alpha1.MCPEndpointStatus { return &e.Status },
		conditionsOf: func(s *v1alpha1.MCPEndpointStatus) []metav1.Condition { return s.Conditions },
		configuration: func(e *v1alpha1.MCPEndpoint, status []byte) (runtime.ApplyConfiguration, func() string, error) {
			want := apply.MCPEndpoint(e.Name, e.Namespace).WithUID(e.UID).WithStatus(apply.MCPEndpointStatus())
			return want, func() string { return *want.ResourceVersion }, json.Unmarshal(status, want.Status)
		},
	}
}

// NewExposureStatus returns the writer of exposures' statuses.
func NewExposureStatus(c client.Client, recorder events.EventRecorder, now func() time.Time) *StatusWriter[*v1alpha1.MCPModelExposure, v1alpha1.MCPModelExposureStatus] {
	return &StatusWriter[*v1alpha1.MCPModelExposure, v1alpha1.MCPModelExposureStatus]{
		client: c, events: recorder, table: condition.ExposureConditions, now: now,
		statusOf:     func(e *v1alpha1.MCPModelExposure) *v1alpha1.MCPModelExposureStatus { return &e.Status },
		conditionsOf: func(s *v1alpha1.MCPModelExposureStatus) []metav1.Condition { return s.Conditions },
		configuration: func(e *v1alpha1.MCPModelExposure, status []byte) (runtime.ApplyConfiguration, func() string, error) {
			want := apply.MCPModelExposure(e.Name, e.Namespace).WithUID(e.UID).WithStatus(apply.MCPModelExposureStatus())
			return want, func() string { return *want.ResourceVersion }, json.Unmarshal(status, want.Status)
		},
	}
}

// NewTokenStatus returns the writer of tokens' statuses.
func NewTokenStatus(c client.Client, recorder events.EventRecorder, now func() time.Time) *StatusWriter[*v1alpha1.MCPToken, v1alpha1.MCPTokenStatus] {
	return &StatusWriter[*v1alpha1.MCPToken, v1alpha1.MCPTokenStatus]{
		client: c, events: recorder, table: condition.TokenConditions, now: now,
		statusOf:     func(t *v1alpha1.MCPToken) *v1alpha1.MCPTokenStatus { return &t.Status },
		conditionsOf: func(s *v1alpha1.MCPTokenStatus) []metav1.Condition { return s.Conditions },
		configuration: func(t *v1alpha1.MCPToken, status []byte) (runtime.ApplyConfiguration, func() string, error) {
			want := apply.MCPToken(t.Name, t.Namespace).WithUID(t.UID).WithStatus(apply.MCPTokenStatus())
			return want, func() string { return *want.ResourceVersion }, json.Unmarshal(status, want.Status)
		},
	}
}

// Refresh gives an object from the cache the status that was written last, if the cache has not seen that yet.
func (w *StatusWriter[O, S]) Refresh(obj O) {
	w.Saw(obj)
	if last, ok := w.written.Get(KeyOf(obj)); ok {
		*w.statusOf(obj) = last.status
	}
}

// Forget drops what is remembered about an object that is gone.
func (w *StatusWriter[O, S]) Forget(key types.NamespacedName) {
	w.written.Forget(key)
	w.unsettled.Forget(key)
	w.warned.Forget(key)
}

// Write makes an object's status as wanted. A status that is held back is not written; write returns then when to try
// again, and 0 otherwise.
func (w *StatusWriter[O, S]) Write(ctx context.Context, obj O, status S) (time.Duration, error) {
	old := w.statusOf(obj)
	if equality.Semantic.DeepEqual(*old, status) {
		w.unsettled.Forget(KeyOf(obj))
		return 0, nil
	}
	if wait := w.settle(obj, w.conditionsOf(old), w.conditionsOf(&status)); wait > 0 {
		return wait, nil
	}
	encoded, err := json.Marshal(status)
	if err != nil {
		return 0, err
	}
	want, resourceVersion, err := w.configuration(obj, encoded)
	if err != nil {
		return 0, err
	}
	defer TimeStep(reflect.TypeFor[O]().Elem().Name(), stepWriteStatus)()
	if err := w.client.Status().Apply(ctx, want, FieldOwner, client.ForceOwnership); err != nil {
		if apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			return 0, nil // the object is gone, or about to go
		}
		return 0, fmt.Errorf("writing the status: %w", err)
	}
	w.unsettled.Forget(KeyOf(obj))
	w.remember(ctx, KeyOf(obj), resourceVersion(), status)
	tellChanges(ctx, obj, w.conditionsOf(old), w.conditionsOf(&status))
	w.tell(obj, w.conditionsOf(old), w.conditionsOf(&status))
	return 0, nil
}

// settle returns how long to hold a status back; 0 is not at all. Only a status that is not Ready waits, and only while
// kstatus reads the object as in progress anyway.
func (w *StatusWriter[O, S]) settle(obj O, old, next []metav1.Condition) time.Duration {
	if meta.IsStatusConditionTrue(next, v1alpha1.ConditionReady) || !inProgress(obj, old) {
		return 0
	}
	since, waits := w.unsettled.Get(KeyOf(obj))
	if !waits {
		since = w.now()
		w.unsettled.Set(KeyOf(obj), since)
	}
	hold := settleTime
	if !meta.IsStatusConditionTrue(next, v1alpha1.ConditionStalled) {
		hold = min(settleTime+time.Duration(w.unsettled.len()-1)*settlePace, maxSettleTime)
	}
	return max(hold-w.now().Sub(since), 0)
}

// inProgress reports whether kstatus reads an object with these conditions as in progress.
func inProgress(obj metav1.Object, conditions []metav1.Condition) bool {
	ready := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
	return ready == nil || ready.ObservedGeneration != obj.GetGeneration() || meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionReconciling)
}

// tell emits a Warning when an object gets into trouble, one for each reason, and a Normal event when it is Ready again.
// An object that only waited for its turn has no event.
func (w *StatusWriter[O, S]) tell(obj O, old, next []metav1.Condition) {
	wasReady := meta.IsStatusConditionTrue(old, v1alpha1.ConditionReady)
	last, warned := w.warned.Get(KeyOf(obj))
	if before := meta.FindStatusCondition(old, v1alpha1.ConditionReady); !warned && w.table.Warns(old, false) {
		last, warned = before.Reason, true // another process told it
	}
	ready := meta.FindStatusCondition(next, v1alpha1.ConditionReady)
	switch {
	case ready.Status == metav1.ConditionTrue && warned:
		w.warned.Forget(KeyOf(obj))
		w.emit(obj, corev1.EventTypeNormal, ready)
	case w.table.Warns(next, wasReady) && last != ready.Reason:
		w.warned.Set(KeyOf(obj), ready.Reason)
		w.emit(obj, corev1.EventTypeWarning, ready)
	}
}

func (w *StatusWriter[O, S]) emit(obj O, severity string, ready *metav1.Condition) {
	w.events.Eventf(obj, nil, severity, ready.Reason, "Reconcile", "%s", excerpt.Of(ready.Message, maxEventNote))
}

// maxEventNote bounds an event's text, in bytes.
const maxEventNote = 1024
