package acts

import (
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// A decision cannot be changed: an approval that would not count is not written.
func TestAnApprovalThatWouldNotCountIsNotWritten(t *testing.T) {
	a := &v1alpha1.MCPApproval{}
	a.Spec.Request.Policies = []v1alpha1.ApprovalAsker{{Name: "refunds", ApproverGroups: []string{"leads", "board"}}}
	open := &v1alpha1.MCPApproval{}
	open.Spec.Request.Policies = []v1alpha1.ApprovalAsker{{Name: "deletions"}}
	const approve, deny = v1alpha1.VerdictApprove, v1alpha1.VerdictDeny
	for name, tt := range map[string]struct {
		of       *v1alpha1.MCPApproval
		decision v1alpha1.ApprovalDecision
		want     string
	}{
		"in a group":             {a, v1alpha1.ApprovalDecision{DecidedBy: "ana", Decision: approve, Groups: []string{"board"}}, ""},
		"in none":                {a, v1alpha1.ApprovalDecision{DecidedBy: "ana", Decision: approve}, "policy refunds asks for people in leads or board"},
		"in none, and denies":    {a, v1alpha1.ApprovalDecision{DecidedBy: "ana", Decision: deny}, ""},
		"in none, and overrides": {a, v1alpha1.ApprovalDecision{DecidedBy: "ana", Decision: v1alpha1.VerdictOverride}, ""},
		"a person":               {open, v1alpha1.ApprovalDecision{DecidedBy: "ana", Decision: approve}, ""},
		"a ServiceAccount":       {open, v1alpha1.ApprovalDecision{DecidedBy: "system:serviceaccount:shop:s", Decision: approve}, "you are a ServiceAccount"},
	} {
		err := taken(tt.of, &tt.decision)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}
