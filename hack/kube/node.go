//go:build node

package main

import (
	"context"

	"github.com/spf13/cobra"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func init() {
	ofNode["kubelet"] = func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }
	ofNode["kube-proxy"] = proxy.NewProxyCommand
}
