// Package status is the command "mcp-admin status": one screen about one endpoint in a cluster.
package status

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/laptop"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/usage"
)

// options are the command's flags.
type options struct {
	cluster.Flags
	format output.Format
}

// Command returns the command.
func Command() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "status ENDPOINT",
		Short: "Show one endpoint on one screen: what is ready, what is not, and why",
		Long: `status shows one MCPEndpoint on one screen: whether it is Ready, what is not and what to do, its database, pods, models and tokens, and what
its pods have counted since they started: calls by outcome, refused callers. It also names the alerts whose cause it sees.

The exit code is 0 only if the endpoint is Ready, so that a script can ask. What -o json prints keeps its names from release to release.

Rights: get the mcpendpoint; list mcpmodelexposures, mcptokens and pods; create pods/portforward, to read the pods' metrics. It says
what it could not look at. It reads no Secret.`,
		Example: `  mcp-admin status shop -n shop
  mcp-admin status shop -n shop -o json | jq .pods
  mcp-admin status shop -n shop >/dev/null && echo ready`,
		Args:              usage.Named("the MCPEndpoint", 1),
		ValidArgsFunction: o.CompleteEndpoint,
		RunE: func(command *cobra.Command, args []string) error {
			k, err := o.Connect()
			if err != nil {
				return laptop.Hint(err)
			}
			s, err := Collect(command.Context(), k, types.NamespacedName{Namespace: k.Namespace, Name: args[0]}, time.Now())
			if err != nil {
				return err
			}
			if err := o.format.Print(command.OutOrStdout(), s, s.show); err != nil {
				return err
			}
			if !s.Ready {
				return fmt.Errorf("MCPEndpoint %s is not Ready", s.Endpoint)
			}
			return nil
		},
	}
	o.AddTo(command)
	o.format.AddFlag(command)
	return command
}
