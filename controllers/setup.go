package controllers

import (
	"cmp"
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
	// ManagerNamespace is where the manager's pods run, for the NetworkPolicies of endpoints. Empty is none: the manager does
	// not run in the cluster.
	ManagerNamespace string
	// LookAgain is how long to wait for what no watch tells, such as a kind that is not installed yet; 0 is 30 seconds.
	LookAgain time.Duration
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

// Setup adds the controllers of all three kinds to a manager whose cache has CacheOptions. The namespaces are those
// that were given there.
func Setup(mgr manager.Manager, namespaces []string, options Options) error {
	if options.Now == nil {
		options.Now = time.Now
	}
	options.LookAgain = cmp.Or(options.LookAgain, 30*time.Second)
	if len(options.ConfigKey) != ed25519.PrivateKeySize {
		return errors.New("there is no key to sign Configs with")
	}
	own, err := newOwnCache(mgr, namespaces)
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
	endpointExposures := &tracked[*v1alpha1.MCPModelExposure]{
		informers: mgr.GetCache(), prototype: &v1alpha1.MCPModelExposure{},
		endpointOf: func(e *v1alpha1.MCPModelExposure) types.NamespacedName {
			return endpointOf(e.Namespace, e.Spec.EndpointRef)
		},
	}
	configs := &configReconciler{
		client:    mgr.GetClient(),
		exposures: endpointExposures,
		tokens: &tracked[*v1alpha1.MCPToken]{
			informers: mgr.GetCache(), prototype: &v1alpha1.MCPToken{},
			endpointOf: func(t *v1alpha1.MCPToken) types.NamespacedName { return endpointOf(t.Namespace, t.Spec.EndpointRef) },
		},
		secrets:  &configSecrets{client: mgr.GetClient(), cached: own, live: mgr.GetAPIReader(), key: options.ConfigKey},
		webhooks: &webhookSecrets{cached: mgr.GetClient(), live: mgr.GetAPIReader()},
		store:    store,
		now:      options.Now,
	}
	endpoints := &endpointReconciler{
		client:    mgr.GetClient(),
		children:  children,
		exposures: endpointExposures,
		store:     store,
		status:    newEndpointStatus(mgr.GetClient(), recorder, options.Now),
		pod: podOptions{
			image: options.ServerImage, allowed: options.AllowedImages, managerNamespace: options.ManagerNamespace,
			configKey: options.ConfigKey.Public().(ed25519.PublicKey),
		},
		network: &network{
			children: children, cached: mgr.GetClient(), secrets: optIn(options.RequireSecretOptIn),
			installed: installedKinds{mapper: mgr.GetRESTMapper(), now: options.Now, lookAgain: options.LookAgain},
			now:       options.Now, lookAgain: options.LookAgain,
		},
		secrets:   optIn(options.RequireSecretOptIn),
		now:       options.Now,
	}
	endpoints.poller = observe.New(ctx, observe.Options{
		Address:  options.PodAddress,
		OnReport: endpoints.reported,
		Log:      mgr.GetLogger().WithName("observe"),
	})
	exposures := &exposureReconciler{client: mgr.GetClient(), store: store, status: newExposureStatus(mgr.GetClient(), recorder, options.Now)}
	tokens := &tokenReconciler{
		client: mgr.GetClient(),
		texts: &tokenTexts{
			client: mgr.GetClient(), live: mgr.GetAPIReader(), children: children, events: recorder, now: options.Now,
			secrets: optIn(options.RequireSecretOptIn),
		},
		store:  store,
		status: newTokenStatus(mgr.GetClient(), recorder, options.Now),
		now:    options.Now,
	}
	if err := configs.watch(mgr, own); err != nil {
		return err
	}
	if err := endpoints.watch(mgr, own); err != nil {
		return err
	}
	if err := exposures.watch(mgr); err != nil {
		return err
	}
	return tokens.watch(mgr, own)
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
