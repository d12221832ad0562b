// Command gosdk is the official Go SDK: either era.
package main

import (
	"context"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-admin/mcp-admin-operator/test/clients/go/conversation"
)

func main() { conversation.Run(&client{}) }

type client struct{ session *mcp.ClientSession }

func (c *client) Connect(ctx context.Context, url string, http *http.Client, version string) (string, error) {
	transport := &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: http}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "clients", Version: "1"}, nil).
		Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return "", err
	}
	c.session = session
	return session.InitializeResult().ProtocolVersion, nil
}

func (c *client) ListTools(ctx context.Context) (any, error) { return c.session.ListTools(ctx, nil) }

func (c *client) CallTool(ctx context.Context, name string, arguments map[string]any) (any, error) {
	return c.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
}

func (c *client) ListResources(ctx context.Context) (any, error) {
	return c.session.ListResources(ctx, nil)
}

func (c *client) ListResourceTemplates(ctx context.Context) (any, error) {
	return c.session.ListResourceTemplates(ctx, nil)
}

func (c *client) ReadResource(ctx context.Context, uri string) (any, error) {
	return c.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
}

func (c *client) ListPrompts(ctx context.Context) (any, error) {
	return c.session.ListPrompts(ctx, nil)
}

func (c *client) GetPrompt(ctx context.Context, name string, arguments map[string]string) (any, error) {
	return c.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: arguments})
}

func (c *client) Close() error { return c.session.Close() }
