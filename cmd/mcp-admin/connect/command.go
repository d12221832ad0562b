// Package connect is the command "mcp-admin connect": it tells a client of an endpoint, with a token that the cluster has.
package connect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/laptop"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/usage"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// defaultPort is the local port of --port-forward: always the same, because it stands in the client's file.
const defaultPort = "18080"

// options are the command's flags.
type options struct {
	cluster.Flags
	state              laptop.Flag
	client, name, file string
	write              bool
	port               string
}

// Command returns the command.
func Command() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "connect TOKEN",
		Short: "Tell a client (Claude Code, Cursor, VS Code, …) of an endpoint",
		Long: `connect prints what a client must be told to call the endpoint of an MCPToken, in the form that the client reads. The token
comes from an environment variable if the client can take it from there, so nothing that is printed or written is secret;
for clients that cannot, the token is part of it, and that is said.

With --write the client's own file is changed: the server is added, or replaced if it is there, and all else stays. With
--port-forward the command keeps a connection to a Ready pod open until it is interrupted, to another pod if that one
goes, and the client gets the local port. With --state the client gets what "mcp-admin dev" serves on this machine,
and no cluster is needed.

The clients are: ` + strings.Join(clientNames(), ", ") + `.

Rights: get mcptokens and mcpendpoints; get of the token's Secret if its text must be known (--client claude-desktop or env);
for --port-forward list pods, and create pods/portforward. None with --state.`,
		Example: `  mcp-admin connect agent -n shop
  mcp-admin connect agent -n shop --client cursor --write
  mcp-admin connect agent -n shop --client claude-code --port-forward --write
  mcp-admin connect agent --state .mcp-admin-dev --client cursor --write`,
		Args:              usage.Named("the MCPToken", 1),
		ValidArgsFunction: o.CompleteToken,
		RunE: func(command *cobra.Command, args []string) error {
			if err := usage.Apart(command.Flags(), "state", "each says where to call", "port-forward"); err != nil {
				return err
			}
			return o.run(command.Context(), args[0], command.OutOrStdout())
		},
	}
	o.AddTo(command)
	flags := command.Flags()
	o.state.AddTo(flags)
	flags.StringVarP(&o.client, "client", "c", "claude-code", "`CLIENT` to tell: "+strings.Join(clientNames(), ", "))
	flags.StringVar(&o.name, "name", "", "what the client calls the server; else the endpoint's `NAME`")
	flags.BoolVar(&o.write, "write", false, "change the client's own file")
	flags.StringVar(&o.file, "file", "", "`FILE` of the client to change with --write, if it is not the usual one")
	flags.StringVar(&o.port, "port-forward", "", "connect through a pod, and keep the connection open at a local `PORT`")
	flags.Lookup("port-forward").NoOptDefVal = defaultPort
	_ = command.RegisterFlagCompletionFunc("client", cobra.FixedCompletions(clientNames(), cobra.ShellCompDirectiveNoFileComp)) // fails only for a flag that does not exist
	return command
}

func (o *options) run(ctx context.Context, name string, out io.Writer) error {
	c, err := findClient(o.client)
	if err != nil {
		return err
	}
	if o.write && c.file == nil {
		return fmt.Errorf("--write: %s has no file that is read; leave --write out, and use what is printed", c.title)
	}
	if o.state.Folder != "" {
		return o.served(c, name, out)
	}
	k, err := o.Connect()
	if err != nil {
		return laptop.Hint(err)
	}
	token, err := k.Token(ctx, name)
	if err != nil {
		return err
	}
	endpoint, err := k.Endpoint(ctx, token.Endpoint())
	if err != nil {
		return err
	}
	if token.Spec.IssuedElsewhere() {
		return errors.New(instead(token, endpoint))
	}
	s := server{name: cmp.Or(o.name, endpoint.Name), url: endpoint.EffectiveURL()}
	s.variable = contract.TokenVariable(s.name)
	if c.secret {
		if s.text, err = k.Text(ctx, token); err != nil {
			return err
		}
	}
	if o.port != "" {
		s.url, err = o.forward(ctx, k, endpoint, out)
		if err != nil {
			return err
		}
	}
	if err := o.tell(c, s, out); err != nil {
		return err
	}
	if !c.secret {
		fmt.Fprint(out, howToSet(token, s.variable, c))
	}
	if o.port == "" {
		fmt.Fprint(out, howToReach(token, endpoint))
		return nil
	}
	fmt.Fprintln(out, "\nThe connection is open until you interrupt this command.")
	<-ctx.Done()
	return nil
}

// served tells the client of what dev serves on this machine.
func (o *options) served(c client, name string, out io.Writer) error {
	served, err := o.state.Read()
	if err != nil {
		return err
	}
	token, err := served.Token(name)
	if err != nil {
		return err
	}
	_, endpoint, _ := strings.Cut(served.Endpoint, "/")
	s := server{name: cmp.Or(o.name, endpoint), url: served.URL}
	s.variable = contract.TokenVariable(s.name)
	if c.secret {
		s.text = token.Text
	}
	if err := o.tell(c, s, out); err != nil {
		return err
	}
	switch {
	case c.secret:
	case token.File != "":
		fmt.Fprintf(out, "\n# The token, for the shell that starts %s:\nexport %s=\"$(cat %q)\"\n", c.title, s.variable, token.File)
	default:
		fmt.Fprintf(out, "\n# The token is in the manifests. Set %s to it before you start %s.\n", s.variable, c.title)
	}
	return nil
}

// forward opens the local port, and returns the URL there.
func (o *options) forward(ctx context.Context, k *cluster.Cluster, e *v1alpha1.MCPEndpoint, out io.Writer) (string, error) {
	f, err := k.Forward(ctx, cluster.Key(e), net.JoinHostPort("127.0.0.1", o.port), func(news string) { fmt.Fprintf(out, "# %s\n", news) })
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(f.Addr())
	if err != nil {
		return "", err
	}
	if cluster.Scheme(e) == "https" {
		fmt.Fprintln(out, "# The endpoint has a certificate of its own: the client must trust it, and it must be for 127.0.0.1, too.")
	}
	return cluster.Scheme(e) + "://127.0.0.1:" + port + e.EffectivePath() + "/", nil
}

// tell prints the client's configuration, or writes it.
func (o *options) tell(c client, s server, out io.Writer) error {
	path := o.file
	if path == "" && c.file != nil {
		var err error
		if path, err = c.file(); err != nil {
			return err
		}
	}
	switch {
	case o.write:
		changed, err := put(c, path, s)
		if err != nil {
			return err
		}
		if changed {
			fmt.Fprintf(out, "%s: %s now has the server %q at %s.\n", c.title, path, s.name, s.url)
		} else {
			fmt.Fprintf(out, "%s: %s has the server %q at %s already.\n", c.title, path, s.name, s.url)
		}
	case path != "":
		fmt.Fprintf(out, "# %s reads this from %s:\n%s", c.title, path, c.render(s))
	default:
		fmt.Fprintf(out, "# %s:\n%s", c.title, c.render(s))
	}
	if c.note != "" {
		fmt.Fprintf(out, "# %s\n", c.note)
	}
	return nil
}
