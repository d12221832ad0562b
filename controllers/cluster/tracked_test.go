package cluster

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Each removal is another than the one before, the removal of the last object too: a program that has just compiled would
// rest otherwise. Nothing stays of an endpoint that is gone.
func TestEachRemovalIsNews(t *testing.T) {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	x := &Tracked[*v1alpha1.MCPToken]{EndpointOf: (*v1alpha1.MCPToken).Endpoint}
	endpoint, before := types.NamespacedName{Namespace: "shop", Name: "shop"}, 0
	for _, name := range []string{"a", "b", "c"} {
		token := &v1alpha1.MCPToken{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
		token.Spec.EndpointRef.Name = "shop"
		x.put(token)
		x.drop(token)
		x.enqueueRemoval(queue, token)
		if now := x.RemovalsOf(endpoint); now <= before {
			t.Fatalf("after the removal of %s the count is %d, before it %d", name, now, before)
		} else {
			before = now
		}
	}
	x.Forget(endpoint)
	if len(x.removals) > 0 || len(x.byEndpoint) > 0 {
		t.Errorf("kept: %v %v", x.removals, x.byEndpoint)
	}
}
