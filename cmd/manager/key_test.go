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

func TestAKeyThatIsDeletedIsMissed(t *testing.T) {
	ctx, c := context.Background(), fake.NewClientBuilder().Build()
	key, err := configKey(ctx, c, "system")
	if err != nil {
		t.Fatal(err)
	}
	w := keyWatch{client: c, namespace: "system", key: key}
	expect := func(when string, want bool) {
		t.Helper()
		if missing, err := w.missing(ctx); err != nil || missing != want {
			t.Errorf("%s: missing %v, %v", when, missing, err)
		}
	}
	expect("while it is there", false)
	if err := c.Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: keySecret}}); err != nil {
		t.Fatal(err)
	}
	expect("once it is deleted", true)
	if _, err := configKey(ctx, c, "system"); err != nil {
		t.Fatal(err)
	}
	expect("once another is there", true)
}
