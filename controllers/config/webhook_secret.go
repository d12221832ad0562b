package config

import (
	"context"
	"errors"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// WebhookSecrets reads the Secrets that the webhooks of an endpoint and its exposures name. It is safe for concurrent use.
type WebhookSecrets struct {
	// Cached has the Secrets' metadata; Live is the API server.
	Cached, Live client.Reader

	// read has the last data of each endpoint's Secrets, by their names: a Secret is read again when its metadata changed.
	read cluster.Memo[types.NamespacedName, map[string]readWebhookSecret]
}

type readWebhookSecret struct {
	secret          types.UID
	resourceVersion string
	found           compile.WebhookSecret
}

// resolve returns the Secrets by their names. A Secret that could not be read is marked so, and the error says why; the
// others are returned all the same.
func (w *WebhookSecrets) resolve(ctx context.Context, e *v1alpha1.MCPEndpoint, exposures []*v1alpha1.MCPModelExposure) (map[string]compile.WebhookSecret, error) {
	endpoint := cluster.KeyOf(e)
	last, _ := w.read.Get(endpoint)
	asked, found := map[string]bool{}, map[string]compile.WebhookSecret{}
	read := map[string]readWebhookSecret{}
	var errs []error
	names := cluster.NotifySecretNames(e)
	for i := range exposures {
		names = append(names, cluster.WebhookSecretNames(exposures[i])...)
	}
	for _, name := range names {
		if asked[name] {
			continue
		}
		asked[name] = true
		secret, err := w.readGiven(ctx, types.NamespacedName{Namespace: endpoint.Namespace, Name: name}, last[name])
		switch {
		case err != nil:
			errs = append(errs, err)
			found[name] = compile.WebhookSecret{Unsure: true}
		case secret != nil:
			found[name], read[name] = secret.found, *secret
		}
	}
	if w.read.Set(endpoint, read); len(read) == 0 {
		w.read.Forget(endpoint)
	}
	return found, errors.Join(errs...)
}

// readGiven reads a user's Secret from the API server if its metadata says that it changed or is missing. It returns nil
// for a Secret that does not exist.
func (w *WebhookSecrets) readGiven(ctx context.Context, key types.NamespacedName, last readWebhookSecret) (*readWebhookSecret, error) {
	seen := cluster.MetadataOf("Secret")
	if err := w.Cached.Get(ctx, key, seen); client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	if seen.UID != "" && last.secret == seen.UID && last.resourceVersion == seen.ResourceVersion {
		return &last, nil
	}
	secret := &corev1.Secret{}
	if err := w.Live.Get(ctx, key, secret); apierrors.IsNotFound(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return &readWebhookSecret{
		secret.UID, secret.ResourceVersion,
		compile.WebhookSecret{Host: secret.Annotations[v1alpha1.WebhookHostAnnotation], Data: secret.Data},
	}, nil
}
