package page

import (
	"slices"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

func TestAttributesForTellsEmptyFromMissing(t *testing.T) {
	model := &contract.Model{RowPolicies: []contract.RowPolicy{
		{Name: "own", Filters: []contract.Filter{{Field: "region", TokenAttribute: "region"}, {Any: []contract.Filter{{Field: "team", TokenAttribute: "team"}, {Field: "region", TokenAttribute: "region"}}}}},
		{Name: "other", Filters: []contract.Filter{{Field: "desk", TokenAttribute: "desk"}}},
	}}
	token := &v1alpha1.MCPToken{}
	token.Spec.Attributes = map[string]v1alpha1.AttributeValue{"region": "", "desk": "7"}
	got := attributesFor(model, []string{"own"}, token)
	if want := []comparedAttribute{{"region", "", false}, {"team", "", true}}; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := attributesFor(nil, []string{"own"}, token); got != nil {
		t.Errorf("of no model: got %+v, want none", got)
	}
}
