package controllers

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/contract/version"
	"github.com/mcp-admin/mcp-admin-operator/controllers/approval"
	"github.com/mcp-admin/mcp-admin-operator/controllers/child"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/config"
	"github.com/mcp-admin/mcp-admin-operator/controllers/endpoint"
	"github.com/mcp-admin/mcp-admin-operator/controllers/exposure"
	"github.com/mcp-admin/mcp-admin-operator/controllers/observe"
	"github.com/mcp-admin/mcp-admin-operator/controllers/program"
	"github.com/mcp-admin/mcp-admin-operator/controllers/token"
	"github.com/mcp-admin/mcp-admin-operator/controllers/token/rotation"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Name is the controllers' name in events.
const Name = "mcp-admin-manager"

// Options are the settings of the controllers.
type Options struct {
	// ServerImage is the image of the server's pods, if an MCPEndpoint names no other.
	ServerImage string
	// DuckDBServerImage is the same for MCPEndpoints over DuckDB; "" is none.
	DuckDBServerImage string
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
	// Tracer makes traces of changes on their way to the pods; nil makes none.
	Tracer *tracing.Tracer
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
	endpoints, err := s.endpoints(configs.Exposures)
	if err != nil {
		return err
	}
	approvals := s.approvals(configs.Approvals, endpoints.Poller)
	guarded, err := newGuardOf(mgr, watched, s.options)
	if err != nil {
		return err
	}
	return errors.Join(
		addIndexes(mgr),
		mgr.Add(s.usage(endpoints.Poller)),
		configs.Watch(mgr, s.own, guarded),
		endpoints.Watch(mgr, s.own, guarded),
		exposures.Watch(mgr, guarded),
		tokens.Watch(mgr, s.own, guarded),
		approvals.Watch(mgr, guarded),
		cluster.CountObjects(mgr.GetCache()),
		cluster.CountApprovals(mgr.GetCache()),
		cluster.AddChecks(mgr, guarded, mgr.GetCache(), s.own),
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
	users      cluster.UsersClient
	secrets    cluster.OptIn
	namespaces cluster.Namespaces
	pod        child.PodOptions
	children   *cluster.Children
	store      *program.Store
	events     events.EventRecorder
	policy     *cluster.ApprovalPolicy
	// reports are what the pods tell of calls that wait.
	reports *approval.Reports
}

func newSetup(mgr manager.Manager, watched []string, options Options) (*setup, error) {
	if len(options.ConfigKey) != ed25519.PrivateKeySize {
		return nil, errors.New("there is no key to sign Configs with")
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	options.LookAgain = cmp.Or(options.LookAgain, 30*time.Second)
	own, err := cluster.NewOwnCache(mgr, watched)
	if err != nil {
		return nil, err
	}
	ctx, err := contextOf(mgr)
	if err != nil {
		return nil, err
	}
	live, err := client.New(mgr.GetConfig(), client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(), HTTPClient: mgr.GetHTTPClient()})
	if err != nil {
		return nil, err
	}
	pod := child.PodOptions{
		Image: options.ServerImage, DuckDBImage: options.DuckDBServerImage, Allowed: options.AllowedImages, ManagerNamespace: options.ManagerNamespace,
		ConfigKey:  options.ConfigKey.Public().(ed25519.PublicKey),
		PullPolicy: options.ServerPullPolicy, PullSecrets: options.ServerPullSecrets,
	}
	return &setup{
		mgr: mgr, options: options, ctx: ctx, own: own,
		users:      cluster.UsersClient{Client: mgr.GetClient(), Own: own},
		secrets:    cluster.OptIn(options.RequireSecretOptIn),
		namespaces: cluster.Namespaces{Cached: mgr.GetClient(), Some: len(watched) > 0},
		pod:        pod,
		children:   cluster.NewChildren(mgr.GetClient(), cluster.LiveSecrets{Reader: own, Live: mgr.GetAPIReader()}, mgr.GetAPIReader(), child.NewManagerMark(version.String(), pod)),
		store:      program.NewStore(options.Tracer, options.Now),
		events:     mgr.GetEventRecorder(Name),
		policy:     &cluster.ApprovalPolicy{Live: live, Now: options.Now, Rest: min(options.LookAgain, 10*time.Second)},
		reports:    approval.NewReports(),
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

func (s *setup) configs() *config.Reconciler {
	return &config.Reconciler{
		Client: s.mgr.GetClient(),
		Exposures: &cluster.Tracked[*v1alpha1.MCPModelExposure]{
			Informers: s.mgr.GetCache(), Prototype: &v1alpha1.MCPModelExposure{},
			EndpointOf: func(e *v1alpha1.MCPModelExposure) types.NamespacedName {
				return cluster.EndpointOf(e.Namespace, e.Spec.EndpointRef)
			},
			Changed: s.store.ExposureChanged,
		},
		Tokens: &cluster.Tracked[*v1alpha1.MCPToken]{
			Informers: s.mgr.GetCache(), Prototype: &v1alpha1.MCPToken{},
			EndpointOf: (*v1alpha1.MCPToken).Endpoint, Changed: s.store.TokenChanged, Restated: s.store.Refresh,
		},
		Approvals: &cluster.Tracked[*v1alpha1.MCPApproval]{
			Informers: s.mgr.GetCache(), Prototype: &v1alpha1.MCPApproval{},
			EndpointOf: approval.EndpointOf, Restated: s.approvalRestated,
		},
		ApprovalPolicy: s.policy,
		Namespaces:     s.namespaces,
		Secrets: &program.ConfigSecrets{
			Client: s.mgr.GetClient(), Cached: cluster.LiveSecrets{Reader: s.own, Live: s.mgr.GetAPIReader()}, Live: s.mgr.GetAPIReader(), Key: s.options.ConfigKey,
		},
		Webhooks: &config.WebhookSecrets{Cached: s.mgr.GetClient(), Live: s.mgr.GetAPIReader()},
		Store:    s.store,
		Now:      s.options.Now,
	}
}

// endpoints returns the reconciler of endpoints, which reads the exposures that the config reconciler tracks.
func (s *setup) endpoints(exposures *cluster.Tracked[*v1alpha1.MCPModelExposure]) (*endpoint.Reconciler, error) {
	watcher, err := client.NewWithWatch(s.mgr.GetConfig(), client.Options{
		Scheme: s.mgr.GetScheme(), Mapper: s.mgr.GetRESTMapper(), HTTPClient: s.mgr.GetHTTPClient(),
	})
	if err != nil {
		return nil, err
	}
	r := &endpoint.Reconciler{
		Client:    s.users,
		Children:  s.children,
		Exposures: exposures,
		Store:     s.store,
		Status:    cluster.NewEndpointStatus(s.mgr.GetClient(), s.events, s.options.Now),
		Events:    s.events,
		Pod:       s.pod,
		Network: &endpoint.Network{
			Children: s.children, Cached: s.users, Secrets: s.secrets,
			Installed: cluster.InstalledKinds{Mapper: s.mgr.GetRESTMapper(), Now: s.options.Now, LookAgain: s.options.LookAgain},
			Now:       s.options.Now, LookAgain: s.options.LookAgain,
		},
		Secrets:    s.secrets,
		Namespaces: s.namespaces,
		Now:        s.options.Now,
		Conflicts: &endpoint.ConflictWatches{
			Ctx: s.ctx, Client: watcher, Running: map[string]bool{},
			Wake: func(endpoint types.NamespacedName) { s.store.Endpoints.Wake(endpoint) },
		},
		Rollouts:       endpoint.NewRollouts(s.store.Endpoints.Wake),
		ApprovalPolicy: s.policy, LookAgain: s.options.LookAgain,
	}
	r.Poller = observe.New(s.ctx, observe.Options{
		Address:     s.options.PodAddress,
		OnReport:    r.Reported,
		OnApprovals: s.reports.Take,
		Log:         s.mgr.GetLogger().WithName("observe"),
	})
	return r, nil
}

// approvalRestated has an endpoint's Config compiled anew after the status of an approval changed: what ended may be allowed no more.
func (s *setup) approvalRestated(a *v1alpha1.MCPApproval) {
	if a.Ended() {
		s.store.Configs.WakeAt(cluster.PriorityRemoval, approval.EndpointOf(a))
	}
}

func (s *setup) approvals(tracked *cluster.Tracked[*v1alpha1.MCPApproval], poller *observe.Poller) *approval.Reconciler {
	return &approval.Reconciler{
		Client: s.mgr.GetClient(), Approvals: tracked, Reports: s.reports, Again: poller.ReadApprovalsAgain, Policy: s.policy,
		Configs: s.store.Configs.Wake, Events: s.events, Now: s.options.Now, LookAgain: s.options.LookAgain,
	}
}

func (s *setup) exposures() *exposure.Reconciler {
	return &exposure.Reconciler{
		Client: s.mgr.GetClient(), Store: s.store,
		Status: cluster.NewExposureStatus(s.mgr.GetClient(), s.events, s.options.Now),
	}
}

func (s *setup) tokens() *token.Reconciler {
	return &token.Reconciler{
		Client: s.users,
		Texts: &token.Texts{
			Client: s.users, Live: s.mgr.GetAPIReader(), Children: s.children, Events: s.events, Now: s.options.Now,
			Secrets: s.secrets, Key: rotation.NewKey(s.options.ConfigKey), Programmed: s.store.HasProgrammed,
			Left: &token.LeftSecrets{Cached: s.own},
		},
		Namespaces: s.namespaces,
		Store:      s.store,
		Status:     cluster.NewTokenStatus(s.mgr.GetClient(), s.events, s.options.Now),
		Events:     s.events,
		Now:        s.options.Now,
	}
}

func (s *setup) usage(poller *observe.Poller) endpoint.UsageReader {
	return endpoint.UsageReader{
		Cached: s.mgr.GetClient(), Poller: poller, Store: s.store, Now: s.options.Now,
		Interval: cmp.Or(s.options.UsageInterval, endpoint.UsageInterval),
	}
}

// newGuardOf returns the guard of a manager, which looks after some namespaces, or all if none is given.
func newGuardOf(mgr manager.Manager, namespaces []string, options Options) (*cluster.Guard, error) {
	if options.Installation == "" {
		return cluster.NewGuard(nil, options.Now), nil
	}
	c := cluster.NewInstallations(mgr.GetClient(), mgr.GetAPIReader(), options.Installation, namespaces, options.Now)
	return cluster.NewGuard(c, options.Now), mgr.Add(c)
}

// addIndexes lets the cache answer which objects refer to another.
func addIndexes(mgr manager.Manager) error {
	ctx, indexer := context.Background(), mgr.GetFieldIndexer()
	for _, index := range []struct {
		obj   client.Object
		field string
		of    client.IndexerFunc
	}{
		{&v1alpha1.MCPModelExposure{}, cluster.EndpointIndex, func(o client.Object) []string {
			return []string{cluster.EndpointOf(o.GetNamespace(), o.(*v1alpha1.MCPModelExposure).Spec.EndpointRef).String()}
		}},
		{&v1alpha1.MCPModelExposure{}, cluster.SecretIndex, func(o client.Object) []string {
			return cluster.WebhookSecretNames(o.(*v1alpha1.MCPModelExposure))
		}},
		{&v1alpha1.MCPToken{}, cluster.EndpointIndex, func(o client.Object) []string {
			return []string{o.(*v1alpha1.MCPToken).Endpoint().String()}
		}},
		{&v1alpha1.MCPToken{}, cluster.ForeignIndex, func(o client.Object) []string {
			if o.(*v1alpha1.MCPToken).Foreign() {
				return []string{"true"} // nobody looks for the others, which are most
			}
			return nil
		}},
		{&v1alpha1.MCPToken{}, cluster.SecretIndex, func(o client.Object) []string {
			if name := o.(*v1alpha1.MCPToken).CredentialSecretName(); name != o.GetName() && name != "" {
				return []string{name} // most have the token's own name: tokensOfSecret needs no index for those
			}
			return nil
		}},
		{&v1alpha1.MCPEndpoint{}, cluster.SecretIndex, func(o client.Object) []string {
			e := o.(*v1alpha1.MCPEndpoint)
			names := append(child.ServerSecrets(e), child.AddedSecrets(e)...)
			if ref := e.Spec.Network.Ingress.CertificateSecretRef(); ref != nil {
				names = append(names, ref.Name)
			}
			return names
		}},
		{&v1alpha1.MCPEndpoint{}, cluster.NotifyIndex, func(o client.Object) []string {
			return cluster.NotifySecretNames(o.(*v1alpha1.MCPEndpoint))
		}},
		{&v1alpha1.MCPEndpoint{}, cluster.ConfigMapIndex, func(o client.Object) []string {
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
