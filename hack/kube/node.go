//go:build node

package main

import (
	"context"

	"github.com/spf13/cobra"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// programs are what runs on a node of a cluster.
var programs = map[string]func(){
	"kubelet":    component(func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }),
	"kube-proxy": component(proxy.NewProxyCommand),
}
