package admission

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// BenchmarkToken is why the controllers do not check again what the API server has checked: see the package.
func BenchmarkToken(b *testing.B) {
	all, err := kinds()
	if err != nil {
		b.Fatal(err)
	}
	k := all["mcpadmin.dev/v1alpha1 MCPToken"]
	if err := k.prepared(); err != nil {
		b.Fatal(err)
	}
	token := &v1alpha1.MCPToken{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "MCPToken"},
		ObjectMeta: metav1.ObjectMeta{Name: "agent", Namespace: "shop"},
		Spec: v1alpha1.MCPTokenSpec{
			EndpointRef: v1alpha1.TokenEndpointReference{Name: "shop"}, Groups: []string{"support", "sales"},
			Attributes: map[string]v1alpha1.AttributeValue{"region": "emea", "customer": "17"},
		},
	}
	b.ReportAllocs()
	for b.Loop() {
		object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(token)
		if err != nil {
			b.Fatal(err)
		}
		if errs := k.check(b.Context(), object); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}
