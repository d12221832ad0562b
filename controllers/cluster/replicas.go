package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	applyapps "k8s.io/client-go/applyconfigurations/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// replicasOwner is the field manager that holds a Deployment's number of pods between us and whoever scales it.
const replicasOwner = client.FieldOwner("mcp-admin-manager-replicas")

// keepReplicas lets a Deployment keep its number of pods if what is wanted leaves it to whoever scales it, and it was ours
// until now. A field that its only manager no longer applies is removed, and the API server would make it 1. So another
// field manager takes it over first, at the value that it has (docs/design/workload.md, "Handing over replicas").
func (c *Children) keepReplicas(ctx context.Context, have client.Object, wanted *unstructured.Unstructured) error {
	if _, is := have.(*appsv1.Deployment); !is {
		return nil
	}
	if _, ours, err := unstructured.NestedFieldNoCopy(wanted.Object, "spec", "replicas"); err != nil || ours {
		return err
	}
	now := &appsv1.Deployment{} // the cache has no managed fields
	if err := c.Live.Get(ctx, client.ObjectKeyFromObject(have), now); err != nil {
		return err
	}
	if now.UID != have.GetUID() || now.Spec.Replicas == nil || !ownsReplicas(now.ManagedFields) {
		return nil
	}
	held := applyapps.Deployment(now.Name, now.Namespace).WithUID(now.UID).WithResourceVersion(now.ResourceVersion).
		WithSpec(applyapps.DeploymentSpec().WithReplicas(*now.Spec.Replicas))
	if err := c.client.Apply(ctx, held, replicasOwner, client.ForceOwnership); err != nil {
		return fmt.Errorf("handing over the replicas of Deployment %s: %w", now.Name, err)
	}
	return nil
}

// ownsReplicas reports whether the number of pods is ours, by an apply or by the creation.
func ownsReplicas(managed []metav1.ManagedFieldsEntry) bool {
	for _, entry := range managed {
		if entry.Manager != string(FieldOwner) || entry.FieldsV1 == nil || entry.Subresource != "" {
			continue
		}
		var fields struct {
			Spec struct {
				Replicas *struct{} `json:"f:replicas"`
			} `json:"f:spec"`
		}
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err == nil && fields.Spec.Replicas != nil {
			return true
		}
	}
	return false
}
