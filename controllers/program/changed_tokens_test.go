package program

import (
	"reflect"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"k8s.io/apimachinery/pkg/types"
)

// A program tells which tokens are to be compiled again, and that it may be all of them if nobody knows.
func TestChangedTokens(t *testing.T) {
	p, endpoint := newProgram(t)
	edited := endpoint.DeepCopy()
	edited.Generation = 2
	agent := types.NamespacedName{Namespace: "shop", Name: "agent"}
	for _, step := range []struct {
		name     string
		happens  func()
		endpoint *v1alpha1.MCPEndpoint
		want     []types.NamespacedName
	}{
		{"at first", func() {}, endpoint, nil},
		{"nothing", func() {}, endpoint, []types.NamespacedName{}},
		{"a token", func() { p.tokenChanged(agent); p.tokenChanged(agent) }, endpoint, []types.NamespacedName{agent}},
		{"nothing after it", func() {}, endpoint, []types.NamespacedName{}},
		{"perhaps all", func() { p.tokenChanged(agent); p.AllTokensChanged(); p.tokenChanged(agent) }, endpoint, nil},
		{"nothing after all", func() {}, endpoint, []types.NamespacedName{}},
		{"the endpoint", func() { p.tokenChanged(agent) }, edited, nil},
		{"nothing after the endpoint", func() {}, edited, []types.NamespacedName{}},
	} {
		step.happens()
		got := p.TakeChangedTokens(step.endpoint)
		if !reflect.DeepEqual(got, step.want) {
			t.Errorf("%s: %#v, want %#v", step.name, got, step.want)
		}
		p.Update(compile.Objects{Endpoint: step.endpoint, Changed: got, Now: time.Now()})
	}
}
