// Package call is the command "mcp-admin call": it calls a tool of an endpoint as a token's holder would.
package call

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
	"github.com/mcp-admin/mcp-admin-operator/contract/version"
)

// errTool is the end of a call whose answer is an error, which was printed.
var errTool = errors.New("the tool says error")

// options are the command's flags.
type options struct {
	cluster.Flags
	format    output.Format
	url       string
	forward   bool
	arguments string
	// authorities is a file with the certificate authorities of the endpoint's certificate.
	authorities string
}

// Command returns the command.
func Command() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "call TOKEN [TOOL [KEY=VALUE…]]",
		Short: "Call a tool of an endpoint with a token, or list its tools",
		Long: `call calls a tool as the agent with that MCPToken would, and prints the answer. Without a tool it lists those that the token
sees. A value is what the tool's schema says: limit=5 is a number for an integer, filters='{"city":"Bern"}' is JSON for an
object, and tags=a is a list of one for a list; a dot reaches into an object: data.name=Ann. --json gives the arguments whole.

The endpoint is called at its public URL if it has one, else through a connection to one of its pods; --url names another.

The exit code is 1 if the tool says error. With -o json the whole result is printed.

Rights: get mcptokens and mcpendpoints, get of the token's Secret; without a public URL or --url list pods, and create
pods/portforward.`,
		Example: `  mcp-admin call agent -n shop
  mcp-admin call agent list_order status=open limit=5 -n shop
  mcp-admin call agent update_order id=7 data.status=shipped -n shop
  mcp-admin call agent list_order --json '{"filters":{"total__gte":100}}' -o json`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: o.CompleteToken,
		RunE: func(command *cobra.Command, args []string) error {
			return o.run(command.Context(), args, command.OutOrStdout(), command.ErrOrStderr())
		},
	}
	o.AddTo(command)
	o.format.AddFlag(command)
	flags := command.Flags()
	flags.StringVar(&o.arguments, "json", "", "all arguments of the tool as a JSON `OBJECT`")
	flags.StringVar(&o.url, "url", "", "`URL` to call instead of the endpoint's own")
	flags.BoolVar(&o.forward, "port-forward", false, "connect through a pod though the endpoint has a public URL")
	flags.StringVar(&o.authorities, "ca", "", "PEM `FILE` with the certificate authorities of the endpoint; else those of this machine")
	command.MarkFlagsMutuallyExclusive("url", "port-forward")
	return command
}

func (o *options) run(ctx context.Context, args []string, out, errOut io.Writer) error {
	k, err := o.Connect()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	session, err := o.open(ctx, k, args[0], errOut)
	if err != nil {
		return err
	}
	defer session.Close()
	tools, err := listTools(ctx, session)
	if err != nil {
		return err
	}
	if len(args) == 1 {
		return o.format.Print(out, tools, func(screen *output.Screen) { showTools(screen, tools) })
	}
	tool := findTool(tools, args[1])
	arguments, err := argumentsOf(tool, args[2:], o.arguments)
	if err != nil {
		return err
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool.Name, Arguments: arguments})
	if err != nil {
		return nearest(err, tools, tool.Name)
	}
	if err := o.format.Print(out, result, func(screen *output.Screen) { showResult(screen, result) }); err != nil {
		return err
	}
	if result.IsError {
		return errTool
	}
	return nil
}

// open connects to the token's endpoint.
func (o *options) open(ctx context.Context, k *cluster.Cluster, name string, errOut io.Writer) (*mcp.ClientSession, error) {
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
	url := o.url
	transport, err := o.transport()
	if err != nil {
		return nil, err
	}
	if url == "" {
		endpoint, err := k.Endpoint(ctx, token.Endpoint())
		if err != nil {
			return nil, err
		}
		if url = endpoint.EffectiveURL(); o.forward || !endpoint.Public() {
			url = endpoint.ServiceURL()
			f, err := k.Forward(ctx, token.Endpoint(), "127.0.0.1:0", func(news string) { fmt.Fprintln(errOut, "#", news) })
			if err != nil {
				return nil, err
			}
			transport.Proxy, transport.DialContext = nil, f.DialContext // the URL stays that of the certificate
		}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "mcp-admin", Version: version.String()}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: bearer{text, transport}}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	return session, nil
}

// transport is that of all requests.
func (o *options) transport() (*http.Transport, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if o.authorities == "" {
		return transport, nil
	}
	certificates, err := os.ReadFile(o.authorities)
	if err != nil {
		return nil, fmt.Errorf("--ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(certificates) {
		return nil, fmt.Errorf("--ca: %s holds no certificate", o.authorities)
	}
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return transport, nil
}

// bearer adds a token to every request.
type bearer struct {
	text string
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.text)
	return b.next.RoundTrip(r)
}

func listTools(ctx context.Context, session *mcp.ClientSession) ([]*mcp.Tool, error) {
	tools := []*mcp.Tool{}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		tools = append(tools, tool)
	}
	return tools, nil
}
