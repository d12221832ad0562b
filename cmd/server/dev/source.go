package dev

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// settle is how long files must be left alone before they are read again: an editor writes in several steps.
const settle = 100 * time.Millisecond

// manifestSource is the source of a server's Config that reads manifests and watches their files.
type manifestSource struct {
	paths     []string
	endpoint  string
	state     State
	baseURL   string
	statusKey string
	sealKey   string
	// compiled is told of each outcome; failed of manifests that cannot be used, while the last good ones stay.
	compiled func(*outcome)
	failed   func(error)

	previous *contract.Config
}

// outcome is what came of the manifests.
type outcome struct {
	endpoint *v1alpha1.MCPEndpoint
	config   *contract.Config
	verdicts compile.Verdicts
	// texts are the tokens' texts, where they are known.
	texts   map[types.NamespacedName]string
	ignored []string
	update  source.Update
}

var _ source.Source = (*manifestSource)(nil)

// Run implements source.Source.
func (s *manifestSource) Run(ctx context.Context, apply func(source.Update)) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer watcher.Close()
	load := func() {
		for _, path := range s.paths {
			if err := watch(watcher, path, string(s.state)); err != nil {
				s.failed(err)
			}
		}
		o, err := s.load(time.Now())
		if err != nil {
			s.failed(err)
			return
		}
		s.previous = o.config
		apply(o.update)
		s.compiled(o)
	}
	load()
	for timer := time.NewTimer(time.Hour); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-watcher.Events:
			timer.Reset(settle)
		case err := <-watcher.Errors:
			s.failed(err)
		case <-timer.C:
			load()
		}
	}
}

// watch watches a file by its folder, since editors replace files, or a folder with all below it that manifests are
// read from. The state is none of that: the server itself writes there, and reading must not be what causes the next
// reading. Watching twice does no harm.
func watch(watcher *fsnotify.Watcher, path, state string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return watcher.Add(filepath.Dir(path))
	}
	return filepath.WalkDir(path, func(folder string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || !entry.IsDir():
			return err
		case folder != path && strings.HasPrefix(entry.Name(), "."), samePlace(folder, state):
			return fs.SkipDir
		}
		return watcher.Add(folder)
	})
}

// samePlace is whether two paths lead to the same folder.
func samePlace(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// load reads the manifests and compiles them.
func (s *manifestSource) load(now time.Time) (*outcome, error) {
	m, err := ReadManifests(s.paths)
	if err != nil {
		return nil, err
	}
	endpoint, err := m.Endpoint(s.endpoint)
	if err != nil {
		return nil, err
	}
	endpoint.Spec.Network.ExternalURL = s.baseURL
	o := &outcome{endpoint: endpoint, ignored: append(m.Ignored, m.strays()...), texts: map[types.NamespacedName]string{}}
	in := compile.Inputs{
		Endpoint: endpoint, Exposures: m.Exposures, Tokens: m.Tokens,
		Credentials: map[types.NamespacedName]compile.Credential{},
		Webhooks:    m.webhookSecrets(endpoint.Namespace),
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
	}
	o.config, o.verdicts = compile.Compile(in)
	if v := o.verdicts.Endpoint; !v.Accepted {
		return nil, fmt.Errorf("MCPEndpoint %s/%s: %s", endpoint.Namespace, endpoint.Name, v.Message)
	}
	if err := s.state.WriteSQLiteInit(endpoint, m); err != nil {
		return nil, err
	}
	o.update = source.Update{Config: o.config}
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
	return o, nil
}
