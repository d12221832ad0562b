package pageserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"

	"github.com/mcp-admin/mcp-admin-operator/contract/memlimit"
)

// flags are the command's.
type flags struct {
	Options
	kubeconfig, keyFile, authoritiesFile string
	address, healthAddress               string
	certificate, privateKey              string
}

// Command returns the command.
func Command() *cobra.Command {
	var f flags
	command := &cobra.Command{
		Use:   "page-server",
		Short: "Serve the page in a cluster, behind OpenID Connect (the chart runs it)",
		Long: `page-server serves the page of "mcp-admin ui" to people who log in with an OpenID Connect identity provider. The chart runs it
(page.enabled): docs/page-in-cluster.md.

Each request to the API server is in the name of the person who is logged in, whom it impersonates. Its own ServiceAccount needs the right to
impersonate users and groups, and no other. Nobody sees anything without a login. A session is a cookie, encrypted by the key in
--session-key-file, and ends with the ID token at the latest. Tokens of people are stored nowhere.

Without --tls-cert-file it serves HTTP, for a proxy that ends TLS: browsers must see https.`,
		Example: `  mcp-admin page-server --host mcp.example.com --oidc-issuer-url https://login.example.com --oidc-client-id mcp-admin \
    --oidc-client-secret-file secret --oidc-username-claim email --oidc-groups-claim groups --session-key-file key`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return f.run(command) },
	}
	set := command.Flags()
	set.StringVar(&f.kubeconfig, "kubeconfig", "", "`FILE` that says how to reach the cluster; absent, the pod's own ServiceAccount")
	set.StringVar(&f.address, "listen", ":8080", "`ADDRESS` to serve at")
	set.StringVar(&f.healthAddress, "health-probe-bind-address", ":8081", "`ADDRESS` of /healthz and /readyz")
	set.StringVar(&f.Host, "host", "", "`HOST` that browsers open, such as mcp.example.com; no other is answered")
	set.StringVar(&f.certificate, "tls-cert-file", "", "`FILE` with a certificate in PEM; absent, a proxy ends TLS")
	set.StringVar(&f.privateKey, "tls-private-key-file", "", "`FILE` with its private key in PEM")
	set.StringVar(&f.Naming.issuer, "oidc-issuer-url", "", "`URL` of the identity provider, https only")
	set.StringVar(&f.ClientID, "oidc-client-id", "", "`ID` of the page at the identity provider")
	set.StringVar(&f.ClientSecretFile, "oidc-client-secret-file", "", "`FILE` with the secret of the client; absent, the client has none")
	set.StringVar(&f.authoritiesFile, "oidc-ca-file", "", "`FILE` with the identity provider's certificate authorities in PEM; absent, the system's")
	set.StringSliceVar(&f.Scopes, "oidc-scope", []string{"openid", "profile", "email"}, "`SCOPES` that are asked for")
	set.StringSliceVar(&f.Algorithms, "oidc-signing-algs", []string{"RS256"}, "`ALGORITHMS` that tokens may be signed with")
	set.StringVar(&f.Naming.usernameClaim, "oidc-username-claim", "sub", "`CLAIM` with the user name, as the API server's flag of that name")
	set.StringVar(&f.Naming.usernamePrefix, "oidc-username-prefix", "", "`PREFIX` of user names; absent, the issuer's URL and # unless the claim is email; - is none")
	set.StringVar(&f.Naming.groupsClaim, "oidc-groups-claim", "", "`CLAIM` with the groups; absent, nobody has any")
	set.StringVar(&f.Naming.groupsPrefix, "oidc-groups-prefix", "", "`PREFIX` of groups")
	set.StringArrayVar(&f.Naming.users, "impersonate-user", nil, "`USER` who may use the page, if not all; repeat it")
	set.StringArrayVar(&f.Naming.groups, "impersonate-group", nil, "`GROUP` that people keep here, if not all; repeat it")
	set.StringArrayVar(&f.Namespaces, "namespace", nil, "`NAMESPACE` that is shown to those who may not list all; repeat it")
	set.StringVar(&f.keyFile, "session-key-file", "", "`FILE` with 32 random bytes or more, the same in each replica")
	set.DurationVar(&f.SessionTime, "session-time", time.Hour, "`TIME` that a session lasts at most; it never outlasts the ID token")
	return command
}

// load reads the files that the flags name.
func (f *flags) load() error {
	if err := f.check(); err != nil {
		return err
	}
	if (f.certificate == "") != (f.privateKey == "") {
		return errors.New("--tls-cert-file and --tls-private-key-file: name both, or none")
	}
	var err error
	if f.SessionKey, err = os.ReadFile(f.keyFile); err != nil {
		return fmt.Errorf("--session-key-file: %w", err)
	}
	if f.authoritiesFile != "" {
		text, err := os.ReadFile(f.authoritiesFile)
		if err != nil {
			return fmt.Errorf("--oidc-ca-file: %w", err)
		}
		f.Authorities = string(text)
	}
	f.Config, err = config(f.kubeconfig)
	return err
}

// config reaches the API server: by a file, or by the pod's ServiceAccount.
func config(kubeconfig string) (*rest.Config, error) {
	var c *rest.Config
	var err error
	if kubeconfig == "" {
		c, err = rest.InClusterConfig()
	} else {
		c, err = clientcmd.BuildConfigFromFlags("", kubeconfig)
	}
	if err != nil {
		return nil, fmt.Errorf("the API server cannot be reached: %w", err)
	}
	c.QPS, c.Burst = 50, 100 // of each request of a person
	return c, nil
}

// The times of the server. A screen waits for pods and an endpoint some ten seconds at most, twice.
const (
	headerTime = 10 * time.Second
	readTime   = 30 * time.Second
	writeTime  = 2 * time.Minute
	idleTime   = 2 * time.Minute
	// endTime is how long requests under way may take at the end.
	endTime   = 5 * time.Second
	maxHeader = 32 << 10
)

func (f *flags) run(command *cobra.Command) error {
	ctx, stop := context.WithCancel(command.Context())
	defer stop()
	memlimit.Set(os.Getenv)
	f.Log, f.Now = slog.New(slog.NewJSONHandler(command.ErrOrStderr(), nil)), time.Now
	if err := f.load(); err != nil {
		return err
	}
	s, err := New(f.Options)
	if err != nil {
		return err
	}
	pages, err := f.listen(ctx)
	if err != nil {
		return err
	}
	probes, err := new(net.ListenConfig).Listen(ctx, "tcp", f.healthAddress)
	if err != nil {
		return fmt.Errorf("--health-probe-bind-address: %w", err)
	}
	go s.Run(ctx)
	f.Log.Info("The page is served", "origin", s.origin, "address", pages.Addr().String(), "tls", f.certificate != "", "issuer", f.Naming.issuer)
	ended := make(chan error, 2)
	for at, handler := range map[net.Listener]http.Handler{pages: s, probes: http.HandlerFunc(alive)} {
		go func() { ended <- serve(ctx, at, handler) }()
	}
	first := <-ended
	stop()
	return errors.Join(first, <-ended)
}

// listen opens the port of the page.
func (f *flags) listen(ctx context.Context) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", f.address)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	if f.certificate == "" {
		return listener, nil
	}
	watcher, err := certwatcher.New(f.certificate, f.privateKey)
	if err != nil {
		return nil, errors.Join(errors.New("--tls-cert-file: the certificate cannot be read"), listener.Close())
	}
	go func() {
		if err := watcher.Start(ctx); err != nil {
			f.Log.Error("A new certificate will not be noticed", "error", err.Error())
		}
	}()
	return tls.NewListener(listener, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: watcher.GetCertificate, NextProtos: []string{"http/1.1"}}), nil
}

// serve answers until ctx ends.
func serve(ctx context.Context, at net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)}
	over := make(chan struct{})
	defer context.AfterFunc(ctx, func() {
		defer close(over)
		ending, stop := context.WithTimeout(context.WithoutCancel(ctx), endTime)
		defer stop()
		_ = server.Shutdown(ending) // what is still under way is cut off with the program
	})()
	if err := server.Serve(at); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-over
	return nil
}

// alive answers the kubelet: a server that answers is well. The identity provider and the API server may come and go.
func alive(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/healthz" && r.URL.Path != "/readyz" {
		http.NotFound(w, r)
	}
}
