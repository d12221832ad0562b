// Program mcp-admin-manager runs the controllers: it turns MCPEndpoint, MCPModelExposure and MCPToken objects into
// running servers.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract/memlimit"
	"github.com/mcp-admin/mcp-admin-operator/controllers"
)

// imageVariable names the environment variable that stands in for --server-image.
const imageVariable = "MCP_ADMIN_SERVER_IMAGE"

func main() {
	memlimit.Set(os.Getenv)
	options, err := parse(os.Args[1:], os.Getenv, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		os.Exit(2) // the flag set has printed the reason
	}
	log := zap.New(zap.UseFlagOptions(&options.log))
	ctrl.SetLogger(log)
	klog.SetLogger(log.WithName("client-go"))
	if err := run(options); err != nil {
		log.Error(err, "The manager ended")
		os.Exit(1)
	}
}

// options are the flags of the command line.
type options struct {
	serverImage      string
	allowedImages    []string
	secretOptIn      bool
	namespaces       []string
	leaderElect      bool
	managerNamespace string
	metricsAddress   string
	probeAddress     string
	log              zap.Options
}

const usage = `mcp-admin-manager runs the controllers of MCPEndpoint, MCPModelExposure and MCPToken objects.

It finds its cluster as kubectl does: --kubeconfig, KUBECONFIG, the cluster it runs in, ~/.kube/config.

Usage:
  mcp-admin-manager --server-image=IMAGE [flags]

Flags:
`

// parse reads the command line, and writes its mistakes to out.
func parse(args []string, getenv func(string) string, out io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("mcp-admin-manager", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() {
		fmt.Fprint(out, usage)
		flags.PrintDefaults()
	}
	flags.StringVar(&o.serverImage, "server-image", getenv(imageVariable),
		"the `image` of the server's pods, where an MCPEndpoint names no other; also "+imageVariable)
	list := func(to *[]string) func(string) error {
		return func(item string) error {
			*to = append(*to, item)
			return nil
		}
	}
	flags.Func("allow-server-image", "an `image` that an MCPEndpoint may name, or the beginning of some with * at its end; may be given more than once (default: any)", list(&o.allowedImages))
	flags.BoolVar(&o.secretOptIn, "require-secret-opt-in", false,
		"let endpoints and tokens use only Secrets whose annotation "+v1alpha1.AllowEndpointsAnnotation+" names the endpoint")
	flags.Func("namespace", "watch this `namespace` alone; may be given more than once (default: all)", list(&o.namespaces))
	flags.BoolVar(&o.leaderElect, "leader-elect", false,
		"let only one of several managers work at a time")
	flags.StringVar(&o.managerNamespace, "manager-namespace", "",
		"the `namespace` of the manager's own objects: the Lease of --leader-elect, and Secret "+keySecret+" (default: its pod's)")
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", "0",
		"the `address` of /metrics, such as :8080; 0 is none")
	flags.StringVar(&o.probeAddress, "health-probe-bind-address", "0",
		"the `address` of /healthz and /readyz, such as :8081; 0 is none")
	ctrl.RegisterFlags(flags)
	o.log.BindFlags(flags)
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	var err error
	if flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	} else if o.serverImage == "" {
		err = errors.New("--server-image or " + imageVariable + " is required")
	}
	if err != nil {
		fmt.Fprintf(out, "mcp-admin-manager: %v; see --help\n", err)
	}
	return o, err
}

// run works until its context ends.
func run(o options) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	scheme, err := controllers.NewScheme()
	if err != nil {
		return err
	}
	ctx := ctrl.SetupSignalHandler()
	namespace, err := ownNamespace(o.managerNamespace)
	if err != nil {
		return err
	}
	direct, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	key, err := configKey(ctx, direct, namespace)
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, manager.Options{
		Scheme:                        scheme,
		Cache:                         controllers.CacheOptions(o.namespaces),
		Metrics:                       metricsserver.Options{BindAddress: o.metricsAddress},
		HealthProbeBindAddress:        o.probeAddress,
		LeaderElection:                o.leaderElect,
		LeaderElectionID:              "mcp-admin-manager.mcpadmin.dev",
		LeaderElectionNamespace:       namespace,
		LeaderElectionReleaseOnCancel: true, // the program ends with the manager
	})
	if err != nil {
		return err
	}
	if err := errors.Join(mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("ping", healthz.Ping)); err != nil {
		return err
	}
	if err := controllers.Setup(mgr, o.namespaces, controllers.Options{ServerImage: o.serverImage, AllowedImages: o.allowedImages, RequireSecretOptIn: o.secretOptIn, ConfigKey: key, ManagerNamespace: namespace}); err != nil {
		return err
	}
	return mgr.Start(ctx)
}
