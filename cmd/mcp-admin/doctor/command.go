// Package doctor is the command "mcp-admin doctor": it says what is wrong with endpoints in a cluster, and what to do.
package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
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
		Use:   "doctor [ENDPOINT]",
		Short: "Say what is wrong with an endpoint, and what to do",
		Long: `doctor looks at an MCPEndpoint, or at all of the namespace: the installed kinds, the manager, the endpoint with its database and
its audit table, its pods, its MCPModelExposures and MCPTokens. For each thing that is wrong it says one sentence and one
command. The exit code is 1 if something is wrong.

It first asks the API server what you may do, and says what it could not look at.

Rights: list mcpendpoints, mcpmodelexposures, mcptokens and pods; get leases (there and in kube-system), to see whether a manager
runs. It reads no Secret.`,
		Example: `  mcp-admin doctor -n shop
  mcp-admin doctor shop -n shop
  mcp-admin doctor -n shop -o json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: o.CompleteEndpoint,
		RunE: func(command *cobra.Command, args []string) error {
			k, err := o.Connect()
			if err != nil {
				return err
			}
			d, err := examine(command.Context(), k, append(args, "")[0])
			if err != nil {
				return err
			}
			if err := o.format.Print(command.OutOrStdout(), d, d.show); err != nil {
				return err
			}
			if n := len(d.Problems); n > 0 {
				return errors.New(counted(n))
			}
			return nil
		},
	}
	o.AddTo(command)
	o.format.AddFlag(command)
	return command
}

func counted(n int) string {
	if n == 1 {
		return "1 thing is wrong"
	}
	return fmt.Sprintf("%d things are wrong", n)
}

// diagnosis is what the command prints.
type diagnosis struct {
	Looked   []string  `json:"lookedAt"`
	Problems []problem `json:"problems"`
	Notes    []problem `json:"notes,omitempty"`
	// Unseen is what could not be looked at, and why.
	Unseen []string `json:"notLookedAt,omitempty"`
}

// problem is one thing that is wrong.
type problem struct {
	// Object is the kind, namespace and name; Reason is that of its condition, if it has one.
	Object  string `json:"object"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message"`
	// Command helps to find out more, or mends it.
	Command string `json:"command,omitempty"`
}

func (d *diagnosis) show(screen *output.Screen) {
	for _, p := range d.Problems {
		fmt.Fprintf(screen, "%s %s: %s\n", screen.Styled(output.Bad, "✗"), screen.Styled(output.Bold, p.Object), p.Message)
		if p.Command != "" {
			fmt.Fprintf(screen, "    %s\n", p.Command)
		}
	}
	for _, p := range d.Notes {
		fmt.Fprintf(screen, "%s %s: %s\n", screen.Styled(output.Warning, "!"), p.Object, p.Message)
	}
	for _, unseen := range d.Unseen {
		fmt.Fprintf(screen, "%s not looked at: %s\n", screen.Styled(output.Warning, "?"), unseen)
	}
	if len(d.Problems) == 0 {
		where := ""
		if len(d.Unseen) > 0 {
			where = " with what could be looked at"
		}
		fmt.Fprintf(screen, "%s nothing is wrong%s\n", screen.Styled(output.Good, "✓"), where)
	}
}

// examine looks at everything, from the kinds to the tokens. name is the endpoint's; "" is all of the namespace.
func examine(ctx context.Context, k *cluster.Cluster, name string) (*diagnosis, error) {
	x := &examination{Cluster: k, name: name, ofEndpoints: map[string]bool{}, found: &diagnosis{Looked: []string{}, Problems: []problem{}}}
	if !x.kinds() {
		return x.found, nil
	}
	if err := x.rights(ctx); err != nil {
		return nil, err
	}
	for _, look := range []func(context.Context) error{x.manager, x.endpoints, x.exposures, x.tokens} {
		if err := look(ctx); err != nil {
			return nil, err
		}
	}
	if x.waiting > 0 {
		message := fmt.Sprintf("%d MCPModelExposures and MCPTokens wait for their MCPEndpoint", x.waiting)
		x.found.Notes = append(x.found.Notes, problem{Object: "namespace " + k.Namespace, Message: message})
	}
	return x.found, nil
}
