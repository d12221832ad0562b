package cluster

import (
	"context"
	"maps"
	"regexp"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// InQueue is how the objects of a kind are reconciled: a few at the same time, and what failed is tried again after a
// pause that grows to half a minute.
func InQueue() controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: 4,
		ReconciliationTimeout:   reconcileTimeout,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](20*time.Millisecond, 30*time.Second),
	}
}

// WantedChanged passes spec changes, re-creations, and changes of the annotations that the controllers read. It passes no
// status updates. An object that was deleted and made again while the API server could not be watched comes as one update:
// with another uid, and perhaps with the same generation.
var WantedChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return relevant(e.ObjectOld, e.ObjectNew)
}}

// FirstOfAll enqueues the objects that an update concerns before everything else: it may take access away.
func FirstOfAll(concerned func(context.Context, client.Object) []types.NamespacedName) handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			EnqueueAt(q, priorityOfNew(e.IsInInitialList), concerned(ctx, e.Object)...)
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			EnqueueAt(q, PriorityRemoval, concerned(ctx, e.ObjectNew)...)
		},
	}
}

// EndpointChanged enqueues an endpoint whose spec changed, and before everything else: a group may have lost a right.
func EndpointChanged() handler.TypedEventHandler[*v1alpha1.MCPEndpoint, reconcile.Request] {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return handler.TypedFuncs[*v1alpha1.MCPEndpoint, reconcile.Request]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[*v1alpha1.MCPEndpoint], q queue) {
			EnqueueAt(q, priorityOfNew(e.IsInInitialList), KeyOf(e.Object))
		},
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[*v1alpha1.MCPEndpoint], q queue) {
			if relevant(e.ObjectOld, e.ObjectNew) {
				EnqueueAt(q, PriorityRemoval, KeyOf(e.ObjectNew))
			}
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[*v1alpha1.MCPEndpoint], q queue) {
			EnqueueAt(q, PriorityChange, KeyOf(e.Object))
		},
	}
}

// PartSecret is the form of the names of a Config's Secrets.
var PartSecret = regexp.MustCompile(`^(.+)-mcp-config(-tokens-[0-9]+)?$`)

// CountsForEndpoint leaves out what the controllers of budgets and autoscalers write every few seconds.
var CountsForEndpoint = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	switch before := e.ObjectOld.(type) {
	case *policyv1.PodDisruptionBudget:
		after := e.ObjectNew.(*policyv1.PodDisruptionBudget)
		return !equality.Semantic.DeepEqual(before.Spec, after.Spec) || metadataChanged(before, after)
	case *autoscalingv2.HorizontalPodAutoscaler:
		after := e.ObjectNew.(*autoscalingv2.HorizontalPodAutoscaler)
		return !equality.Semantic.DeepEqual(before.Spec, after.Spec) || metadataChanged(before, after) ||
			NotScaling(before) != NotScaling(after)
	}
	return true
}}

// metadataChanged reports whether something of an object's metadata changed that we write.
func metadataChanged(before, after client.Object) bool {
	return !maps.Equal(before.GetLabels(), after.GetLabels()) || !maps.Equal(before.GetAnnotations(), after.GetAnnotations()) ||
		!equality.Semantic.DeepEqual(before.GetOwnerReferences(), after.GetOwnerReferences()) || before.GetUID() != after.GetUID()
}

// RotationAsked passes a new request for a rotation.
var RotationAsked = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return e.ObjectOld.GetAnnotations()[v1alpha1.RotateAnnotation] != e.ObjectNew.GetAnnotations()[v1alpha1.RotateAnnotation]
}}

// ServesOthers passes what the objects of an endpoint must know of it themselves: that it comes or goes, where it is, and
// whom it admits. The store wakes the objects that any other change of it concerns.
var ServesOthers = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, after := e.ObjectOld.(*v1alpha1.MCPEndpoint), e.ObjectNew.(*v1alpha1.MCPEndpoint)
	return before.UID != after.UID || before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
		before.EffectiveURL() != after.EffectiveURL() || v1alpha1.IsPaused(before) != v1alpha1.IsPaused(after) ||
		!equality.Semantic.DeepEqual(before.Spec.AllowedTokens, after.Spec.AllowedTokens)
}}

// ComeOrGone passes creations and deletions.
var ComeOrGone = predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}

// Labelled is the endpoint that an object's label names.
func Labelled(_ context.Context, o client.Object) []types.NamespacedName {
	return []types.NamespacedName{{Namespace: o.GetNamespace(), Name: o.GetLabels()[EndpointLabel]}}
}

// Enqueue reconciles the objects that an event concerns.
func Enqueue(concerned func(context.Context, client.Object) []types.NamespacedName) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		var requests []reconcile.Request
		for _, key := range concerned(ctx, o) {
			requests = append(requests, reconcile.Request{NamespacedName: key})
		}
		return requests
	})
}

// Referring are the objects of a list's kind whose index names the event's object, in its namespace.
func Referring(cached client.Reader, list client.ObjectList, index string) func(context.Context, client.Object) []types.NamespacedName {
	return func(ctx context.Context, o client.Object) []types.NamespacedName {
		found := list.DeepCopyObject().(client.ObjectList)
		if err := cached.List(ctx, found, client.InNamespace(o.GetNamespace()), client.MatchingFields{index: o.GetName()}); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Objects that refer to another could not be listed", "index", index)
			return nil
		}
		return keysOf(found)
	}
}

// TokensReferring are the tokens whose text or hash is in a Secret.
func TokensReferring(cached client.Reader) func(context.Context, client.Object) []types.NamespacedName {
	return func(ctx context.Context, secret client.Object) []types.NamespacedName {
		found, err := TokensOfSecret(ctx, cached, client.ObjectKeyFromObject(secret))
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "The tokens of a Secret could not be listed")
			return nil
		}
		return keysOf(&v1alpha1.MCPTokenList{Items: found})
	}
}

// TokensOfSecret are the tokens whose text or hash is in a Secret.
func TokensOfSecret(ctx context.Context, cached client.Reader, secret types.NamespacedName) ([]v1alpha1.MCPToken, error) {
	var found v1alpha1.MCPTokenList
	if err := cached.List(ctx, &found, client.InNamespace(secret.Namespace), client.MatchingFields{SecretIndex: secret.Name}); err != nil {
		return nil, err
	}
	var namesake v1alpha1.MCPToken
	if err := cached.Get(ctx, secret, &namesake); client.IgnoreNotFound(err) != nil {
		return nil, err
	} else if err == nil && namesake.CredentialSecretName() == secret.Name {
		found.Items = append(found.Items, namesake)
	}
	return found.Items, nil
}

// OfEndpoint are the objects of a list's kind that belong to the event's endpoint, in whatever namespace.
func OfEndpoint(cached client.Reader, list client.ObjectList) func(context.Context, client.Object) []types.NamespacedName {
	return func(ctx context.Context, o client.Object) []types.NamespacedName {
		found := list.DeepCopyObject().(client.ObjectList)
		if err := cached.List(ctx, found, client.MatchingFields{EndpointIndex: KeyOf(o).String()}); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "The objects of an endpoint could not be listed")
			return nil
		}
		return keysOf(found)
	}
}

// keysOf are the keys of a list's objects.
func keysOf(list client.ObjectList) []types.NamespacedName {
	var keys []types.NamespacedName
	_ = meta.EachListItem(list, func(item runtime.Object) error { // the function fails for none
		keys = append(keys, KeyOf(item.(client.Object)))
		return nil
	})
	return keys
}

// OfWebhooks are the endpoints whose webhooks, or whose exposures' webhooks, name the event's Secret.
func OfWebhooks(cached client.Reader) func(context.Context, client.Object) []types.NamespacedName {
	return func(ctx context.Context, o client.Object) []types.NamespacedName {
		var found v1alpha1.MCPModelExposureList
		if err := cached.List(ctx, &found, client.InNamespace(o.GetNamespace()), client.MatchingFields{SecretIndex: o.GetName()}); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Exposures whose webhooks name a Secret could not be listed")
			return nil
		}
		var told v1alpha1.MCPEndpointList
		if err := cached.List(ctx, &told, client.InNamespace(o.GetNamespace()), client.MatchingFields{NotifyIndex: o.GetName()}); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Endpoints whose webhooks name a Secret could not be listed")
			return nil
		}
		keys := keysOf(&told)
		for i := range found.Items {
			keys = append(keys, EndpointOf(o.GetNamespace(), found.Items[i].Spec.EndpointRef))
		}
		return keys
	}
}

// OwnedBy enqueues the owner of a child.
func OwnedBy(mgr manager.Manager, owner client.Object) handler.EventHandler {
	return handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), owner, handler.OnlyControllerOwner())
}

// TokenSecret is the name of the Secret that a token's text or hash is in, as an object.
func TokenSecret(t *v1alpha1.MCPToken) client.Object {
	secret := MetadataOf("Secret")
	secret.Namespace, secret.Name = t.Namespace, t.CredentialSecretName()
	return secret
}
