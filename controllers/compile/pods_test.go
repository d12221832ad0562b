package compile_test

import (
	"slices"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

func TestPodsAreCountedInTheConfigIfTheyShareSomething(t *testing.T) {
	served := endpoint()
	served.Spec.Database = v1alpha1.DatabaseSpec{ConnectionSecretRef: &v1alpha1.ConnectionSecretReference{Name: "db"}}
	c := compile.NewCompiler(compile.Stored{StatusKey: "key", SealKey: contract.NewSealKey()})
	objects := compile.Objects{Endpoint: served, Now: now, Credential: func(*v1alpha1.MCPToken) *compile.Credential { return nil }}
	update := func(pods *contract.Pods) *contract.Config {
		objects.Pods = pods
		c.Update(objects)
		return c.Main()
	}
	alone := update(&contract.Pods{Running: 3, Answering: 2})
	if alone.Pods != (contract.Pods{}) || alone.Endpoint.Database.ConnectionsShared {
		t.Errorf("nothing is shared, and the Config says %+v", alone.Pods)
	}
	if again := update(&contract.Pods{Running: 4, Answering: 4}); again.Revision != alone.Revision {
		t.Error("a pod more is another Config, though nothing is shared")
	}

	edited := served.DeepCopy()
	edited.Generation++
	edited.Spec.Database.Pool.MaxConnections = 20
	objects.Endpoint = edited
	four := update(&contract.Pods{Running: 4, Answering: 4})
	if !four.Endpoint.Database.ConnectionsShared || four.OfOnePod().Database.MaxConnections != 5 {
		t.Errorf("four pods that share 20 connections have %+v", four.OfOnePod().Database)
	}
	five := update(&contract.Pods{Running: 5, Answering: 4})
	if five.Pods.Running != 5 || five.Revision <= four.Revision || five.Endpoint.Revision != four.Endpoint.Revision {
		t.Errorf("with a pod more: %+v, revision %d after %d, the endpoint's %d after %d", five.Pods, five.Revision, four.Revision, five.Endpoint.Revision, four.Endpoint.Revision)
	}
	c.Written(compile.MainPart, four.Revision)
	if pending := c.Pending(); !slices.ContainsFunc(pending, func(p compile.Pending) bool { return p.Index == compile.MainPart }) {
		t.Errorf("the main part is not to be written: %+v", pending)
	}
	if kept := update(nil); kept.Pods != five.Pods || kept.Revision != five.Revision {
		t.Errorf("while nobody has counted, the Config says %+v", kept.Pods)
	}
	edited = edited.DeepCopy()
	edited.Generation++
	edited.Spec.Database.Pool.MaxConnections = 0
	objects.Endpoint = edited
	if none := update(&contract.Pods{Running: 5, Answering: 5}); none.Pods != (contract.Pods{}) {
		t.Errorf("nothing is shared any more, and the Config says %+v", none.Pods)
	}
}
