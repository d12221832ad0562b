// Package tail is the command "mcp-admin tail": the audit lines of all pods of an endpoint in one stream.
package tail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/usage"
)

// options are the command's flags.
type options struct {
	cluster.Flags
	format output.Format
	follow bool
	since  time.Duration
	// file is a file with lines that were written before, in the place of a cluster; "-" is standard input.
	file string
}

// Command returns the command.
func Command() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "tail ENDPOINT | tail --file FILE",
		Short: "Show the audit lines of all pods of an endpoint, merged by time, or of a file",
		Long: `tail reads the logs of an endpoint's pods, and prints the audit line of each call that changed something or was refused, in the
order of their times: who (the MCPToken), what, on which rows, and what came of it. Lines hold no values. Calls that read have lines
if the endpoint asks for them (spec.observability.audit.reads).

With -f it goes on: through restarts of containers, and with new pods. Of a container that was restarted, the log of the one
before is read, too. With -o json each line is as the server wrote it, with the pod's name. Logs of pods that are gone are
gone: for a record that stays, let the endpoint keep an audit table (spec.audit).

With --file it reads a file in the place of a cluster: what "mcp-admin dev" printed, or logs that were kept. All else in the file
is passed over. --file - reads standard input, line by line as they come.

Rights: get mcpendpoints, list pods, get pods/log; none with --file.`,
		Example: `  mcp-admin tail shop -n shop
  mcp-admin tail shop -n shop -f --since 10m
  mcp-admin tail shop -n shop -f -o json | jq 'select(.outcome!="ok")'
  mcp-admin tail shop -n shop --since 12h -o json | jq 'select(.model=="customer" and (.ids//[]|index("42")))'
  mcp-admin dev --sqlite shop.sqlite --write | mcp-admin tail --file -`,
		Args:              o.arguments,
		ValidArgsFunction: o.CompleteEndpoint,
		RunE: func(command *cobra.Command, args []string) error {
			if err := usage.Apart(command.Flags(), "file", "a file is read to its end", "follow"); err != nil {
				return err
			}
			if o.since < 0 {
				return fmt.Errorf("--since: %s is not a time that has passed", o.since)
			}
			if o.file != "" {
				return o.readFile(command.InOrStdin(), command.OutOrStdout())
			}
			k, err := o.Connect()
			if err != nil {
				return fmt.Errorf("%w; \"mcp-admin dev\" prints its audit lines itself, and --file reads them", err)
			}
			return o.run(command.Context(), k, args[0], command.OutOrStdout(), command.ErrOrStderr())
		},
	}
	o.AddTo(command)
	o.format.AddFlag(command)
	flags := command.Flags()
	flags.BoolVarP(&o.follow, "follow", "f", false, "go on with new lines until interrupted")
	flags.StringVar(&o.file, "file", "", "`FILE` with lines to show; - is standard input")
	flags.DurationVar(&o.since, "since", 0, "only lines that are younger than this `TIME`, such as 10m; 0 is all")
	return command
}

// arguments checks that either an endpoint or a file is named.
func (o *options) arguments(_ *cobra.Command, args []string) error {
	switch {
	case o.file != "" && len(args) > 0:
		return fmt.Errorf("%q and --file: name an MCPEndpoint or a file, not both", args[0])
	case o.file == "" && len(args) != 1:
		return errors.New("name one MCPEndpoint, or a file with --file")
	}
	return nil
}

// from is the time of the oldest line that is shown; zero is any.
func (o *options) from() time.Time {
	if o.since == 0 {
		return time.Time{}
	}
	return time.Now().Add(-o.since)
}

// readFile prints the audit lines of a file.
func (o *options) readFile(in io.Reader, out io.Writer) error {
	if o.file != "-" {
		file, err := os.Open(o.file)
		if err != nil {
			return fmt.Errorf("--file: %w", err)
		}
		defer file.Close()
		in = file
	}
	show, from := o.printer(out), o.from()
	return eachLine(in, func(text []byte) error {
		if l, audit := parse("", text, false); audit && !l.at.Before(from) {
			return show(l)
		}
		return nil
	})
}

func (o *options) run(ctx context.Context, k *cluster.Cluster, name string, out, errOut io.Writer) error {
	endpoint, err := k.Endpoint(ctx, types.NamespacedName{Namespace: k.Namespace, Name: name})
	if err != nil {
		return err
	}
	r := &reader{cluster: k, endpoint: cluster.Key(endpoint), from: o.from(), tell: func(news string) { fmt.Fprintln(errOut, "#", news) }}
	show := o.printer(out)
	if o.follow {
		return r.follow(ctx, show)
	}
	return r.read(ctx, show)
}
