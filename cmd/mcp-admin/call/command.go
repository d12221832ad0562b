// Package call is the command "mcp-admin call": it calls a tool of an endpoint as a token's holder would.
package call

import (
	"cmp"
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
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/laptop"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/usage"
)

// errTool is the end of a call whose answer is an error, which was printed.
var errTool = errors.New("the call failed")

// options are the command's flags.
type options struct {
	cluster.Flags
	state     laptop.Flag
	format    output.Format
	url       string
	forward   bool
	arguments string
	// export is a file for the rows; "" if they are to be printed.
	export string
	// authorities is a file with the certificate authorities of the endpoint's certificate.
	authorities string
}

// Command returns the command.
func Command() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "call TOKEN [TOOL [KEY=VALUE…]]",
		Short: "Call a tool of an endpoint with a token, or list its tools",
		Long: `call calls a tool as the agent with that MCPToken would, and prints the answer. Without a tool it lists the tools that the token
sees. A value has the type of the tool's schema: limit=5 is a number for an integer, filters='{"city":"Bern"}' is JSON for an
object, and tags=a is a list of one for a list; a dot reaches into an object: data.name=Ann. --json gives the arguments whole.

The endpoint is called at its public URL if it has one, else through a connection to one of its pods; --url names another. With
--state it is the one that "mcp-admin dev" serves on this machine, and no cluster is needed.

With --export the rows go to a file, as many as the endpoint lets leave, if the token has the verb export: all that match, unless
limit says fewer. The file is CSV or newline-delimited JSON, by its name.

The exit code is 1 if the call failed, or if the call waits until other people allow it (code approval_required): nothing was
changed or exported then. With -o json the whole result is printed.

Rights: get mcptokens and mcpendpoints, get of the token's Secret; without a public URL or --url list pods, and create
pods/portforward. None with --state.`,
		Example: `  mcp-admin call agent -n shop
  mcp-admin call agent --state .mcp-admin-dev
  mcp-admin call agent list_order filters.status=open limit=5 -n shop
  mcp-admin call agent list_order filters.status=open --export open.csv -n shop
  mcp-admin call agent update_order id=7 data.status=shipped -n shop
  mcp-admin call agent list_order --json '{"filters":{"total__gte":100}}' -o json`,
		Args:              usage.Named("the MCPToken", 0),
		ValidArgsFunction: o.CompleteToken,
		RunE: func(command *cobra.Command, args []string) error {
			if err := usage.Apart(command.Flags(), "port-forward", "each says where to call", "url", "state"); err != nil {
				return err
			}
			return o.run(command.Context(), args, command.OutOrStdout(), command.ErrOrStderr())
		},
	}
	o.AddTo(command)
	o.format.AddFlag(command)
	flags := command.Flags()
	o.state.AddTo(flags)
	flags.StringVar(&o.arguments, "json", "", "all arguments of the tool as a JSON `OBJECT`")
	flags.StringVar(&o.export, "export", "", "`FILE` for the rows, whose name ends in .csv or .ndjson; prints how many there are")
	flags.StringVar(&o.url, "url", "", "`URL` to call instead of the endpoint's own")
	flags.BoolVar(&o.forward, "port-forward", false, "connect through a pod though the endpoint has a public URL")
	flags.StringVar(&o.authorities, "ca", "", "PEM `FILE` with the certificate authorities of the endpoint; else this machine's")
	return command
}

func (o *options) run(ctx context.Context, args []string, out, errOut io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c, err := o.find(ctx, args[0], errOut)
	if err != nil {
		return err
	}
	session, err := c.Open(ctx, "mcp-admin")
	if err != nil {
		return err
	}
	defer session.Close()
	tools, err := session.Tools(ctx)
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
	if o.export != "" {
		if arguments["export"], err = formatOf(o.export, arguments); err != nil {
			return err
		}
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool.Name, Arguments: arguments})
	if err != nil {
		return nearest(err, tools, tool.Name)
	}
	waits := waiting(result)
	if o.export != "" && !result.IsError && waits == nil {
		rows, err := c.save(ctx, result, o.export)
		if err == nil {
			_, err = fmt.Fprintf(out, "%s in %s\n", output.Numbered(rows, "row"), o.export)
		}
		return err
	}
	if err := o.format.Print(out, result, func(screen *output.Screen) { showResult(screen, result) }); err != nil {
		return err
	}
	if result.IsError {
		return errTool
	}
	return waits
}

// find finds out what is called.
func (o *options) find(ctx context.Context, name string, errOut io.Writer) (*Callee, error) {
	transport, err := o.transport()
	if err != nil {
		return nil, err
	}
	if o.state.Folder == "" {
		k, err := o.Connect()
		if err != nil {
			return nil, laptop.Hint(err)
		}
		return InCluster(ctx, k, name, Route{URL: o.url, Forward: o.forward, Transport: transport, Tell: func(news string) { fmt.Fprintln(errOut, "#", news) }})
	}
	served, err := o.state.Read()
	if err != nil {
		return nil, err
	}
	token, err := served.Token(name)
	if err != nil {
		return nil, err
	}
	return At(cmp.Or(o.url, served.URL), token.Text, transport), nil
}

// transport is the transport of all requests.
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
