// Command clients runs the public MCP clients against a real server, the bookshop, with each protocol version that they
// speak: every one connects, lists and calls tools, lists and reads resources, lists and gets prompts, and is then sent
// away with a wrong token, which must end in a clear error, at once. Nothing imports it; run it from the project's root,
// after "make build":
//
//	go run ./test/clients [CLIENT…]
//
// It prints a table. The exit code is 1 unless everything went well.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/mcp-admin/mcp-admin-operator/test/bookshop"
	"github.com/mcp-admin/mcp-admin-operator/test/node"
)

// folder is where the clients lie: those on npm in it, those in Go in its folder go.
const folder = "test/clients"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	good, err := run(ctx, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
	}
	if err != nil || !good {
		os.Exit(1)
	}
}

func run(ctx context.Context, only []string) (good bool, err error) {
	scratch, err := os.MkdirTemp("", "mcp-admin-clients-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(scratch)
	if err := install(ctx, scratch); err != nil {
		return false, err
	}
	program, err := node.Find(ctx)
	if err != nil {
		return false, err
	}
	shop, err := bookshop.Start(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, shop.Stop()) }()

	rows := slices.DeleteFunc(clients(program, scratch), func(c client) bool {
		return len(only) > 0 && !slices.Contains(only, c.name)
	})
	report := make([]row, len(rows))
	slots := make(chan struct{}, 3) // Inspector alone is two dozen starts of Node.js
	var running sync.WaitGroup
	for i, c := range rows {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			report[i] = ask(ctx, c, shop)
		})
	}
	running.Wait()
	return printReport(os.Stdout, report), nil
}

// install makes sure of the clients on npm, and builds those in Go.
func install(ctx context.Context, scratch string) error {
	if err := node.Install(ctx, folder); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", scratch, "./gosdk", "./mcpgo")
	build.Dir = filepath.Join(folder, "go")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build in %s: %w\n%s", build.Dir, err, out)
	}
	return nil
}
