package localcluster

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/hack/nodeagent/process"
	"github.com/mcp-admin/mcp-admin-operator/hack/pki"
)

const (
	serviceRange = "10.96.0.0/16"
	apiServiceIP = "10.96.0.1"
	nodeName     = "local"
	// nodeClientName is the user who may ask the node agent for logs.
	nodeClientName = "kube-apiserver-kubelet-client"
	issuer         = "https://kubernetes.default.svc.cluster.local"
)

// controllers are the parts of the controller manager that run: what a Deployment with its pods, service accounts and
// claims needs, and what deletes namespaces and owned objects. Each further one costs time at the start. Two are left
// out on purpose: the EndpointSlice controllers (EndpointSlices refuse loopback addresses) and the node lifecycle
// controller (it would evict the pods after an outage of the API server).
var controllers = []string{
	"deployment-controller",
	"replicaset-controller",
	"garbage-collector-controller",
	"pod-garbage-collector-controller",
	"namespace-controller",
	"serviceaccount-controller",
	"serviceaccount-token-controller",
	"root-ca-certificate-publisher-controller",
	"clusterrole-aggregation-controller",
	"persistentvolume-binder-controller",
	"persistentvolumeclaim-protection-controller",
	"persistentvolume-protection-controller",
}

// ports are the ports of the control plane, all on 127.0.0.1.
type ports struct{ api, etcd, etcdPeer int }

// freePorts asks the kernel for ports that are free now.
func freePorts(api int) (ports, error) {
	found := [3]int{api}
	for i, port := range found {
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return ports{}, err
		}
		defer listener.Close() // at the end, so that no port is returned twice
		found[i] = listener.Addr().(*net.TCPAddr).Port
	}
	return ports{api: found[0], etcd: found[1], etcdPeer: found[2]}, nil
}

// credentials are all certificates of a cluster.
type credentials struct {
	ca                                                         *pki.Authority
	etcd, etcdClient, api, admin, controllers, scheduler, node *pki.Identity
	// nodeServer is the node agent's certificate as a server, nodeClient the API server's as its client.
	nodeServer, nodeClient *pki.Identity
}

func makeCredentials(l layout) (*credentials, error) {
	ca, err := pki.NewAuthority(l.path("pki"))
	if err != nil {
		return nil, err
	}
	c := &credentials{ca: ca}
	issue := func(id **pki.Identity, made *pki.Identity, problem error) {
		*id = made
		if err == nil {
			err = problem
		}
	}
	server := func(id **pki.Identity, name string, hosts ...string) {
		made, problem := ca.Server(name, hosts...)
		issue(id, made, problem)
	}
	client := func(id **pki.Identity, file, user string, groups ...string) {
		made, problem := ca.Client(file, user, groups...)
		issue(id, made, problem)
	}
	server(&c.etcd, "etcd", "127.0.0.1")
	server(&c.api, "kube-apiserver", "127.0.0.1", apiServiceIP, "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")
	client(&c.etcdClient, "etcd-client", "kube-apiserver")
	client(&c.admin, "admin", "admin", "system:masters")
	client(&c.controllers, "kube-controller-manager", "system:kube-controller-manager")
	client(&c.scheduler, "kube-scheduler", "system:kube-scheduler")
	client(&c.node, "node", "system:node:"+nodeName, "system:nodes")
	server(&c.nodeServer, "node-server", "127.0.0.1")
	client(&c.nodeClient, "node-client", nodeClientName)
	if err != nil {
		return nil, err
	}
	return c, pki.KeyPair(l.pki("sa.key"), l.pki("sa.pub"))
}

func etcdArgs(l layout, c *credentials, p ports) []string {
	client := fmt.Sprintf("https://127.0.0.1:%d", p.etcd)
	peer := fmt.Sprintf("http://127.0.0.1:%d", p.etcdPeer)
	return []string{
		"--data-dir=" + l.path("etcd"),
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--cert-file=" + c.etcd.CertFile, "--key-file=" + c.etcd.KeyFile,
		"--client-cert-auth", "--trusted-ca-file=" + c.ca.File(),
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer,
		"--enable-grpc-gateway=false",
		"--unsafe-no-fsync", // the data need not survive the machine
		"--log-level=warn",
	}
}

func apiServerArgs(l layout, c *credentials, p ports) []string {
	return []string{
		fmt.Sprintf("--etcd-servers=https://127.0.0.1:%d", p.etcd),
		"--etcd-cafile=" + c.ca.File(), "--etcd-certfile=" + c.etcdClient.CertFile, "--etcd-keyfile=" + c.etcdClient.KeyFile,
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", p.api),
		"--tls-cert-file=" + c.api.CertFile, "--tls-private-key-file=" + c.api.KeyFile,
		"--client-ca-file=" + c.ca.File(),
		"--kubelet-certificate-authority=" + c.ca.File(), "--kubelet-preferred-address-types=InternalIP",
		"--kubelet-client-certificate=" + c.nodeClient.CertFile, "--kubelet-client-key=" + c.nodeClient.KeyFile,
		"--service-cluster-ip-range=" + serviceRange,
		"--endpoint-reconciler-type=none", // EndpointSlices refuse loopback addresses
		"--service-account-issuer=" + issuer,
		"--service-account-key-file=" + l.pki("sa.pub"), "--service-account-signing-key-file=" + l.pki("sa.key"),
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		// The controller that would remove a new node's taint does not run.
		"--disable-admission-plugins=TaintNodesByCondition",
		"--allow-privileged=true",
		"--profiling=false",
	}
}

func controllerManagerArgs(l layout, c *credentials) []string {
	return []string{
		"--kubeconfig=" + l.kubeconfig("kube-controller-manager"),
		"--controllers=" + strings.Join(controllers, ","),
		"--use-service-account-credentials=true",
		"--service-account-private-key-file=" + l.pki("sa.key"), "--root-ca-file=" + c.ca.File(),
		"--leader-elect=false", "--secure-port=0", "--profiling=false",
	}
}

func schedulerArgs(l layout) []string {
	return []string{
		"--kubeconfig=" + l.kubeconfig("kube-scheduler"),
		"--leader-elect=false", "--secure-port=0", "--profiling=false",
	}
}

// launch starts a component. Its log is DIR/logs/NAME.log, for all its runs.
func launch(l layout, assets, name string, args []string) (*process.Process, error) {
	log, err := os.OpenFile(l.log(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	return process.Start(process.Spec{
		Path: assets + "/" + name, Args: args, Dir: l.root, Output: log,
		Env:    []string{"PATH=" + os.Getenv("PATH"), "HOME=" + l.root},
		Record: l.path("run", name+".pid"),
	})
}
