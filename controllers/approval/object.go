package approval

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/excerpt"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The bounds of what an object tells of the rows, beside those of the schema.
const (
	maxChanges     = 100
	maxFields      = 100
	maxValueBytes  = 1300
	maxValuesBytes = 64 << 10
)

// New is the object of a call that a pod holds back. No pod is trusted: names must be the endpoint's, and texts are bounded. An
// error says why there is none.
func New(e *v1alpha1.MCPEndpoint, token *v1alpha1.MCPToken, a *contract.Approval, now time.Time) (*v1alpha1.MCPApproval, error) {
	if token == nil || string(token.UID) != a.TokenUID {
		return nil, fmt.Errorf("the endpoint has no token %s with this identity", plain(a.Token, 317))
	}
	asked := a.Asked
	if asked.After(now) {
		asked = now
	}
	request := v1alpha1.ApprovalRequest{
		TokenRef: v1alpha1.TokenReference{Namespace: token.Namespace, Name: token.Name}, TokenUID: a.TokenUID,
		Caller: plain(a.Caller, 1024), Subject: plain(a.Subject, 1024), Tool: plain(a.Tool, 128), Operation: plain(a.Operation, 64), Model: plain(a.Model, 63),
		Digest: a.Digest, AskTime: metav1.NewTime(asked), Rows: new(int64(max(a.Rows, 0))),
	}
	expires := time.Duration(0)
	for _, name := range slices.Compact(slices.Sorted(slices.Values(a.Policies))) {
		p := e.Spec.FindApproval(name)
		if p == nil {
			return nil, fmt.Errorf("the endpoint has no policy %q", plain(name, 63))
		}
		if after := p.EffectiveExpiresAfter(); expires == 0 || after < expires {
			expires = after
		}
		request.Policies = append(request.Policies, v1alpha1.ApprovalAsker{
			Name: name, Description: p.Description, Sum: compile.ApprovalSum(p), MinApprovals: p.EffectiveMinApprovals(), ApproverGroups: p.EffectiveApproverGroups(), FourEyes: p.FourEyes,
		})
	}
	if len(request.Policies) == 0 {
		return nil, fmt.Errorf("no policy asks for it")
	}
	if secret := token.CredentialSecretName(); secret != "" && request.Strict() {
		request.TokenSecretRef = &v1alpha1.SecretReference{Name: secret}
	}
	request.ExpiryTime = metav1.NewTime(asked.Add(expires))
	if !now.Before(request.ExpiryTime.Time) {
		return nil, fmt.Errorf("it has expired")
	}
	request.Changes, request.Notice = ChangesOf(a)
	kind := cluster.KindOf("MCPEndpoint")
	return &v1alpha1.MCPApproval{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: e.Namespace, Name: v1alpha1.ApprovalName(e.Name, a.Name), Labels: map[string]string{cluster.EndpointLabel: e.Name},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: e.Name, UID: e.UID, Controller: new(true),
			}},
		},
		Spec: v1alpha1.MCPApprovalSpec{EndpointRef: v1alpha1.EndpointReference{Name: e.Name}, Request: request},
	}, nil
}

// kinds are the API's words for what becomes of a row.
var kinds = map[string]v1alpha1.ApprovalChangeKind{"create": v1alpha1.ApprovalCreates, "update": v1alpha1.ApprovalUpdates, "delete": v1alpha1.ApprovalDeletes}

// ChangesOf are a call's changes as an object tells them.
func ChangesOf(a *contract.Approval) (told []v1alpha1.ApprovalChange, notice string) {
	notice = plain(a.Notice, 400)
	bytes := 0
	for i := range a.Changes {
		from := &a.Changes[i]
		kind, known := kinds[from.Change]
		if !known || from.Rows < 1 {
			continue
		}
		if len(told) == maxChanges {
			notice = join(notice, "further changes are not shown")
			break
		}
		c := v1alpha1.ApprovalChange{Model: plain(from.Model, 63), Change: kind, Rows: int64(from.Rows), ID: plain(from.ID, 300)}
		for _, name := range slices.Compact(slices.Sorted(slices.Values(from.Fields))) {
			if len(c.Fields) == maxFields || name == "" || len(name) > 128 {
				notice = join(notice, "further fields are not shown")
				break
			}
			f := v1alpha1.ApprovalField{Name: name, Before: value(from.Before[name]), After: value(from.After[name])}
			bytes += len(f.Before) + len(f.After)
			c.Fields = append(c.Fields, f)
		}
		told = append(told, c)
	}
	if bytes > maxValuesBytes {
		for i := range told {
			for at := range told[i].Fields {
				told[i].Fields[at].Before, told[i].Fields[at].After = "", ""
			}
		}
		notice = join(notice, "the values are too long to be shown")
	}
	return told, notice
}

func join(notice, more string) string {
	switch {
	case notice == "":
		return more
	case strings.Contains(notice, more):
		return notice
	}
	return notice + "; " + more
}

// value is a value as JSON, in one line.
func value(raw json.RawMessage) string {
	if len(raw) == 0 || !json.Valid(raw) {
		return ""
	}
	return plain(string(raw), maxValueBytes)
}

// plain is a text of a pod: bounded, and without what could make a terminal or a page show something else.
func plain(text string, most int) string {
	return excerpt.Of(strings.TrimSpace(excerpt.Visible(text)), most)
}

// EndpointOf is the endpoint of an approval.
func EndpointOf(a *v1alpha1.MCPApproval) types.NamespacedName {
	return cluster.EndpointOf(a.Namespace, a.Spec.EndpointRef)
}
