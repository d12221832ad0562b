package program

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// newProgram is a program that has compiled nothing yet, and an endpoint for it.
func newProgram(t testing.TB) (*Program, *v1alpha1.MCPEndpoint) {
	endpoint := &v1alpha1.MCPEndpoint{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop", UID: "1", Generation: 1}}
	endpoint.Spec.Database.SQLite = &v1alpha1.SQLiteSpec{EmptyDir: &v1alpha1.SQLiteEmptyDir{}}
	p := &Program{compiler: compile.NewCompiler(compile.Stored{StatusKey: "status", SealKey: contract.NewSealKey()})}
	t.Cleanup(func() { cluster.PendingRemovals.Forget(p.endpoint) })
	return p, endpoint
}

// What only adds waits as long as it costs: a single token is written at once, thousands that come together are gathered.
func TestAdditionsWaitForEachOther(t *testing.T) {
	now := time.Now()
	p, endpoint := newProgram(t)
	tokens, texts := []*v1alpha1.MCPToken{}, map[string]*compile.Credential{}
	add := func(name string) {
		token := &v1alpha1.MCPToken{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name), Generation: 1}}
		token.Spec.Permissions = []v1alpha1.PermissionRule{{Modules: []string{"*"}, Models: []string{"*"}, Verbs: []v1alpha1.Verb{v1alpha1.VerbView}}}
		token.Spec.EndpointRef.Name = "shop"
		tokens = append(tokens, token)
		text := compile.TextCredential(contract.NewToken())
		texts[name] = &text
		p.Update(compile.Objects{
			Endpoint: endpoint, Tokens: tokens, Credential: func(t *v1alpha1.MCPToken) *compile.Credential { return texts[t.Name] }, Now: now,
		})
	}
	write := func() {
		for next, ok := p.Next(nil); ok; next, ok = p.Next(nil) {
			p.Wrote(next, now)
		}
	}
	add("first")
	if wait := p.Gather(now); wait != GatherTime {
		t.Errorf("as long as no pod is there, the first waits %v", wait)
	}
	write()
	if wait := p.Gather(now); wait != 0 {
		t.Errorf("nothing is to be written, and that waits %v", wait)
	}
	p.applied.pods = 1
	for i, row := range []struct {
		took         time.Duration
		parts        int
		passed, want time.Duration
	}{
		{0, 1, 0, GatherTime},
		{0, 1, GatherTime, 0},
		{10 * time.Millisecond, 1, 0, GatherTime},
		{time.Minute, 1, 0, GatherTime},
		{500 * time.Millisecond, 16, 0, gatherShare * 500 * time.Millisecond},
		{500 * time.Millisecond, 16, 300 * time.Millisecond, gatherShare*500*time.Millisecond - 300*time.Millisecond},
		{500 * time.Millisecond, 16, gatherShare * 500 * time.Millisecond, 0},
		{time.Minute, 16, 0, 16 * GatherTime},
	} {
		p.Added(row.took, row.parts)
		add(fmt.Sprint("after-", i))
		if wait := p.Gather(now.Add(row.passed)); wait != row.want {
			t.Errorf("%v after %d parts that took %v to write: waits %v, want %v", row.passed, row.parts, row.took, wait, row.want)
		}
		write()
	}
	tokens[0] = tokens[0].DeepCopy()
	tokens[0].Generation, tokens[0].Spec.Active = 2, new(false)
	add("beside a revocation")
	if wait := p.Gather(now); wait != 0 {
		t.Errorf("a revocation waits %v", wait)
	}
	if next, _ := p.Next(nil); !next.Pending.Urgent {
		t.Errorf("first comes %+v", next.Pending)
	}
}

// A large program rests between two compilings of what only adds.
func TestALargeProgramRests(t *testing.T) {
	now := time.Now()
	p, endpoint := newProgram(t)
	edited := endpoint.DeepCopy()
	edited.Generation = 2
	if wait := p.Rest(endpoint, 0, now); wait != 0 {
		t.Errorf("before it was ever compiled it rests %v", wait)
	}
	p.Update(compile.Objects{Endpoint: endpoint, Now: now})
	for name, row := range map[string]struct {
		took, passed, want time.Duration
		endpoint           *v1alpha1.MCPEndpoint
		removals           int
	}{
		"soon compiled":       {time.Millisecond, 0, 0, endpoint, 3},
		"long compiled":       {20 * time.Millisecond, 0, restShare * 20 * time.Millisecond, endpoint, 3},
		"partly rested":       {20 * time.Millisecond, 30 * time.Millisecond, 10 * time.Millisecond, endpoint, 3},
		"rested":              {20 * time.Millisecond, time.Second, 0, endpoint, 3},
		"very long compiled":  {time.Second, 0, maxRest, endpoint, 3},
		"a removal came":      {time.Second, 0, 0, endpoint, 4},
		"the endpoint edited": {time.Second, 0, 0, edited, 3},
	} {
		p.CompiledIn(row.took, 3, now)
		if wait := p.Rest(row.endpoint, row.removals, now.Add(row.passed)); wait != row.want {
			t.Errorf("%s: rests %v, want %v", name, wait, row.want)
		}
	}
}
