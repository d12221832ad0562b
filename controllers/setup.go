package controllers

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract/version"
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
	// ManagerNamespace is where the manager's pods run, for the NetworkPolicies of endpoints. Empty is none: the manager does
	// not run in the cluster.
	ManagerNamespace string
	// LookAgain is how long to wait for what no watch tells, such as a kind that is not installed yet; 0 is 30 seconds.
	LookAgain time.Duration
	// Installation is the name that all managers of one installation share, such as the namespace that they run in. It
	// keeps another installation from the same objects. Empty is for a manager that knows itself alone.
	Installation string
	// PodAddress returns the host and port of a pod's admin listener; nil is the pod's IP and port 8081.
	PodAddress func(*corev1.Pod) string
	// UsageInterval is how often the server's pods are asked which tokens were used; 0 is five minutes.
	UsageInterval time.Duration
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

// Setup adds the controllers of all three kinds to a manager whose cache has CacheOptions. The watched namespaces are
// those that were given there.
func Setup(mgr manager.Manager, watched []string, options Options) error {
	if options.Now == nil {
		options.Now = time.Now
	}
	options.LookAgain = cmp.Or(options.LookAgain, 30*time.Second)
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
	pod := podOptions{
		image: options.ServerImage, allowed: options.AllowedImages, managerNamespace: options.ManagerNamespace,
		configKey: options.ConfigKey.Public().(ed25519.PublicKey),
	}
	children := newChildren(mgr.GetClient(), liveSecrets{own, mgr.GetAPIReader()}, mgr.GetAPIReader(), newManagerMark(version.String(), pod))
	watcher, err := client.NewWithWatch(mgr.GetConfig(), client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(), HTTPClient: mgr.GetHTTPClient()})
	if err != nil {
		return err
	}
	users := usersClient{mgr.GetClient(), own}
	admission := namespaces{cached: mgr.GetClient(), some: len(watched) > 0}
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
			endpointOf: (*v1alpha1.MCPToken).Endpoint,
		},
		namespaces: admission,
		secrets:    &configSecrets{client: mgr.GetClient(), cached: liveSecrets{own, mgr.GetAPIReader()}, live: mgr.GetAPIReader(), key: options.ConfigKey},
		webhooks:   &webhookSecrets{cached: mgr.GetClient(), live: mgr.GetAPIReader()},
		store:      store,
		now:        options.Now,
	}
	endpoints := &endpointReconciler{
		client:    users,
		children:  children,
		exposures: endpointExposures,
		store:     store,
		status:    newEndpointStatus(mgr.GetClient(), recorder, options.Now),
		pod:       pod,
		network: &network{
			children: children, cached: users, secrets: optIn(options.RequireSecretOptIn),
			installed: installedKinds{mapper: mgr.GetRESTMapper(), now: options.Now, lookAgain: options.LookAgain},
			now:       options.Now, lookAgain: options.LookAgain,
		},
		secrets: optIn(options.RequireSecretOptIn),

		namespaces: admission,
		now:        options.Now,
	}
	endpoints.conflicts = &conflictWatches{ctx: ctx, client: watcher, wake: func(endpoint types.NamespacedName) { store.endpoints.wake(endpoint) }, running: map[string]bool{}}
	endpoints.poller = observe.New(ctx, observe.Options{
		Address:  options.PodAddress,
		OnReport: endpoints.reported,
		Log:      mgr.GetLogger().WithName("observe"),
	})
	exposures := &exposureReconciler{client: mgr.GetClient(), store: store, status: newExposureStatus(mgr.GetClient(), recorder, options.Now)}
	tokens := &tokenReconciler{
		client: users,
		texts: &tokenTexts{
			client: users, live: mgr.GetAPIReader(), children: children, events: recorder, now: options.Now,
			secrets: optIn(options.RequireSecretOptIn), key: token.NewKey(options.ConfigKey), programmed: store.hasProgrammed,
		},
		namespaces: admission,
		store:      store,
		status:     newTokenStatus(mgr.GetClient(), recorder, options.Now),
		now:        options.Now,
	}
	usage := usageReader{
		cached: mgr.GetClient(), poller: endpoints.poller, store: store, now: options.Now,
		interval: cmp.Or(options.UsageInterval, usageInterval),
	}
	if err := mgr.Add(usage); err != nil {
		return err
	}
	guarded, err := newGuardOf(mgr, watched, options)
	if err != nil {
		return err
	}
	return errors.Join(
		configs.watch(mgr, own, guarded),
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
