package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/generate"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/laptop"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/tail"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/target"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/usage"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/version"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/server/audit"
)

// options are the command's flags.
type options struct {
	paths               []string
	target              target.Flags
	schemas             []string
	guess               generate.Options
	endpoint            string
	listen, adminListen string
	state               string
	stdio               bool
	token               string
	localWebhooks       bool
	verbose, approveAll bool
	// demo serves the built-in shop; demoOut is where its manifests are written instead.
	demo        bool
	demoOut     string
	in          io.Reader
	out, errOut io.Writer
}

// Command returns the dev command.
func Command() *cobra.Command {
	o := options{}
	cmd := &cobra.Command{
		Use:   "dev --demo | --dsn URL | --sqlite FILE | --duckdb FILE | -f PATH…",
		Short: "Serve a database, or the YAML of an endpoint, on this machine",
		Long: `dev serves an endpoint on this machine, without a cluster.

With --demo it serves a made-up shop: no database and no YAML is needed. It prints the page's link and, for each of three tokens with
different rights, what to try; all of it is gone at the end. --demo --out DIR writes its YAML, to begin your own with.

With --dsn, the environment variable ` + target.DSNVariable + `, --sqlite or --duckdb, it needs no YAML: every table that the user may read is a model,
read-only unless --write. Columns that look like secrets are hidden, personal data is masked; "mcp-admin generate" writes the
same guesses as YAML, to be edited.

With -f it reads MCPEndpoint, MCPModelExposure, MCPToken, Secret and ConfigMap manifests from files and folders, compiles
them as the controllers do, and reads them again whenever a file changes. A database server is reached by the Secret that the
MCPEndpoint names, which must be among the manifests; --dsn stands for it, --sqlite for the endpoint's SQLite file, and --duckdb for its claim. Models
without an MCPEndpoint, as generate writes them, get one with --dsn, --sqlite or --duckdb, which only reads unless --write.

It prints the URL, the database, the models with what they go without, the tokens, and a line to paste for each client;
later only what has changed. -v shows each call. Each call that changes something or is refused is one JSON line on standard
output. A token whose tokenSecretRef names a Secret among the manifests has that value; for others one is made and kept as
plain text in STATE/tokens/NAMESPACE/NAME, the same on the next start. A SQLite file that is no --sqlite lies in
STATE/sqlite/NAMESPACE/NAME; delete it to have it filled anew.

With --stdio it serves the one client that started it: messages of JSON-RPC on standard input and output, a line each, and all
else on standard error. No port is opened.

Tokens of the identity providers in spec.authentication.oidc are checked as in a cluster. An MCPToken with a serviceAccountRef lets
nobody in: only a cluster issues the tokens of ServiceAccounts. Webhook actions are called as in a cluster, with the headers of
the Secrets among the manifests; one on this machine needs --allow-local-webhooks.`,
		Example: `  mcp-admin dev --demo
  mcp-admin dev --demo --out shop
  mcp-admin dev --sqlite shop.sqlite
  MCP_ADMIN_DSN=postgres://me:secret@localhost/shop mcp-admin dev
  claude mcp add shop -- mcp-admin dev --sqlite shop.sqlite --stdio
  mcp-admin dev -f config/samples
  mcp-admin dev -f endpoint.yaml -f models/ --listen 127.0.0.1:9000
  mcp-admin dev -f . --endpoint shop/shop --allow-local-webhooks`,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(
				usage.Apart(cmd.Flags(), "filename", "the manifests say which tables are served", "schemas", "include", "exclude"),
				usage.Apart(cmd.Flags(), "demo", "the demo brings its own database, and keeps nothing", "filename", "dsn", "sqlite", "write", "schemas", "include", "exclude", "endpoint", "state"),
				usage.Apart(cmd.Flags(), "duckdb", "DuckDB databases and files are only read", "write"),
				usage.Apart(cmd.Flags(), "out", "the files are written, and nothing is served", "stdio", "listen", "admin-listen"),
				usage.Apart(cmd.Flags(), "stdio", "no port is opened for the client that started this program", "listen", "admin-listen"),
			); err != nil {
				return err
			}
			o.in, o.out, o.errOut = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			switch {
			case o.demoOut != "" && !o.demo:
				return errors.New("--out: it is for the files of --demo; \"mcp-admin generate\" writes YAML for a database of yours")
			case o.demoOut != "":
				if err := writeDemo(o.demoOut); err != nil {
					return err
				}
				fmt.Fprintf(o.out, "The YAML of the demo is in %s. This serves it, and follows your changes:\n  %s\n", o.demoOut, page.CommandLine("mcp-admin", "dev", "-f", o.demoOut))
				return nil
			case o.demo:
				remove, err := o.openDemo()
				if err != nil {
					return err
				}
				defer remove()
			}
			return o.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.demo, "demo", false, "serve a made-up shop, with the page and three tokens of different rights; nothing of it stays")
	flags.StringVar(&o.demoOut, "out", "", "with --demo: write its YAML to this `DIR`, and serve nothing")
	flags.StringArrayVarP(&o.paths, "filename", "f", nil, "`PATH` of a manifest, or of a folder of them; may be repeated")
	o.target.Add(flags)
	flags.BoolVar(&o.guess.Write, "write", false, "let callers change rows too, if no MCPEndpoint among the manifests says whether they may")
	flags.StringSliceVar(&o.schemas, "schemas", nil, "`SCHEMAS` to read, in order, without -f; absent, all in which the user may read something")
	flags.StringSliceVar(&o.guess.Include, "include", nil, "`PATTERN` of tables to serve (table or schema.table, with * and ?), without -f; may be repeated")
	flags.StringSliceVar(&o.guess.Exclude, "exclude", nil, "`PATTERN` of tables to leave out, without -f; may be repeated")
	flags.StringVar(&o.endpoint, "endpoint", "", "the MCPEndpoint to serve, `[NAMESPACE/]NAME`, if the manifests hold several")
	flags.StringVar(&o.listen, "listen", "127.0.0.1:8080", "`ADDRESS` that agents call")
	flags.StringVar(&o.adminListen, "admin-listen", "127.0.0.1:8081", "`ADDRESS` of /healthz, /readyz, /metrics and /status")
	flags.StringVar(&o.state, "state", laptop.Folder, "`DIR` that keeps generated tokens and SQLite files")
	flags.BoolVar(&o.stdio, "stdio", false, "serve the client that started this program, over standard input and output")
	flags.StringVar(&o.token, "token", "", "the MCPToken, `[NAMESPACE/]NAME`, by which a client of --stdio calls, if there are several")
	flags.BoolVar(&o.localWebhooks, "allow-local-webhooks", false, "let webhook actions call this machine, which servers in a cluster never do")
	flags.BoolVar(&o.approveAll, "approve-all", false, "allow each call that waits for an approval, by nobody: for tests; answers say so")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "show each call, and all of what is served")
	return cmd
}

func (o *options) run(ctx context.Context) error {
	source, err := o.source()
	if err != nil {
		return err
	}
	forget, err := o.openState(source)
	if err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	defer forget()
	clientOut := o.out
	if o.stdio {
		o.out = o.errOut // standard output is the client's
	}
	ports, err := o.openPorts()
	if err != nil {
		return err
	}
	if o.approveAll {
		fmt.Fprint(o.out, allowsAll)
	}
	report := &reporter{out: o.out, whole: o.verbose, stdio: o.stdio, client: ports.adminClient}
	if o.demo && !o.verbose {
		report.story = o.story
	}
	if !o.stdio {
		report.tell = source.state.tell
		defer func() { _ = source.state.silence() }() // a file that stays names a server that does not answer, and the message says so
	}
	source.baseURL = "http://" + ports.endpoint.Addr().String()
	source.compiled, source.failed = report.compiled, report.failed
	source.approvals.now, source.approvals.told = report.served, func(a *v1alpha1.MCPApproval) { report.waits(a, source.state.Folder()) }
	report.approvals = source.approvals
	// The manifests must be good once: a first start with bad ones ends with what is wrong.
	first, err := source.load(ctx, time.Now())
	if err != nil {
		return errors.Join(err, ports.close())
	}
	caller := &stdio{client: ports.client, url: first.config.Endpoint.URL, in: o.in, out: clientOut}
	if o.stdio {
		if caller.token, err = o.caller(first, report); err != nil {
			return errors.Join(err, ports.close())
		}
	}
	calls := tail.NewNewest(page.MostCalls, time.Time{})
	s := o.server(source, first, calls)
	s.Endpoint, s.Admin = []net.Listener{ports.endpoint}, []net.Listener{ports.admin}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	admin := "http://" + ports.admin.Addr().String()
	report.o = first
	if !o.stdio {
		pages, err := page.New(page.Options{Source: &pageSource{report: report, paths: o.paths, state: o.state, admin: admin, calls: calls}, Base: "/ui/",
			Start: "e/" + first.endpoint.Namespace + "/" + first.endpoint.Name})
		if err != nil {
			return errors.Join(err, ports.close())
		}
		s.Pages, report.page = pages, pages.Link(admin)
	}
	source.approvals.fetch = fetchApprovals(ports.adminClient, admin, source.statusKey)
	go source.approvals.run(ctx)
	go report.follow(ctx, admin+"/status", source.statusKey)
	if !o.stdio {
		return s.Run(ctx)
	}
	var served error
	var serving sync.WaitGroup
	serving.Go(func() { served = s.Run(ctx); stop() })
	untilReady(ctx, ports.adminClient, admin+"/readyz")
	err = caller.run(ctx)
	stop()
	serving.Wait()
	return errors.Join(err, served)
}

// source is where the manifests come from, without what the ports decide.
func (o *options) source() (*manifestSource, error) {
	getenv := os.Getenv
	if o.demo {
		getenv = func(string) string { return "" } // it has a database of its own
	}
	named, err := o.target.Database(getenv)
	if err != nil && !errors.Is(err, target.ErrNone) {
		return nil, err
	}
	s := &manifestSource{paths: o.paths, write: o.guess.Write, endpoint: o.endpoint, statusKey: contract.NewToken(), sealKey: contract.NewSealKey()}
	switch byFlag := o.target != (target.Flags{}); {
	case len(o.paths) > 0 && byFlag:
		s.database = named
	case len(o.paths) > 0:
		s.spare = named
	case named == nil:
		return nil, fmt.Errorf("there is nothing to serve: give --dsn URL, or the environment variable %s, --sqlite FILE, or --duckdb FILE; or manifests with -f PATH", target.DSNVariable)
	default:
		s.database, s.guessed = named, &guessed{database: named, schemas: o.schemas, options: o.guess}
	}
	return s, nil
}

// openState opens the folder that outlives the process. One client of a database without manifests needs none.
func (o *options) openState(s *manifestSource) (forget func(), err error) {
	folder, remove := o.state, func() {}
	if o.stdio && s.guessed != nil {
		if folder, err = os.MkdirTemp("", "mcp-admin-"); err != nil {
			return nil, err
		}
		remove = func() { _ = os.RemoveAll(folder) } // it holds a token that is of no use any more
	}
	if s.state, err = OpenState(folder); err != nil {
		remove()
		return nil, err
	}
	if s.approvals, err = openApprovals(s.state); err != nil {
		s.state.Close()
		remove()
		return nil, err
	}
	s.approvals.all = o.approveAll
	return func() { s.state.Close(); remove() }, nil
}

// ports are where the server is reached, and clients that reach it.
type ports struct {
	endpoint, admin     net.Listener
	client, adminClient *http.Client
}

func (o *options) openPorts() (*ports, error) {
	if o.stdio {
		endpoint, admin := newPipe(), newPipe()
		over := func(p *pipe) *http.Client { return &http.Client{Transport: &http.Transport{DialContext: p.dial}} }
		return &ports{endpoint, admin, over(endpoint), over(admin)}, nil
	}
	endpoint, err := net.Listen("tcp", o.listen)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	admin, err := net.Listen("tcp", o.adminListen)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("--admin-listen: %w", err), endpoint.Close())
	}
	return &ports{endpoint, admin, http.DefaultClient, http.DefaultClient}, nil
}

func (p *ports) close() error { return errors.Join(p.endpoint.Close(), p.admin.Close()) }

// server is the server of the manifests, without its ports. Its audit lines go to calls, too.
func (o *options) server(source *manifestSource, first *outcome, calls *tail.Newest) *server.Server {
	var log slog.Handler = slog.NewTextHandler(o.errOut, &slog.HandlerOptions{Level: slog.LevelWarn})
	if o.verbose {
		log = slog.NewTextHandler(o.errOut, &slog.HandlerOptions{Level: slog.LevelInfo})
	}
	if o.verbose || o.demo {
		log = &callLog{log, &sync.Mutex{}, output.NewScreen(o.errOut)}
	}
	to := o.out
	if o.demo {
		to = io.Discard // who looks at a demo reads the calls, and the page has the lines
	}
	lines := audit.NewLog(to, calls)
	lines.Version = version.String()
	s := &server.Server{
		Source:        source,
		SQLiteFile:    source.state.SQLiteFile(first.endpoint),
		SQLiteInitDir: source.state.SQLiteInitDir(first.endpoint),
		LocalWebhooks: o.localWebhooks,
		Version:       version.String(),
		Log:           slog.New(log),
		Audit:         lines,
	}
	if source.database == nil {
		return s
	}
	if source.database.SQLite != "" {
		s.SQLiteFile, s.SQLiteInitDir = source.database.SQLite, ""
	}
	s.DuckDBPath = source.database.DuckDB
	return s
}
