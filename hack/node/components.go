package node

import (
	"errors"
	"fmt"
	"net"
	"os"
	"text/template"

	_ "embed"

	"github.com/mcp-admin/mcp-admin-operator/hack/pki"
)

// The cluster's networks. They must differ from the machine's.
const (
	podRange     = "10.244.0.0/16"
	podSubnet    = "10.244.0.0/24"
	serviceRange = "10.96.0.0/16"
	apiService   = "10.96.0.1"
	dnsService   = "10.96.0.10"
	issuer       = "https://kubernetes.default.svc.cluster.local"
)

// ports are the components' ports. The API server's and the kubelet's are on the node's address, the others on
// 127.0.0.1.
type ports struct{ API, Etcd, EtcdPeer, Kubelet, ProxyHealth, ProxyMetrics int }

// freePorts asks the kernel for ports that are free now.
func freePorts() (ports, error) {
	var p ports
	for _, port := range []*int{&p.API, &p.Etcd, &p.EtcdPeer, &p.Kubelet, &p.ProxyHealth, &p.ProxyMetrics} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return p, err
		}
		defer listener.Close() // at the end, so that no port is returned twice
		*port = listener.Addr().(*net.TCPAddr).Port
	}
	return p, nil
}

// credentials are the certificates of the cluster.
type credentials struct {
	ca                           *pki.Authority
	etcd, etcdClient             *pki.Identity
	api, kubelet, apiAsClient    *pki.Identity
	admin, controllers, schedule *pki.Identity
	node, proxy                  *pki.Identity
}

func (n *Node) makeCredentials() (*credentials, error) {
	ca, err := pki.NewAuthority(n.path("pki"))
	if err != nil {
		return nil, err
	}
	c := &credentials{ca: ca}
	for _, server := range []struct {
		to    **pki.Identity
		name  string
		hosts []string
	}{
		{&c.etcd, "etcd", []string{"127.0.0.1"}},
		{&c.api, "kube-apiserver", []string{n.address, apiService, "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}},
		{&c.kubelet, "kubelet-server", []string{n.address, Name}},
	} {
		made, problem := ca.Server(server.name, server.hosts...)
		*server.to, err = made, errors.Join(err, problem)
	}
	for _, client := range []struct {
		to         **pki.Identity
		file, user string
		groups     []string
	}{
		{&c.etcdClient, "etcd-client", "kube-apiserver", nil},
		{&c.apiAsClient, "kubelet-client", "kube-apiserver-kubelet-client", []string{"system:masters"}},
		{&c.admin, "admin", "admin", []string{"system:masters"}},
		{&c.controllers, "controller-manager", "system:kube-controller-manager", nil},
		{&c.schedule, "scheduler", "system:kube-scheduler", nil},
		{&c.node, "kubelet", "system:node:" + Name, []string{"system:nodes"}},
		{&c.proxy, "proxy", "system:kube-proxy", nil},
	} {
		made, problem := ca.Client(client.file, client.user, client.groups...)
		*client.to, err = made, errors.Join(err, problem)
	}
	if err != nil {
		return nil, err
	}
	for name, id := range map[string]*pki.Identity{
		"admin": c.admin, "controller-manager": c.controllers, "scheduler": c.schedule, "kubelet": c.node, "kube-proxy": c.proxy,
	} {
		if err := pki.WriteKubeconfig(n.path("conf/"+name+".kubeconfig"), n.server(), ca.PEM, id); err != nil {
			return nil, err
		}
	}
	return c, pki.KeyPair(n.path("pki/sa.key"), n.path("pki/sa.pub"))
}

func (n *Node) server() string { return fmt.Sprintf("https://%s:%d", n.address, n.ports.API) }

func (n *Node) etcdArgs() []string {
	client := fmt.Sprintf("https://127.0.0.1:%d", n.ports.Etcd)
	peer := fmt.Sprintf("http://127.0.0.1:%d", n.ports.EtcdPeer)
	return []string{
		"--data-dir=" + n.path("etcd"),
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--cert-file=" + n.creds.etcd.CertFile, "--key-file=" + n.creds.etcd.KeyFile,
		"--client-cert-auth", "--trusted-ca-file=" + n.creds.ca.File(),
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer,
		"--enable-grpc-gateway=false",
		"--unsafe-no-fsync", // the data need not survive the machine
		"--log-level=warn",
	}
}

func (n *Node) apiServerArgs() []string {
	c := n.creds
	return []string{
		fmt.Sprintf("--etcd-servers=https://127.0.0.1:%d", n.ports.Etcd),
		"--etcd-cafile=" + c.ca.File(), "--etcd-certfile=" + c.etcdClient.CertFile, "--etcd-keyfile=" + c.etcdClient.KeyFile,
		"--bind-address=" + n.address, "--advertise-address=" + n.address, fmt.Sprintf("--secure-port=%d", n.ports.API),
		"--tls-cert-file=" + c.api.CertFile, "--tls-private-key-file=" + c.api.KeyFile,
		"--client-ca-file=" + c.ca.File(),
		"--kubelet-certificate-authority=" + c.ca.File(), "--kubelet-preferred-address-types=InternalIP",
		"--kubelet-client-certificate=" + c.apiAsClient.CertFile, "--kubelet-client-key=" + c.apiAsClient.KeyFile,
		"--service-cluster-ip-range=" + serviceRange,
		"--service-account-issuer=" + issuer,
		"--service-account-key-file=" + n.path("pki/sa.pub"), "--service-account-signing-key-file=" + n.path("pki/sa.key"),
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
		"--request-timeout=5m", // machines are sometimes busy
		"--profiling=false",
	}
}

func (n *Node) controllerManagerArgs() []string {
	return []string{
		"--kubeconfig=" + n.path("conf/controller-manager.kubeconfig"), "--use-service-account-credentials=true",
		"--service-account-private-key-file=" + n.path("pki/sa.key"), "--root-ca-file=" + n.creds.ca.File(),
		"--allocate-node-cidrs=true", "--cluster-cidr=" + podRange, "--service-cluster-ip-range=" + serviceRange,
		"--flex-volume-plugin-dir=" + n.path("volume-plugins"),
		"--leader-elect=false", "--secure-port=0", "--profiling=false",
	}
}

func (n *Node) schedulerArgs() []string {
	return []string{"--kubeconfig=" + n.path("conf/scheduler.kubeconfig"), "--leader-elect=false", "--secure-port=0", "--profiling=false"}
}

func (n *Node) kubeletArgs() []string {
	return []string{
		"--config=" + n.path("conf/kubelet.yaml"), "--kubeconfig=" + n.path("conf/kubelet.kubeconfig"),
		"--hostname-override=" + Name, "--node-ip=" + n.address, "--root-dir=" + n.path("kubelet"), "--cert-dir=" + n.path("pki"),
	}
}

//go:embed configurations.tmpl
var configurations string

// writeConfigurations writes the files that the components of the node read.
func (n *Node) writeConfigurations() error {
	parsed, err := template.New("").Option("missingkey=error").Parse(configurations)
	if err != nil {
		return err
	}
	values := map[string]any{
		"Dir": n.o.Dir, "Programs": n.o.Programs, "Name": Name, "Address": n.address, "Ports": n.ports,
		"CA": n.creds.ca.File(), "Kubelet": n.creds.kubelet,
		"PodRange": podRange, "PodSubnet": podSubnet, "DNS": dnsService, "Pause": pauseImage,
	}
	for _, name := range []string{"containerd.toml", "cni/10-bridge.conflist", "kubelet.yaml", "kube-proxy.yaml"} {
		file, err := os.OpenFile(n.path("conf/"+name), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		if err := errors.Join(parsed.ExecuteTemplate(file, name, values), file.Close()); err != nil {
			return err
		}
	}
	return nil
}
