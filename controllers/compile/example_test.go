package compile_test

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

func ExampleCompile() {
	shop := metav1.ObjectMeta{Namespace: "shop", Name: "shop"}
	book := v1alpha1.MCPModelExposure{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "book"}}
	book.Spec.EndpointRef.Name = "shop"
	book.Spec.Table.Name = "books"
	config, verdicts := compile.Compile(compile.Inputs{
		Endpoint: &v1alpha1.MCPEndpoint{ObjectMeta: shop, Spec: v1alpha1.MCPEndpointSpec{Database: v1alpha1.DatabaseSpec{
			ConnectionSecretRef: &v1alpha1.ConnectionSecretReference{Name: "shop-db"},
		}}},
		Exposures: []v1alpha1.MCPModelExposure{book},
		StatusKey: contract.NewToken(), SealKey: contract.NewSealKey(), Now: time.Unix(0, 0),
	})
	fmt.Println("revision", config.Revision, "has model", config.Models[0].Name)
	fmt.Println("accepted:", verdicts.Exposures[types.NamespacedName{Namespace: "shop", Name: "book"}].Accepted)
	// Output:
	// revision 1 has model book
	// accepted: true
}
