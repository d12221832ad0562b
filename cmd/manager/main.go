// Program mcp-admin-manager runs the controllers: it turns MCPEndpoint, MCPModelExposure and MCPToken objects into
// running servers.
package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	_ "time/tzdata" // an image has no time zones

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/mcp-admin/mcp-admin-operator/contract/memlimit"
	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/contract/version"
	"github.com/mcp-admin/mcp-admin-operator/controllers"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
)

func main() {
	memlimit.Set(os.Getenv)
	options, err := parse(os.Args[1:], os.Getenv, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		os.Exit(2) // parse has printed the reason
	}
	if options.version {
		fmt.Println("mcp-admin-manager version", version.String())
		return
	}
	log := zap.New(zap.UseFlagOptions(&options.log))
	ctrl.SetLogger(log)
	klog.SetLogger(log.WithName("client-go"))
	log.Info("The manager starts", "version", version.String())
	if options.check {
		if err := check(ctrl.SetupSignalHandler(), options); err != nil {
			log.Error(err, "The installation does not work")
			os.Exit(1)
		}
		return
	}
	err = run(ctrl.SetupSignalHandler(), options)
	switch {
	case errors.Is(err, errDeposed):
		log.Info("The Lease could not be renewed in time: this manager starts anew, and waits for its turn")
		err = startAnew()
	case err != nil && unreachable(err):
		log.Info("The API server went away while the manager started: it starts anew", "reason", err.Error())
		err = startAnew()
	}
	if err != nil {
		log.Error(err, "The manager ended")
		os.Exit(1)
	}
}

// run works until its context ends.
func run(ctx context.Context, o options) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	scheme, err := controllers.NewScheme()
	if err != nil {
		return err
	}
	namespace, err := ownNamespace(o.managerNamespace)
	if err != nil {
		return err
	}
	direct, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	key, err := prepare(ctx, o, config, direct, namespace)
	if err != nil {
		return err
	}
	mgr, err := newManager(config, o, namespace)
	if err != nil {
		return err
	}
	tracer := newTracer(namespace)
	defer tracer.Close()
	if err := controllers.Setup(mgr, o.namespaces, controllers.Options{
		ServerImage: o.serverImage, DuckDBServerImage: o.duckDBImage, ServerPullPolicy: o.pullPolicy, ServerPullSecrets: o.pullSecrets, AllowedImages: o.allowedImages, RequireSecretOptIn: o.secretOptIn,
		ConfigKey: key, Installation: namespace, Tracer: tracer,
	}); err != nil {
		return err
	}
	if err := mgr.Add(keyWatch{client: direct, namespace: namespace, key: key, every: keyPeriod}); err != nil {
		return err
	}
	return deposed(ctx, mgr, mgr.Start(ctx))
}

// newTracer returns what traces changes on their way to the pods, if OpenTelemetry's environment variables name a collector.
func newTracer(namespace string) *tracing.Tracer {
	log := slog.New(logr.ToSlogHandler(ctrl.Log))
	tracer := tracing.New(log, nil)
	settings, problem := tracing.FromEnvironment(os.Getenv)
	if problem != "" {
		log.Warn("No traces are sent: " + problem)
	}
	if settings != nil {
		settings.Service, settings.Namespace, settings.Version = controllers.Name, namespace, version.String()
		settings.Instance, _ = os.Hostname()
	}
	tracer.Configure(settings)
	return tracer
}

// prepare waits until the cluster is as the manager needs it, and returns the key that signs Configs.
func prepare(ctx context.Context, o options, config *rest.Config, direct client.Client, namespace string) (key ed25519.PrivateKey, err error) {
	end, err := answerProbes(o.probeAddress)
	if err != nil {
		return nil, err
	}
	defer end()
	err = untilRight(ctx, startPatience, startPause, func(ctx context.Context) error {
		if err := checkCluster(ctx, config, direct, o.namespaces, namespace); err != nil {
			return err
		}
		key, err = configKey(ctx, direct, namespace)
		return err
	})
	return key, err
}

func newManager(config *rest.Config, o options, namespace string) (manager.Manager, error) {
	scheme, err := controllers.NewScheme()
	if err != nil {
		return nil, err
	}
	addresses, err := o.ownMetricsAddresses(os.Getenv("POD_IP"))
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(config, manager.Options{
		Scheme:                        scheme,
		Cache:                         cluster.CacheOptions(o.namespaces),
		Metrics:                       metricsserver.Options{BindAddress: addresses[0]},
		HealthProbeBindAddress:        o.probeAddress,
		PprofBindAddress:              o.pprofAddress,
		LeaderElection:                o.leaderElect,
		LeaderElectionID:              leaseName,
		LeaderElectionNamespace:       namespace,
		LeaderElectionReleaseOnCancel: true, // the program ends with the manager
		LeaseDuration:                 &o.leaseDuration,
		RenewDeadline:                 &o.renewDeadline,
		RetryPeriod:                   &o.retryPeriod,
	})
	if err != nil {
		return nil, err
	}
	return mgr, addMetrics(mgr, config, addresses[1:])
}

// addMetrics serves the metrics on more addresses than the one of the manager itself.
func addMetrics(mgr manager.Manager, config *rest.Config, addresses []string) error {
	for _, address := range addresses {
		server, err := metricsserver.NewServer(metricsserver.Options{BindAddress: address}, config, mgr.GetHTTPClient())
		if err != nil {
			return err
		}
		if err := mgr.Add(server); err != nil {
			return err
		}
	}
	return nil
}
