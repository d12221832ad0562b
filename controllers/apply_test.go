package controllers

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestAWriteIsRememberedUntilTheCacheHasIt(t *testing.T) {
	c := newChildren(fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).Build(), nil, nil)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "agent", ResourceVersion: "11"}}
	c.newest[c.placeOf(secret)] = "12"
	if !c.late(secret) || len(c.newest) != 1 {
		t.Errorf("version 11 passes for 12, remembered: %v", c.newest)
	}
	secret.ResourceVersion = "12"
	if c.late(secret) || len(c.newest) != 0 {
		t.Errorf("version 12 is late, remembered: %v", c.newest)
	}
}
