package dev

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	caller "github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/call"
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

// Calls implements page.Source.
func (s *pageSource) Calls(_ context.Context, endpoint types.NamespacedName, from time.Time) (*page.Calls, error) {
	if _, _, err := s.of(endpoint); err != nil {
		return nil, err
	}
	calls, over := s.calls.Calls()
	kept := slices.DeleteFunc(calls, func(c tail.Call) bool { return c.At.Before(from) })
	return &page.Calls{Items: kept, Older: over, From: "since this program was started"}, nil
}
