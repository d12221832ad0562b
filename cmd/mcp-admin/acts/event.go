package acts

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
)

// Record writes an event about an object: what a person did with it. It needs the right to create events.
func Record(ctx context.Context, k *cluster.Cluster, o client.Object, reason, message string) error {
	kind, err := apiutil.GVKForObject(o, k.Scheme())
	if err != nil {
		return err
	}
	now := metav1.Now()
	return k.Create(ctx, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.GetNamespace(), GenerateName: excerpted(o.GetName()) + "."},
		InvolvedObject: corev1.ObjectReference{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(),
			ResourceVersion: o.GetResourceVersion()},
		Reason: reason, Message: message, Type: corev1.EventTypeNormal, Source: corev1.EventSource{Component: "mcp-admin"},
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	})
}

// excerpted leaves room in an event's name for what the API server adds.
func excerpted(name string) string { return name[:min(len(name), 200)] }
