package e2e

import (
	"context"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// revoker takes tokens away through a client and not through kubectl, which takes longer to start than a revocation
// does: the delay is measured from the API call.
type revoker struct{ client.Client }

func newRevoker(ctx context.Context) revoker {
	scheme := runtime.NewScheme()
	Expect(v1alpha1.AddToScheme(scheme)).To(Succeed())
	c, err := client.New(cluster.RESTConfig(), client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	Expect(c.List(ctx, &v1alpha1.MCPTokenList{}, client.Limit(1))).To(Succeed()) // has it discover the API now
	return revoker{c}
}

func (r revoker) remove(ctx context.Context, namespace, name string) error {
	return r.Delete(ctx, &v1alpha1.MCPToken{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
}

func (r revoker) deactivate(ctx context.Context, namespace, name string) error {
	token := &v1alpha1.MCPToken{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	return r.Patch(ctx, token, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"active":false}}`)))
}
