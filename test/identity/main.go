// Command identity proves on the whole product who is let in by a token that somebody else issued, and who is not: on
// the local cluster, with the real operator and servers, with tokens that the real API server issued to
// ServiceAccounts, and with tokens of a third party's authorization server (oidc-provider, from npm). Nothing imports
// it; run it from the project's root, after "make build":
//
//	go run ./test/identity
//
// It prints a table. Its last line counts, and the exit code is 1 unless nothing went wrong.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/mcp-admin/mcp-admin-operator/test/node"
)

// folder is where the programs on npm lie.
const folder = "test/identity"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	good, err := run(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "identity:", err)
	}
	if err != nil || !good {
		os.Exit(1)
	}
}

func run(ctx context.Context) (good bool, err error) {
	root, err := filepath.Abs(".")
	if err != nil {
		return false, err
	}
	if err := node.Install(ctx, folder); err != nil {
		return false, err
	}
	program, err := node.Find(ctx)
	if err != nil {
		return false, err
	}
	w, err := newWorld(ctx, root, program)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	r := &report{out: os.Stdout}
	for _, part := range []func(context.Context, *world, *report) error{
		letIn, refuse, refuseReviewed, survive, revoke, connectClients, outlast,
	} {
		if err := part(ctx, w, r); err != nil {
			return false, err
		}
	}
	return r.print(), nil
}
