package source

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// bootGrace is how long the source waits for the API before it uses what is stored and mounted. A pod that was just
// restarted must not answer from a late file if the API has something newer.
const bootGrace = 2 * time.Second

// Cluster is the source of a server that runs in a cluster.
type Cluster struct {
	// API is how to reach the API; nil if only folders are to be used.
	API       *rest.Config
	Namespace string
	// ConfigSecret is the name of the Config: the names of its parts' Secrets follow from it.
	ConfigSecret string
	// ConfigDir is where the parts lie if there is no API, each in a subfolder: main, tokens-0, tokens-1 and so on.
	ConfigDir string
	// StateDir is where parts are stored for the next start; "" if they are not.
	StateDir string
	// ConfigKey is the public key of the manager, which signs the Config; nil if it is trusted without a signature.
	ConfigKey ed25519.PublicKey
	// ConnectionSecret, ReplicasSecret, CASecret and ClientCertificateSecret are "" if the database needs none.
	ConnectionSecret, ConnectionDir               string
	ReplicasSecret, ReplicasDir                   string
	CASecret, CADir                               string
	ClientCertificateSecret, ClientCertificateDir string
	// CertificateSecret is the Secret of the endpoint's own certificate; "" if its port does not speak TLS.
	CertificateSecret, CertificateDir string
	// TracingHeadersSecret is the Secret of the headers for the collector of traces; "" if it gets none.
	TracingHeadersSecret, TracingHeadersDir string
	// AuditHeadersSecret is the Secret of the headers for the collector of audit lines; "" if it gets none.
	AuditHeadersSecret, AuditHeadersDir string
	Log                                 *slog.Logger

	// patience is for tests, which have no time; zero is the usual one.
	patience time.Duration
}

// Run implements Source.
func (c *Cluster) Run(ctx context.Context, apply func(Update)) error {
	if c.ConfigSecret == "" {
		return errors.New("no Config Secret is named")
	}
	ctx, cancel := context.WithCancel(ctx)
	f := &following{
		Cluster: c, ctx: ctx, seen: make(chan func(*view), 64),
		view:  newView(c.ConfigSecret, cmp.Or(c.patience, usualPatience), c.verify),
		state: state{c.StateDir, c.Log},
	}
	defer f.running.Wait()
	defer cancel()
	if c.API == nil {
		f.view.booting = false
		f.readFolders()
	} else {
		var err error
		if f.client, f.parameters, err = newClient(c.API); err != nil {
			return fmt.Errorf("the API cannot be used: %w", err)
		}
		f.restore()
		f.running.Go(func() {
			select {
			case <-ctx.Done():
			case <-time.After(bootGrace):
				f.tell(func(v *view) { v.booting = false })
			}
		})
	}
	f.followOthers()
	followPart(ctx, f, f.view.main, "main")
	f.loop(apply)
	return nil
}

// verify refuses a part of the Config that does not bear the manager's signature.
func (c *Cluster) verify(secret string, p contract.Part) error {
	if c.ConfigKey == nil {
		return nil
	}
	return contract.Verify(p, c.ConfigKey, contract.Place(c.Namespace, secret))
}

// following is a Cluster at work.
type following struct {
	*Cluster
	ctx     context.Context
	running sync.WaitGroup
	view    *view
	state   state
	// seen are observations, which the loop tells to the view.
	seen       chan func(*view)
	client     rest.Interface
	parameters runtime.ParameterCodec
	// stops end the following of token parts, by index.
	stops []context.CancelFunc
}

func (f *following) tell(observation func(*view)) {
	select {
	case f.seen <- observation:
	case <-f.ctx.Done():
	}
}

// followOthers starts to follow the Secrets beside the Config, which are mounted as well.
func (f *following) followOthers() {
	for _, s := range []struct {
		*copies
		name, dir string
	}{
		{f.view.connection, f.ConnectionSecret, f.ConnectionDir},
		{f.view.replicas, f.ReplicasSecret, f.ReplicasDir},
		{f.view.ca, f.CASecret, f.CADir},
		{f.view.client, f.ClientCertificateSecret, f.ClientCertificateDir},
		{f.view.certificate, f.CertificateSecret, f.CertificateDir},
		{f.view.tracing, f.TracingHeadersSecret, f.TracingHeadersDir},
		{f.view.audit, f.AuditHeadersSecret, f.AuditHeadersDir},
	} {
		if s.name == "" {
			continue
		}
		s.mounted = f.read(s.dir)
		f.running.Go(func() {
			watchMount(f.ctx, s.dir, f.Log, func(data Secret) { f.tell(func(*view) { s.mounted = data }) })
		})
		if f.API != nil {
			f.view.followed = append(f.view.followed, s.copies)
			f.watch(f.ctx, s.name, func(data Secret) { s.heard, s.api = true, data })
		}
	}
}

// followPart starts to follow a part of the Config: through the API, or in its folder if there is none.
func followPart[C any](ctx context.Context, f *following, p *part[C], folder string) {
	if f.API != nil {
		f.watch(ctx, p.secret, func(data Secret) { p.hear(data, time.Now()) })
		return
	}
	f.running.Go(func() {
		watchMount(ctx, filepath.Join(f.ConfigDir, folder), f.Log, func(data Secret) {
			f.tell(func(*view) { p.look(data, time.Now()) })
		})
	})
}

// watch starts to follow a Secret through the API.
func (f *following) watch(ctx context.Context, name string, heard func(Secret)) {
	// The log of client-go goes to our own log.
	ctx = klog.NewContext(ctx, logr.FromSlogHandler(f.Log.Handler()).WithName("client-go"))
	w := &secretWatch{
		client: f.client, parameters: f.parameters, namespace: f.Namespace, name: name, log: f.Log,
		heard: func(data Secret) { f.tell(func(*view) { heard(data) }) },
	}
	f.running.Go(func() { w.run(ctx) })
}

// followTokens follows the token parts that the view has now, and no others.
func (f *following) followTokens() {
	f.view.settle()
	for i := len(f.stops); i < len(f.view.tokens); i++ {
		ctx, stop := context.WithCancel(f.ctx)
		f.stops = append(f.stops, stop)
		followPart(ctx, f, f.view.tokens[i], tokensFolder(i))
	}
	for i := len(f.view.tokens); i < len(f.stops); i++ {
		f.stops[i]()
		f.state.save(contract.TokensSecret(f.ConfigSecret, i), nil)
	}
	f.stops = f.stops[:len(f.view.tokens)]
}

func tokensFolder(index int) string { return "tokens-" + strconv.Itoa(index) }

// readFolders reads all parts once, so that the first update has them.
func (f *following) readFolders() {
	now := time.Now()
	f.view.main.look(f.read(filepath.Join(f.ConfigDir, "main")), now)
	f.view.settle()
	for i, p := range f.view.tokens {
		p.look(f.read(filepath.Join(f.ConfigDir, tokensFolder(i))), now)
	}
}

func (f *following) read(dir string) Secret {
	data, err := readMount(dir)
	if err != nil {
		f.Log.Warn("A mounted Secret cannot be read", "dir", dir, "error", err)
	}
	return data
}

// restore takes the parts that were stored before the process was started again.
func (f *following) restore() {
	restorePart(f, f.view.main.secret, f.view.main.restore)
	f.view.settle()
	for _, p := range f.view.tokens {
		restorePart(f, p.secret, p.restore)
	}
}

func restorePart(f *following, secret string, restore func(Secret) *contract.Refusal) {
	data := f.state.load(secret)
	if data == nil {
		return
	}
	if refused := restore(data); refused != nil {
		f.Log.Warn("A stored part of the Config is refused", "secret", secret, "message", refused.Message)
	}
}

// store stores the parts that have changed. It is done before they are applied: a process that ends in between must not
// start again from something older.
func (f *following) store() {
	storePart(f, f.view.main)
	for _, p := range f.view.tokens {
		storePart(f, p)
	}
}

func storePart[C any](f *following, p *part[C]) {
	if p.unsaved {
		f.state.save(p.secret, p.raw)
		p.unsaved = false
	}
}

// loop updates the view with everything that is seen, and applies the result.
func (f *following) loop(apply func(Update)) {
	v := f.view
	var applied Update
	first := true
	change := time.NewTimer(0)
	for {
		f.followTokens()
		v.booting = v.booting && !v.allHeard()
		f.store()
		now := time.Now()
		if update := v.update(now); !v.booting && (first || !update.equal(applied)) {
			apply(update)
			v.appliedUpdate(update)
			applied, first = update, false
		}
		if next, ok := v.nextChange(now); ok {
			change.Reset(next.Sub(now))
		}
		select {
		case <-f.ctx.Done():
			return
		case <-change.C:
		case observation := <-f.seen:
			observation(v)
		}
		for range len(f.seen) { // several events at once are applied as one update
			(<-f.seen)(v)
		}
	}
}
