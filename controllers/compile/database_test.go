package compile

import (
	"reflect"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

func TestReplicasAndClientCertificateReachTheConfig(t *testing.T) {
	e := &v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop"}}
	e.Spec.Database = v1alpha1.DatabaseSpec{
		ConnectionSecretRef: &v1alpha1.ConnectionSecretReference{Name: "db", Key: "uri"}, Name: "shop",
		TLS:      &v1alpha1.DatabaseTLS{Mode: "VerifyFull", ClientCertificateSecretRef: &v1alpha1.SecretReference{Name: "client"}},
		Replicas: &v1alpha1.DatabaseReplicas{ConnectionSecretRef: v1alpha1.ConnectionSecretReference{Name: "db", Key: "ro-uri"}},
	}
	got := NewCompiler(Stored{}).endpointEntry(e).Database
	if !got.ClientCertificate || got.Name != "shop" || got.ConnectionKey != "uri" {
		t.Errorf("got %+v", got)
	}
	want := &contract.Replicas{ConnectionKey: "ro-uri", MaxStaleness: contract.Duration(10 * time.Second), MaxConnections: 8}
	if !reflect.DeepEqual(got.Replicas, want) {
		t.Errorf("got %+v, want %+v", got.Replicas, want)
	}
	replica := got.Replica()
	if !replica.ReadOnly || replica.ConnectionKey != "ro-uri" || replica.Name != "shop" || replica.TLSMode != "verify-full" || replica.Replicas != nil {
		t.Errorf("a replica is reached by %+v", replica)
	}
	exposure := &v1alpha1.MCPModelExposure{Spec: v1alpha1.MCPModelExposureSpec{Reads: v1alpha1.ReadsFromReplica}}
	if !modelEntry(exposure).ReadsReplica || modelEntry(&v1alpha1.MCPModelExposure{}).ReadsReplica {
		t.Error("reads are not from where the exposure says")
	}
}
