package main

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestEveryManagerOfANamespaceHasTheSameKey(t *testing.T) {
	c := fake.NewClientBuilder().Build()
	first, err := configKey(context.Background(), c, "system")
	if err != nil {
		t.Fatal(err)
	}
	if second, err := configKey(context.Background(), c, "system"); err != nil || !second.Equal(first) {
		t.Errorf("the second manager has another key: %v", err)
	}
	if other, err := configKey(context.Background(), c, "other"); err != nil || other.Equal(first) {
		t.Errorf("a manager of another namespace has the same key: %v", err)
	}
}

func TestABrokenKeyIsRefused(t *testing.T) {
	broken := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: keySecret}, Data: map[string][]byte{keySeed: []byte("short")}}
	c := fake.NewClientBuilder().WithObjects(broken).Build()
	if _, err := configKey(context.Background(), c, "system"); err == nil {
		t.Error("it was taken")
	}
}
