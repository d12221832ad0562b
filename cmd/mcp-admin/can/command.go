// Package can is the command "mcp-admin can": what a token may do, and why, as the compile step of the controllers says.
package can

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/usage"
	"github.com/mcp-admin/mcp-admin-operator/contract/spelling"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// options are the command's flags.
type options struct {
	cluster.Flags
	format  output.Format
	files   []string
	explain bool
}

// Command returns the command.
func Command() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "can TOKEN [MODEL]",
		Short: "Show what a token may do, and why",
		Long: `can shows what an MCPToken may do as a table: for each model the verbs, the actions, and the rows that the token sees: all,
what row policies show, or none. The controllers' own code works it out from the objects, so it holds for a
token that is not in force yet, too; the command then says what keeps it from being in force. With -f the objects come from files, and no
cluster is needed.

With --explain each right is followed by the group or rule that grants it, and each that is missing by what would.

Rights: get mcptokens and mcpendpoints, list mcpmodelexposures; no Secret is read.`,
		Example: `  mcp-admin can agent -n shop
  mcp-admin can agent orders -n shop --explain
  mcp-admin can agent -f manifests/`,
		Args:              usage.Named("the MCPToken", 2),
		ValidArgsFunction: o.CompleteToken,
		RunE: func(command *cobra.Command, args []string) error {
			found, err := o.find(command.Context(), args[0])
			if err != nil {
				return err
			}
			if len(args) == 2 {
				if err := found.only(args[1]); err != nil {
					return err
				}
			}
			return o.format.Print(command.OutOrStdout(), found, func(screen *output.Screen) { found.show(screen, o.explain) })
		},
	}
	o.AddTo(command)
	o.format.AddFlag(command)
	flags := command.Flags()
	flags.StringArrayVarP(&o.files, "filename", "f", nil, "`PATH` of a manifest, or of a folder of them, instead of a cluster; may be repeated")
	flags.BoolVar(&o.explain, "explain", false, "say which group or rule grants each right, and what is missing for the others")
	return command
}

func (o *options) find(ctx context.Context, token string) (*answer, error) {
	if len(o.files) > 0 {
		return fromFiles(ctx, o.files, o.GivenNamespace(), token)
	}
	k, err := o.Connect()
	if err != nil {
		return nil, err
	}
	return fromCluster(ctx, k, token)
}

// answer is the command's output.
type answer struct {
	Token    string `json:"token"`
	Endpoint string `json:"endpoint"`
	// InForce reports whether the token lets its holder in; NotInForce says why not.
	InForce    bool             `json:"inForce"`
	NotInForce string           `json:"notInForce,omitempty"`
	Groups     []string         `json:"groups,omitempty"`
	Models     []compile.Access `json:"models"`
	// Tools are the tools of its tools/list; nil if only one model is asked about.
	Tools *compile.Tools `json:"tools,omitempty"`
	// Withheld are the exposures whose models are not served, with the reason.
	Withheld map[string]string `json:"withheld,omitempty"`
	Notes    []string          `json:"notes,omitempty"`
}

// only leaves out all models but one.
func (a *answer) only(model string) error {
	var names []string
	for _, m := range a.Models {
		if m.Model == model {
			a.Models, a.Tools, a.Withheld, a.Notes = []compile.Access{m}, nil, nil, nil
			return nil
		}
		names = append(names, m.Model)
	}
	if why, withheld := a.Withheld[model]; withheld {
		return fmt.Errorf("model %q is not served: %s", model, why)
	}
	message := fmt.Sprintf("the endpoint has no model %q", model)
	if i := spelling.Nearest(model, names); i >= 0 {
		message += fmt.Sprintf("; the nearest is %q", names[i])
	} else if len(names) > 0 {
		message += ", but " + strings.Join(names[:min(len(names), 10)], ", ")
	}
	return errors.New(message)
}
