package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/podaddress"
	"github.com/mcp-admin/mcp-admin-operator/contract/version"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/server/audit"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
)

// serveOptions are the flags of serve. Every path is a flag, because not every pod has its files in the same places as
// a container.
type serveOptions struct {
	listen, adminListen []string
	namespace           string
	configSecret        string
	configDir           string
	stateDir            string
	configKey           string
	connectionSecret    string
	connectionDir       string
	replicasSecret      string
	replicasDir         string
	caSecret, caDir     string
	clientSecret        string
	clientDir           string
	tlsSecret, tlsDir   string
	tracingSecret       string
	tracingDir          string
	auditHeadersSecret  string
	auditHeadersDir     string
	serviceAccountDir   string
	sqliteFile          string
	sqliteInitDir       string
	duckDB              string
	auditDir            string
	drainDelay          time.Duration
	pprof               bool
	logLevel            slog.Level
}

func newServeCommand() *cobra.Command {
	o := &serveOptions{}
	command := &cobra.Command{
		Use:   "serve",
		Short: "Serve an endpoint from the Config that the controllers wrote",
		Long: `Serve an endpoint from the Config that the controllers wrote.

The Config, which lies in several Secrets, and the Secrets of the database and of the endpoint's certificate are followed
through the Kubernetes API, with the service account in --service-account-dir. While the API cannot be reached, a server
that starts uses the mounted copies of the latter, and the Config that it stored itself: in --state-dir. Without
--service-account-dir everything is read from folders, the Config from --config-dir.

Changes are applied without a restart. SIGTERM drains: readiness says no, requests under way are answered, then the
process ends.`,
		Example: `  # As the operator starts it in a pod
  mcp-admin-server serve --listen=127.0.0.1:8080 --listen=10.1.2.3:8080 --admin-listen=10.1.2.3:8081 --namespace=shop \
    --config-secret=shop-mcp-config --config-key=$KEY \
    --connection-secret=shop-db-app --connection-dir=/etc/mcp-admin/connection \
    --service-account-dir=/var/run/secrets/kubernetes.io/serviceaccount

  # From files alone: config/main, config/tokens-0 and so on hold the data of the Config's Secrets, one file for each key
  mcp-admin-server serve --config-secret=notes-mcp-config --config-dir=config --sqlite-file=notes.sqlite

  # Ask it
  curl http://127.0.0.1:8080/mcp/ -H "Authorization: Bearer $TOKEN" --json '{"method": "tools/list"}'`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return o.run(command.Context()) },
	}
	f := command.Flags()
	f.StringArrayVar(&o.listen, "listen", []string{"127.0.0.1:8080"}, "address and port of the endpoint and its health page; may be given more than once")
	f.StringArrayVar(&o.adminListen, "admin-listen", []string{"127.0.0.1:8081"}, "address and port of /healthz, /readyz, /metrics and /status; may be given more than once")
	f.StringVar(&o.namespace, "namespace", "", "namespace of the Secrets")
	f.StringVar(&o.configSecret, "config-secret", "", "name of the Config: its Secrets are NAME, NAME-tokens-0, NAME-tokens-1 and so on")
	f.StringVar(&o.configDir, "config-dir", "", "folder in whose subfolders main, tokens-0, tokens-1, … the Config's parts lie; used only without --service-account-dir")
	f.StringVar(&o.stateDir, "state-dir", "", "folder where the Config is stored for the next start of the container: it must be in memory and the pod's own; none: it is not stored")
	f.StringVar(&o.configKey, "config-key", "", "public key of the manager, in base64: only a Config that it signed is applied; none: any is")
	f.StringVar(&o.connectionSecret, "connection-secret", "", "Secret with the connection of the database")
	f.StringVar(&o.connectionDir, "connection-dir", "", "folder where the connection's Secret is mounted")
	f.StringVar(&o.caSecret, "ca-secret", "", "Secret with the certificates that the database's own is checked against")
	f.StringVar(&o.caDir, "ca-dir", "", "folder where that Secret is mounted")
	f.StringVar(&o.clientSecret, "client-certificate-secret", "", "Secret with the certificate that the database is shown, under tls.crt and tls.key")
	f.StringVar(&o.clientDir, "client-certificate-dir", "", "folder where that Secret is mounted")
	f.StringVar(&o.replicasSecret, "replicas-secret", "", "Secret with the connection of the database's replicas")
	f.StringVar(&o.replicasDir, "replicas-dir", "", "folder where that Secret is mounted")
	f.StringVar(&o.tlsSecret, "tls-secret", "", "Secret with the certificate of --listen, under tls.crt and tls.key; none: --listen speaks plain HTTP")
	f.StringVar(&o.tlsDir, "tls-dir", "", "folder where that Secret is mounted")
	f.StringVar(&o.tracingSecret, "tracing-headers-secret", "", "Secret with the headers that the collector of traces is sent, each key a header's name")
	f.StringVar(&o.tracingDir, "tracing-headers-dir", "", "folder where that Secret is mounted")
	f.StringVar(&o.auditHeadersSecret, "audit-headers-secret", "", "Secret with the headers that the collector of audit lines is sent, each key a header's name")
	f.StringVar(&o.auditHeadersDir, "audit-headers-dir", "", "folder where that Secret is mounted")
	f.StringVar(&o.serviceAccountDir, "service-account-dir", "", "folder with the service account's token and ca.crt; none: the API is not used")
	f.StringVar(&o.sqliteFile, "sqlite-file", "", "file of a SQLite database")
	f.StringVar(&o.sqliteInitDir, "sqlite-init-dir", "", "folder of SQL files that fill a new SQLite database, in order of their names")
	f.StringVar(&o.duckDB, "duckdb", "", "DuckDB database, Parquet or CSV file, or folder of Parquet and CSV files, to read; only a program that is built with DuckDB can")
	f.StringVar(&o.auditDir, "audit-dir", "", "folder whose files get the audit lines, too; POD_NAME tells servers apart that share it; none: standard output alone")
	f.DurationVar(&o.drainDelay, "drain-delay", 3*time.Second, "how long requests are accepted after SIGTERM, so that load balancers can stop sending them here")
	f.BoolVar(&o.pprof, "pprof", false, "serve profiles of the process at /debug/pprof/ of --admin-listen: whoever reaches that sees where time and memory go, and can make the server measure itself")
	f.TextVar(&o.logLevel, "log-level", slog.LevelInfo, "DEBUG, INFO, WARN or ERROR; DEBUG has a line for each request, without its body; audit lines are always written")
	if err := command.MarkFlagRequired("config-secret"); err != nil {
		panic(err) // The flag is defined above.
	}
	return command
}

func (o *serveOptions) run(ctx context.Context) error {
	log := telemetry.NewLogger(os.Stdout, o.logLevel)
	cluster, err := o.source(log)
	if err != nil {
		return err
	}
	api, err := callersAPI(cluster)
	if err != nil {
		return err
	}
	addresses, err := podaddress.Parse(os.Getenv("POD_IPS"))
	if err != nil {
		return fmt.Errorf("the environment variable POD_IPS must be the pod's addresses (status.podIPs): %w", err)
	}
	endpoint, err := podaddress.Listen(o.listen, addresses)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	admin, err := podaddress.Listen(o.adminListen, addresses)
	if err != nil {
		podaddress.Close(endpoint)
		return fmt.Errorf("--admin-listen: %w", err)
	}
	lines, closeLines, err := o.auditLines()
	if err != nil {
		podaddress.Close(endpoint)
		podaddress.Close(admin)
		return err
	}
	defer closeLines()
	s := &server.Server{
		Source:        cluster,
		Endpoint:      endpoint,
		Admin:         admin,
		TLS:           o.tlsSecret != "",
		SQLiteFile:    o.sqliteFile,
		SQLiteInitDir: o.sqliteInitDir,
		DuckDBPath:    o.duckDB,
		Version:       version.String(),
		Log:           log,
		Audit:         lines,
		DrainDelay:    o.drainDelay,
		Profiles:      o.pprof,
		PodAddresses:  addresses,
		InPod:         o.serviceAccountDir != "", // the manager lets no pod have its node's network
		API:           api,
		StateDir:      cluster.StateDir,
	}
	return s.Run(ctx)
}

// auditLines is where audit lines go: standard output, and the folder if there is one.
func (o *serveOptions) auditLines() (lines *audit.Log, closeLines func(), err error) {
	pod := os.Getenv("POD_NAME")
	outputs, closeLines := []io.Writer{os.Stdout}, func() {}
	if o.auditDir != "" {
		if pod == "" {
			if pod, err = os.Hostname(); err != nil {
				return nil, nil, fmt.Errorf("--audit-dir needs a name for its files, and neither POD_NAME nor the machine has one: %w", err)
			}
		}
		folder := audit.NewFolder(o.auditDir, pod, nil)
		// A folder may be full: it comes first, so that standard output tells of no answer that was not given.
		outputs, closeLines = []io.Writer{folder, os.Stdout}, func() { _ = folder.Close() }
	}
	lines = audit.NewLog(outputs...)
	lines.Pod, lines.Version = pod, version.String()
	return lines, closeLines, nil
}

// callersAPI is where the tokens of ServiceAccounts are checked; nil if the source uses no API.
func callersAPI(cluster *source.Cluster) (*identity.API, error) {
	if cluster.API == nil {
		return nil, nil
	}
	client, err := source.Client(cluster.API)
	if err != nil {
		return nil, fmt.Errorf("the API cannot be used: %w", err)
	}
	return &identity.API{URL: cluster.API.Host, Client: client}, nil
}

// source returns the source that the flags describe.
func (o *serveOptions) source(log *slog.Logger) (*source.Cluster, error) {
	cluster := &source.Cluster{
		Namespace:        o.namespace,
		ConfigSecret:     o.configSecret,
		ConfigDir:        o.configDir,
		StateDir:         o.stateDir,
		ConnectionSecret: o.connectionSecret,
		ConnectionDir:    o.connectionDir,
		CASecret:         o.caSecret,
		CADir:            o.caDir,
		ReplicasSecret:   o.replicasSecret,
		ReplicasDir:      o.replicasDir,

		ClientCertificateSecret: o.clientSecret,
		ClientCertificateDir:    o.clientDir,

		TracingHeadersSecret: o.tracingSecret,
		TracingHeadersDir:    o.tracingDir,

		AuditHeadersSecret: o.auditHeadersSecret,
		AuditHeadersDir:    o.auditHeadersDir,

		CertificateSecret: o.tlsSecret,
		CertificateDir:    o.tlsDir,

		Log: log,
	}
	var err error
	if o.configKey != "" {
		if cluster.ConfigKey, err = contract.ParsePublicKey(o.configKey); err != nil {
			return nil, fmt.Errorf("--config-key: %w", err)
		}
	}
	if o.serviceAccountDir == "" {
		if o.configDir == "" {
			return nil, errors.New("without --service-account-dir the Config is read from --config-dir, which is not given")
		}
		return cluster, nil
	}
	if o.namespace == "" {
		return nil, errors.New("--service-account-dir needs --namespace")
	}
	cluster.API, err = source.InCluster(o.serviceAccountDir)
	return cluster, err
}
