package child

import (
	"slices"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The headers for both collectors may be in one Secret, which the Role names once and the pod mounts for each.
func TestThePodHasTheSecretsOfItsCollectors(t *testing.T) {
	e := &v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop"}}
	collector := v1alpha1.CollectorSpec{Endpoint: "https://otel.example.com", HeadersSecretRef: &v1alpha1.SecretReference{Name: "otel"}}
	e.Spec.Observability.Tracing, e.Spec.Observability.Audit.OTLP = &v1alpha1.TracingSpec{CollectorSpec: collector}, &collector
	if got := ServerSecrets(e); !slices.Equal(got, []string{"otel"}) {
		t.Errorf("the Role names %v, want the Secret once", got)
	}
	pod := podSpec(e, PodOptions{Image: "server:test"})
	for volume, args := range map[string][]string{
		"tracing-headers": {"--tracing-headers-secret=otel", "--tracing-headers-dir=" + tracingDir},
		"audit-headers":   {"--audit-headers-secret=otel", "--audit-headers-dir=" + auditHeadersDir},
	} {
		for _, want := range args {
			if !slices.Contains(pod.Containers[0].Args, want) {
				t.Errorf("the server is not told %s", want)
			}
		}
		found := false
		for _, v := range pod.Volumes {
			found = found || *v.Name == volume && v.Secret != nil && *v.Secret.SecretName == "otel"
		}
		if !found {
			t.Errorf("there is no volume %s of the Secret", volume)
		}
	}
}
