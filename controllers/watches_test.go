package controllers

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// What a watch tells after it was interrupted is what is there now: that an object was deleted in between does not show.
func TestAnObjectThatWasMadeAgainIsAChange(t *testing.T) {
	for name, row := range map[string]struct {
		uid        types.UID
		generation int64
		want       bool
	}{
		"only the status changed":            {"a", 1, false},
		"the spec changed":                   {"a", 2, true},
		"another object, as often changed":   {"b", 1, true},
		"another object, more often changed": {"b", 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := &v1alpha1.MCPToken{}, &v1alpha1.MCPToken{}
			before.UID, before.Generation = "a", 1
			after.UID, after.Generation = row.uid, row.generation
			if got := wantedChanged.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != row.want {
				t.Errorf("passed on: %v, want %v", got, row.want)
			}
		})
	}
}
