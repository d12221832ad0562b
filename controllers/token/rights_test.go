package token

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// A group that ten thousand tokens have must not be ten thousand writes, neither now nor later.
func TestAStatusIsNotWrittenForItsCountOfRightsAlone(t *testing.T) {
	counted := func(tools int32, by int64) *v1alpha1.RightsStatus {
		return &v1alpha1.RightsStatus{Tools: new(tools), Revision: by}
	}
	token := &v1alpha1.MCPToken{Status: v1alpha1.MCPTokenStatus{Rights: counted(3, 5), Revision: 7}}
	for name, c := range map[string]struct {
		token  *v1alpha1.MCPToken
		status v1alpha1.MCPTokenStatus
		want   *v1alpha1.RightsStatus
	}{
		"its rights alone are new":   {token, v1alpha1.MCPTokenStatus{Rights: counted(4, 6), Revision: 7}, counted(3, 5)},
		"more is new":                {token, v1alpha1.MCPTokenStatus{Rights: counted(4, 6), Revision: 8}, counted(4, 6)},
		"its rights were never told": {&v1alpha1.MCPToken{}, v1alpha1.MCPTokenStatus{Rights: counted(4, 6)}, counted(4, 6)},
		"it has no rights any more":  {token, v1alpha1.MCPTokenStatus{Revision: 7}, nil},
	} {
		if got := withRights(c.token, c.status).Rights; !equality.Semantic.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
