package compile_test

import (
	"runtime"
	"testing"
	"weak"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// Each status that is written gives the cache a new object. A compiler that held on to its sources would keep every
// exposure and every token in memory twice.
func TestOldStatesOfObjectsAreNotKept(t *testing.T) {
	c, objects, exposures, tokens := compiledAndRestated(t)
	runtime.GC()
	for i := range exposures {
		if exposures[i].Value() != nil {
			t.Errorf("the old state of exposure %d is kept", i)
		}
	}
	for i := range tokens {
		if tokens[i].Value() != nil {
			t.Errorf("the old state of token %d is kept", i)
		}
	}
	if out := c.Update(objects); out.Main || len(out.Tokens) > 0 || len(c.Pending()) > 0 {
		t.Errorf("what asks for the same changed something: %+v, %v", out, c.Pending())
	}
}

// compiledAndRestated compiles some objects, and replaces each by a copy. The old ones are in no variable when it returns.
func compiledAndRestated(t *testing.T) (c *compile.Compiler, objects compile.Objects, exposures []weak.Pointer[v1alpha1.MCPModelExposure], tokens []weak.Pointer[v1alpha1.MCPToken]) {
	in := large(3, 10)
	c, objects = compiler(in)
	for i, e := range objects.Exposures {
		objects.Exposures[i] = e.DeepCopy()
		exposures = append(exposures, weak.Make(objects.Exposures[i]))
	}
	for i, token := range objects.Tokens {
		objects.Tokens[i] = token.DeepCopy()
		tokens = append(tokens, weak.Make(objects.Tokens[i]))
	}
	c.Update(objects)
	store(t, c, objects)
	for i, e := range objects.Exposures {
		objects.Exposures[i] = e.DeepCopy()
	}
	for i, token := range objects.Tokens {
		objects.Tokens[i] = token.DeepCopy()
		c.Refresh(objects.Tokens[i])
	}
	return c, objects, exposures, tokens
}
