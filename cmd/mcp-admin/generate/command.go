package generate

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/target"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// options are the command's flags.
type options struct {
	target           target.Flags
	endpoint         string
	cluster          cluster.Flags
	schemas          []string
	include, exclude []string
	updated          string
	withEndpoint     bool
	looksAtValues    bool
}

// Command returns the generate command.
func Command() *cobra.Command {
	o := options{}
	command := &cobra.Command{
		Use:   "generate --dsn URL | --sqlite FILE | --endpoint NAME",
		Short: "Write the YAML for a database: a model for each table",
		Long: `generate reads a database's schema, and writes an MCPModelExposure for each table that the user may read, and an MCPToken
that may read them all. What it guesses has its reason beside it as a comment: columns that look like secrets are left out,
personal data is masked, times that programs keep are read-only, rows that are marked as deleted are hidden, and so on.
Read it before you apply it: guesses go by names. With --look-at-values they also go by the values of columns that are shown:
texts that hold numbers or dates are read as such, and a column whose values are all keys of another table leads there.

The database is --dsn, the environment variable ` + target.DSNVariable + `, or a SQLite file. With --endpoint alone, it is the database of an
MCPEndpoint in the cluster: its connection Secret is read, as your kubeconfig allows. Beside --dsn or --sqlite, --endpoint
only names the MCPEndpoint that the models are for; --with-endpoint writes it too.

Partitions, audit tables, the server's own tables (the journal and the idempotency keys) and those of migration tools are left
out; --include NAME takes one all the same. --update adds to a file, or to a folder of files, what is new in the database since
the last time. It removes nothing, and changes nothing that you wrote; a model that you removed stays away.`,
		Example: `  mcp-admin generate --sqlite shop.sqlite > models.yaml
  MCP_ADMIN_DSN=postgres://reader:secret@localhost/shop mcp-admin generate --with-endpoint --update shop.yaml
  mcp-admin generate --endpoint shop -n shop --exclude 'tmp_*' --update models/
  mcp-admin generate --dsn mysql://reader@localhost/shop --include 'order*' --include customer`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return o.run(command) },
	}
	flags := command.Flags()
	o.target.Add(flags)
	flags.StringVar(&o.endpoint, "endpoint", "", "`NAME` of the MCPEndpoint that the models are for; with --dsn or --sqlite, absent is the database's name")
	o.cluster.AddTo(command)
	flags.StringSliceVar(&o.schemas, "schemas", nil, "`SCHEMAS` to read, in order; absent, the search path and all others in which the user may read something")
	flags.StringSliceVar(&o.include, "include", nil, "`PATTERN` of tables to take (table or schema.table, with * and ?); may be repeated")
	flags.StringSliceVar(&o.exclude, "exclude", nil, "`PATTERN` of tables to leave out; may be repeated")
	flags.StringVar(&o.updated, "update", "", "`FILE` or folder to add to, instead of printing")
	flags.BoolVar(&o.withEndpoint, "with-endpoint", false, "write the MCPEndpoint too")
	flags.BoolVar(&o.looksAtValues, "look-at-values", false, "look at values in 1,000 rows of each table, to find numbers and dates in texts, and relations; needs --dsn or --sqlite")
	return command
}

func (o *options) run(command *cobra.Command) error {
	if o.looksAtValues && o.isInCluster() {
		return errors.New("--look-at-values needs --dsn or --sqlite beside --endpoint")
	}
	there := &manifests{}
	if o.updated != "" {
		var err error
		if there, err = readManifests(o.updated); err != nil {
			return fmt.Errorf("--update: %w", err)
		}
	}
	name, schema, err := o.read(command.Context())
	if err != nil {
		return err
	}
	guess := Options{Endpoint: name, Include: o.include, Exclude: o.exclude}
	if guess.Names, err = there.names(name.Name); err != nil {
		return err
	}
	g, err := From(schema, guess)
	if err != nil {
		return err
	}
	if err := o.look(command.Context(), g); err != nil {
		return err
	}
	if o.updated == "" {
		return o.print(command, g)
	}
	changes, err := there.update(g, o.withEndpoint)
	if err != nil {
		return err
	}
	if err := there.save(); err != nil {
		return err
	}
	for _, c := range changes {
		fmt.Fprintln(command.OutOrStdout(), "added", output.Printable(c.what))
	}
	if len(changes) == 0 {
		fmt.Fprintf(command.OutOrStdout(), "%s has all that is in the database.\n", o.updated)
	}
	return nil
}

// print writes the guesses to standard output, and a summary to standard error.
func (o *options) print(command *cobra.Command, g *Guesses) error {
	text, err := g.YAML(o.withEndpoint)
	if err != nil {
		return err
	}
	if _, err := command.OutOrStdout().Write(text); err != nil {
		return err
	}
	fmt.Fprintf(command.ErrOrStderr(), "%s, %s, %s left out. Try it: mcp-admin dev -f FILE with the same --dsn or --sqlite\n",
		output.Numbered(len(g.Models), "model"), guesses(g.Count()), output.Numbered(len(g.LeftOut), "table"))
	return nil
}

// isInCluster reports whether the database is that of an MCPEndpoint in the cluster.
func (o *options) isInCluster() bool {
	return o.endpoint != "" && o.target.DSN == "" && o.target.SQLite == "" && o.target.DuckDB == "" && !o.withEndpoint
}

// read reads the schema of the database that the flags name, and says which endpoint the objects are for.
func (o *options) read(ctx context.Context) (types.NamespacedName, *database.Schema, error) {
	name := types.NamespacedName{Namespace: o.cluster.GivenNamespace(), Name: o.endpoint}
	if o.isInCluster() {
		return o.readCluster(ctx)
	}
	found, err := o.target.Database(os.Getenv)
	if errors.Is(err, target.ErrNone) {
		return name, nil, fmt.Errorf("%w, or --endpoint NAME of one in the cluster", err)
	}
	if err != nil {
		return name, nil, err
	}
	if name.Name == "" {
		name.Name = EndpointName(found.Name)
	}
	schema, err := found.Schema(ctx, o.schemas)
	return name, schema, err
}

// look guesses from values, if it is asked for.
func (o *options) look(ctx context.Context, g *Guesses) error {
	if !o.looksAtValues {
		return nil
	}
	found, err := o.target.Database(os.Getenv)
	if err != nil {
		return fmt.Errorf("--look-at-values: %w", err)
	}
	err = g.GuessLinks(func(table *database.Table, column *database.Column, in *database.Table, key *database.Column) (values, among int, err error) {
		return found.LookFor(ctx, table, column, in, key, rowsLookedAt)
	})
	if err != nil {
		return err
	}
	return g.GuessReadings(func(table *database.Table, columns []*database.Column) ([][]*string, error) {
		return found.LookAt(ctx, table, columns, rowsLookedAt)
	})
}

func guesses(n int) string {
	if n == 1 {
		return "1 guess"
	}
	return fmt.Sprintf("%d guesses", n)
}
