package dev

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/manifests"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/target"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// settle is how long files must be left alone before they are read again: an editor writes in several steps.
const settle = 100 * time.Millisecond

// pollEvery is how often files are looked at that cannot be watched.
const pollEvery = time.Second

// manifestSource is the source of a server's Config that reads manifests and watches their files.
type manifestSource struct {
	paths []string
	// guessed is where the manifests come from if there are no paths.
	guessed  *guessed
	endpoint string
	state    *State
	// database takes the place of the endpoint's own; nil if there is none. spare does so if the manifests lack the Secret
	// of the endpoint's.
	database, spare *target.Database
	// write lets callers change rows of a database without an MCPEndpoint among the manifests.
	write     bool
	baseURL   string
	statusKey string
	sealKey   string
	// compiled is called with each outcome; failed with manifests that cannot be used, while the last good ones stay.
	compiled func(*outcome)
	failed   func(error)
	// approvals are the calls that wait for people.
	approvals *approvals
	// openWatcher makes the watcher of files; nil is fsnotify.
	openWatcher func() (*fsnotify.Watcher, error)

	previous *contract.Config
}

// outcome is the result of reading the manifests.
type outcome struct {
	endpoint *v1alpha1.MCPEndpoint
	config   *contract.Config
	verdicts compile.Verdicts
	// manifests are the objects that the Config was compiled from.
	manifests *Manifests
	// texts are the known texts of tokens, files the files of texts that were made here.
	texts, files map[types.NamespacedName]string
	// guessed reports whether nobody wrote the manifests.
	guessed bool
	// unset are the endpoint's exposures that do not say whether they are advertised, by name.
	unset map[string]bool
	// ignored are the objects that are not used, leftOut the tables that are not served.
	ignored, leftOut []string
	update           source.Update
}

var _ source.Source = (*manifestSource)(nil)

// Run implements source.Source.
func (s *manifestSource) Run(ctx context.Context, apply func(source.Update)) error {
	if s.guessed != nil {
		return s.followDatabase(ctx, apply)
	}
	watched, err := newWatch(s.paths, s.state.Folder(), s.openWatcher)
	if err != nil {
		return err
	}
	defer watched.Close()
	load := func() {
		watched.renew()
		o, err := s.load(ctx, time.Now())
		if err != nil {
			s.failed(err)
			return
		}
		s.previous = o.config
		apply(o.update)
		s.compiled(o)
	}
	load()
	look := time.NewTicker(pollEvery)
	defer look.Stop()
	for timer := time.NewTimer(time.Hour); ; {
		select {
		case <-ctx.Done():
			return nil
		case event, open := <-watched.events():
			switch {
			case !open:
				watched.unwatch()
			case watched.concerns(event):
				timer.Reset(settle)
			}
		case _, open := <-watched.errors(): // events were lost
			if !open {
				watched.unwatch()
			}
			timer.Reset(settle)
		case <-look.C:
			if watched.polls && watched.changed() {
				timer.Reset(settle)
			}
		case <-s.approvals.changed:
			load()
		case <-timer.C:
			load()
		}
	}
}

// followDatabase guesses again from time to time, and applies what is new.
func (s *manifestSource) followDatabase(ctx context.Context, apply func(source.Update)) error {
	for pause := time.NewTicker(lookEvery); ; {
		o, err := s.load(ctx, time.Now())
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the end of the context is the end of the source
		}
		switch {
		case err != nil:
			s.failed(err)
		default:
			if s.previous == nil || s.previous.Revision != o.config.Revision {
				apply(o.update)
			}
			s.previous = o.config
			s.compiled(o)
		}
		select {
		case <-ctx.Done():
			pause.Stop()
			return nil
		case <-pause.C:
		}
	}
}

// read reads the manifests, and says which endpoint is served. The database of the flags is in them.
func (s *manifestSource) read(ctx context.Context) (*Manifests, *v1alpha1.MCPEndpoint, error) {
	if s.guessed != nil {
		m, err := s.guessed.manifests(ctx)
		if err != nil {
			return nil, nil, err
		}
		return m, &m.Endpoints[0], nil
	}
	objects, err := manifests.Read(ctx, s.paths, metav1.NamespaceDefault)
	if err == nil {
		err = objects.Err()
	}
	if err != nil {
		return nil, nil, err
	}
	m := &Manifests{Objects: objects}
	switch named := cmp.Or(s.database, s.spare); {
	case s.write && len(m.Endpoints) > 0:
		return nil, nil, errors.New("--write: the manifests hold an MCPEndpoint, whose spec.database.access says whether rows may change; leave --write out")
	case named != nil && len(m.Endpoints) == 0:
		if err := m.supplyEndpoint(named, s.write); err != nil {
			return nil, nil, err
		}
	}
	endpoint, err := m.Endpoint(s.endpoint)
	if err != nil {
		return nil, nil, err
	}
	if s.database != nil {
		return m, endpoint, m.supply(endpoint, s.database)
	}
	if s.spare != nil && m.lacksConnection(endpoint) {
		return m, endpoint, m.supply(endpoint, s.spare)
	}
	return m, endpoint, nil
}

// load reads the manifests and compiles them.
func (s *manifestSource) load(ctx context.Context, now time.Time) (*outcome, error) {
	m, endpoint, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	endpoint.Spec.Network.ExternalURL = s.baseURL
	if s.approvals.all {
		for i := range endpoint.Spec.Approvals {
			p := &endpoint.Spec.Approvals[i]
			p.Description = strings.TrimSpace("(" + byNobody + ": each call is allowed, by nobody) " + p.Description)
		}
	}
	o := &outcome{endpoint: endpoint, manifests: m, guessed: s.guessed != nil, unset: map[string]bool{}, ignored: append(m.Ignored, m.strays()...), leftOut: m.leftOut, texts: map[types.NamespacedName]string{}, files: map[types.NamespacedName]string{}}
	for i := range m.Exposures {
		if e := &m.Exposures[i]; e.Namespace == endpoint.Namespace && e.Spec.EndpointRef.Name == endpoint.Name && e.Spec.Expose == nil {
			o.unset[e.Name] = true
		}
	}
	in := compile.Inputs{
		Endpoint: endpoint, Exposures: m.Exposures, Tokens: m.Tokens, NamespaceLabels: m.NamespaceLabels,
		Credentials: map[types.NamespacedName]compile.Credential{},
		Webhooks:    m.Webhooks(endpoint.Namespace),
		StatusKey:   s.statusKey, SealKey: s.sealKey, Now: now, Previous: s.previous,
	}
	for i := range m.Tokens {
		t := &m.Tokens[i]
		key := types.NamespacedName{Namespace: t.Namespace, Name: t.Name}
		credential, text, err := s.state.Credential(t, m)
		if err != nil {
			return nil, err
		}
		in.Credentials[key] = credential
		o.texts[key] = text
		if text != "" && t.Spec.TokenSecretRef == nil {
			o.files[key] = s.state.TokenFile(key)
		}
	}
	o.config, o.verdicts = compile.Compile(in)
	o.ignored = append(o.ignored, notAdmitted(endpoint, m)...)
	if v := o.verdicts.Endpoint; !v.Accepted {
		return nil, fmt.Errorf("MCPEndpoint %s/%s: %s", endpoint.Namespace, endpoint.Name, v.Message)
	}
	if err := s.prepareSQLite(endpoint, m); err != nil {
		return nil, err
	}
	o.update = source.Update{Config: o.config, TokenParts: access.Whole(o.config)}
	o.update.TokenParts[0].Decide(s.approvals.decisions(endpoint, m, now))
	database := endpoint.Spec.Database
	if ref := database.ConnectionSecretRef; ref != nil {
		if o.update.Connection, err = m.secret("spec.database.connectionSecretRef", endpoint.Namespace, ref.Name); err != nil {
			return nil, err
		}
	}
	if database.TLS != nil && database.TLS.CASecretRef != nil {
		if o.update.CA, err = m.secret("spec.database.tls.caSecretRef", endpoint.Namespace, database.TLS.CASecretRef.Name); err != nil {
			return nil, err
		}
	}
	if database.TLS != nil && database.TLS.ClientCertificateSecretRef != nil {
		name := database.TLS.ClientCertificateSecretRef.Name
		if o.update.ClientCertificate, err = m.secret("spec.database.tls.clientCertificateSecretRef", endpoint.Namespace, name); err != nil {
			return nil, err
		}
	}
	if database.Replicas != nil {
		name := database.Replicas.ConnectionSecretRef.Name
		if o.update.Replicas, err = m.secret("spec.database.replicas.connectionSecretRef", endpoint.Namespace, name); err != nil {
			return nil, err
		}
	}
	for _, headers := range []struct {
		field, secret string
		to            *source.Secret
	}{
		{"spec.observability.tracing.headersSecretRef", endpoint.Spec.Observability.Tracing.HeadersSecret(), &o.update.TracingHeaders},
		{"spec.observability.audit.otlp.headersSecretRef", endpoint.Spec.Observability.Audit.OTLP.HeadersSecret(), &o.update.AuditHeaders},
	} {
		if headers.secret == "" {
			continue
		}
		if *headers.to, err = m.secret(headers.field, endpoint.Namespace, headers.secret); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// prepareSQLite makes what the server needs for a new SQLite file. A file of the user's own needs nothing.
func (s *manifestSource) prepareSQLite(endpoint *v1alpha1.MCPEndpoint, m *Manifests) error {
	if endpoint.Spec.Database.SQLite == nil || s.database != nil {
		return nil
	}
	return s.state.WriteSQLiteInit(endpoint, m)
}

// notAdmitted are the tokens of other namespaces that the endpoint does not allow.
func notAdmitted(endpoint *v1alpha1.MCPEndpoint, m *Manifests) []string {
	var refused []string
	for i := range m.Tokens {
		t := &m.Tokens[i]
		if t.Endpoint() == (types.NamespacedName{Namespace: endpoint.Namespace, Name: endpoint.Name}) && !compile.Admits(endpoint, t.Namespace, m.NamespaceLabels[t.Namespace]) {
			refused = append(refused, fmt.Sprintf("MCPToken %s/%s, whose namespace is not among the endpoint's spec.allowedTokens", t.Namespace, t.Name))
		}
	}
	return refused
}
