// Package cluster is how the commands of mcp-admin reach a cluster: kubectl's flags, a client, an endpoint's pods, the text
// of a token, and a connection to a pod's port. Each command works with the rights of the person who calls it.
package cluster

import (
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// Flags are kubectl's flags that say which cluster, as whom, and in which namespace.
type Flags struct {
	kubeconfig string
	overrides  clientcmd.ConfigOverrides
}

// AddTo gives a command the flags.
func (f *Flags) AddTo(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.kubeconfig, clientcmd.RecommendedConfigPathFlag, "", "`FILE` that says how to reach the cluster; else KUBECONFIG, or ~/.kube/config")
	flags.StringVarP(&f.overrides.Context.Namespace, clientcmd.FlagNamespace, "n", "", "`NAMESPACE` of the object; else the context's")
	flags.StringVar(&f.overrides.CurrentContext, clientcmd.FlagContext, "", "`CONTEXT` of the kubeconfig")
	flags.StringVar(&f.overrides.Context.Cluster, clientcmd.FlagClusterName, "", "`CLUSTER` of the kubeconfig")
	flags.StringVar(&f.overrides.Context.AuthInfo, clientcmd.FlagAuthInfoName, "", "`USER` of the kubeconfig")
	flags.StringVar(&f.overrides.AuthInfo.Impersonate, clientcmd.FlagImpersonate, "", "`USER` to act as")
	flags.StringSliceVar(&f.overrides.AuthInfo.ImpersonateGroups, clientcmd.FlagImpersonateGroup, nil, "`GROUP` to act as a member of")
	flags.StringVar(&f.overrides.Timeout, clientcmd.FlagTimeout, "0", "`TIME` that one request to the API server may take; 0 is any")
}

// As is the user to act as; "" is the person who calls.
func (f *Flags) As() string { return f.overrides.AuthInfo.Impersonate }

// Cluster is a cluster, and the namespace that is meant if nothing else is said.
type Cluster struct {
	client.WithWatch
	Core      corev1client.CoreV1Interface
	Config    *rest.Config
	Namespace string
	// versions lists objects without what they say; seen are those whose versions are known.
	versions metadata.Interface
	seen     *seen
}

// In is the same cluster with another namespace.
func (k *Cluster) In(namespace string) *Cluster {
	other := *k
	other.Namespace = namespace
	return &other
}

// Connect returns the cluster that the flags name. It makes no request.
func (f *Flags) Connect() (*Cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &f.overrides)
	config, err := loader.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, errors.New("no cluster is configured: set KUBECONFIG, or name a file with --kubeconfig")
	} else if err != nil {
		return nil, fmt.Errorf("the kubeconfig cannot be used: %w", err)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig cannot be used: %w", err)
	}
	config.QPS, config.Burst = 50, 100
	return New(config, namespace)
}

// New returns the cluster of a configuration. It makes no request.
func New(config *rest.Config, namespace string) (*Cluster, error) {
	return newCluster(config, namespace, nil, &seen{})
}

// kinds are those that a client knows.
var kinds = sync.OnceValues(func() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme))
})

// newCluster is New with a mapper of kinds, nil being one of its own, and what was seen already.
func newCluster(config *rest.Config, namespace string, mapper meta.RESTMapper, known *seen) (*Cluster, error) {
	scheme, err := kinds()
	if err != nil {
		return nil, err
	}
	reader, err := client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		return nil, err
	}
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	versions, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &Cluster{WithWatch: reader, Core: core, Config: config, Namespace: namespace, versions: versions, seen: known}, nil
}

// GivenNamespace is the namespace that the flags name; "" if they name none.
func (f *Flags) GivenNamespace() string { return f.overrides.Context.Namespace }
