package controllers

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// recalled holds what was found about a generated token, and what it depended on. A token's Secret is read from the API
// server only if that is no longer so.
type recalled struct {
	inputs recallInputs
	text   tokenText
	// until is when time itself changes it; zero is never.
	until time.Time
	// at is when it was found.
	at time.Time
}

// cacheDelay is how long the cache may not know of a Secret that was just written.
const cacheDelay = 2 * time.Second

type recallInputs struct {
	token, endpoint types.UID
	generation      int64
	rotate, url     string
	// secret is the resourceVersion of the Secret.
	secret string
}

func recallInputsOf(t *v1alpha1.MCPToken, e *v1alpha1.MCPEndpoint, secret string) recallInputs {
	return recallInputs{
		token: t.UID, endpoint: e.UID, generation: t.Generation,
		rotate: t.Annotations[v1alpha1.RotateAnnotation], url: shared(e.EffectiveURL()), secret: secret,
	}
}

// remember keeps what was found when the Secret had a resourceVersion. While a rotation is under way nothing is kept,
// because it also depends on the pods.
func (x *tokenTexts) remember(t *v1alpha1.MCPToken, e *v1alpha1.MCPEndpoint, found tokenText, secret string) {
	if x.nextOf(t) != "" || secret == "" {
		x.recalled.forget(keyOf(t))
		return
	}
	kept := recalled{inputs: recallInputsOf(t, e, secret), text: found, at: x.now()}
	if found.lookAgain > 0 {
		kept.until = x.now().Add(found.lookAgain)
	}
	x.recalled.set(keyOf(t), kept)
}

// recall returns what was found before, if all that it depended on is the same. Of the Secret it asks only the cached
// metadata.
func (x *tokenTexts) recall(ctx context.Context, t *v1alpha1.MCPToken, e *v1alpha1.MCPEndpoint) (tokenText, bool) {
	last, known := x.recalled.get(keyOf(t))
	if !known {
		return tokenText{}, false
	}
	found, now := last.text, x.now()
	if !last.until.IsZero() {
		if found.lookAgain = last.until.Sub(now); found.lookAgain <= 0 {
			return tokenText{}, false
		}
	}
	seen := metadataOf("Secret")
	err := x.children.cached.Get(ctx, client.ObjectKey{Namespace: t.Namespace, Name: t.EffectiveSecretName()}, seen)
	version := seen.ResourceVersion
	if err == nil {
		x.children.late(seen) // our write is forgotten once the cache has it
	}
	if left := last.at.Add(cacheDelay).Sub(now); apierrors.IsNotFound(err) && left > 0 && !looksFresh(ctx) {
		// The cache has not seen the new Secret yet, or it was deleted at once: that is seen later.
		version, err = last.inputs.secret, nil
		found.lookAgain = soonest(found.lookAgain, left)
	}
	return found, err == nil && last.inputs == recallInputsOf(t, e, version)
}

// versionOf is the resourceVersion of a child that was read, or of our own write of it since; "" if it was neither read nor
// written.
func (c *children) versionOf(read client.Object) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if newest := c.newest[c.placeOf(read)]; newest != "" && (read.GetResourceVersion() == "" || olderThan(read.GetResourceVersion(), newest)) {
		return newest
	}
	return read.GetResourceVersion()
}
