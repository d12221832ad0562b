package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// ErrNoText is why a token has no text in the cluster that anybody could read.
var ErrNoText = errors.New("the cluster does not have the token's text")

// TextSecret is the Secret's key that holds a token's text; an error that is ErrNoText if none does.
func TextSecret(t *v1alpha1.MCPToken) (v1alpha1.SecretKeyReference, error) {
	switch spec := &t.Spec; {
	case spec.ServiceAccountRef != nil:
		return v1alpha1.SecretKeyReference{}, fmt.Errorf("%w: MCPToken %q is for the ServiceAccount %s, whose pods call with the tokens that the "+
			"cluster issues to them", ErrNoText, t.Name, t.ServiceAccount())
	case spec.OIDC != nil:
		return v1alpha1.SecretKeyReference{}, fmt.Errorf("%w: MCPToken %q is for callers of the identity provider %q, which issues their tokens",
			ErrNoText, t.Name, spec.OIDC.Issuer)
	case spec.TokenHashSecretRef != nil:
		return v1alpha1.SecretKeyReference{}, fmt.Errorf("%w: only the hash of MCPToken %q is known; whoever made the text has it", ErrNoText, t.Name)
	case spec.TokenSecretRef != nil:
		return *spec.TokenSecretRef, nil
	}
	for _, k := range t.Spec.EffectiveSecret().Keys {
		if k.Format == v1alpha1.FormatToken {
			return v1alpha1.SecretKeyReference{Name: t.EffectiveSecretName(), Key: k.Key}, nil
		}
	}
	return v1alpha1.SecretKeyReference{}, fmt.Errorf("spec.secret.keys of MCPToken %q has no key with the format Token", t.Name)
}

// Text reads a token's text from its Secret.
func (c *Cluster) Text(ctx context.Context, t *v1alpha1.MCPToken) (string, error) {
	ref, err := TextSecret(t)
	if err != nil {
		return "", err
	}
	var secret corev1.Secret
	err = c.Get(ctx, client.ObjectKey{Namespace: t.Namespace, Name: ref.Name}, &secret)
	if apierrors.IsNotFound(err) {
		return "", fmt.Errorf("the Secret %q of MCPToken %q does not exist (yet); \"mcp-admin doctor\" says why", ref.Name, t.Name)
	} else if err != nil {
		return "", Explain(err)
	}
	text := strings.TrimRight(string(secret.Data[ref.Key]), "\r\n")
	if text == "" {
		return "", fmt.Errorf("the Secret %q of MCPToken %q has nothing under the key %q", ref.Name, t.Name, ref.Key)
	}
	return text, nil
}
