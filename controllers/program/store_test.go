package program

import (
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A Config is written first for a text that counts no more, then for a new token that somebody can use at once, then for
// tokens of endpoints that have no pod yet.
func TestTheOrderInWhichConfigsAreWritten(t *testing.T) {
	s := NewStore(nil, time.Now)
	queue := priorityqueue.New[reconcile.Request](t.Name())
	defer queue.ShutDown()
	issue := func(endpoint string) {
		token := &v1alpha1.MCPToken{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "agent-of-" + endpoint}}
		token.Spec.EndpointRef.Name = endpoint
		s.SetCredential(token, compile.TextCredential(contract.NewToken()))
	}
	issue("reissuing")
	if err := s.Configs.Source().Start(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	s.Program(types.NamespacedName{Namespace: "shop", Name: "served"}).applied.pods = 1
	issue("starting")
	issue("served")
	issue("reissuing")
	for _, want := range []string{"reissuing", "served", "starting"} {
		if got, _ := queue.Get(); got.Name != want {
			t.Errorf("next comes endpoint %s, want %s", got.Name, want)
		}
	}
}
