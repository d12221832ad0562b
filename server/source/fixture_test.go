package source

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

// base is the name of the Config in tests, and mainSecret the name of its main part's Secret.
const base = "books-mcp-config"

var mainSecret = contract.MainSecret(base)

func tokensSecret(i int) string { return contract.TokensSecret(base, i) }

var signer, private, _ = ed25519.GenerateKey(nil)

// mainPart is a main part of a revision, signed.
func mainPart(t testing.TB, revision int64, layout contract.Layout) Secret {
	t.Helper()
	p, err := contract.EncodeMain(&contract.Config{
		Version: contract.Version, Revision: revision, Layout: layout,
		Endpoint: contract.Endpoint{
			Namespace: "shop", Name: "books", StatusKey: "key", SealKey: contract.NewSealKey(),
			Database: contract.Database{Engine: contract.EngineSQLite, MaxConnections: 1},
			Limits:   contract.Limits{MaxBodyBytes: 1, MaxConcurrentRequests: 1, MaxResultBytes: 1},
		},
	})
	return signed(t, p, err, mainSecret)
}

// tokensPart is a token part of a revision with tokens of these names, signed.
func tokensPart(t testing.TB, index int, revision int64, names ...string) Secret {
	t.Helper()
	content := &contract.TokenPart{Version: contract.Version, Revision: revision, Index: index, Tokens: []contract.Token{}}
	for _, name := range names {
		content.Tokens = append(content.Tokens, contract.Token{
			Revision: revision, Namespace: "shop", Name: name, UID: name, Hashes: []string{contract.HashToken(textOf(name))},
		})
	}
	p, err := contract.EncodeTokens(content)
	return signed(t, p, err, tokensSecret(index))
}

// layoutParts are the parts of tokens of these names in a layout, by index.
func layoutParts(t testing.TB, layout contract.Layout, revision int64, names ...string) []Secret {
	t.Helper()
	parts := make([]Secret, layout.Parts)
	for i := range parts {
		var held []string
		for _, name := range names {
			if layout.Holds(i, contract.NameHash("shop", name)) {
				held = append(held, name)
			}
		}
		parts[i] = tokensPart(t, i, revision, held...)
	}
	return parts
}

func signed(t testing.TB, p contract.Part, err error, secret string) Secret {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	contract.Sign(p, private, contract.Place("shop", secret))
	return Secret(p)
}

// broken is a part that is signed, and does not decode.
func broken(t testing.TB, secret string, p Secret) Secret {
	p = clone(p)
	p[contract.PartKeyConfig] = []byte("no gzip")
	return signed(t, contract.Part(p), nil, secret)
}

// forged is a part that somebody else changed.
func forged(p Secret) Secret {
	p = clone(p)
	p[contract.PartKeySignature] = make([]byte, ed25519.SignatureSize)
	return p
}

func clone(p Secret) Secret {
	c := Secret{}
	for key, value := range p {
		c[key] = value
	}
	return c
}

// textOf is the text of the token of that name.
func textOf(name string) string { return "a-token-of-more-than-thirty-two-characters-" + name }

// write puts a mounted Secret in place as the kubelet does: a new folder, and the link ..data moved to it.
func write(t *testing.T, dir string, data map[string][]byte) {
	t.Helper()
	version, err := os.MkdirTemp(mkdir(t, dir), "..version")
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range data {
		if err := os.WriteFile(filepath.Join(version, key), value, 0o600); err != nil {
			t.Fatal(err)
		}
		_ = os.Symlink(filepath.Join("..data", key), filepath.Join(dir, key))
	}
	if err := os.Symlink(filepath.Base(version), filepath.Join(dir, "..data_tmp")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A run is a Cluster source at work, whose updates are applied as the server applies them.
type run struct {
	t       *testing.T
	updates chan Update
	last    Update
	stop    func()

	mu        sync.Mutex
	directory *access.Directory
}

// start runs a source until the test ends, or until it is stopped.
func start(t *testing.T, c *Cluster) *run {
	t.Helper()
	if c.Log == nil {
		c.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	c.Namespace, c.ConfigSecret, c.ConfigKey = "shop", base, signer
	r := &run{t: t, updates: make(chan Update, 100), directory: access.NewDirectory()}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- c.Run(ctx, func(u Update) {
			r.mu.Lock()
			if u.Config != nil {
				r.directory = r.directory.With(u.TokenParts)
			}
			r.mu.Unlock()
			r.updates <- u
		})
	}()
	r.stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("Run: %v", err)
			}
		case <-time.After(10 * time.Minute):
			t.Error("Run does not end")
		}
	})
	t.Cleanup(r.stop)
	return r
}

// known returns the names whose tokens are let in.
func (r *run) known(names ...string) (known []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	tokens := access.NewTokens(&contract.Config{}, r.directory, catalog.Build(&contract.Config{}, nil))
	for _, name := range names {
		if !tokens.Authenticate("Bearer "+textOf(name), time.Now()).IsNobody() {
			known = append(known, name)
		}
	}
	return known
}

// describe says in a word what an update holds of the Config: the revisions of its parts, and what was refused.
func describe(u Update) string {
	text := "closed"
	if u.Config != nil {
		text = fmt.Sprintf("%d:", u.Config.Revision)
		for _, p := range u.TokenParts {
			if p == nil {
				text += " -"
			} else {
				text += fmt.Sprint(" ", p.Revision)
			}
		}
		if u.Incomplete {
			text += ", incomplete"
		}
	}
	if u.Refused != nil {
		text += fmt.Sprintf(", refused %s %d", cmp.Or(strings.TrimPrefix(u.Refused.Secret[len(base):], "-"), "main"), u.Refused.Revision)
		if u.Refused.Closed {
			text += " closed"
		}
	}
	return text
}

// next takes the very next update and checks what it says.
func (r *run) next(want string) {
	r.t.Helper()
	select {
	case r.last = <-r.updates:
		if got := describe(r.last); got != want {
			r.t.Fatalf("the next update is %q, want %q", got, want)
		}
	case <-time.After(10 * time.Minute):
		r.t.Fatalf("no update; want %q", want)
	}
}

// reaches takes updates until one says what is wanted.
func (r *run) reaches(want string) {
	r.t.Helper()
	timeout := time.After(10 * time.Minute)
	for {
		select {
		case r.last = <-r.updates:
			if describe(r.last) == want {
				return
			}
		case <-timeout:
			r.t.Fatalf("the last update is %q; want %q", describe(r.last), want)
		}
	}
}

// quiet checks that no update comes for a while.
func (r *run) quiet() {
	r.t.Helper()
	select {
	case u := <-r.updates:
		r.t.Fatalf("came to %q", describe(u))
	case <-time.After(300 * time.Millisecond):
	}
}
