// Command kube is several programs of Kubernetes in one executable. The base name of argv[0] (a symlink), or the first
// argument, says which of them to run. Build tags say which are built in: none etcd, kube-apiserver and kubectl, "cluster"
// kube-controller-manager and kube-scheduler, "node" kubelet and kube-proxy.
//
// It is a module of its own: whoever requires k8s.io/kubernetes must replace each of its staging modules, and the
// project's go.mod should not carry that.
package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	_ "time/tzdata"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
)

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
	fmt.Fprintf(os.Stderr, "usage: kube {%s} ...\n", strings.Join(slices.Sorted(maps.Keys(programs)), "|"))
	os.Exit(2)
}

// run acts as the named program and reports whether there is one. Most end the process themselves.
func run(name string) bool {
	program, known := programs[name]
	if known {
		program()
	}
	return known
}

// component runs a component of Kubernetes, and then ends the process.
func component(build func() *cobra.Command) func() {
	return func() { os.Exit(cli.Run(build())) }
}
