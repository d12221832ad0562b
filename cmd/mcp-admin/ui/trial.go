package ui

import (
	"context"
	"fmt"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/call"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/tail"
)

// route is how the page reaches endpoints.
func (s *source) route() call.Route { return call.Route{Forward: s.Forward, Tell: func(string) {}} }

// Callee implements page.Source.
func (s *source) Callee(ctx context.Context, _, token types.NamespacedName) (*call.Callee, error) {
	return call.InCluster(ctx, s.cluster.In(token.Namespace), token.Name, s.route())
}

// CallNeeds implements page.Source.
func (s *source) CallNeeds(endpoint *v1alpha1.MCPEndpoint, token *v1alpha1.MCPToken) ([]authorizationv1.ResourceAttributes, error) {
	return call.Needs(endpoint, token, s.route())
}

// Calls implements page.Source: the logs of the endpoint's pods, as "mcp-admin tail" reads them.
func (s *source) Calls(ctx context.Context, key types.NamespacedName, from time.Time) (*page.Calls, error) {
	endpoint, err := s.cluster.Endpoint(ctx, key)
	if err != nil {
		return nil, err
	}
	calls := &page.Calls{From: fmt.Sprintf("in the newest %d lines of each pod's log", tail.LogLines)}
	calls.Items, calls.Older, err = tail.Read(ctx, s.cluster.In(key.Namespace), endpoint, from, page.MostCalls, func(news string) { calls.Unseen = append(calls.Unseen, news) })
	return calls, err
}
