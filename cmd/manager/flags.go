package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract/podaddress"
)

// imageVariable names the environment variable that is read without --server-image.
const imageVariable = "MCP_ADMIN_SERVER_IMAGE"

// duckDBImageVariable names the one that is read without --duckdb-server-image.
const duckDBImageVariable = "MCP_ADMIN_DUCKDB_SERVER_IMAGE"

// options are the flags of the command line.
type options struct {
	serverImage      string
	duckDBImage      string
	pullPolicy       corev1.PullPolicy
	pullSecrets      []string
	allowedImages    []string
	secretOptIn      bool
	check, version   bool
	namespaces       []string
	leaderElect      bool
	leaseDuration    time.Duration
	renewDeadline    time.Duration
	retryPeriod      time.Duration
	managerNamespace string
	metricsAddresses []string
	probeAddress     string
	pprofAddress     string
	log              zap.Options
}

const usage = `mcp-admin-manager runs the controllers of MCPEndpoint, MCPModelExposure and MCPToken objects.

It finds its cluster as kubectl does: --kubeconfig, KUBECONFIG, the cluster it runs in, ~/.kube/config.

Usage:
  mcp-admin-manager --server-image=IMAGE [flags]

Examples:
  # One of several managers in a cluster, as config/default runs it
  mcp-admin-manager --server-image=ghcr.io/mcp-admin/server:v1 --leader-elect --metrics-bind-address=:8080 --health-probe-bind-address=:8081

  # For two namespaces, with a Role in each of them and no ClusterRole
  mcp-admin-manager --server-image=ghcr.io/mcp-admin/server:v1 --leader-elect --namespace=shop --namespace=crm

  # From a laptop, in the cluster of the kubeconfig's current context
  mcp-admin-manager --server-image=ghcr.io/mcp-admin/server:v1 --manager-namespace=mcp-admin-system --zap-devel

  # Whether the kinds are installed, and a manager leads; the chart's test runs this
  mcp-admin-manager --check --manager-namespace=mcp-admin-system

  # Let MCPEndpoints name images of one registry alone
  mcp-admin-manager --server-image=registry.example.com/mcp/server:v1 --allow-server-image='registry.example.com/mcp/*'

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
	o.bind(flags, getenv)
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	err := o.validate()
	if flags.NArg() > 0 {
		err = errors.Join(fmt.Errorf("unexpected argument %q", flags.Arg(0)), err)
	}
	if err != nil {
		fmt.Fprintf(out, "mcp-admin-manager: %s; see --help\n", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return o, err
}

func (o *options) bind(flags *flag.FlagSet, getenv func(string) string) {
	flags.StringVar(&o.serverImage, "server-image", getenv(imageVariable),
		"the `image` of the server's pods, if an MCPEndpoint names no other; also "+imageVariable)
	flags.StringVar(&o.duckDBImage, "duckdb-server-image", getenv(duckDBImageVariable),
		"the `image` of the server's pods of an MCPEndpoint over DuckDB, if it names no other (default: none); also "+duckDBImageVariable)
	list := func(to *[]string) func(string) error {
		return func(item string) error {
			*to = append(*to, item)
			return nil
		}
	}
	flags.Func("server-image-pull-policy", "when the server's pods pull their image, as a `policy` of Kubernetes: Always, IfNotPresent or Never (default: Kubernetes decides)", o.setPullPolicy)
	flags.Func("server-image-pull-secret", "a `Secret` of an endpoint's namespace that its pods pull their image with; may be given more than once", list(&o.pullSecrets))
	flags.Func("allow-server-image", "an `image` that an MCPEndpoint may name, or the beginning of some with * at its end; may be given more than once (default: any)", list(&o.allowedImages))
	flags.BoolVar(&o.secretOptIn, "require-secret-opt-in", false,
		"let endpoints and tokens use only Secrets whose annotation "+v1alpha1.AllowEndpointsAnnotation+" names the endpoint")
	flags.Func("namespace", "watch this `namespace` alone; may be given more than once (default: all)", list(&o.namespaces))
	flags.BoolVar(&o.check, "check", false,
		"only check an installation: the kinds have this version, and a manager leads in --manager-namespace")
	flags.BoolVar(&o.version, "version", false, "only print the version of this program")
	flags.BoolVar(&o.leaderElect, "leader-elect", false,
		"let only one of several managers work at a time")
	flags.DurationVar(&o.leaseDuration, "leader-elect-lease-duration", leaseDuration,
		"how long a standby waits for a leader that is silent; whole seconds")
	flags.DurationVar(&o.renewDeadline, "leader-elect-renew-deadline", renewDeadline,
		"how long a leader tries to renew its Lease before it stops; less than the lease duration")
	flags.DurationVar(&o.retryPeriod, "leader-elect-retry-period", retryPeriod,
		"how often the leader renews its Lease, and a standby looks at it")
	flags.StringVar(&o.managerNamespace, "manager-namespace", "",
		"the `namespace` of the manager's own objects: the Lease of --leader-elect, and Secret "+keySecret+" (default: its pod's)")
	flags.Func("metrics-bind-address", "an `address` of /metrics, such as :8080; may be given more than once; 0 is none (default 0)", list(&o.metricsAddresses))
	flags.StringVar(&o.probeAddress, "health-probe-bind-address", "0",
		"the `address` of /healthz and /readyz, such as :8081; 0 is none")
	flags.StringVar(&o.pprofAddress, "pprof-bind-address", "0",
		"the `address` of /debug/pprof/, such as 127.0.0.1:6060: whoever reaches it sees where time and memory go; 0 is none")
	ctrl.RegisterFlags(flags)
	o.log.BindFlags(flags)
}

func (o *options) setPullPolicy(text string) error {
	o.pullPolicy = corev1.PullPolicy(text)
	if !slices.Contains([]corev1.PullPolicy{corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever}, o.pullPolicy) {
		return errors.New("write Always, IfNotPresent or Never")
	}
	return nil
}

// imageReference is the form of an image's name, with a tag or a digest or both.
var imageReference = regexp.MustCompile(`^(?:[a-zA-Z0-9.-]+(?::\d+)?/|\[[0-9a-fA-F:]+\](?::\d+)?/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::[\w][\w.-]{0,127})?(?:@[a-z0-9+._-]+:[0-9a-fA-F]{32,})?$`)

// validate returns everything that is wrong with the options, each as the flag's name and what to do.
func (o *options) validate() error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	switch {
	case (o.check || o.version) && o.serverImage == "":
	case o.serverImage == "":
		wrong("--server-image or %s is required", imageVariable)
	case !imageReference.MatchString(o.serverImage):
		wrong("--server-image: %q is not the name of an image, such as registry.example.com/mcp/server:v1", o.serverImage)
	}
	if o.duckDBImage != "" && !imageReference.MatchString(o.duckDBImage) {
		wrong("--duckdb-server-image: %q is not the name of an image, such as registry.example.com/mcp/server-duckdb:v1", o.duckDBImage)
	}
	for _, secret := range o.pullSecrets {
		if len(validation.IsDNS1123Subdomain(secret)) > 0 {
			wrong("--server-image-pull-secret: %q cannot be the name of a Secret", secret)
		}
	}
	for _, image := range o.allowedImages {
		if prefix, isPrefix := strings.CutSuffix(image, "*"); image == "" || strings.Contains(prefix, "*") || !isPrefix && !imageReference.MatchString(image) {
			wrong("--allow-server-image: %q is neither the name of an image nor the beginning of one with * at its end", image)
		}
	}
	named := map[string]bool{}
	for _, namespace := range o.namespaces {
		if named[namespace] {
			wrong("--namespace: %q is given twice", namespace)
		}
		named[namespace] = true
		if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
			wrong("--namespace: %q cannot be the name of a namespace", namespace)
		}
	}
	if o.managerNamespace != "" && len(validation.IsDNS1123Label(o.managerNamespace)) > 0 {
		wrong("--manager-namespace: %q cannot be the name of a namespace", o.managerNamespace)
	}
	errs = append(errs, o.validateAddresses(), o.validateLease())
	return errors.Join(errs...)
}

func (o *options) validateAddresses() error {
	var errs []error
	check := func(flag, address string) {
		if isNone(address) {
			return
		}
		_, port, err := net.SplitHostPort(address)
		if number, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || number > 65535 {
			errs = append(errs, fmt.Errorf("%s: %q is no address; write host:port, :port, or 0 for none", flag, address))
		}
	}
	check("--health-probe-bind-address", o.probeAddress)
	check("--pprof-bind-address", o.pprofAddress)
	for i, address := range o.metricsAddresses {
		check("--metrics-bind-address", address)
		switch {
		case isNone(address) || strings.HasSuffix(address, ":0"):
		case slices.Contains(o.metricsAddresses[:i], address):
			errs = append(errs, fmt.Errorf("--metrics-bind-address: %q is given twice", address))
		case address == o.probeAddress:
			errs = append(errs, fmt.Errorf("--metrics-bind-address and --health-probe-bind-address are both %q; give them two ports", address))
		}
	}
	return errors.Join(errs...)
}

// ownMetricsAddresses are the addresses of the metrics in a pod with this address, "" being none; "0" if there are none.
func (o *options) ownMetricsAddresses(podIP string) ([]string, error) {
	pod, err := podaddress.Parse(podIP)
	if err != nil {
		return nil, fmt.Errorf("the environment variable POD_IP must be the pod's address (status.podIP): %w", err)
	}
	addresses := slices.DeleteFunc(slices.Clone(podaddress.Own(o.metricsAddresses, pod)), isNone)
	if len(addresses) == 0 {
		return []string{"0"}, nil
	}
	return addresses, nil
}

// isNone reports whether an address says that nothing is to listen.
func isNone(address string) bool { return address == "" || address == "0" }

// validateLease checks the times of leader election together. A Lease tells its duration in whole seconds; a standby
// waits up to 2.2 periods between two looks.
func (o *options) validateLease() error {
	switch {
	case o.leaseDuration < time.Second || o.leaseDuration%time.Second != 0:
		return fmt.Errorf("--leader-elect-lease-duration: %s is not a number of whole seconds", o.leaseDuration)
	case o.renewDeadline >= o.leaseDuration:
		return fmt.Errorf("--leader-elect-renew-deadline: %s must be less than the lease duration, %s", o.renewDeadline, o.leaseDuration)
	case o.retryPeriod <= 0 || o.retryPeriod*3 > o.renewDeadline:
		return fmt.Errorf("--leader-elect-retry-period: %s must be at most a third of the renew deadline, %s", o.retryPeriod, o.renewDeadline)
	}
	return nil
}
