package call

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/contract/version"
)

// Callee is an endpoint to call, as the holder of a token.
type Callee struct {
	url, text string
	transport *http.Transport
	// token is the MCPToken; nil if it is of no cluster.
	token *v1alpha1.MCPToken
}

// At returns the Callee of an endpoint's URL and a token's text; a nil transport is the usual one.
func At(url, text string, transport *http.Transport) *Callee {
	if transport == nil {
		transport = http.DefaultTransport.(*http.Transport).Clone()
	}
	return &Callee{url: url, text: text, transport: transport}
}

// Route is how an endpoint in a cluster is reached.
type Route struct {
	// URL is called in the place of the endpoint's own; "" is that one.
	URL string
	// Forward connects through a pod though the endpoint has a public URL.
	Forward bool
	// Transport is for all requests; nil is the usual one. Tell is called with what happens to the connection.
	Transport *http.Transport
	Tell      func(string)
}

// Needs are the rights on Secrets and pods that InCluster needs, and the connection that it makes. The error is ErrNoText of the
// package cluster if nobody can read the token's text.
func Needs(endpoint *v1alpha1.MCPEndpoint, token *v1alpha1.MCPToken, via Route) ([]authorizationv1.ResourceAttributes, error) {
	text, err := cluster.TextSecret(token)
	if err != nil {
		return nil, err
	}
	needs := []authorizationv1.ResourceAttributes{{Verb: "get", Resource: "secrets", Name: text.Name, Namespace: token.Namespace}}
	if via.URL == "" && (via.Forward || !endpoint.Public()) {
		needs = append(needs, authorizationv1.ResourceAttributes{Verb: "list", Resource: "pods", Namespace: endpoint.Namespace},
			authorizationv1.ResourceAttributes{Verb: "create", Resource: "pods", Subresource: "portforward", Namespace: endpoint.Namespace})
	}
	return needs, nil
}

// InCluster finds the endpoint and the text of the token of that name in the cluster's namespace, with the person's rights. A connection
// through a pod lasts as long as ctx.
func InCluster(ctx context.Context, k *cluster.Cluster, name string, via Route) (*Callee, error) {
	token, err := k.Token(ctx, name)
	if err != nil {
		return nil, err
	}
	text, err := k.Text(ctx, token)
	if errors.Is(err, cluster.ErrNoText) {
		return nil, fmt.Errorf("%w; \"mcp-admin connect %s\" says how they call", err, name)
	} else if err != nil {
		return nil, err
	}
	c := At(via.URL, text, via.Transport)
	c.token = token
	if c.url != "" {
		return c, nil
	}
	endpoint, err := k.Endpoint(ctx, token.Endpoint())
	if err != nil {
		return nil, err
	}
	if c.url = endpoint.EffectiveURL(); via.Forward || !endpoint.Public() {
		c.url = endpoint.ServiceURL()
		f, err := k.Forward(ctx, token.Endpoint(), "127.0.0.1:0", via.Tell)
		if err != nil {
			return nil, err
		}
		c.transport.Proxy, c.transport.DialContext = nil, f.DialContext // the URL stays the certificate's
	}
	return c, nil
}

// Session is a connection to an endpoint as the holder of a token. Who opened it closes it.
type Session struct {
	*mcp.ClientSession
	url    string
	caller *bearer
}

// Open connects to the endpoint, and names client as the program that calls. If the token is refused, the error says what the cluster
// knows of it.
func (c *Callee) Open(ctx context.Context, client string) (*Session, error) {
	caller := &bearer{text: c.text, next: c.transport}
	session, err := mcp.NewClient(&mcp.Implementation{Name: client, Version: version.String()}, nil).Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: c.url, HTTPClient: &http.Client{Transport: caller}, DisableStandaloneSSE: true,
	}, nil)
	switch {
	case err == nil:
		return &Session{session, c.url, caller}, nil
	case caller.refused.Load():
		return nil, c.refused()
	}
	return nil, fmt.Errorf("%s: %w", c.url, caller.inItsWords(err))
}

// refused says that the endpoint refuses the token, and what the cluster knows of it.
func (c *Callee) refused() error {
	return fmt.Errorf("%s refuses the token: %s", c.url, whyRefused(c.token, time.Now()))
}

// Tools are the tools that the token sees.
func (s *Session) Tools(ctx context.Context) ([]*mcp.Tool, error) {
	tools := []*mcp.Tool{}
	for tool, err := range s.ClientSession.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.url, s.caller.inItsWords(err))
		}
		tools = append(tools, tool)
	}
	return tools, nil
}

// CallTool calls a tool.
func (s *Session) CallTool(ctx context.Context, params *mcp.CallToolParams) (*mcp.CallToolResult, error) {
	result, err := s.ClientSession.CallTool(ctx, params)
	return result, s.caller.inItsWords(err)
}

// bearer adds a token to every request, and notes whether it was refused, and what the endpoint said when it last took no request.
type bearer struct {
	text    string
	next    http.RoundTripper
	refused atomic.Bool
	said    atomic.Pointer[string]
}

// inItsWords is an error in the words of the endpoint, if it said why it takes no request: the client's error has the status alone.
func (b *bearer) inItsWords(err error) error {
	if said := b.said.Load(); err != nil && said != nil {
		return &saidError{*said, err}
	}
	return err
}

// saidError is an error of the client in the words of the endpoint.
type saidError struct {
	words string
	cause error
}

func (e *saidError) Error() string { return e.words }

func (e *saidError) Unwrap() error { return e.cause }

// RoundTrip implements http.RoundTripper.
func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.text)
	b.said.Store(nil)
	response, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	switch {
	case response.StatusCode == http.StatusUnauthorized:
		b.refused.Store(true)
	case response.StatusCode >= http.StatusInternalServerError:
		b.hear(response)
	}
	return response, nil
}

// maxSaid bounds what is read of an answer that takes no request, in bytes.
const maxSaid = 16 << 10

// hear notes what the endpoint says in an answer that is an error, and leaves the answer's body as it was.
func (b *bearer) hear(response *http.Response) {
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxSaid)) // half of it says nothing
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), response.Body), response.Body}
	var answer struct{ Error struct{ Message string } }
	if json.Unmarshal(text, &answer) == nil && answer.Error.Message != "" {
		b.said.Store(&answer.Error.Message)
	}
}

// Listed is a tool as the endpoint lists it, and how many bytes of the list it takes.
type Listed struct {
	*mcp.Tool
	Bytes int
}

// maxList bounds a page of a list of tools, in bytes.
const maxList = 16 << 20

// List lists the tools that the token sees. client is the name by which the program calls.
func (c *Callee) List(ctx context.Context, client string) ([]Listed, error) {
	caller := &bearer{text: c.text, next: c.transport}
	var all []Listed
	for cursor := ""; ; {
		page, err := c.listPage(ctx, &http.Client{Transport: caller}, client, cursor)
		if caller.refused.Load() {
			return nil, c.refused()
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", c.url, err)
		}
		for _, text := range page.Tools {
			tool := Listed{Tool: &mcp.Tool{}, Bytes: len(text)}
			if err := json.Unmarshal(text, tool.Tool); err != nil {
				return nil, fmt.Errorf("%s: %w", c.url, err)
			}
			all = append(all, tool)
		}
		if cursor = page.NextCursor; cursor == "" {
			return all, nil
		}
	}
}

// toolsPage is a page of a list of tools. The tools are as they came: their bytes count.
type toolsPage struct {
	Tools      []json.RawMessage `json:"tools"`
	NextCursor string            `json:"nextCursor"`
}

func (c *Callee) listPage(ctx context.Context, caller *http.Client, client, cursor string) (*toolsPage, error) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": map[string]any{"cursor": cursor}})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("User-Agent", client)
	response, err := caller.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var answer struct {
		Result *toolsPage                `json:"result"`
		Error  *struct{ Message string } `json:"error"`
	}
	switch err := json.NewDecoder(io.LimitReader(response.Body, maxList)).Decode(&answer); {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", response.Status, err)
	case answer.Error != nil:
		return nil, errors.New(answer.Error.Message)
	case answer.Result == nil:
		return nil, errors.New("there is no list in the answer: " + response.Status)
	}
	return answer.Result, nil
}
