package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promauto"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/mcp-admin/mcp-admin-operator/contract/metric"
)

const (
	// keySecret is the Secret, in the manager's own namespace, with the key that signs Configs.
	keySecret = "mcp-admin-manager-key"
	// keySeed is its key with the 32 bytes that the private key is made from.
	keySeed = "ed25519-seed"
	// keyPeriod is how often the leader looks whether the Secret is still there.
	keyPeriod = time.Minute
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

// keyWatch tells if the Secret of the key is deleted or changed while the manager runs. The manager continues with the key
// that it has; the next one to start would make another, and then every server is rolled out anew.
type keyWatch struct {
	client    client.Reader
	namespace string
	key       ed25519.PrivateKey
	every     time.Duration
}

var keyMissing = promauto.With(metrics.Registry).NewGauge(metric.GaugeOpts("mcp_admin_manager_key_missing"))

// Start implements manager.Runnable.
func (w keyWatch) Start(ctx context.Context) error {
	log := ctrl.LoggerFrom(ctx).WithName("key")
	was := false
	for {
		missing, err := w.missing(ctx)
		if err == nil && missing && !was {
			log.Error(nil, "The Secret of the key that signs Configs is gone, or holds another key: restore it from a backup. "+
				"The next manager to start would sign with another key and roll out every server", "secret", w.namespace+"/"+keySecret)
		}
		if err == nil {
			was = missing
			keyMissing.Set(map[bool]float64{true: 1}[missing])
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(w.every):
		}
	}
}

// missing reports whether the Secret does not hold the key.
func (w keyWatch) missing(ctx context.Context) (bool, error) {
	secret := &corev1.Secret{}
	err := w.client.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: keySecret}, secret)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	return !bytes.Equal(secret.Data[keySeed], w.key.Seed()), err
}

// ownNamespace is the namespace that the manager runs in: the flag's, or its pod's.
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
