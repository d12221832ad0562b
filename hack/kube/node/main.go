// Command node is what Kubernetes runs on a node, in one executable: kubelet and kube-proxy. The base name of argv[0] says
// which of them to run. Only the real node needs it (hack/node), so it is apart from the control plane, which every test needs.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	_ "time/tzdata"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	switch filepath.Base(os.Args[0]) {
	case "kubelet":
		os.Exit(cli.Run(kubelet.NewKubeletCommand(context.Background())))
	case "kube-proxy":
		os.Exit(cli.Run(proxy.NewProxyCommand()))
	}
	fmt.Fprintln(os.Stderr, "call this program kubelet or kube-proxy, by a symlink")
	os.Exit(2)
}
