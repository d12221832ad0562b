package controllers

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

func TestPodsArePulledWithTheEndpointsSecrets(t *testing.T) {
	e := &v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop"}}
	if pod := podSpec(e, "server:test"); len(pod.ImagePullSecrets) != 0 {
		t.Errorf("got %v without any", pod.ImagePullSecrets)
	}
	e.Spec.Server.ImagePullSecrets = []v1alpha1.SecretReference{{Name: "registry"}, {Name: "mirror"}}
	pod := podSpec(e, "server:test")
	if len(pod.ImagePullSecrets) != 2 || *pod.ImagePullSecrets[0].Name != "registry" || *pod.ImagePullSecrets[1].Name != "mirror" {
		t.Errorf("got %v", pod.ImagePullSecrets)
	}
}
