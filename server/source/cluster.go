package source

import (
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
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// bootGrace is how long the source waits for the API before it uses the mounted copies. A pod that was just restarted
// must not answer from a late file if the API has something newer.
const bootGrace = 2 * time.Second

// Cluster is the source of a server that runs in a cluster.
type Cluster struct {
	// API is how to reach the API; nil if only the mounts are to be used.
	API       *rest.Config
	Namespace string
	// ConfigSecrets are the Secrets of the Config's parts, in order; part i is mounted at ConfigDir/i.
	ConfigSecrets []string
	ConfigDir     string
	// ConfigKey is the public key of the manager, which signs the Config; nil if the mounts are trusted without a
	// signature.
	ConfigKey ed25519.PublicKey
	// ConnectionSecret, ReplicasSecret, CASecret and ClientCertificateSecret are "" if the database needs none.
	ConnectionSecret, ConnectionDir               string
	ReplicasSecret, ReplicasDir                   string
	CASecret, CADir                               string
	ClientCertificateSecret, ClientCertificateDir string
	// CertificateSecret is the Secret of the endpoint's own certificate; "" if its port does not speak TLS.
	CertificateSecret, CertificateDir string
	Log                               *slog.Logger
}

// Run implements Source.
func (c *Cluster) Run(ctx context.Context, apply func(Update)) error {
	if len(c.ConfigSecrets) == 0 {
		return errors.New("no Config Secret is named")
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()

	v := newView(len(c.ConfigSecrets), c.verify)
	seen := make(chan func(*view), 64)
	tell := func(observation func(*view)) {
		select {
		case seen <- observation:
		case <-ctx.Done():
		}
	}
	secrets := c.secrets(v)
	for _, s := range secrets {
		data, err := readMount(s.dir)
		if err != nil {
			c.Log.Warn("A mounted Secret cannot be read", "dir", s.dir, "error", err)
		}
		v.mount(s.copies, data)
		running.Go(func() {
			watchMount(ctx, s.dir, c.Log, func(data Secret) { tell(func(v *view) { v.mount(s.copies, data) }) })
		})
	}
	if c.API == nil {
		v.boot()
	} else if err := c.watchAPI(ctx, &running, secrets, tell); err != nil {
		return err
	}
	c.loop(ctx, v, seen, apply)
	return nil
}

// verify refuses parts of a Config that do not bear the manager's signature.
func (c *Cluster) verify(parts []contract.Part) error {
	if c.ConfigKey == nil {
		return nil
	}
	return contract.Verify(parts, c.ConfigKey, contract.Place(c.Namespace, c.ConfigSecrets[0]))
}

// A watched is one Secret that is followed.
type watched struct {
	*copies
	name, dir string
}

// secrets are the Secrets to follow. The view is told of them.
func (c *Cluster) secrets(v *view) []watched {
	var all []watched
	for i, name := range c.ConfigSecrets {
		all = append(all, watched{v.parts[i], name, filepath.Join(c.ConfigDir, strconv.Itoa(i))})
	}
	for _, s := range []watched{
		{v.connection, c.ConnectionSecret, c.ConnectionDir},
		{v.replicas, c.ReplicasSecret, c.ReplicasDir},
		{v.ca, c.CASecret, c.CADir},
		{v.client, c.ClientCertificateSecret, c.ClientCertificateDir},
		{v.certificate, c.CertificateSecret, c.CertificateDir},
	} {
		if s.name != "" {
			v.follow(s.copies)
			all = append(all, s)
		}
	}
	return all
}

// watchAPI starts to follow the Secrets through the API, and starts the time that the API has to answer first.
func (c *Cluster) watchAPI(ctx context.Context, running *sync.WaitGroup, secrets []watched, tell func(func(*view))) error {
	client, parameters, err := newClient(c.API)
	if err != nil {
		return fmt.Errorf("the API cannot be used: %w", err)
	}
	// The log of client-go goes to our own log.
	clientContext := klog.NewContext(ctx, logr.FromSlogHandler(c.Log.Handler()).WithName("client-go"))
	for _, s := range secrets {
		w := &secretWatch{
			client: client, parameters: parameters, namespace: c.Namespace, name: s.name, log: c.Log,
			heard: func(data Secret) { tell(func(v *view) { v.hear(s.copies, data) }) },
			lost:  func() { tell(func(v *view) { v.lose(s.copies) }) },
		}
		running.Go(func() { w.run(clientContext) })
	}
	running.Go(func() {
		select {
		case <-ctx.Done():
		case <-time.After(bootGrace):
			tell((*view).boot)
		}
	})
	return nil
}

// loop updates the view with everything that is seen, and applies the result.
func (c *Cluster) loop(ctx context.Context, v *view, seen <-chan func(*view), apply func(Update)) {
	var applied Update
	first := true
	for {
		if v.booting && v.allHeard() {
			v.boot()
		}
		if update := v.update(); !v.booting && (first || !update.equal(applied)) {
			apply(update)
			applied, first = update, false
		}
		select {
		case <-ctx.Done():
			return
		case observation := <-seen:
			observation(v)
		}
		for range len(seen) { // several events at once are applied as one update
			(<-seen)(v)
		}
	}
}
