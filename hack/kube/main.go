// Command kube is Kubernetes in one executable: etcd, the components of the control plane, kubectl, and with the build tag
// "node" kubelet and kube-proxy. The base name of argv[0] (a symlink), or the first argument, says which of them to run.
//
// It is a module of its own: whoever requires k8s.io/kubernetes must replace each of its staging modules, and the
// project's go.mod should not carry that.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	_ "time/tzdata"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// ofNode are the components of a node, if they are built in (node.go).
var ofNode = map[string]func() *cobra.Command{}

func main() {
	if run(filepath.Base(os.Args[0])) {
		return
	}
	if len(os.Args) > 1 {
		os.Args = os.Args[1:]
		if run(filepath.Base(os.Args[0])) {
			return
		}
	}
	fmt.Fprintln(os.Stderr, "usage: kube {etcd|kube-apiserver|kube-controller-manager|kube-scheduler|kubectl} ...; built with -tags node also {kubelet|kube-proxy}")
	os.Exit(2)
}

// run acts as the named program and reports whether there is one. The Kubernetes components end the process themselves.
func run(name string) bool {
	var component *cobra.Command
	switch name {
	case "etcd":
		etcdmain.Main(os.Args)
		return true
	case "kubectl":
		if _, err := logs.GlogSetter(kubectl.GetLogVerbosity(os.Args)); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
			kubectlutil.CheckErr(err)
		}
		return true
	case "kube-apiserver":
		component = apiserver.NewAPIServerCommand()
	case "kube-controller-manager":
		component = controllermanager.NewControllerManagerCommand()
	case "kube-scheduler":
		component = scheduler.NewSchedulerCommand()
	default:
		build, known := ofNode[name]
		if !known {
			return false
		}
		component = build()
	}
	os.Exit(cli.Run(component))
	return true
}
