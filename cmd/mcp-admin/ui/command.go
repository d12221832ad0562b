// Package ui is the command "mcp-admin ui": it serves the page for people on this machine, over a cluster.
package ui

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/laptop"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page"
)

// options are the command's flags.
type options struct {
	cluster.Flags
	port uint16
}

// Command returns the command.
func Command() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "ui [ENDPOINT]",
		Short: "Serve a page on this machine: who can see what, what is wrong, what to do",
		Long: `ui serves a page at 127.0.0.1, over the cluster of your kubeconfig: the endpoints and their health, who can see what, the models, and
what can be done: revoke, rotate, pause, look again, take a call back, allow or deny calls that wait. It prints a link that works once, in
one browser; nobody else on this machine gets in.

Each thing that the page reads or changes is a request of yours to the API server: it shows what you may see, says which right is
missing, and nothing new runs in the cluster. Beside everything stands the command that does the same. Ctrl-C ends it.

Rights: list mcpendpoints, mcpmodelexposures, mcptokens, mcpapprovals and pods, of all namespaces or of the context's; create
pods/portforward, to read the pods' metrics; get pods/log, for the activity; patch, for what you change. To see as a token sees, and to
take its calls back: get of its Secret. To decide: those of "mcp-admin approve".`,
		Example: `  mcp-admin ui
  mcp-admin ui shop -n shop
  mcp-admin ui --context production --port 8090`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: o.CompleteEndpoint,
		RunE: func(command *cobra.Command, args []string) error {
			k, err := o.Connect()
			if err != nil {
				return laptop.Hint(err)
			}
			source, err := ofContext(command.Context(), k)
			if err != nil {
				return err
			}
			start := ""
			if len(args) > 0 {
				start = "e/" + url.PathEscape(k.Namespace) + "/" + url.PathEscape(args[0])
			}
			return o.serve(command, source, start)
		},
	}
	o.AddTo(command)
	command.Flags().Uint16Var(&o.port, "port", 0, "`PORT` of 127.0.0.1 to serve at; absent, a free one")
	return command
}

// endTime is how long a request under way may take at the end.
const endTime = 2 * time.Second

func (o *options) serve(command *cobra.Command, source page.Source, start string) error {
	ctx := command.Context()
	p, err := page.New(page.Options{Source: source, Base: "/", Start: start})
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", o.port))
	if err != nil {
		return fmt.Errorf("--port: %w", err)
	}
	server := &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	defer context.AfterFunc(ctx, func() {
		ending, stop := context.WithTimeout(context.WithoutCancel(ctx), endTime)
		defer stop()
		_ = server.Shutdown(ending) // what is still under way is cut off with the program
	})()
	if start == "" {
		go func() { _, _ = source.Endpoints(ctx) }() // the first screen then asks for what has changed; it tells errors itself
	}
	fmt.Fprintf(command.OutOrStdout(), "%s\n\nOpen this link in your browser. It works once; Ctrl-C ends the page.\n  %s\n", source.Place(), p.Link("http://"+listener.Addr().String()))
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
