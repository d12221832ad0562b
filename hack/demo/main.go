// Command demo shows the project's main job: it starts a local cluster with the operator, applies the samples, waits
// until all is Ready, asks the endpoint and writes to it as agents would, and keeps running until it is interrupted.
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
	// address is the endpoint's externalURL in hack/demo/bookshop.
	address = "127.0.0.1:18080"
	usage   = `demo starts a local cluster under .local/demo with the operator and the bookshop samples, reads
and writes with MCP clients and with curl, prints the answers and keeps running until it is interrupted.

  make demo                 builds all that it needs
  DEMO_EXIT=1 make demo     ends after the answers`
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	switch {
	case len(os.Args) == 1:
		err = run(ctx)
	case os.Args[1] == "agent":
		err = runAgent(ctx, os.Args[2:])
	default:
		fmt.Println(usage)
		return
	}
	switch {
	case ctx.Err() != nil: // calls that are cut off by the interrupt are not failures
		fmt.Println("\nThe demo was interrupted. The local cluster has ended; its logs are in .local/demo.")
	case err != nil:
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
	fmt.Printf("\nRunning until you press Ctrl-C. To look around:\n\n  export KUBECONFIG=%s PATH=%s:$PATH\n  kubectl get mcp -A\n  kubectl -n bookshop logs deployment/bookshop-mcp\n",
		p.Kubeconfig(), p.Assets())
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
	clerk, err := newClerk(p, url)
	if err != nil {
		return err
	}
	owner, err := p.Secret(ctx, "bookshop", "owner")
	if err != nil {
		return err
	}
	if err := converse(ctx, url, clerk, string(owner["token"])); err != nil {
		return err
	}
	say("a question with curl")
	if err := showCurl(ctx, url, string(owner["token"])); err != nil {
		return err
	}
	say("what an agent outside of the cluster needs to know: kubectl -n bookshop get secret owner -o jsonpath='{.data.mcp\\.json}' | base64 -d")
	fmt.Printf("%s\n\nThe endpoint is %s\n", strings.TrimSpace(string(owner["mcp.json"])), url)
	return nil
}

// converse lets two agents work in the shop: a clerk's with few rights, in pods without a Secret, and the owner's, with the
// text in its own.
func converse(ctx context.Context, url string, clerk *clerk, ownerToken string) error {
	owner, err := connect(ctx, url, bearer(ownerToken))
	if err != nil {
		return err
	}
	defer owner.session.Close()
	for _, step := range []struct {
		headline string
		by       interface {
			showCalls(ctx context.Context, calls ...string) error
		}
		calls []string
	}{
		{"a clerk's agent: a pod with a token of its ServiceAccount, and no Secret (the MCP client is the official Go SDK)", clerk, []string{
			toolsList,
			`list_book {"filters":{"author__country":"Poland"},"fields":["title","price"]}`,
			`list_customer {}`,
		}},
		{"the owner's agent writes, but not over what changed meanwhile, nor what is read-only", owner, []string{
			`create_review {"data":{"book_id":4,"reader":"Stan","rating":4,"text":"Read it twice."}}`,
			`update_review {"id":5,"data":{"rating":5},"expected_version":1}`,
			`update_review {"id":5,"data":{"rating":1},"expected_version":1}`,
			`update_review {"id":5,"data":{"state":"published"}}`,
		}},
		{"the clerk's agent may neither change it, by its rights, nor see it, by a row policy: it is not published", clerk, []string{
			`update_review {"id":5,"data":{"rating":1}}`,
			`get_review {"id":5}`,
		}},
		{"the owner's agent publishes it, by an action that asks first", owner, []string{
			`action_review {"action":"publish","ids":[5]}`,
			`action_review {"action":"publish","ids":[5],"confirm":true,"confirmation_token":"$confirmation_token"}`,
		}},
		{"the clerk's agent answers it, by an action that its group was granted", clerk, []string{
			`action_review {"action":"answer","ids":[5],"confirmation_data":{"text":"So did we."}}`,
			`get_review {"id":5}`,
		}},
		{"who did what", owner, []string{`history_review {"id":5,"limit":3}`}},
	} {
		say(step.headline)
		if err := step.by.showCalls(ctx, step.calls...); err != nil {
			return err
		}
	}
	return nil
}

// say prints the headline of a step.
func say(what string) { fmt.Printf("\n=== %s\n", what) }
