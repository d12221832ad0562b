package child

import (
	"maps"
	"slices"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
)

func TestPodsArePulledWithTheEndpointsSecrets(t *testing.T) {
	e := &v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop"}}
	if pod := podSpec(e, PodOptions{Image: "server:test"}); len(pod.ImagePullSecrets) != 0 {
		t.Errorf("got %v without any", pod.ImagePullSecrets)
	}
	e.Spec.Server.ImagePullSecrets = []v1alpha1.SecretReference{{Name: "registry"}, {Name: "mirror"}}
	pod := podSpec(e, PodOptions{Image: "server:test"})
	if len(pod.ImagePullSecrets) != 2 || *pod.ImagePullSecrets[0].Name != "registry" || *pod.ImagePullSecrets[1].Name != "mirror" {
		t.Errorf("got %v", pod.ImagePullSecrets)
	}
	if pod.Containers[0].ImagePullPolicy != nil {
		t.Errorf("the pull policy is %s, and nobody asked for one", *pod.Containers[0].ImagePullPolicy)
	}
}

func TestPodsArePulledAsTheManagerWasTold(t *testing.T) {
	e := &v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop"}}
	e.Spec.Server.ImagePullSecrets = []v1alpha1.SecretReference{{Name: "registry"}}
	pod := podSpec(e, PodOptions{Image: "server:test", PullPolicy: corev1.PullAlways, PullSecrets: []string{"mirror", "registry"}})
	if len(pod.ImagePullSecrets) != 2 || *pod.ImagePullSecrets[0].Name != "registry" || *pod.ImagePullSecrets[1].Name != "mirror" {
		t.Errorf("got %v", pod.ImagePullSecrets)
	}
	if policy := pod.Containers[0].ImagePullPolicy; policy == nil || *policy != corev1.PullAlways {
		t.Errorf("the pull policy is %v", policy)
	}
}

func TestThePodWritesToItsTemporaryFolderAlone(t *testing.T) {
	e := &v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop"}}
	e.Spec.Database.ConnectionSecretRef = &v1alpha1.ConnectionSecretReference{Name: "db"}
	pod := podSpec(e, PodOptions{Image: "server:test"})
	writable := map[string]bool{}
	for _, m := range pod.Containers[0].VolumeMounts {
		writable[*m.MountPath] = m.ReadOnly == nil || !*m.ReadOnly
	}
	if want := map[string]bool{"/run/mcp-admin": true, "/tmp": true, connectionDir: false}; !maps.Equal(writable, want) {
		t.Errorf("got %v, want %v", writable, want)
	}
	if !*pod.Containers[0].SecurityContext.ReadOnlyRootFilesystem {
		t.Error("the root file system is not read-only")
	}
	for _, v := range pod.Volumes {
		if v.EmptyDir != nil && (v.EmptyDir.SizeLimit == nil || v.EmptyDir.SizeLimit.IsZero()) {
			t.Errorf("volume %s has no limit", *v.Name)
		}
	}
}

func TestAuditFilesAreInTheirClaim(t *testing.T) {
	e := &v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "books"}}
	e.Spec.Database.ConnectionSecretRef = &v1alpha1.ConnectionSecretReference{Name: "db"}
	e.Spec.Observability.Audit.Files = &v1alpha1.AuditFilesSpec{ClaimRef: v1alpha1.ClaimReference{Name: "logs"}}
	pod := podSpec(e, PodOptions{Image: "server:test"})
	if i := slices.IndexFunc(pod.Volumes, func(v applycore.VolumeApplyConfiguration) bool { return *v.Name == "audit" }); i < 0 || *pod.Volumes[i].PersistentVolumeClaim.ClaimName != "logs" {
		t.Errorf("the pod has the volumes %v, want one of the claim", pod.Volumes)
	}
	if pod.SecurityContext.FSGroup == nil || !slices.Contains(pod.Containers[0].Args, "--audit-dir=/var/log/mcp-admin/books") {
		t.Errorf("got the group %v and the arguments %v, want a folder of the endpoint that the server can write to", pod.SecurityContext.FSGroup, pod.Containers[0].Args)
	}
}

func TestAnEndpointNamesOnlyAllowedImages(t *testing.T) {
	for _, row := range []struct {
		named   string
		allowed []string
		want    bool
	}{
		{"", []string{"registry/a"}, true},
		{"server:test", []string{"registry/a"}, true},
		{"anything", nil, true},
		{"registry/a", []string{"registry/a"}, true},
		{"registry/ab", []string{"registry/a"}, false},
		{"registry/ab", []string{"other", "registry/*"}, true},
		{"evil/registry/a", []string{"registry/*"}, false},
	} {
		e := &v1alpha1.MCPEndpoint{}
		e.Spec.Server.Image = row.named
		if got := (PodOptions{Image: "server:test", Allowed: row.allowed}).Allows(e); got != row.want {
			t.Errorf("%q of %q: %v", row.named, row.allowed, got)
		}
	}
}
