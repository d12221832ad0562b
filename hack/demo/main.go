// Command demo shows the project's main job: it starts a local cluster with the operator, applies the samples, waits
// until all is Ready, asks the endpoint as an agent would, and keeps running until it is interrupted.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/hack/platform"
)

const (
	// address is what hack/demo/bookshop names as the endpoint's externalURL.
	address = "127.0.0.1:18080"
	usage   = `demo starts a local cluster under .local/demo with the operator and the bookshop samples, asks the
endpoint with an MCP client and with curl, prints the answers and keeps running until it is interrupted.

  go run ./hack/demo                 after "make build kube"
  DEMO_EXIT=1 go run ./hack/demo     ends after the answers`
)

func main() {
	if len(os.Args) > 1 {
		fmt.Println(usage)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	root, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	p, err := platform.Start(ctx, root, filepath.Join(root, ".local", "demo"), os.Stdout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	if err := show(ctx, p, root); err != nil {
		return err
	}
	if os.Getenv("DEMO_EXIT") != "" {
		return nil
	}
	fmt.Printf("\nRunning until you press Ctrl-C. To look around:\n\n  export KUBECONFIG=%s PATH=%s:$PATH\n  kubectl get mcp -A\n",
		p.Kubeconfig(), filepath.Join(root, "bin", "k8s"))
	return p.Wait(ctx)
}

func show(ctx context.Context, p *platform.Platform, root string) error {
	if _, err := p.Forward("bookshop/bookshop-mcp:80", address); err != nil {
		return err
	}
	begun := time.Now()
	say("applying config/samples")
	if err := p.Print(ctx, "apply", "--server-side", "-k", filepath.Join(root, "hack", "demo", "bookshop")); err != nil {
		return err
	}
	say("waiting until the bookshop is Ready")
	if err := p.Print(ctx, "-n", "bookshop", "wait", "--for=condition=Ready", "--timeout=120s",
		"mcpendpoint,mcpmodelexposure,mcptoken", "--all"); err != nil {
		return err
	}
	fmt.Printf("Ready %.1f s after it was applied.\n\n", time.Since(begun).Seconds())
	if err := p.Print(ctx, "-n", "bookshop", "get", "mcp"); err != nil {
		return err
	}
	url, err := p.Kubectl(ctx, "-n", "bookshop", "get", "mcpendpoint", "bookshop", "-o", "jsonpath={.status.url}")
	if err != nil {
		return err
	}
	clerk, err := p.Secret(ctx, "bookshop", "clerk")
	if err != nil {
		return err
	}
	say("a clerk's agent, with an MCP client (the official Go SDK)")
	if err := showClient(ctx, url, string(clerk["token"])); err != nil {
		return err
	}
	say("the same with curl")
	if err := showCurl(ctx, url, string(clerk["token"])); err != nil {
		return err
	}
	say("what an agent needs to know: kubectl -n bookshop get secret clerk -o jsonpath='{.data.mcp\\.json}' | base64 -d")
	fmt.Printf("%s\n\nThe endpoint is %s\n", strings.TrimSpace(string(clerk["mcp.json"])), url)
	return nil
}

// say prints the headline of a step.
func say(what string) { fmt.Printf("\n=== %s\n", what) }
