package v1alpha1_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// A status repeats the request, so it must have room for it: a text that the API server would refuse or change would be
// acted upon for ever.
func TestAReconcileRequestFitsTheStatus(t *testing.T) {
	for _, request := range []string{"", "2026-01-02T03:04:05Z", strings.Repeat("x", 101), strings.Repeat("é", 100)} {
		token := &v1alpha1.MCPToken{}
		token.Annotations = map[string]string{v1alpha1.ReconcileRequestAnnotation: request}
		got := v1alpha1.ReconcileRequest(token)
		if len(got) > 100 || !utf8.ValidString(got) || (got == "") != (request == "") {
			t.Errorf("%q gives %q", request, got)
		}
	}
}
