package localcluster

import (
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// writeKubeconfig writes a kubeconfig that contains everything it needs, so that it can be copied elsewhere.
func writeKubeconfig(path, server string, ca []byte, id *identity) error {
	const name = "localcluster"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: ca}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{ClientCertificateData: id.cert, ClientKeyData: id.key}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	return clientcmd.WriteToFile(*config, path)
}

// restConfig returns the same for client-go, without a limit on requests: the API server has its own priority and
// fairness, and in a development cluster a wait would only puzzle.
func restConfig(server string, ca []byte, id *identity) *rest.Config {
	return &rest.Config{
		Host: server,
		TLSClientConfig: rest.TLSClientConfig{
			CAData: ca, CertData: id.cert, KeyData: id.key,
		},
		QPS: -1,
	}
}
