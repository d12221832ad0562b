package compile_test

import (
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

func TestWhatAConfigAddsChangesAndRemovesIsCounted(t *testing.T) {
	in := inputs()
	first, _ := compile.Compile(in)
	if got, want := compile.Compare(nil, first), (compile.Difference{Added: 4}); got != want {
		t.Errorf("all of it: %+v, want %+v", got, want)
	}
	in.Previous = first
	in.Exposures[0].Spec.Expose = new(true)
	in.Tokens[0].Spec.Active = new(bool)
	in.Exposures = append(in.Exposures, exposure("line", time.Second))
	second, _ := compile.Compile(in)
	if got, want := compile.Compare(first, second), (compile.Difference{Added: 1, Changed: 1, Removed: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := compile.Compare(second, second); got != (compile.Difference{}) {
		t.Errorf("nothing: %+v", got)
	}
}
