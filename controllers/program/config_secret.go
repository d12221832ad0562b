package program

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ConfigSecrets reads and writes the Secrets of Configs' parts. It signs what it writes, and reads only what it signed.
// It does not even unpack anything else. A Secret is written over the version that was read or written last, so that a
// manager that is no longer the leader is refused. It is safe for concurrent use.
type ConfigSecrets struct {
	Client       client.Client
	Cached, Live client.Reader
	Key          ed25519.PrivateKey

	// versions are the Secrets as this process read or wrote them last.
	versions cluster.Memo[types.NamespacedName, secretVersion]
}

type secretVersion struct {
	uid             types.UID
	resourceVersion string
}

// StoredPart is a part as it lies in the API server.
type StoredPart struct {
	// exists reports whether there is a Secret of the name that is ours.
	exists bool
	// Part is nil if the Secret does not bear our signature.
	Part contract.Part
	// whole reports whether the Secret has our labels and owner.
	whole bool
}

// Read returns a part. It asks the API server if the cache has no such Secret, or an older one than was seen before. A
// Secret of another owner, or one without an owner that we did not sign, is an OwnershipConflict.
func (c *ConfigSecrets) Read(ctx context.Context, e *v1alpha1.MCPEndpoint, name string) (StoredPart, error) {
	key := types.NamespacedName{Namespace: e.Namespace, Name: name}
	secret := &corev1.Secret{}
	err := c.Cached.Get(ctx, key, secret)
	if last, _ := c.versions.Get(key); apierrors.IsNotFound(err) || err == nil && cluster.OlderThan(secret.ResourceVersion, last.resourceVersion) {
		err = c.Live.Get(ctx, key, secret)
	}
	if apierrors.IsNotFound(err) {
		c.versions.Forget(key)
		return StoredPart{}, nil
	}
	if err != nil {
		return StoredPart{}, err
	}
	stored := StoredPart{exists: true, whole: isLabelled(secret, e) && metav1.IsControlledBy(secret, e)}
	if part := contract.Part(secret.Data); contract.Verify(part, c.Key.Public().(ed25519.PublicKey), contract.Place(e.Namespace, name)) == nil {
		stored.Part = part
	}
	if owner := metav1.GetControllerOfNoCopy(secret); !metav1.IsControlledBy(secret, e) && (owner != nil || stored.Part == nil) {
		return StoredPart{}, cluster.OwnershipConflict{Kind: "Secret", Name: name}
	}
	c.versions.Set(key, secretVersion{secret.UID, secret.ResourceVersion})
	return stored, nil
}

// IsCurrent reports whether an event's Secret is the one that this process knows.
func (c *ConfigSecrets) IsCurrent(secret client.Object) bool {
	last, known := c.versions.Get(cluster.KeyOf(secret))
	return known && last.uid == secret.GetUID() && !cluster.OlderThan(last.resourceVersion, secret.GetResourceVersion())
}

// Write signs a part and writes it over the version that was read or written last, or if there was none. A conflict
// means that somebody else wrote it: read it again.
func (c *ConfigSecrets) Write(ctx context.Context, e *v1alpha1.MCPEndpoint, name string, part contract.Part) error {
	contract.Sign(part, c.Key, contract.Place(e.Namespace, name))
	key := types.NamespacedName{Namespace: e.Namespace, Name: name}
	secret := &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: e.Namespace, Name: name, Labels: cluster.ChildLabels(e, cluster.ComponentConfig),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(e, cluster.KindOf("MCPEndpoint"))},
		},
		Data: part,
	}
	secret.OwnerReferences[0].BlockOwnerDeletion = nil // it never holds up the endpoint's deletion
	last, known := c.versions.Get(key)
	if known {
		secret.UID, secret.ResourceVersion = last.uid, last.resourceVersion
		patch, err := json.Marshal(secret)
		if err != nil {
			return err
		}
		if err := c.Client.Patch(ctx, secret, client.RawPatch(types.MergePatchType, patch), cluster.FieldOwner); err != nil {
			return c.failed(key, err)
		}
	} else if err := c.Client.Create(ctx, secret, cluster.FieldOwner); err != nil {
		return c.failed(key, err)
	}
	c.versions.Set(key, secretVersion{secret.UID, secret.ResourceVersion})
	return nil
}

// failed is the error of a write. After one that says that the Secret is another than was known, it is read anew.
func (c *ConfigSecrets) failed(key types.NamespacedName, err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) {
		c.versions.Forget(key)
		return apierrors.NewConflict(corev1.Resource("secrets"), key.Name, errors.New("the Secret has changed"))
	}
	return err
}

// isLabelled reports whether a Secret of the Config has the labels by which it is found.
func isLabelled(secret *corev1.Secret, e *v1alpha1.MCPEndpoint) bool {
	for key, value := range cluster.ChildLabels(e, cluster.ComponentConfig) {
		if secret.Labels[key] != value {
			return false
		}
	}
	return true
}

// Forget drops what is remembered about a Secret.
func (c *ConfigSecrets) Forget(namespace, name string) {
	c.versions.Forget(types.NamespacedName{Namespace: namespace, Name: name})
}
