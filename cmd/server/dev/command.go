package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
)

// options are the command's flags.
type options struct {
	paths               []string
	endpoint            string
	listen, adminListen string
	state, sqlite       string
	localWebhooks       bool
	version             string
	verbose             bool
	out                 io.Writer
	errOut              io.Writer
}

// Command returns the dev command of a program of that version.
func Command(version string) *cobra.Command {
	o := options{version: version}
	cmd := &cobra.Command{
		Use:   "dev -f PATH…",
		Short: "Serve the same YAML without a cluster",
		Long: `dev reads MCPEndpoint, MCPModelExposure, MCPToken, Secret and ConfigMap manifests from files and folders, compiles
them as the controllers do, serves the endpoint, and reads them again whenever a file changes.

It prints the URL, the database, the models with what they go without, and each token's client configuration; later
only what has changed. Each call that changes something or is refused is one JSON line on standard output. A token
whose tokenSecretRef names a Secret among the manifests has that value; for others one is made and kept as plain text in
STATE/tokens/NAMESPACE/NAME, the same on the next start. A SQLite file lies in STATE/sqlite/NAMESPACE/NAME; delete it to
have it filled anew. With --sqlite an existing file is served in place, and nothing is filled. A PostgreSQL, MySQL or MariaDB server is reached by the Secret that the MCPEndpoint names, which must
be among the manifests.

Tokens of the identity providers in spec.authentication.oidc are checked as in a cluster. An MCPToken with a serviceAccountRef lets
nobody in: only a cluster issues the tokens of ServiceAccounts.

Webhook actions are called as in a cluster, with the headers of the Secrets among the manifests; one on this machine needs
--allow-local-webhooks.`,
		Example: `  mcp-admin-server dev -f config/samples
  mcp-admin-server dev -f endpoint.yaml -f models/ --listen 127.0.0.1:9000
  mcp-admin-server dev -f shop.yaml --sqlite shop.sqlite
  mcp-admin-server dev -f . --endpoint shop/shop --allow-local-webhooks`,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.out, o.errOut = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return o.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&o.paths, "filename", "f", nil, "`PATH` of a manifest, or of a folder of them; may be repeated")
	flags.StringVar(&o.endpoint, "endpoint", "", "the MCPEndpoint to serve, `[NAMESPACE/]NAME`, if the manifests hold several")
	flags.StringVar(&o.listen, "listen", "127.0.0.1:8080", "`ADDRESS` that agents call")
	flags.StringVar(&o.adminListen, "admin-listen", "127.0.0.1:8081", "`ADDRESS` of /healthz, /readyz, /metrics and /status")
	flags.StringVar(&o.state, "state", ".mcp-admin-dev", "`DIR` that keeps generated tokens and SQLite files")
	flags.StringVar(&o.sqlite, "sqlite", "", "existing SQLite `FILE` to serve in place, instead of the one in --state")
	flags.BoolVar(&o.localWebhooks, "allow-local-webhooks", false, "let webhook actions call this machine, which servers in a cluster never do")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "log what the server does")
	_ = cmd.MarkFlagRequired("filename") // fails only for a flag that does not exist
	return cmd
}

func (o *options) run(ctx context.Context) error {
	state, err := OpenState(o.state)
	if err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	defer state.Close()
	if o.sqlite != "" {
		if info, err := os.Stat(o.sqlite); err != nil || !info.Mode().IsRegular() {
			return fmt.Errorf("--sqlite: %s is not an existing file; without --sqlite a new one is made in %s", o.sqlite, o.state)
		}
	}
	endpoint, err := net.Listen("tcp", o.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	admin, err := net.Listen("tcp", o.adminListen)
	if err != nil {
		return errors.Join(fmt.Errorf("--admin-listen: %w", err), endpoint.Close())
	}
	report := &reporter{out: o.out}
	source := &manifestSource{
		paths: o.paths, endpoint: o.endpoint, state: state, sqlite: o.sqlite,
		baseURL: "http://" + endpoint.Addr().String(), statusKey: contract.NewToken(), sealKey: contract.NewSealKey(),
		compiled: report.compiled, failed: report.failed,
	}
	// The manifests must be good once: a first start with bad ones ends with what is wrong.
	first, err := source.load(time.Now())
	if err != nil {
		return errors.Join(err, endpoint.Close(), admin.Close())
	}
	s := o.server(source, first)
	s.Endpoint, s.Admin = []net.Listener{endpoint}, []net.Listener{admin}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go report.follow(ctx, "http://"+admin.Addr().String()+"/status", source.statusKey)
	return s.Run(ctx)
}

// server is the server of the manifests, without its ports.
func (o *options) server(source *manifestSource, first *outcome) *server.Server {
	level := slog.LevelWarn
	if o.verbose {
		level = slog.LevelDebug
	}
	s := &server.Server{
		Source:        source,
		SQLiteFile:    source.state.SQLiteFile(first.endpoint),
		SQLiteInitDir: source.state.SQLiteInitDir(first.endpoint),
		LocalWebhooks: o.localWebhooks,
		Version:       o.version,
		Log:           slog.New(slog.NewTextHandler(o.errOut, &slog.HandlerOptions{Level: level})),
		Audit:         telemetry.NewLogger(o.out, slog.LevelInfo),
	}
	if o.sqlite != "" {
		s.SQLiteFile, s.SQLiteInitDir = o.sqlite, ""
	}
	return s
}
