package cluster

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestAWriteIsRememberedUntilTheCacheHasIt(t *testing.T) {
	c := NewChildren(fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).Build(), nil, nil, "")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "agent", ResourceVersion: "11"}}
	c.Newest[c.PlaceOf(secret)] = "12"
	if !c.Late(secret) || len(c.Newest) != 1 {
		t.Errorf("version 11 passes for 12, remembered: %v", c.Newest)
	}
	secret.ResourceVersion = "12"
	if c.Late(secret) || len(c.Newest) != 0 {
		t.Errorf("version 12 is late, remembered: %v", c.Newest)
	}
}

func TestWhatSomebodyElseMadeMeanwhileIsNotTakenOver(t *testing.T) {
	theirs := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "agent"}, Data: map[string][]byte{"mine": []byte("x")}}
	k8s := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(theirs).Build()
	c := NewChildren(k8s, k8s, k8s, "")
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "owner", UID: "1"}}
	var conflict OwnershipConflict
	err := c.Create(context.Background(), owner, applycore.Secret("agent", "shop").WithData(map[string][]byte{"token": []byte("t")}))
	if !errors.As(err, &conflict) {
		t.Errorf("got %v", err)
	}
	now := &corev1.Secret{}
	if err := k8s.Get(context.Background(), KeyOf(theirs), now); err != nil || len(now.Data) != 1 {
		t.Errorf("the Secret is %v now, %v", now.Data, err)
	}
}
