package token

import (
	"context"
	"sync"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// readText is a token's text from a user's Secret.
type readText struct {
	ref             v1alpha1.SecretKeyReference
	secret          types.UID
	resourceVersion string
	hashed          bool
	credential      compile.Credential
}

// readGiven reads a user's Secret from the API server if its metadata says that it changed or is missing.
func (x *Texts) readGiven(ctx context.Context, t *v1alpha1.MCPToken, ref v1alpha1.SecretKeyReference, hashed bool) (compile.Credential, error) {
	key := client.ObjectKey{Namespace: t.Namespace, Name: ref.Name}
	seen := cluster.MetadataOf("Secret")
	if err := x.Client.Get(ctx, key, seen); client.IgnoreNotFound(err) != nil {
		return compile.UnsureCredential(), err
	}
	last, known := x.read.Get(cluster.KeyOf(t))
	if known && last.ref == ref && last.hashed == hashed && last.secret == seen.UID && last.resourceVersion == seen.ResourceVersion && seen.UID != "" {
		return last.credential, nil
	}

	secret, err := x.given.read(ctx, x.Live, seen, key, cluster.LooksFresh(ctx))
	if apierrors.IsNotFound(err) {
		x.read.Forget(cluster.KeyOf(t))
		return compile.NoCredential(ref, hashed), nil
	}
	if err != nil {
		return compile.UnsureCredential(), err
	}
	read := readText{ref: ref, hashed: hashed, secret: secret.UID, resourceVersion: secret.ResourceVersion}
	text := string(secret.Data[ref.Key])
	if read.credential = compile.TextCredential(text); hashed {
		read.credential = compile.HashCredential(text)
	}
	if len(read.credential.Hashes) == 0 {
		read.credential = compile.NoCredential(ref, hashed)
	}
	if endpoint := endpointName(t); !x.Secrets.Allows(secret, endpoint) {
		refused := x.Secrets.Refusal(ref.Name, endpoint)
		read.credential = compile.Credential{Reason: refused.Reason, Message: refused.Message}
	}
	x.read.Set(cluster.KeyOf(t), read)
	return read.credential, nil
}

// endpointName is the name of a token's endpoint in a Secret's AllowEndpointsAnnotation: its name, after the namespace if
// that is another one.
func endpointName(t *v1alpha1.MCPToken) string {
	if t.Foreign() {
		return t.Endpoint().String()
	}
	return t.Spec.EndpointRef.Name
}

// givenSecrets are users' Secrets that were read last, so that one which many tokens name is read once when it changes, and
// not once for each. It is safe for concurrent use.
type givenSecrets struct {
	mu sync.Mutex
	of map[client.ObjectKey]*givenSecret
}

type givenSecret struct {
	// mu is held while the Secret is read: the others that need it wait, and find it.
	mu     sync.Mutex
	secret *corev1.Secret
}

// maxGiven is how many of them are kept in memory.
const maxGiven = 8

// place is where a Secret is kept.
func (g *givenSecrets) place(key client.ObjectKey) *givenSecret {
	g.mu.Lock()
	defer g.mu.Unlock()
	if found := g.of[key]; found != nil {
		return found
	}
	for other := range g.of {
		if len(g.of) < maxGiven {
			break
		}
		delete(g.of, other)
	}
	if g.of == nil {
		g.of = map[client.ObjectKey]*givenSecret{}
	}
	g.of[key] = &givenSecret{}
	return g.of[key]
}

// read returns a Secret that is at least as new as its metadata, which the cache has; if fresh, as the API server has it now.
func (g *givenSecrets) read(ctx context.Context, live client.Reader, seen client.Object, key client.ObjectKey, fresh bool) (*corev1.Secret, error) {
	place := g.place(key)
	place.mu.Lock()
	defer place.mu.Unlock()
	if kept := place.secret; !fresh && kept != nil && kept.UID == seen.GetUID() && !cluster.OlderThan(kept.ResourceVersion, seen.GetResourceVersion()) {
		return kept, nil
	}
	place.secret = nil
	secret := &corev1.Secret{}
	if err := live.Get(ctx, key, secret); err != nil {
		return nil, err
	}
	place.secret = secret
	return secret, nil
}
