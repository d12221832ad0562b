package controllers

import (
	"context"
	"maps"
	"regexp"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// inQueue is how the objects of a kind are reconciled: a few at the same time, and what failed is tried again after a
// pause that grows to half a minute.
func inQueue() controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: 4,
		ReconciliationTimeout:   reconcileTimeout,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](20*time.Millisecond, 30*time.Second),
	}
}

// wantedChanged passes spec changes, re-creations, and changes of the annotations that the controllers read. It passes no
// status updates. An object that was deleted and made again while the API server could not be watched comes as one update:
// with another uid, and perhaps with the same generation.
var wantedChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return relevant(e.ObjectOld, e.ObjectNew)
}}

// watch makes an endpoint's Config be compiled when the endpoint, what refers to it, or a Secret that goes into the Config
// changes, when one of the Config's own Secrets is not as it was written, and when the store has news.
func (r *configReconciler) watch(mgr manager.Manager, own cache.Cache, g *guard) error {
	b := ctrl.NewControllerManagedBy(mgr).
		Named("config").
		WatchesRawSource(source.Kind(mgr.GetCache(), &v1alpha1.MCPEndpoint{}, endpointChanged())).
		WatchesRawSource(r.exposures).
		WatchesRawSource(r.tokens).
		WatchesMetadata(&corev1.Secret{}, enqueue(ofWebhooks(r.client))).
		WatchesMetadata(&corev1.Secret{}, enqueue(r.changedPart)). // somebody else's Secret of a part's name may go
		WatchesRawSource(source.Kind(own, client.Object(metadataOf("Secret")), enqueue(ofWebhooks(r.client)))).
		WatchesRawSource(source.Kind(own, client.Object(metadataOf("Secret")), enqueue(r.changedPart))).
		WatchesRawSource(r.store.configs.source()).
		WithOptions(inQueue())
	if !r.namespaces.some {
		b = b.WatchesMetadata(&corev1.Namespace{}, firstOfAll(r.endpointsOfForeignTokens), relabelled)
	}
	return b.Complete(g.before("Config", r))
}

// firstOfAll enqueues the objects that an update concerns before everything else: it may take access away.
func firstOfAll(concerned func(context.Context, client.Object) []types.NamespacedName) handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			enqueueAt(q, priorityOfNew(e.IsInInitialList), concerned(ctx, e.Object)...)
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			enqueueAt(q, priorityRemoval, concerned(ctx, e.ObjectNew)...)
		},
	}
}

// endpointChanged enqueues an endpoint whose spec changed, and before everything else: a group may have lost a right.
func endpointChanged() handler.TypedEventHandler[*v1alpha1.MCPEndpoint, reconcile.Request] {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return handler.TypedFuncs[*v1alpha1.MCPEndpoint, reconcile.Request]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[*v1alpha1.MCPEndpoint], q queue) {
			enqueueAt(q, priorityOfNew(e.IsInInitialList), keyOf(e.Object))
		},
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[*v1alpha1.MCPEndpoint], q queue) {
			if relevant(e.ObjectOld, e.ObjectNew) {
				enqueueAt(q, priorityRemoval, keyOf(e.ObjectNew))
			}
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[*v1alpha1.MCPEndpoint], q queue) {
			enqueueAt(q, priorityChange, keyOf(e.Object))
		},
	}
}

// partSecret is the form of the names of a Config's Secrets.
var partSecret = regexp.MustCompile(`^(.+)-mcp-config(-tokens-[0-9]+)?$`)

// changedPart is the endpoint of a Config's Secret that is not as this process wrote it. It is read again. The name says
// whose it is, since somebody may have removed labels and owner.
func (r *configReconciler) changedPart(_ context.Context, o client.Object) []types.NamespacedName {
	name := partSecret.FindStringSubmatch(o.GetName())
	if name == nil || r.secrets.isCurrent(o) && metav1.GetControllerOfNoCopy(o) != nil {
		return nil
	}
	endpoint := types.NamespacedName{Namespace: o.GetNamespace(), Name: name[1]}
	r.store.program(endpoint).doubt(o.GetName())
	return []types.NamespacedName{endpoint}
}

// watch makes an endpoint be reconciled when it, what it refers to, or what belongs to it changes, and when the store or
// a pod has news.
func (r *endpointReconciler) watch(mgr manager.Manager, own cache.Cache, g *guard) error {
	b := ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.MCPEndpoint{}, told(mgr, "MCPEndpoint", wantedChanged, r.status.saw)).
		WatchesMetadata(&corev1.Secret{}, enqueue(referring(r.client, &v1alpha1.MCPEndpointList{}, secretIndex))).
		WatchesMetadata(&corev1.ConfigMap{}, enqueue(referring(r.client, &v1alpha1.MCPEndpointList{}, configMapIndex))).
		WatchesRawSource(source.Kind(own, client.Object(metadataOf("Secret")), enqueue(referring(r.client, &v1alpha1.MCPEndpointList{}, secretIndex)))).
		WatchesRawSource(source.Kind(own, client.Object(&corev1.Pod{}), enqueue(labelled))).
		WatchesRawSource(source.Kind(own, client.Object(&appsv1.ReplicaSet{}), enqueue(labelled))).
		WatchesRawSource(r.store.endpoints.source()).
		WithOptions(inQueue())
	for _, child := range append(workloadKinds(), &networkingv1.Ingress{}) {
		b = b.WatchesRawSource(source.Kind(own, child, ownedBy(mgr, &v1alpha1.MCPEndpoint{}), countsForEndpoint))
	}
	return b.Complete(g.before("MCPEndpoint", r))
}

// countsForEndpoint leaves out what the controllers of budgets and autoscalers write every few seconds.
var countsForEndpoint = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	switch before := e.ObjectOld.(type) {
	case *policyv1.PodDisruptionBudget:
		after := e.ObjectNew.(*policyv1.PodDisruptionBudget)
		return !equality.Semantic.DeepEqual(before.Spec, after.Spec) || metadataChanged(before, after)
	case *autoscalingv2.HorizontalPodAutoscaler:
		after := e.ObjectNew.(*autoscalingv2.HorizontalPodAutoscaler)
		return !equality.Semantic.DeepEqual(before.Spec, after.Spec) || metadataChanged(before, after) ||
			notScaling(before) != notScaling(after)
	}
	return true
}}

// metadataChanged reports whether something of an object's metadata changed that we write.
func metadataChanged(before, after client.Object) bool {
	return !maps.Equal(before.GetLabels(), after.GetLabels()) || !maps.Equal(before.GetAnnotations(), after.GetAnnotations()) ||
		!equality.Semantic.DeepEqual(before.GetOwnerReferences(), after.GetOwnerReferences()) || before.GetUID() != after.GetUID()
}

// watch makes an exposure be reconciled when it changes, when its endpoint comes or goes, and when the store has news.
func (r *exposureReconciler) watch(mgr manager.Manager, g *guard) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.MCPModelExposure{}, told(mgr, "MCPModelExposure", wantedChanged, r.status.saw)).
		Watches(&v1alpha1.MCPEndpoint{}, enqueue(ofEndpoint(r.client, &v1alpha1.MCPModelExposureList{})), builder.WithPredicates(servesOthers)).
		WatchesRawSource(r.store.exposures.source()).
		WithOptions(inQueue()).
		Complete(g.before("MCPModelExposure", r))
}

// watch makes a token be reconciled when it, its Secret or its endpoint changes, when another token of the same Secret comes or goes,
// and when the store has news.
func (r *tokenReconciler) watch(mgr manager.Manager, own cache.Cache, g *guard) error {
	ofSecret := enqueue(tokensReferring(r.client))
	deletions := r.texts.left.deletions()
	b := ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.MCPToken{}, told(mgr, "MCPToken", predicate.And(deletions, predicate.Or(wantedChanged, rotationAsked)), r.status.saw)).
		Watches(&v1alpha1.MCPToken{}, enqueue(func(ctx context.Context, o client.Object) []types.NamespacedName {
			return tokensReferring(r.client)(ctx, tokenSecret(o.(*v1alpha1.MCPToken)))
		}), builder.WithPredicates(deletions, comeOrGone)).
		Watches(&v1alpha1.MCPEndpoint{}, enqueue(ofEndpoint(r.client, &v1alpha1.MCPTokenList{})), builder.WithPredicates(servesOthers)).
		WatchesMetadata(&corev1.Secret{}, ofSecret).
		WatchesRawSource(source.Kind(own, client.Object(metadataOf("Secret")), ofSecret)).
		WatchesRawSource(r.store.tokens.source()).
		WithOptions(inQueue())
	if !r.namespaces.some {
		b = b.WatchesMetadata(&corev1.Namespace{}, enqueue(foreignTokensOf(r.client)), relabelled)
	}
	return b.Complete(g.before("MCPToken", r))
}

// rotationAsked passes a new request for a rotation.
var rotationAsked = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return e.ObjectOld.GetAnnotations()[v1alpha1.RotateAnnotation] != e.ObjectNew.GetAnnotations()[v1alpha1.RotateAnnotation]
}}

// servesOthers passes what the objects of an endpoint must know of it themselves: that it comes or goes, where it is, and
// whom it admits. The store wakes the objects that any other change of it concerns.
var servesOthers = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, after := e.ObjectOld.(*v1alpha1.MCPEndpoint), e.ObjectNew.(*v1alpha1.MCPEndpoint)
	return before.UID != after.UID || before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
		before.EffectiveURL() != after.EffectiveURL() || v1alpha1.IsPaused(before) != v1alpha1.IsPaused(after) ||
		!equality.Semantic.DeepEqual(before.Spec.AllowedTokens, after.Spec.AllowedTokens)
}}

// comeOrGone passes creations and deletions.
var comeOrGone = predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}

// labelled is the endpoint that an object's label names.
func labelled(_ context.Context, o client.Object) []types.NamespacedName {
	return []types.NamespacedName{{Namespace: o.GetNamespace(), Name: o.GetLabels()[endpointLabel]}}
}

// enqueue reconciles the objects that an event concerns.
func enqueue(concerned func(context.Context, client.Object) []types.NamespacedName) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		var requests []reconcile.Request
		for _, key := range concerned(ctx, o) {
			requests = append(requests, reconcile.Request{NamespacedName: key})
		}
		return requests
	})
}

// referring are the objects of a list's kind whose index names the event's object, in its namespace.
func referring(cached client.Reader, list client.ObjectList, index string) func(context.Context, client.Object) []types.NamespacedName {
	return func(ctx context.Context, o client.Object) []types.NamespacedName {
		found := list.DeepCopyObject().(client.ObjectList)
		if err := cached.List(ctx, found, client.InNamespace(o.GetNamespace()), client.MatchingFields{index: o.GetName()}); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Objects that refer to another could not be listed", "index", index)
			return nil
		}
		return keysOf(found)
	}
}

// tokensReferring are the tokens whose text or hash is in a Secret.
func tokensReferring(cached client.Reader) func(context.Context, client.Object) []types.NamespacedName {
	return func(ctx context.Context, secret client.Object) []types.NamespacedName {
		found, err := tokensOfSecret(ctx, cached, client.ObjectKeyFromObject(secret))
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "The tokens of a Secret could not be listed")
			return nil
		}
		return keysOf(&v1alpha1.MCPTokenList{Items: found})
	}
}

// tokensOfSecret are the tokens whose text or hash is in a Secret.
func tokensOfSecret(ctx context.Context, cached client.Reader, secret types.NamespacedName) ([]v1alpha1.MCPToken, error) {
	var found v1alpha1.MCPTokenList
	if err := cached.List(ctx, &found, client.InNamespace(secret.Namespace), client.MatchingFields{secretIndex: secret.Name}); err != nil {
		return nil, err
	}
	var namesake v1alpha1.MCPToken
	if err := cached.Get(ctx, secret, &namesake); client.IgnoreNotFound(err) != nil {
		return nil, err
	} else if err == nil && tokenSecretName(&namesake) == secret.Name {
		found.Items = append(found.Items, namesake)
	}
	return found.Items, nil
}

// ofEndpoint are the objects of a list's kind that belong to the event's endpoint, in whatever namespace.
func ofEndpoint(cached client.Reader, list client.ObjectList) func(context.Context, client.Object) []types.NamespacedName {
	return func(ctx context.Context, o client.Object) []types.NamespacedName {
		found := list.DeepCopyObject().(client.ObjectList)
		if err := cached.List(ctx, found, client.MatchingFields{endpointIndex: keyOf(o).String()}); err != nil {
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
		keys = append(keys, keyOf(item.(client.Object)))
		return nil
	})
	return keys
}

// ofWebhooks are the endpoints of the exposures whose webhooks name the event's Secret.
func ofWebhooks(cached client.Reader) func(context.Context, client.Object) []types.NamespacedName {
	return func(ctx context.Context, o client.Object) []types.NamespacedName {
		var found v1alpha1.MCPModelExposureList
		if err := cached.List(ctx, &found, client.InNamespace(o.GetNamespace()), client.MatchingFields{secretIndex: o.GetName()}); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Exposures whose webhooks name a Secret could not be listed")
			return nil
		}
		var keys []types.NamespacedName
		for i := range found.Items {
			keys = append(keys, endpointOf(o.GetNamespace(), found.Items[i].Spec.EndpointRef))
		}
		return keys
	}
}

// ownedBy enqueues the owner of a child.
func ownedBy(mgr manager.Manager, owner client.Object) handler.EventHandler {
	return handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), owner, handler.OnlyControllerOwner())
}

// addIndexes lets the cache answer which objects refer to another.
func addIndexes(mgr manager.Manager) error {
	ctx, indexer := context.Background(), mgr.GetFieldIndexer()
	for _, index := range []struct {
		obj   client.Object
		field string
		of    client.IndexerFunc
	}{
		{&v1alpha1.MCPModelExposure{}, endpointIndex, func(o client.Object) []string {
			return []string{endpointOf(o.GetNamespace(), o.(*v1alpha1.MCPModelExposure).Spec.EndpointRef).String()}
		}},
		{&v1alpha1.MCPModelExposure{}, secretIndex, func(o client.Object) []string {
			return webhookSecretNames(o.(*v1alpha1.MCPModelExposure))
		}},
		{&v1alpha1.MCPToken{}, endpointIndex, func(o client.Object) []string {
			return []string{o.(*v1alpha1.MCPToken).Endpoint().String()}
		}},
		{&v1alpha1.MCPToken{}, foreignIndex, func(o client.Object) []string {
			return []string{strconv.FormatBool(o.(*v1alpha1.MCPToken).Foreign())}
		}},
		{&v1alpha1.MCPToken{}, secretIndex, func(o client.Object) []string {
			if name := tokenSecretName(o.(*v1alpha1.MCPToken)); name != o.GetName() && name != "" {
				return []string{name} // most have the token's own name: tokensOfSecret needs no index for those
			}
			return nil
		}},
		{&v1alpha1.MCPEndpoint{}, secretIndex, func(o client.Object) []string {
			e := o.(*v1alpha1.MCPEndpoint)
			names := append(serverSecrets(e), addedSecrets(e)...)
			if ref := e.Spec.Network.Ingress.CertificateSecretRef(); ref != nil {
				names = append(names, ref.Name)
			}
			return names
		}},
		{&v1alpha1.MCPEndpoint{}, configMapIndex, func(o client.Object) []string {
			if sqlite := o.(*v1alpha1.MCPEndpoint).Spec.Database.SQLite; sqlite != nil && sqlite.InitConfigMapRef != nil {
				return []string{sqlite.InitConfigMapRef.Name}
			}
			return nil
		}},
	} {
		if err := indexer.IndexField(ctx, index.obj, index.field, index.of); err != nil {
			return err
		}
	}
	return nil
}

// tokenSecretName is the one Secret that a token's text or hash is in; "" if it has none.
func tokenSecretName(t *v1alpha1.MCPToken) string {
	switch {
	case t.Spec.TokenSecretRef != nil:
		return t.Spec.TokenSecretRef.Name
	case t.Spec.TokenHashSecretRef != nil:
		return t.Spec.TokenHashSecretRef.Name
	case t.Spec.Generated():
		return t.EffectiveSecretName()
	}
	return ""
}

// tokenSecret is the name of that Secret, as an object.
func tokenSecret(t *v1alpha1.MCPToken) client.Object {
	secret := metadataOf("Secret")
	secret.Namespace, secret.Name = t.Namespace, tokenSecretName(t)
	return secret
}
