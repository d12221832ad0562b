package nodeagent

import (
	"net"
	"net/url"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// baseEnvironment is the environment of a process before its pod adds to it. It takes nothing of the developer's own.
func (w *worker) baseEnvironment(c *corev1.Container) (*variables, error) {
	vars := &variables{}
	vars.set("PATH", os.Getenv("PATH"))
	vars.set("HOME", filepath.Join(w.dir, "home"))
	vars.set("TMPDIR", filepath.Join(w.dir, "tmp"))
	server, err := url.Parse(w.agent.o.Config.Host)
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(server.Host)
	if err != nil {
		return nil, err
	}
	vars.set("KUBERNETES_SERVICE_HOST", host)
	vars.set("KUBERNETES_SERVICE_PORT", port)
	if token := w.tokenPath(c); token != "" {
		path := filepath.Join(w.dir, "home", "kubeconfig-"+c.Name)
		if err := w.writeKubeconfig(path, token); err != nil {
			return nil, err
		}
		vars.set("KUBECONFIG", path)
	}
	return vars, nil
}

// writeKubeconfig writes a replacement for the in-cluster configuration. client-go reads that from fixed paths under
// /var/run, which do not exist for a process without a mount namespace.
func (w *worker) writeKubeconfig(path, token string) error {
	const name = "pod"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{
		Server:                   w.agent.o.Config.Host,
		CertificateAuthority:     w.agent.o.Config.CAFile,
		CertificateAuthorityData: w.agent.o.Config.CAData,
	}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{TokenFile: token}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: w.namespace}
	config.CurrentContext = name
	return clientcmd.WriteToFile(*config, path)
}
