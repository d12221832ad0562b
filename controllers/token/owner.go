package token

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/token/rotation"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// heldSecret is a generated token's Secret as it was found.
type heldSecret struct {
	secret *corev1.Secret
	exists bool
	// wrote reports whether the manager wrote the annotations for a token of this name.
	wrote bool
	// state is the state that the manager wrote about the token; zero if it wrote nothing that is in the Secret.
	state rotation.State
}

// secretOf is a generated token's Secret before it was read.
func secretOf(t *v1alpha1.MCPToken) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: t.Namespace, Name: t.EffectiveSecretName()}}
}

// text is the text in use; "" if the Secret has none.
func (h heldSecret) text() string {
	if !h.exists || h.state.Hash == "" {
		return ""
	}
	return rotation.Find(h.secret.Data, h.state.Hash)
}

// find reads a token's Secret, and decides whose it is. A Secret is the token's own if the manager wrote it for an MCPToken
// of this name, or it holds the text that the status says was issued: so one that lost its owner, and one that a backup
// brought back, keeps its text (docs/design/tokens.md, "Whose Secret it is"). Any other Secret is an OwnershipConflict,
// or nothing of it counts.
func (x *Texts) find(ctx context.Context, t *v1alpha1.MCPToken, read func(context.Context, client.Object, client.Object) (bool, error)) (heldSecret, error) {
	held := heldSecret{secret: secretOf(t)}
	exists, err := read(ctx, t, held.secret)
	var foreign cluster.OwnershipConflict
	if err != nil && !errors.As(err, &foreign) {
		return held, err
	}
	if held.exists = exists || err != nil; !held.exists {
		return held, nil
	}
	state := rotation.ReadState(held.secret.Annotations)
	if state.IssuedAt.IsZero() {
		state.IssuedAt = held.secret.CreationTimestamp.Time
	}
	held.wrote = x.Key.Wrote(held.secret.Annotations, cluster.KeyOf(t))
	switch {
	case x.Left.has(held.secret):
		// Its text was revoked with its MCPToken: it is written over.
	case held.wrote && mayOwn(t, held.secret):
		held.state = state
	case mayOwn(t, held.secret) && issuedText(t, held.secret) != "":
		// It was written with a key that is lost. Who wrote its annotations since is not known: nothing of them counts.
		held.state = rotation.State{Hash: contract.HashToken(issuedText(t, held.secret)), IssuedAt: value(t.Status.LastRotation).Time}
	case err == nil && t.Status.Secret.Name == held.secret.Name:
		// It is in the place of a text that was issued, and the owner is this very MCPToken: it is written over.
	default:
		taken, err := x.fromYounger(ctx, t, held.secret)
		if err != nil {
			return held, err
		}
		if !taken {
			return held, cluster.OwnershipConflict{Kind: "Secret", Name: held.secret.Name}
		}
	}
	return held, nil
}

// issuedText is the text that the status says was issued, if a Secret holds it; else "". Only the manager writes the status.
func issuedText(t *v1alpha1.MCPToken, secret *corev1.Secret) string {
	if t.Status.Secret.Name != secret.Name || t.Status.Secret.Fingerprint == "" {
		return ""
	}
	return rotation.FindByFingerprint(secret.Data, t.Status.Secret.Fingerprint)
}

// mayOwn reports whether a Secret has no controller, or an MCPToken of this name: that is this one, or one that is gone.
func mayOwn(t *v1alpha1.MCPToken, secret *corev1.Secret) bool {
	owner := metav1.GetControllerOfNoCopy(secret)
	return owner == nil || isToken(*owner) && owner.Name == t.Name
}

func isToken(owner metav1.OwnerReference) bool {
	return owner.Kind == "MCPToken" && owner.APIVersion == v1alpha1.GroupVersion.String()
}

// claimants are the other generated tokens that want a token's Secret.
func (x *Texts) claimants(ctx context.Context, t *v1alpha1.MCPToken) ([]v1alpha1.MCPToken, error) {
	found, err := cluster.TokensOfSecret(ctx, x.Client, types.NamespacedName{Namespace: t.Namespace, Name: t.EffectiveSecretName()})
	return slices.DeleteFunc(found, func(other v1alpha1.MCPToken) bool {
		return other.UID == t.UID || !other.Spec.Generated() || !other.DeletionTimestamp.IsZero()
	}), err
}

// olderClaimant names the oldest other token that wants the same Secret, if it is older than this one: two tokens cannot
// have one Secret.
func (x *Texts) olderClaimant(ctx context.Context, t *v1alpha1.MCPToken) (string, error) {
	claimants, err := x.claimants(ctx, t)
	oldest := t
	for i := range claimants {
		if olderToken(&claimants[i], oldest) {
			oldest = &claimants[i]
		}
	}
	if err != nil || oldest == t {
		return "", err
	}
	return oldest.Name, nil
}

// fromYounger reports whether a Secret belongs to a younger token that wants it, too.
func (x *Texts) fromYounger(ctx context.Context, t *v1alpha1.MCPToken, secret *corev1.Secret) (bool, error) {
	claimants, err := x.claimants(ctx, t)
	return slices.ContainsFunc(claimants, func(other v1alpha1.MCPToken) bool {
		return olderToken(t, &other) && x.Key.Wrote(secret.Annotations, cluster.KeyOf(&other))
	}), err
}

func olderToken(a, b *v1alpha1.MCPToken) bool {
	if order := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); order != 0 {
		return order < 0
	}
	return a.Name < b.Name
}

// own makes the MCPToken the Secret's owner, or not if the Secret is to outlive it. Owner references to other MCPTokens go,
// and annotations of a state that somebody else wrote: apply would leave them.
func (x *Texts) own(ctx context.Context, t *v1alpha1.MCPToken, held heldSecret) error {
	secret := held.secret
	owners := slices.DeleteFunc(slices.Clone(secret.OwnerReferences), isToken)
	if t.Spec.EffectiveSecret().DeletionPolicy == v1alpha1.SecretDelete {
		kind := cluster.KindOf("MCPToken")
		owners = append(owners, metav1.OwnerReference{
			APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: t.Name, UID: t.UID, Controller: new(true),
		})
	}
	var forged map[string]any
	if !held.wrote {
		forged = rotation.Without(secret.Annotations)
	}
	if equality.Semantic.DeepEqual(owners, secret.OwnerReferences) && len(forged) == 0 {
		return nil
	}
	metadata := map[string]any{"uid": secret.UID, "resourceVersion": secret.ResourceVersion, "ownerReferences": owners}
	if len(forged) > 0 {
		metadata["annotations"] = forged
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	if err := x.Client.Patch(ctx, secret, client.RawPatch(types.MergePatchType, patch), cluster.FieldOwner); err != nil {
		return fmt.Errorf("taking over Secret %s: %w", secret.Name, err)
	}
	x.Children.Wrote(secret)
	return nil
}
