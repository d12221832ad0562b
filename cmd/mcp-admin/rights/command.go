package rights

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/usage"
)

// options are the flags of both commands.
type options struct {
	cluster.Flags
	format   output.Format
	files    []string
	endpoint string
	csv      bool
}

const commonRights = `It is worked out from the objects by the same code as the controllers'. Tokens with the same rights are one line. With -f the
objects come from files, and no cluster is needed; which columns are hidden for their names only the cluster knows then.

Rights: get mcpendpoints, list mcpmodelexposures and mcptokens (in all namespaces if spec.allowedTokens is set, and get namespaces);
no Secret is read.`

// MatrixCommand returns the command matrix.
func MatrixCommand() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "matrix [ENDPOINT]",
		Short: "Show who may do what to each model, as a table",
		Long: `matrix shows what every token of an endpoint may do to each of its models: view, add, change, delete, export, which rows, and which
actions; below it the columns that are masked or hidden, and the models that are not served. --csv writes a line for each token and model.

` + commonRights,
		Example: `  mcp-admin matrix shop -n shop
  mcp-admin matrix -f manifests/
  mcp-admin matrix shop -n shop --csv > rights.csv`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: o.CompleteEndpoint,
		RunE: func(command *cobra.Command, args []string) error {
			if err := usage.Apart(command.Flags(), "csv", "CSV is a format of its own", "output"); err != nil {
				return err
			}
			o.endpoint = append(args, "")[0]
			m, err := o.matrix(command.Context())
			if err != nil {
				return err
			}
			if o.csv {
				return m.WriteCSV(command.OutOrStdout())
			}
			return o.format.Print(command.OutOrStdout(), m, m.show)
		},
	}
	o.addTo(command)
	command.Flags().BoolVar(&o.csv, "csv", false, "print CSV, a line for each token and model")
	return command
}

// WhoCommand returns the command who.
func WhoCommand() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "who MODEL[.COLUMN]",
		Short: "Show who can read or change a model, or one of its columns",
		Long: `who shows which tokens reach a model, or a column of it: what they may do, by verbs and by actions, in which rows, and which group or rule
lets them view it. Of a column it says whether it is shown, masked or hidden, and why; of its actions those that are known to set it.

` + commonRights,
		Example: `  mcp-admin who customer.email -e shop -n shop
  mcp-admin who orders -f manifests/`,
		Args: usage.Named("a model, or a column as MODEL.COLUMN", 1),
		RunE: func(command *cobra.Command, args []string) error {
			m, err := o.matrix(command.Context())
			if err != nil {
				return err
			}
			w, err := m.Who(args[0])
			if err != nil {
				return err
			}
			return o.format.Print(command.OutOrStdout(), w, w.show)
		},
	}
	o.addTo(command)
	command.Flags().StringVarP(&o.endpoint, "endpoint", "e", "", "the MCPEndpoint's `NAME`")
	return command
}

func (o *options) addTo(command *cobra.Command) {
	o.AddTo(command)
	o.format.AddFlag(command)
	command.Flags().StringArrayVarP(&o.files, "filename", "f", nil, "`PATH` of a manifest, or of a folder of them, instead of a cluster; may be repeated")
}

// matrix reads the objects that the flags name, and works out who may do what.
func (o *options) matrix(ctx context.Context) (*Matrix, error) {
	objects, err := o.objects(ctx)
	if err != nil {
		return nil, err
	}
	return objects.Matrix(time.Now())
}

func (o *options) objects(ctx context.Context) (*Objects, error) {
	if len(o.files) == 0 && o.endpoint == "" {
		return nil, errors.New("name the MCPEndpoint, or files with -f")
	}
	return Read(ctx, &o.Flags, o.files, o.endpoint)
}

// Read reads the objects of an endpoint from files, or, without files, from the cluster that the flags name.
func Read(ctx context.Context, flags *cluster.Flags, files []string, endpoint string) (*Objects, error) {
	if len(files) > 0 {
		return FromFiles(ctx, files, flags.GivenNamespace(), endpoint)
	}
	k, err := flags.Connect()
	if err != nil {
		return nil, err
	}
	return FromCluster(ctx, k, endpoint)
}
