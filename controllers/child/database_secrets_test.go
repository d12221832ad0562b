package child

import (
	"slices"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestThePodHasTheSecretsOfItsDatabase(t *testing.T) {
	e := &v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop"}}
	e.Spec.Database = v1alpha1.DatabaseSpec{
		ConnectionSecretRef: &v1alpha1.ConnectionSecretReference{Name: "db"},
		TLS: &v1alpha1.DatabaseTLS{
			Mode: "VerifyFull", CASecretRef: &v1alpha1.SecretKeyReference{Name: "ca", Key: "ca.crt"},
			ClientCertificateSecretRef: &v1alpha1.SecretReference{Name: "client"},
		},
		Replicas: &v1alpha1.DatabaseReplicas{ConnectionSecretRef: v1alpha1.ConnectionSecretReference{Name: "db", Key: "ro-uri"}},
	}
	if got := DatabaseSecrets(e); !slices.Equal(got, []string{"db", "ca", "client"}) {
		t.Errorf("the Role names %v, want each Secret once", got)
	}
	pod := podSpec(e, PodOptions{Image: "server:test"})
	mounted := map[string]string{}
	for _, v := range pod.Volumes {
		if v.Secret != nil {
			mounted[*v.Name] = *v.Secret.SecretName
		}
	}
	for volume, secret := range map[string]string{"connection": "db", "ca": "ca", "client-certificate": "client", "replicas": "db"} {
		if mounted[volume] != secret {
			t.Errorf("volume %s holds Secret %q, want %q", volume, mounted[volume], secret)
		}
	}
	for _, want := range []string{
		"--client-certificate-secret=client", "--client-certificate-dir=" + clientDir, "--replicas-secret=db", "--replicas-dir=" + replicasDir,
	} {
		if !slices.Contains(pod.Containers[0].Args, want) {
			t.Errorf("the server is not told %s", want)
		}
	}
}
