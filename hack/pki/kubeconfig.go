package pki

import (
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// WriteKubeconfig writes a kubeconfig that contains everything it needs, so that it can be copied elsewhere.
func WriteKubeconfig(path, server string, ca []byte, id *Identity) error {
	return writeKubeconfig(path, server, ca, &clientcmdapi.AuthInfo{ClientCertificateData: id.Cert, ClientKeyData: id.Key})
}

// WriteTokenKubeconfig does so for who has a token.
func WriteTokenKubeconfig(path, server string, ca []byte, token string) error {
	return writeKubeconfig(path, server, ca, &clientcmdapi.AuthInfo{Token: token})
}

func writeKubeconfig(path, server string, ca []byte, who *clientcmdapi.AuthInfo) error {
	const name = "mcp-admin"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: ca}
	config.AuthInfos[name] = who
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	return clientcmd.WriteToFile(*config, path)
}

// RESTConfig returns the same for client-go, without a limit on requests: the API server has its own priority and
// fairness, and in a development cluster a wait would only puzzle.
func RESTConfig(server string, ca []byte, id *Identity) *rest.Config {
	return &rest.Config{
		Host: server,
		TLSClientConfig: rest.TLSClientConfig{
			CAData: ca, CertData: id.Cert, KeyData: id.Key,
		},
		QPS: -1,
	}
}
