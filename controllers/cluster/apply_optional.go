package cluster

import (
	"context"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ApplyUncached is apply for a child of a kind that no cache holds. have is then the child's present state, except if the
// child was just created.
func (c *Children) ApplyUncached(ctx context.Context, owner, have client.Object, want runtime.ApplyConfiguration) error {
	found, err := c.FindLive(ctx, owner, have)
	if err != nil {
		return err
	}
	if v1alpha1.IsPaused(owner) {
		return c.compare(found, have, want)
	}
	if !found {
		err = c.Create(ctx, owner, want)
	} else {
		err = c.send(ctx, have, want, false, always)
	}
	if err == nil && c.Late(have) {
		_, err = c.FindLive(ctx, owner, have)
		c.Late(have)
	}
	return err
}

// Remove deletes a child that is no longer wanted, if reader has it. An object of another owner stays.
func (c *Children) Remove(ctx context.Context, reader client.Reader, owner, have client.Object) error {
	err := reader.Get(ctx, client.ObjectKeyFromObject(have), have)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return nil // a manager that may not read the kind has made none
	}
	if err != nil {
		return err
	}
	if !metav1.IsControlledBy(have, owner) || !have.GetDeletionTimestamp().IsZero() {
		return nil
	}
	uid := have.GetUID()
	err = c.client.Delete(ctx, have, client.Preconditions{UID: &uid})
	if apierrors.IsConflict(err) {
		return nil // it is another one by now
	}
	return client.IgnoreNotFound(err)
}
