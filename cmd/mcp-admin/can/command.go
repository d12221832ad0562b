// Package can is the command "mcp-admin can": what a token may do, and why, as the compile step of the controllers says.
package can

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	// claims is the file with the claims of a caller, in the place of a token; issuer and endpoint say whose they are, and who is called.
	claims, issuer, endpoint string
}

// Command returns the command.
func Command() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "can TOKEN [MODEL] | can --claims FILE [MODEL]",
		Short: "Show what a token may do, or a caller of an identity provider, and why",
		Long: `can shows what an MCPToken may do as a table: for each model the verbs, the actions, and the rows that the token sees: all,
what row policies show, or none. The controllers' own code works it out from the objects, so it holds for a
token that is not in force yet, too; the command then says what keeps it from being in force. With -f the objects come from files, and no
cluster is needed.

With --explain each right is followed by the group or rule that grants it, and each that is missing by what would.

With --claims it shows what a caller would get who shows a token of an identity provider (spec.authentication.oidc) with these claims, a
JSON object: whether the caller is let in, by which MCPToken, and with which groups and attributes, by the server's own code. What every
good token has, its end (exp) and its audience (aud), is taken as good if it is not given; the signature is not asked about.

Rights: get mcptokens and mcpendpoints, list mcpmodelexposures; with --claims list mcptokens. No Secret is read.`,
		Example: `  mcp-admin can agent -n shop
  mcp-admin can agent orders -n shop --explain
  mcp-admin can agent -f manifests/
  mcp-admin can --claims anna.json -e shop -n shop
  echo '{"sub": "anna", "groups": ["clerks"]}' | mcp-admin can --claims - -f manifests/`,
		Args: func(command *cobra.Command, args []string) error {
			if o.claims == "" {
				return usage.Named("the MCPToken", 2)(command, args)
			}
			return cobra.MaximumNArgs(1)(command, args)
		},
		ValidArgsFunction: o.CompleteToken,
		RunE: func(command *cobra.Command, args []string) error {
			found, models, err := o.find(command.Context(), command.InOrStdin(), args)
			if err != nil {
				return err
			}
			for _, model := range models {
				if err := found.only(model); err != nil {
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
	flags.StringVar(&o.claims, "claims", "", "`FILE` with the claims of a caller, in the place of a token; - is standard input")
	flags.StringVar(&o.issuer, "issuer", "", "with --claims: the issuer's `NAME` in the MCPEndpoint; absent, that of the claim iss, or the only one")
	flags.StringVarP(&o.endpoint, "endpoint", "e", "", "with --claims: the MCPEndpoint's `NAME`")
	flags.BoolVar(&o.explain, "explain", false, "say which group or rule grants each right, and what is missing for the others")
	return command
}

// find returns the answer about all models. models are the arguments that name a model.
func (o *options) find(ctx context.Context, in io.Reader, args []string) (found *answer, models []string, err error) {
	switch {
	case o.claims != "":
		found, err = o.visit(ctx, in)
		return found, args, err
	case o.issuer != "" || o.endpoint != "":
		return nil, nil, errors.New("--issuer and --endpoint are for --claims: an MCPToken says itself which endpoint it is for")
	case len(o.files) > 0:
		found, err = fromFiles(ctx, o.files, o.GivenNamespace(), args[0])
		return found, args[1:], err
	}
	k, err := o.Connect()
	if err != nil {
		return nil, nil, err
	}
	found, err = fromCluster(ctx, k, args[0])
	return found, args[1:], err
}

// answer is the command's output.
type answer struct {
	Token    string `json:"token"`
	Endpoint string `json:"endpoint"`
	// Caller is the caller who shows the claims; nil if a token was asked about.
	Caller *caller `json:"caller,omitempty"`
	// InForce reports whether the token, or the caller, is let in; NotInForce says why not.
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
