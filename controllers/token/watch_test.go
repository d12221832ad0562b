package token

import (
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/program"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A new token that somebody can use at once does not wait for tokens whose endpoints are still being created.
func TestANewTokenOfAServedEndpointIsIssuedFirst(t *testing.T) {
	r := &Reconciler{Store: program.NewStore(nil, time.Now)}
	ready := corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}}
	for endpoint, pods := range map[string][]corev1.Pod{"served": {ready}, "starting": {{}}} {
		r.Store.Program(types.NamespacedName{Namespace: "shop", Name: endpoint}).Observe(program.Unreported(pods), time.Now())
	}
	queue := priorityqueue.New[reconcile.Request](t.Name())
	defer queue.ShutDown()
	for _, row := range []struct {
		name, endpoint string
		initial        bool
	}{
		{"there when the manager started", "served", true},
		{"of an endpoint that starts", "starting", false},
		{"of an endpoint that is not there", "none", false},
		{"of a served endpoint", "served", false},
	} {
		token := &v1alpha1.MCPToken{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: row.name}}
		token.Spec.EndpointRef.Name = row.endpoint
		r.created(t.Context(), event.CreateEvent{Object: token, IsInInitialList: row.initial}, queue)
	}
	for _, want := range []string{"of a served endpoint", "of an endpoint that starts", "of an endpoint that is not there"} {
		if got, _ := queue.Get(); got.Name != want {
			t.Errorf("next comes the token %s, want the one %s", got.Name, want)
		}
	}
}
