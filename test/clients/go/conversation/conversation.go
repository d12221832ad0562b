// Package conversation is what a client written in Go is asked to do, whichever it is; conversation.mjs is the same for
// those on npm. The commands beside it import it.
package conversation

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
)

// Client is a client, wrapped so that all look the same. Each method returns what the client made of the answer.
type Client interface {
	// Connect returns the protocol version that was agreed on. Every request goes by http; version is the newest to offer.
	Connect(ctx context.Context, url string, http *http.Client, version string) (agreed string, err error)
	ListTools(ctx context.Context) (any, error)
	CallTool(ctx context.Context, name string, arguments map[string]any) (any, error)
	ListResources(ctx context.Context) (any, error)
	ListResourceTemplates(ctx context.Context) (any, error)
	ReadResource(ctx context.Context, uri string) (any, error)
	ListPrompts(ctx context.Context) (any, error)
	GetPrompt(ctx context.Context, name string, arguments map[string]string) (any, error)
	Close() error
}

// line is printed for every step; the one with an error is the last.
type line struct {
	Step  string `json:"step"`
	Value any    `json:"value,omitempty"`
	Error string `json:"error,omitempty"`
}

// bearer adds a token to every request.
type bearer string

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// Run connects and takes the steps.
func Run(c Client) {
	ctx, out := context.Background(), json.NewEncoder(os.Stdout)
	take := func(step string, ask func() (any, error)) (done bool) {
		value, err := ask()
		if err != nil {
			_ = out.Encode(line{Step: step, Error: err.Error()}) // whoever reads misses it
			return false
		}
		return out.Encode(line{Step: step, Value: value}) == nil
	}
	_ = take("connect", func() (any, error) {
		return c.Connect(ctx, os.Getenv("MCP_URL"), &http.Client{Transport: bearer(os.Getenv("MCP_TOKEN"))}, os.Getenv("MCP_VERSION"))
	}) &&
		take("tools/list", func() (any, error) { return c.ListTools(ctx) }) &&
		take("tools/call", func() (any, error) { return c.CallTool(ctx, "list_book", map[string]any{"search": "Solaris"}) }) &&
		take("tools/call, writing", func() (any, error) {
			return c.CallTool(ctx, "update_book", map[string]any{"id": 4, "data": map[string]any{"in_stock": 6}})
		}) &&
		take("resources/list", func() (any, error) { return c.ListResources(ctx) }) &&
		take("resources/templates/list", func() (any, error) { return c.ListResourceTemplates(ctx) }) &&
		take("resources/read", func() (any, error) { return c.ReadResource(ctx, "data://book/4") }) &&
		take("prompts/list", func() (any, error) { return c.ListPrompts(ctx) }) &&
		take("prompts/get", func() (any, error) {
			return c.GetPrompt(ctx, "understand_model", map[string]string{"model_name": "book"})
		}) &&
		take("close", func() (any, error) { return "", c.Close() })
}
