package controllers

import (
	"context"
	"crypto/ed25519"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/observe"
	"github.com/mcp-admin/mcp-admin-operator/controllers/token"
)

// Name is what the controllers call themselves in events.
const Name = "mcp-admin-manager"

// Options are what the controllers need to be told.
type Options struct {
	// ServerImage is the image of the server's pods, if an MCPEndpoint names no other.
	ServerImage string
	// AllowedImages are the images that an MCPEndpoint may name; one that ends in "*" stands for all that begin like it.
	// Empty is any.
	AllowedImages []string
	// RequireSecretOptIn makes Secrets that endpoints and tokens name need the annotation v1alpha1.AllowEndpointsAnnotation.
	RequireSecretOptIn bool
	// ConfigKey signs the Configs. The server's pods are told its public half, and apply no other Config.
	ConfigKey ed25519.PrivateKey
	// Installation is the name that all managers of one installation share, such as the namespace that they run in. It
	// keeps another installation from the same objects. Empty is for a manager that knows itself alone.
	Installation string
	// PodAddress returns the host and port of a pod's admin listener; nil is the pod's IP and port 8081.
	PodAddress func(*corev1.Pod) string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// NewScheme returns a scheme of the kinds that the controllers know.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return scheme, v1alpha1.AddToScheme(scheme)
}

// CacheOptions are the options of the manager's cache. It holds the three kinds, limited to the namespaces if some are
// given, and a small part of the metadata of users' Secrets and ConfigMaps.
func CacheOptions(namespaces []string) cache.Options {
	options := cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			metadataOf("Secret"):    {Transform: keepIdentity},
			metadataOf("ConfigMap"): {Transform: keepIdentity},
			metadataOf("Namespace"): {Transform: keepLabels},
		},
		// A read of another kind fails. It must not start a cache of every Secret in the cluster.
		ReaderFailOnMissingInformer: true,
	}
	for _, namespace := range namespaces {
		if options.DefaultNamespaces == nil {
			options.DefaultNamespaces = map[string]cache.Config{}
		}
		options.DefaultNamespaces[namespace] = cache.Config{}
	}
	return options
}

// keepIdentity keeps of an object's metadata only what tells that it exists, whether it changed, and who may use it.
func keepIdentity(obj any) (any, error) {
	if m, ok := obj.(*metav1.PartialObjectMetadata); ok {
		allowed, given := m.Annotations[v1alpha1.AllowEndpointsAnnotation]
		m.ObjectMeta = metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion}
		if given {
			m.Annotations = map[string]string{v1alpha1.AllowEndpointsAnnotation: allowed}
		}
	}
	return obj, nil
}

// Setup adds the controllers of all three kinds to a manager whose cache has CacheOptions. The watched namespaces are
// those that were given there.
func Setup(mgr manager.Manager, watched []string, options Options) error {
	if options.Now == nil {
		options.Now = time.Now
	}
	if len(options.ConfigKey) != ed25519.PrivateKeySize {
		return errors.New("there is no key to sign Configs with")
	}
	own, err := newOwnCache(mgr, watched)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	if err := mgr.Add(manager.RunnableFunc(func(running context.Context) error {
		<-running.Done()
		stop()
		return nil
	})); err != nil {
		return err
	}
	if err := addIndexes(mgr); err != nil {
		return err
	}

	store := newStore()
	recorder := mgr.GetEventRecorder(Name)
	children := newChildren(mgr.GetClient(), own, mgr.GetAPIReader())
	admission := namespaces{cached: mgr.GetClient(), some: len(watched) > 0}
	endpoints := &endpointReconciler{
		client:   mgr.GetClient(),
		children: children,
		configs:  &configSecrets{children: children, key: options.ConfigKey},
		webhooks: &webhookSecrets{cached: mgr.GetClient(), live: mgr.GetAPIReader()},
		poller: observe.New(ctx, observe.Options{
			Address:  options.PodAddress,
			OnReport: func(endpoint types.NamespacedName) { store.endpoints.wake(endpoint) },
			Log:      mgr.GetLogger().WithName("observe"),
		}),
		store:   store,
		status:  newEndpointStatus(mgr.GetClient(), recorder),
		pod:     podOptions{options.ServerImage, options.AllowedImages, options.ConfigKey.Public().(ed25519.PublicKey)},
		secrets: optIn(options.RequireSecretOptIn),

		namespaces: admission,
		now:        options.Now,
	}
	exposures := &exposureReconciler{client: mgr.GetClient(), store: store, status: newExposureStatus(mgr.GetClient(), recorder)}
	tokens := &tokenReconciler{
		client: mgr.GetClient(),
		texts: &tokenTexts{
			client: mgr.GetClient(), live: mgr.GetAPIReader(), children: children, events: recorder, now: options.Now,
			secrets: optIn(options.RequireSecretOptIn), key: token.NewKey(options.ConfigKey), programmed: store.hasProgrammed,
		},
		namespaces: admission,
		store:      store,
		status:     newTokenStatus(mgr.GetClient(), recorder),
		now:        options.Now,
	}
	guarded, err := newGuardOf(mgr, watched, options)
	if err != nil {
		return err
	}
	return errors.Join(
		endpoints.watch(mgr, own, guarded),
		exposures.watch(mgr, guarded),
		tokens.watch(mgr, own, guarded),
		countObjects(mgr.GetCache()),
		addChecks(mgr, guarded, mgr.GetCache(), own),
	)
}

// newGuardOf returns the guard of a manager, which looks after some namespaces, or all if none is given.
func newGuardOf(mgr manager.Manager, namespaces []string, options Options) (*guard, error) {
	if options.Installation == "" {
		return newGuard(nil, options.Now), nil
	}
	c := newClaims(mgr.GetClient(), mgr.GetAPIReader(), options.Installation, namespaces, options.Now)
	return newGuard(c, options.Now), mgr.Add(c)
}

// newOwnCache holds what the controllers made, and the server's pods: all that has the component label.
func newOwnCache(mgr manager.Manager, namespaces []string) (cache.Cache, error) {
	ours, err := labels.NewRequirement(componentLabel, selection.Exists, nil)
	if err != nil {
		return nil, err
	}
	options := CacheOptions(namespaces)
	options.ByObject = nil
	options.Scheme, options.Mapper, options.HTTPClient = mgr.GetScheme(), mgr.GetRESTMapper(), mgr.GetHTTPClient()
	options.DefaultLabelSelector = labels.NewSelector().Add(*ours)
	own, err := cache.New(mgr.GetConfig(), options)
	if err != nil {
		return nil, err
	}
	return own, mgr.Add(standbyCache{own})
}

// standbyCache is a cache that fills before its manager is the leader, as the manager's own does.
type standbyCache struct{ cache.Cache }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (standbyCache) NeedLeaderElection() bool { return false }
