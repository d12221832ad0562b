package controllers

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// configSecrets reads and writes the Secrets of Configs' parts. It signs what it writes, and reads only what it signed.
// It does not even unpack anything else. A Secret is written over the version that was read or written last, so that a
// manager that is no longer the leader is refused. It is safe for concurrent use.
type configSecrets struct {
	client       client.Client
	cached, live client.Reader
	key          ed25519.PrivateKey

	// versions are the Secrets as this process read or wrote them last.
	versions memo[types.NamespacedName, secretVersion]
}

type secretVersion struct {
	uid             types.UID
	resourceVersion string
}

// storedPart is a part as it lies in the API server.
type storedPart struct {
	// exists reports whether there is a Secret of the name that is ours.
	exists bool
	// part is nil if the Secret does not bear our signature.
	part contract.Part
	// whole reports whether the Secret has our labels and owner.
	whole bool
}

// read returns a part. It asks the API server if the cache has no such Secret, or an older one than was seen before. A
// Secret of another owner, or one without an owner that we did not sign, is an ownershipConflict.
func (c *configSecrets) read(ctx context.Context, e *v1alpha1.MCPEndpoint, name string) (storedPart, error) {
	key := types.NamespacedName{Namespace: e.Namespace, Name: name}
	secret := &corev1.Secret{}
	err := c.cached.Get(ctx, key, secret)
	if last, _ := c.versions.get(key); apierrors.IsNotFound(err) || err == nil && olderThan(secret.ResourceVersion, last.resourceVersion) {
		err = c.live.Get(ctx, key, secret)
	}
	if apierrors.IsNotFound(err) {
		c.versions.forget(key)
		return storedPart{}, nil
	}
	if err != nil {
		return storedPart{}, err
	}
	stored := storedPart{exists: true, whole: isLabelled(secret, e) && metav1.IsControlledBy(secret, e)}
	if part := contract.Part(secret.Data); contract.Verify(part, c.key.Public().(ed25519.PublicKey), contract.Place(e.Namespace, name)) == nil {
		stored.part = part
	}
	if owner := metav1.GetControllerOfNoCopy(secret); !metav1.IsControlledBy(secret, e) && (owner != nil || stored.part == nil) {
		return storedPart{}, ownershipConflict{kind: "Secret", name: name}
	}
	c.versions.set(key, secretVersion{secret.UID, secret.ResourceVersion})
	return stored, nil
}

// isCurrent reports whether an event's Secret is the one that this process knows.
func (c *configSecrets) isCurrent(secret client.Object) bool {
	last, known := c.versions.get(keyOf(secret))
	return known && last.uid == secret.GetUID() && !olderThan(last.resourceVersion, secret.GetResourceVersion())
}

// write signs a part and writes it over the version that was read or written last, or if there was none. A conflict
// means that somebody else wrote it: read it again.
func (c *configSecrets) write(ctx context.Context, e *v1alpha1.MCPEndpoint, name string, part contract.Part) error {
	contract.Sign(part, c.key, contract.Place(e.Namespace, name))
	key := types.NamespacedName{Namespace: e.Namespace, Name: name}
	secret := &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: e.Namespace, Name: name, Labels: childLabels(e, componentConfig),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(e, kindOf("MCPEndpoint"))},
		},
		Data: part,
	}
	secret.OwnerReferences[0].BlockOwnerDeletion = nil // it never holds up the endpoint's deletion
	last, known := c.versions.get(key)
	if known {
		secret.UID, secret.ResourceVersion = last.uid, last.resourceVersion
		patch, err := json.Marshal(secret)
		if err != nil {
			return err
		}
		if err := c.client.Patch(ctx, secret, client.RawPatch(types.MergePatchType, patch), fieldOwner); err != nil {
			return c.failed(key, err)
		}
	} else if err := c.client.Create(ctx, secret, fieldOwner); err != nil {
		return c.failed(key, err)
	}
	c.versions.set(key, secretVersion{secret.UID, secret.ResourceVersion})
	return nil
}

// failed is the error of a write. After one that says that the Secret is another than was known, it is read anew.
func (c *configSecrets) failed(key types.NamespacedName, err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) {
		c.versions.forget(key)
		return apierrors.NewConflict(corev1.Resource("secrets"), key.Name, errors.New("the Secret has changed"))
	}
	return err
}

// isLabelled reports whether a Secret of the Config has the labels by which it is found.
func isLabelled(secret *corev1.Secret, e *v1alpha1.MCPEndpoint) bool {
	for key, value := range childLabels(e, componentConfig) {
		if secret.Labels[key] != value {
			return false
		}
	}
	return true
}

// forget drops what is remembered about a Secret.
func (c *configSecrets) forget(namespace, name string) {
	c.versions.forget(types.NamespacedName{Namespace: namespace, Name: name})
}
