// Package tail is the command "mcp-admin tail": the audit lines of all pods of an endpoint in one stream.
package tail

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
)

// options are the command's flags.
type options struct {
	cluster.Flags
	format output.Format
	follow bool
	since  time.Duration
}

// Command returns the command.
func Command() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "tail ENDPOINT",
		Short: "Show the audit lines of all pods of an endpoint, merged by time",
		Long: `tail reads the logs of an endpoint's pods, and prints the audit line of each call that changed something or was refused, in the
order of their times: who (the MCPToken), what, on which rows, and what came of it. Lines hold no values.

With -f it goes on: through restarts of containers, and with new pods. Of a container that was restarted, the log of the one
before is read, too. With -o json each line is as the server wrote it, with the pod's name. Logs of pods that are gone are
gone: for a record that stays, let the endpoint keep an audit table (spec.audit).

Rights: get mcpendpoints, list pods, get pods/log.`,
		Example: `  mcp-admin tail shop -n shop
  mcp-admin tail shop -n shop -f --since 10m
  mcp-admin tail shop -n shop -f -o json | jq 'select(.outcome!="ok")'`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: o.CompleteEndpoint,
		RunE: func(command *cobra.Command, args []string) error {
			k, err := o.Connect()
			if err != nil {
				return err
			}
			return o.run(command.Context(), k, args[0], command.OutOrStdout(), command.ErrOrStderr())
		},
	}
	o.AddTo(command)
	o.format.AddFlag(command)
	flags := command.Flags()
	flags.BoolVarP(&o.follow, "follow", "f", false, "go on with new lines until interrupted")
	flags.DurationVar(&o.since, "since", 0, "only lines that are younger than this `TIME`, such as 10m; 0 is all")
	return command
}

func (o *options) run(ctx context.Context, k *cluster.Cluster, name string, out, errOut io.Writer) error {
	if o.since < 0 {
		return fmt.Errorf("--since: %s is not a time that has passed", o.since)
	}
	endpoint, err := k.Endpoint(ctx, types.NamespacedName{Namespace: k.Namespace, Name: name})
	if err != nil {
		return err
	}
	r := &reader{cluster: k, endpoint: cluster.Key(endpoint), tell: func(news string) { fmt.Fprintln(errOut, "#", news) }}
	if o.since > 0 {
		r.from = time.Now().Add(-o.since)
	}
	show := o.printer(out)
	if o.follow {
		return r.follow(ctx, show)
	}
	return r.read(ctx, show)
}
