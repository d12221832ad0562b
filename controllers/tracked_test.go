package controllers

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// Each removal is another than the one before, the removal of the last object too: a program that has just compiled would
// rest otherwise. Nothing stays of an endpoint that is gone.
func TestEachRemovalIsNews(t *testing.T) {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	x := &tracked[*v1alpha1.MCPToken]{endpointOf: (*v1alpha1.MCPToken).Endpoint}
	endpoint, before := types.NamespacedName{Namespace: "shop", Name: "shop"}, 0
	for _, name := range []string{"a", "b", "c"} {
		token := &v1alpha1.MCPToken{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
		token.Spec.EndpointRef.Name = "shop"
		x.put(token)
		x.drop(token)
		x.enqueueRemoval(queue, token)
		if now := x.removalsOf(endpoint); now <= before {
			t.Fatalf("after the removal of %s the count is %d, before it %d", name, now, before)
		} else {
			before = now
		}
	}
	x.forget(endpoint)
	if len(x.removals) > 0 || len(x.byEndpoint) > 0 {
		t.Errorf("kept: %v %v", x.removals, x.byEndpoint)
	}
}
