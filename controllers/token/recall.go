package token

import (
	"context"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/intern"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// recalled holds what was found about a generated token, and what it depended on. A token's Secret is read from the API
// server only if that is no longer so.
type recalled struct {
	inputs recallInputs
	text   Text
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
		rotate: t.Annotations[v1alpha1.RotateAnnotation], url: intern.Text(e.EffectiveURL()), secret: secret,
	}
}

// remember keeps what was found when the Secret had a resourceVersion. While a rotation is under way nothing is kept,
// because it also depends on the pods.
func (x *Texts) remember(t *v1alpha1.MCPToken, e *v1alpha1.MCPEndpoint, found Text, secret string) {
	if x.nextOf(t) != "" || secret == "" {
		x.recalled.Forget(cluster.KeyOf(t))
		return
	}
	kept := recalled{inputs: recallInputsOf(t, e, secret), text: found, at: x.Now()}
	if found.lookAgain > 0 {
		kept.until = x.Now().Add(found.lookAgain)
	}
	x.recalled.Set(cluster.KeyOf(t), kept)
}

// recall returns what was found before, if all that it depended on is the same. Of the Secret it asks only the cached
// metadata.
func (x *Texts) recall(ctx context.Context, t *v1alpha1.MCPToken, e *v1alpha1.MCPEndpoint) (Text, bool) {
	last, known := x.recalled.Get(cluster.KeyOf(t))
	if !known {
		return Text{}, false
	}
	found, now := last.text, x.Now()
	if !last.until.IsZero() {
		if found.lookAgain = last.until.Sub(now); found.lookAgain <= 0 {
			return Text{}, false
		}
	}
	seen := cluster.MetadataOf("Secret")
	err := x.Children.Cached.Get(ctx, client.ObjectKey{Namespace: t.Namespace, Name: t.EffectiveSecretName()}, seen)
	version := seen.ResourceVersion
	if err == nil {
		x.Children.Late(seen) // our write is forgotten once the cache has it
	}
	if left := last.at.Add(cacheDelay).Sub(now); apierrors.IsNotFound(err) && left > 0 && !cluster.LooksFresh(ctx) {
		// The cache has not seen the new Secret yet, or it was deleted at once: that is seen later.
		version, err = last.inputs.secret, nil
		found.lookAgain = cluster.Soonest(found.lookAgain, left)
	}
	return found, err == nil && last.inputs == recallInputsOf(t, e, version)
}

// versionOf is the resourceVersion of a child that was read, or of our own write of it since; "" if it was neither read nor
// written.
func versionOf(c *cluster.Children, read client.Object) string {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	if newest := c.Newest[c.PlaceOf(read)]; newest != "" && (read.GetResourceVersion() == "" || cluster.OlderThan(read.GetResourceVersion(), newest)) {
		return newest
	}
	return read.GetResourceVersion()
}
