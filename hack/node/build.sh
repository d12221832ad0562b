#!/usr/bin/env bash
# build.sh builds what a node needs beside the control plane, into the folder bin/node: kubelet, kube-proxy, containerd, runc, CNI
# plugins, CoreDNS, pause. KUBERNETES_LDFLAGS tell Kubernetes its version.
# runc needs a C compiler and libseccomp, for which pods ask (RuntimeDefault).
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$PWD/bin/node
mkdir -p "$out/cni"
containerd=github.com/containerd/containerd/v2
plugins=github.com/containernetworking/plugins/plugins
build() { go build -buildvcs=false "$@"; }
version() { go list -m -f '{{.Version}}' "$1"; }
export CGO_ENABLED=0

cd hack/node/runtime
build -tags no_btrfs -ldflags "-s -w -X $containerd/version.Version=$(version $containerd)" -o "$out/" \
  $containerd/cmd/containerd $containerd/cmd/containerd-shim-runc-v2 $containerd/cmd/ctr
build -ldflags '-s -w' -o "$out/cni/" $plugins/main/bridge $plugins/main/loopback $plugins/ipam/host-local $plugins/meta/portmap
runc=github.com/opencontainers/runc
CGO_ENABLED=1 build -tags netgo,osusergo,seccomp -ldflags "-s -w -X main.version=$(version $runc) -extldflags -static" -o "$out/runc" $runc
cd ../dns
build -ldflags '-s -w' -o "$out/coredns" .
cd ../pause
build -ldflags '-s -w' -o "$out/pause" .
cd ../../kube
build -ldflags "-s -w $KUBERNETES_LDFLAGS" -o "$out/kubelet" ./node
ln -sf kubelet "$out/kube-proxy"
touch "$out/.built"
