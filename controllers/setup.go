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
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract/version"
	"github.com/mcp-admin/mcp-admin-operator/controllers/observe"
	"github.com/mcp-admin/mcp-admin-operator/controllers/token/rotation"
)

// Name is the controllers' name in events.
const Name = "mcp-admin-manager"

// Options are the settings of the controllers.
type Options struct {
	// ServerImage is the image of the server's pods, if an MCPEndpoint names no other.
	ServerImage string
	// AllowedImages are the images that an MCPEndpoint may name; one that ends in "*" stands for all that begin like it.
	// Empty is any.
	AllowedImages []string
	// ServerPullPolicy is when the server's pods pull their image; "" leaves it to Kubernetes.
	ServerPullPolicy corev1.PullPolicy
	// ServerPullSecrets are Secrets of an endpoint's namespace that its pods pull their image with, besides the Secrets
	// that the endpoint names.
	ServerPullSecrets []string
	// RequireSecretOptIn makes Secrets that endpoints and tokens name need the annotation v1alpha1.AllowEndpointsAnnotation.
	RequireSecretOptIn bool
	// ConfigKey signs the Configs. The server's pods get its public half, and apply no other Config.
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

// Setup adds the controllers of all three kinds to a manager whose cache has CacheOptions. The watched namespaces are the
// ones that were given there.
func Setup(mgr manager.Manager, watched []string, options Options) error {
	s, err := newSetup(mgr, watched, options)
	if err != nil {
		return err
	}
	configs, exposures, tokens := s.configs(), s.exposures(), s.tokens()
	endpoints, err := s.endpoints(configs.exposures)
	if err != nil {
		return err
	}
	guarded, err := newGuardOf(mgr, watched, s.options)
	if err != nil {
		return err
	}
	return errors.Join(
		addIndexes(mgr),
		mgr.Add(s.usage(endpoints.poller)),
		configs.watch(mgr, s.own, guarded),
		endpoints.watch(mgr, s.own, guarded),
		exposures.watch(mgr, guarded),
		tokens.watch(mgr, s.own, guarded),
		countObjects(mgr.GetCache()),
		addChecks(mgr, guarded, mgr.GetCache(), s.own),
	)
}

// setup holds what several controllers of a manager share.
type setup struct {
	mgr     manager.Manager
	options Options
	// ctx ends with the manager.
	ctx context.Context
	own cache.Cache
	// users reads the objects of users and of the manager alike.
	users      usersClient
	secrets    optIn
	namespaces namespaces
	pod        podOptions
	children   *children
	store      *store
	events     events.EventRecorder
}

func newSetup(mgr manager.Manager, watched []string, options Options) (*setup, error) {
	if len(options.ConfigKey) != ed25519.PrivateKeySize {
		return nil, errors.New("there is no key to sign Configs with")
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	options.LookAgain = cmp.Or(options.LookAgain, 30*time.Second)
	own, err := newOwnCache(mgr, watched)
	if err != nil {
		return nil, err
	}
	ctx, err := contextOf(mgr)
	if err != nil {
		return nil, err
	}
	pod := podOptions{
		image: options.ServerImage, allowed: options.AllowedImages, managerNamespace: options.ManagerNamespace,
		configKey:  options.ConfigKey.Public().(ed25519.PublicKey),
		pullPolicy: options.ServerPullPolicy, pullSecrets: options.ServerPullSecrets,
	}
	return &setup{
		mgr: mgr, options: options, ctx: ctx, own: own,
		users:      usersClient{Client: mgr.GetClient(), own: own},
		secrets:    optIn(options.RequireSecretOptIn),
		namespaces: namespaces{cached: mgr.GetClient(), some: len(watched) > 0},
		pod:        pod,
		children:   newChildren(mgr.GetClient(), liveSecrets{Reader: own, live: mgr.GetAPIReader()}, mgr.GetAPIReader(), newManagerMark(version.String(), pod)),
		store:      newStore(),
		events:     mgr.GetEventRecorder(Name),
	}, nil
}

// contextOf returns a context that ends with the manager.
func contextOf(mgr manager.Manager) (context.Context, error) {
	ctx, stop := context.WithCancel(context.Background())
	return ctx, mgr.Add(manager.RunnableFunc(func(running context.Context) error {
		<-running.Done()
		stop()
		return nil
	}))
}

func (s *setup) configs() *configReconciler {
	return &configReconciler{
		client: s.mgr.GetClient(),
		exposures: &tracked[*v1alpha1.MCPModelExposure]{
			informers: s.mgr.GetCache(), prototype: &v1alpha1.MCPModelExposure{},
			endpointOf: func(e *v1alpha1.MCPModelExposure) types.NamespacedName {
				return endpointOf(e.Namespace, e.Spec.EndpointRef)
			},
		},
		tokens: &tracked[*v1alpha1.MCPToken]{
			informers: s.mgr.GetCache(), prototype: &v1alpha1.MCPToken{},
			endpointOf: (*v1alpha1.MCPToken).Endpoint, changed: s.store.tokenChanged, restated: s.store.refresh,
		},
		namespaces: s.namespaces,
		secrets: &configSecrets{
			client: s.mgr.GetClient(), cached: liveSecrets{Reader: s.own, live: s.mgr.GetAPIReader()}, live: s.mgr.GetAPIReader(), key: s.options.ConfigKey,
		},
		webhooks: &webhookSecrets{cached: s.mgr.GetClient(), live: s.mgr.GetAPIReader()},
		store:    s.store,
		now:      s.options.Now,
	}
}

// endpoints returns the reconciler of endpoints, which reads the exposures that the config reconciler tracks.
func (s *setup) endpoints(exposures *tracked[*v1alpha1.MCPModelExposure]) (*endpointReconciler, error) {
	watcher, err := client.NewWithWatch(s.mgr.GetConfig(), client.Options{
		Scheme: s.mgr.GetScheme(), Mapper: s.mgr.GetRESTMapper(), HTTPClient: s.mgr.GetHTTPClient(),
	})
	if err != nil {
		return nil, err
	}
	r := &endpointReconciler{
		client:    s.users,
		children:  s.children,
		exposures: exposures,
		store:     s.store,
		status:    newEndpointStatus(s.mgr.GetClient(), s.events, s.options.Now),
		events:    s.events,
		pod:       s.pod,
		network: &network{
			children: s.children, cached: s.users, secrets: s.secrets,
			installed: installedKinds{mapper: s.mgr.GetRESTMapper(), now: s.options.Now, lookAgain: s.options.LookAgain},
			now:       s.options.Now, lookAgain: s.options.LookAgain,
		},
		secrets:    s.secrets,
		namespaces: s.namespaces,
		now:        s.options.Now,
		conflicts: &conflictWatches{
			ctx: s.ctx, client: watcher, running: map[string]bool{},
			wake: func(endpoint types.NamespacedName) { s.store.endpoints.wake(endpoint) },
		},
		rollouts: newRollouts(s.store.endpoints.wake),
	}
	r.poller = observe.New(s.ctx, observe.Options{
		Address:  s.options.PodAddress,
		OnReport: r.reported,
		Log:      s.mgr.GetLogger().WithName("observe"),
	})
	return r, nil
}

func (s *setup) exposures() *exposureReconciler {
	return &exposureReconciler{
		client: s.mgr.GetClient(), store: s.store,
		status: newExposureStatus(s.mgr.GetClient(), s.events, s.options.Now),
	}
}

func (s *setup) tokens() *tokenReconciler {
	return &tokenReconciler{
		client: s.users,
		texts: &tokenTexts{
			client: s.users, live: s.mgr.GetAPIReader(), children: s.children, events: s.events, now: s.options.Now,
			secrets: s.secrets, key: rotation.NewKey(s.options.ConfigKey), programmed: s.store.hasProgrammed,
			left: &leftSecrets{cached: s.own},
		},
		namespaces: s.namespaces,
		store:      s.store,
		status:     newTokenStatus(s.mgr.GetClient(), s.events, s.options.Now),
		now:        s.options.Now,
	}
}

func (s *setup) usage(poller *observe.Poller) usageReader {
	return usageReader{
		cached: s.mgr.GetClient(), poller: poller, store: s.store, now: s.options.Now,
		interval: cmp.Or(s.options.UsageInterval, usageInterval),
	}
}

// newGuardOf returns the guard of a manager, which looks after some namespaces, or all if none is given.
func newGuardOf(mgr manager.Manager, namespaces []string, options Options) (*guard, error) {
	if options.Installation == "" {
		return newGuard(nil, options.Now), nil
	}
	c := newClaims(mgr.GetClient(), mgr.GetAPIReader(), options.Installation, namespaces, options.Now)
	return newGuard(c, options.Now), mgr.Add(c)
}
