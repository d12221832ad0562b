package main

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// keySecret is the Secret, in the manager's own namespace, with the key that signs Configs.
	keySecret = "mcp-admin-manager-key"
	// keySeed is its key with the 32 bytes that the private key is made from.
	keySeed = "ed25519-seed"
	// namespaceFile tells a pod its namespace.
	namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
)

// configKey returns the key that signs Configs. The first manager makes it. All managers of a namespace share it, so
// that the servers continue when another manager becomes the leader.
func configKey(ctx context.Context, c client.Client, namespace string) (ed25519.PrivateKey, error) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: keySecret}}
	err := c.Get(ctx, client.ObjectKeyFromObject(secret), secret)
	if apierrors.IsNotFound(err) {
		_, private, _ := ed25519.GenerateKey(nil) // it never fails: the program ends if the system has no randomness
		secret.Immutable, secret.Data = new(true), map[string][]byte{keySeed: private.Seed()}
		if err = c.Create(ctx, secret); apierrors.IsAlreadyExists(err) {
			err = c.Get(ctx, client.ObjectKeyFromObject(secret), secret)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the key that signs Configs: %w", err)
	}
	seed := secret.Data[keySeed]
	if len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("the Secret %s/%s holds no key; delete it, and a new one is made", namespace, keySecret)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// ownNamespace is the namespace that the manager runs in: the one that a flag gives, or that of its pod.
func ownNamespace(told string) (string, error) {
	if told != "" {
		return told, nil
	}
	content, err := os.ReadFile(namespaceFile)
	if err != nil {
		return "", fmt.Errorf("--manager-namespace is required outside of a pod: %w", err)
	}
	return strings.TrimSpace(string(content)), nil
}
