package page_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/call"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/rights"
	lines "github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/tail"
)

// till is a desk with one call that changed a row, at an endpoint whose undo gives one answer.
type till struct {
	desk
	url string
}

func (s *till) Objects(context.Context, types.NamespacedName) (*rights.Objects, error) {
	o := &rights.Objects{Endpoint: &v1alpha1.MCPEndpoint{}, Tokens: []v1alpha1.MCPToken{{}}}
	o.Endpoint.Namespace, o.Endpoint.Name, o.Endpoint.Spec.Audit = "shop", "desk", &v1alpha1.AuditSpec{}
	o.Tokens[0].Namespace, o.Tokens[0].Name = "shop", "clerk"
	return o, nil
}

func (s *till) Calls(context.Context, types.NamespacedName, time.Time) (*page.Calls, error) {
	c := lines.Call{At: noon}
	c.Token, c.Tool, c.Operation, c.Model, c.IDs, c.Changed, c.Outcome, c.Call = "shop/clerk", "update_order", "update", "order", []string{"7"}, 1, "ok", "C1"
	return &page.Calls{Items: []lines.Call{c}}, nil
}

func (s *till) CallNeeds(*v1alpha1.MCPEndpoint, *v1alpha1.MCPToken) ([]authorizationv1.ResourceAttributes, error) {
	return nil, nil
}

func (s *till) Callee(context.Context, types.NamespacedName, types.NamespacedName) (*call.Callee, error) {
	return call.At(s.url, "text", nil), nil
}

// The preview says that other people must allow it first, if the dry run does.
func TestThePreviewOfAnUndoSaysThatItWillWait(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "desk"}, nil)
	server.AddTool(&mcp.Tool{Name: "undo", InputSchema: map[string]any{"type": "object"}}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		text := `{"success":false,"code":"approval_required","approval":"abc","message":"Nothing was changed."}`
		if strings.Contains(string(r.Params.Arguments), `"dry_run":true`) {
			text = `{"success":true,"dry_run":true,"changes":[{"model":"order","id":7,"change":"update","from":{"note":null},"to":{"note":""}}],"would_need_approval":["large","late"]}`
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	})
	endpoint := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(endpoint.Close)
	s := &till{url: endpoint.URL}
	b := openOver(t, s)
	plan := fmt.Sprintf("e/shop/desk/activity/%d/undo", noon.UnixNano())
	shows(t, b, plan, http.StatusOK, "Other people must allow it first, by the policies large, late", "note null \"\"", "Take it back")
	if code, text := b.Submit(plan); code != http.StatusOK || !strings.Contains(text, "It waits for approval <bdi>abc</bdi>") || !strings.Contains(text, "The approval is not seen yet.") {
		t.Errorf("%d\n%s", code, text)
	}
}
