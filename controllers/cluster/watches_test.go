package cluster

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// Only changes that the reconcilers act upon are passed on. After an interruption a watch shows the objects that exist now:
// a deletion in between does not show.
func TestAnObjectThatWasMadeAgainIsAChange(t *testing.T) {
	for name, row := range map[string]struct {
		uid         types.UID
		generation  int64
		annotations map[string]string
		want        bool
	}{
		"only the status changed":            {"a", 1, nil, false},
		"the spec changed":                   {"a", 2, nil, true},
		"another object, as often changed":   {"b", 1, nil, true},
		"another object, more often changed": {"b", 3, nil, true},
		"it was paused":                      {"a", 1, map[string]string{v1alpha1.PausedAnnotation: "true"}, true},
		"it has a word that is no pause":     {"a", 1, map[string]string{v1alpha1.PausedAnnotation: "false"}, false},
		"a fresh look is asked for":          {"a", 1, map[string]string{v1alpha1.ReconcileRequestAnnotation: "now"}, true},
		"another annotation":                 {"a", 1, map[string]string{"example.com/other": "x"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := &v1alpha1.MCPToken{}, &v1alpha1.MCPToken{}
			before.UID, before.Generation = "a", 1
			after.UID, after.Generation, after.Annotations = row.uid, row.generation, row.annotations
			if got := WantedChanged.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != row.want {
				t.Errorf("passed on: %v, want %v", got, row.want)
			}
		})
	}
}
