package dev

import (
	"context"
	"slices"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	caller "github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/call"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/tail"
)

// Callee implements page.Source. Who sees the page may read the texts of the tokens: they are in files of theirs.
func (s *pageSource) Callee(_ context.Context, endpoint, token types.NamespacedName) (*caller.Callee, error) {
	o, told, err := s.of(endpoint)
	if err != nil {
		return nil, err
	}
	served := o.served(told)
	found, err := served.Token(token.String())
	if err != nil {
		return nil, err
	}
	return caller.At(served.URL, found.Text, nil), nil
}

// CallNeeds implements page.Source: no right is missing to whoever sees the page.
func (s *pageSource) CallNeeds(_ *v1alpha1.MCPEndpoint, token *v1alpha1.MCPToken) ([]authorizationv1.ResourceAttributes, error) {
	o, told := s.now()
	_, err := o.served(told).Token(cluster.Key(token).String())
	return nil, err
}

// Calls implements page.Source.
func (s *pageSource) Calls(_ context.Context, endpoint types.NamespacedName, from time.Time) (*page.Calls, error) {
	if _, _, err := s.of(endpoint); err != nil {
		return nil, err
	}
	calls, over := s.calls.Calls()
	kept := slices.DeleteFunc(calls, func(c tail.Call) bool { return c.At.Before(from) })
	return &page.Calls{Items: kept, Older: over, From: "since this program was started"}, nil
}
