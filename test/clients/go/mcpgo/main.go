// Command mcpgo is mark3labs/mcp-go: either era.
package main

import (
	"context"
	"net/http"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-admin/mcp-admin-operator/test/clients/go/conversation"
)

func main() { conversation.Run(&client{}) }

type client struct{ *mcpclient.Client }

func (c *client) Connect(ctx context.Context, url string, http *http.Client, version string) (string, error) {
	t, err := transport.NewStreamableHTTP(url, transport.WithHTTPBasicClient(http))
	if err != nil {
		return "", err
	}
	c.Client = mcpclient.NewClient(t, mcpclient.WithProtocolVersion(version))
	if err := c.Start(ctx); err != nil {
		return "", err
	}
	request := mcp.InitializeRequest{}
	request.Params.ProtocolVersion = version
	request.Params.ClientInfo = mcp.Implementation{Name: "clients", Version: "1"}
	if _, err := c.Initialize(ctx, request); err != nil {
		return "", err
	}
	return c.ProtocolVersion(), nil
}

func (c *client) ListTools(ctx context.Context) (any, error) {
	return c.Client.ListTools(ctx, mcp.ListToolsRequest{})
}

func (c *client) CallTool(ctx context.Context, name string, arguments map[string]any) (any, error) {
	request := mcp.CallToolRequest{}
	request.Params.Name, request.Params.Arguments = name, arguments
	return c.Client.CallTool(ctx, request)
}

func (c *client) ListResources(ctx context.Context) (any, error) {
	return c.Client.ListResources(ctx, mcp.ListResourcesRequest{})
}

func (c *client) ListResourceTemplates(ctx context.Context) (any, error) {
	return c.Client.ListResourceTemplates(ctx, mcp.ListResourceTemplatesRequest{})
}

func (c *client) ReadResource(ctx context.Context, uri string) (any, error) {
	request := mcp.ReadResourceRequest{}
	request.Params.URI = uri
	return c.Client.ReadResource(ctx, request)
}

func (c *client) ListPrompts(ctx context.Context) (any, error) {
	return c.Client.ListPrompts(ctx, mcp.ListPromptsRequest{})
}

func (c *client) GetPrompt(ctx context.Context, name string, arguments map[string]string) (any, error) {
	request := mcp.GetPromptRequest{}
	request.Params.Name, request.Params.Arguments = name, arguments
	return c.Client.GetPrompt(ctx, request)
}
