package fiveminutes

import (
	"context"
	"net/url"
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
	r := read(t, "docs/start/kind.md")
	_, r.way.answer = r.does(t, r.block(t, "starts the demo", func(b pages.Block) bool { return b.InCheckout }))
	return r.way
}

// cluster follows the page on clusters, on a local cluster with the operator.
func cluster(t *testing.T) *way {
	r := read(t, "docs/start/cluster.md")
	p, err := platform.Start(t.Context(), r.Checkout, filepath.Join(r.Checkout, ".local", "five-minutes"), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	r.follow(t, p.Kubeconfig(), shop(t))
	return r.way
}

// realCluster follows the same page on a cluster that is there and has the operator. MCP_TEST_CLUSTER is its kubeconfig,
// MCP_TEST_CLUSTER_HOST the address by which its pods reach this machine; without them what the page asks for is only counted.
// What it makes in the namespace "default" goes again.
func realCluster(t *testing.T) *way {
	kubeconfig, host := os.Getenv("MCP_TEST_CLUSTER"), os.Getenv("MCP_TEST_CLUSTER_HOST")
	if kubeconfig == "" || host == "" {
		r := read(t, "docs/start/cluster.md")
		for i := range r.blocks {
			if b := &r.blocks[i]; b.File != "" || b.Needs == "cluster" {
				r.counts(b)
			}
		}
		return r.way
	}
	address, err := url.Parse(shop(t))
	if err != nil {
		t.Fatal(err)
	}
	address.Host = relay(t, host, address.Host)
	r := read(t, "docs/start/cluster.md")
	defer func() {
		if output, err := r.command(context.Background(), "kubectl", "delete", "--ignore-not-found", "-f", "shop.yaml").CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, output)
		}
	}()
	r.follow(t, kubeconfig, address.String())
	return r.way
}

// follow does what the page on clusters says once the operator is there, with a database of the test's own, up to the answer.
func (r *reader) follow(t *testing.T, kubeconfig, address string) {
	t.Helper()
	programs := t.TempDir()
	if err := pages.Build(t.Context(), r.Checkout, programs, "./cmd/mcp-admin"); err != nil {
		t.Fatal(err)
	}
	r.Environment = append(pages.NewSession(r.Folder, r.Checkout, programs).Environment, "KUBECONFIG="+kubeconfig)
	begun, output := time.Now(), ""
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
