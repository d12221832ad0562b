package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// OwnerPaused is the error for a child that should be made or changed, and whose owner is paused.
type OwnerPaused struct{ kind, name string }

func (e OwnerPaused) Error() string {
	return fmt.Sprintf("%s %q is not as it should be, and stays so while the annotation %s is true", e.kind, e.name, v1alpha1.PausedAnnotation)
}

type freshLookKey struct{}

// FreshLook is the context of a reconcile that believes no cache, if the object asks for a fresh look that its status
// does not tell of yet.
func FreshLook(ctx context.Context, obj metav1.Object, handled string) context.Context {
	if request := v1alpha1.ReconcileRequest(obj); request == "" || request == handled {
		return ctx
	}
	return context.WithValue(ctx, freshLookKey{}, true)
}

// LooksFresh reports whether a reconcile believes no cache.
func LooksFresh(ctx context.Context) bool { return ctx.Value(freshLookKey{}) != nil }

// LookRequest is one text for all the requests for a fresh look at an endpoint and its exposures; "" is none. It goes to
// the server's pods, which read their database's schema again if it is a new one.
func LookRequest(e *v1alpha1.MCPEndpoint, exposures []*v1alpha1.MCPModelExposure) string {
	requests := map[string]string{}
	if request := v1alpha1.ReconcileRequest(e); request != "" {
		requests[""] = request
	}
	for i := range exposures {
		if request := v1alpha1.ReconcileRequest(exposures[i]); request != "" {
			requests[exposures[i].Name] = request
		}
	}
	if len(requests) == 0 {
		return ""
	}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		_, _ = fmt.Fprintf(sum, "%q=%q\n", name, requests[name])
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
