// Command localcluster runs a local cluster until it is interrupted; see package localcluster.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mcp-admin/mcp-admin-operator/hack/localcluster"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		stop()
		os.Exit(1)
	}
}

func command() *cobra.Command {
	o := localcluster.Options{}
	cmd := &cobra.Command{
		Use:   "localcluster",
		Short: "Run a Kubernetes control plane and its pods as local processes",
		Long: `localcluster runs etcd, kube-apiserver, kube-controller-manager and kube-scheduler as
local processes, and a node agent that runs each container of a pod as a local process
on the pod's own loopback address. It needs Linux, but no root and no container runtime.
It isolates nothing: run only programs that you would run yourself.

It runs until it is interrupted. The directory is emptied at each start.`,
		Example: `  localcluster --dir .local/cluster \
      --image example.org/hello:v1=bin/hello \
      --forward default/hello:80=127.0.0.1:18080

  export KUBECONFIG=$PWD/.local/cluster/kubeconfigs/admin.kubeconfig
  kubectl create deployment hello --image=example.org/hello:v1
  tail -f .local/cluster/pods/default_hello-*/hello.log`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: false,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Out = cmd.ErrOrStderr()
			return run(cmd.Context(), o, func(line string) { fmt.Fprintln(cmd.OutOrStdout(), line) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Dir, "dir", "", "directory for everything that the cluster writes (required)")
	flags.StringVar(&o.Assets, "assets", defaultAssets(), "folder with etcd, kube-apiserver, kube-controller-manager and kube-scheduler; $KUBEBUILDER_ASSETS by default")
	flags.IntVar(&o.Port, "port", 0, "port of the API server on 127.0.0.1 (default: a free one)")
	flags.StringToStringVar(&o.Images, "image", nil, "`REF=PATH`: containers of this image run this executable; may be repeated")
	flags.StringToStringVar(&o.Forwards, "forward", nil, "`NAMESPACE/SERVICE:PORT=ADDRESS`: connections to the local address go to the Service's ready pods; may be repeated")
	_ = cmd.MarkFlagRequired("dir")
	return cmd
}

func defaultAssets() string {
	if dir := os.Getenv("KUBEBUILDER_ASSETS"); dir != "" {
		return dir
	}
	return filepath.Join("bin", "k8s")
}

func run(ctx context.Context, o localcluster.Options, say func(string)) error {
	cluster, err := localcluster.Start(ctx, o)
	if err != nil {
		return err
	}
	say("export KUBECONFIG=" + cluster.Kubeconfig())
	err = cluster.Wait(ctx)
	return errors.Join(err, cluster.Stop())
}
