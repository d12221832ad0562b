package cluster

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestASecretNamesTheEndpointsThatMayUseIt(t *testing.T) {
	for _, row := range []struct {
		annotation string
		want       bool
	}{{"", false}, {"shop", true}, {"crm, shop", true}, {"*", true}, {"crm", false}, {"shop2", false}, {"sh*", false}} {
		secret := MetadataOf("Secret")
		secret.Annotations = map[string]string{"mcpadmin.dev/allow-endpoints": row.annotation, "other": "x"}
		kept, err := KeepIdentity(secret)
		if err != nil {
			t.Fatal(err)
		}
		object := kept.(metav1.Object)
		if got := OptIn(true).Allows(object, "shop"); got != row.want {
			t.Errorf("%q: %v", row.annotation, got)
		}
		if !OptIn(false).Allows(object, "shop") {
			t.Errorf("%q is refused though nobody asked", row.annotation)
		}
		if len(object.GetAnnotations()) != 1 {
			t.Errorf("kept %v", object.GetAnnotations())
		}
	}
}
