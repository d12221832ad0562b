package controllers

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// readText is what a user's Secret said of a token.
type readText struct {
	ref             v1alpha1.SecretKeyReference
	secret          types.UID
	resourceVersion string
	hashed          bool
	credential      compile.Credential
}

// readGiven reads a user's Secret from the API server if its metadata says that it changed or is missing.
func (x *tokenTexts) readGiven(ctx context.Context, t *v1alpha1.MCPToken, ref v1alpha1.SecretKeyReference, hashed bool) (compile.Credential, error) {
	key := client.ObjectKey{Namespace: t.Namespace, Name: ref.Name}
	seen := metadataOf("Secret")
	if err := x.client.Get(ctx, key, seen); client.IgnoreNotFound(err) != nil {
		return compile.UnsureCredential(), err
	}
	last, known := x.read.get(keyOf(t))
	if known && last.ref == ref && last.hashed == hashed && last.secret == seen.UID && last.resourceVersion == seen.ResourceVersion && seen.UID != "" {
		return last.credential, nil
	}

	secret := &corev1.Secret{}
	err := x.live.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		x.read.forget(keyOf(t))
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
	if endpoint := endpointName(t); !x.secrets.allows(secret, endpoint) {
		refused := x.secrets.refusal(ref.Name, endpoint)
		read.credential = compile.Credential{Reason: refused.reason, Message: refused.message}
	}
	x.read.set(keyOf(t), read)
	return read.credential, nil
}

// endpointName is what a Secret's AllowEndpointsAnnotation calls a token's endpoint: its name, after the namespace if that is
// another one.
func endpointName(t *v1alpha1.MCPToken) string {
	if t.Foreign() {
		return t.Endpoint().String()
	}
	return t.Spec.EndpointRef.Name
}
