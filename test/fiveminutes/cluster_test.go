package fiveminutes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/hack/platform"
	"github.com/mcp-admin/mcp-admin-operator/test/docs/pages"
)

// localCluster runs the demo, in which agents with the official Go SDK ask.
func localCluster(t *testing.T) *way {
	r := read(t, "local cluster", "docs/start/kind.md")
	_, r.way.answer = r.does(t, r.block(t, "starts the demo", func(b pages.Block) bool { return b.InCheckout }))
	return r.way
}

// cluster follows the page on clusters, on a local cluster with the operator. What the page says of installing a release is
// not a part of it.
func cluster(t *testing.T) *way {
	r := read(t, "cluster with the operator", "docs/start/cluster.md")
	p, err := platform.Start(t.Context(), r.Checkout, filepath.Join(r.Checkout, ".local", "five-minutes"), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	programs := t.TempDir()
	if err := pages.Build(t.Context(), r.Checkout, programs, "./cmd/mcp-admin"); err != nil {
		t.Fatal(err)
	}
	environment := pages.NewSession(r.Folder, r.Checkout, programs).Environment
	r.Environment = append(environment, "KUBECONFIG="+p.Kubeconfig())
	address, begun, output := shop(t), time.Now(), ""
	for i := range r.blocks {
		switch b := &r.blocks[i]; {
		case b.File != "":
			r.does(t, b)
			r.give(t, b.File, address)
		case b.Needs == "cluster":
			output, _ = r.does(t, b)
		}
	}
	if !strings.Contains(output, "Austria") {
		t.Fatalf("the last block answered %s", output)
	}
	r.way.answer = time.Since(begun)
	return r.way
}

// give puts a database's address in the place of that which a saved file shows.
func (r *reader) give(t *testing.T, file, address string) {
	t.Helper()
	path := filepath.Join(r.Folder, file)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(content), "\n")
	for i, line := range lines {
		if key, _, ok := strings.Cut(line, "uri: "); ok {
			lines[i] = key + "uri: " + address
		}
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
}
