// Command conformance runs the official MCP conformance suite against the server: at the requirements of each protocol
// revision that has them, and each time against two endpoints. One is a whole server over a small SQLite database; the
// other answers from a fixture with the tools, prompts and resources that the suite asks for by name, so that it is the
// protocol layer that is judged. Nothing imports it; run it from the project's root:
//
//	go run ./test/conformance [-v] [SCENARIO…]
//
// What fails must be named in expected-failures.yaml, with a reason, and what is named there must fail. The exit code
// is 1 otherwise. With scenarios named, only those are judged, and -v prints what the suite sent and was answered.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/mcp-admin/mcp-admin-operator/test/node"
)

// folder is where the suite's packages and the list of expected failures lie.
const folder = "test/conformance"

// revisions are the revisions that the suite has requirements of.
var revisions = []string{"2025-11-25", "2026-07-28"}

func main() {
	verbose := flag.Bool("v", false, "print the details of what failed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	good, err := run(ctx, *verbose, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
	}
	if err != nil || !good {
		os.Exit(1)
	}
}

func run(ctx context.Context, verbose bool, only []string) (good bool, err error) {
	text, err := os.ReadFile(filepath.Join(folder, "expected-failures.yaml"))
	if err != nil {
		return false, err
	}
	expected, err := parseExpectations(string(text))
	if err != nil {
		return false, err
	}
	program, err := node.Find(ctx)
	if err != nil {
		return false, err
	}
	if err := node.Install(ctx, folder); err != nil {
		return false, err
	}
	results, err := runAll(ctx, program)
	if err != nil {
		return false, err
	}
	if len(only) > 0 {
		results = slices.DeleteFunc(results, func(r result) bool { return !slices.Contains(only, r.scenario) })
	}
	v := judge(results, expected, len(only) == 0)
	v.print(os.Stdout, verbose)
	return v.good(), nil
}

// runAll runs the suite at every revision against both endpoints, two at a time.
func runAll(ctx context.Context, program string) ([]result, error) {
	out, err := os.MkdirTemp("", "mcp-admin-conformance-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(out)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var (
		mu      sync.Mutex
		results []result
		failed  error
		running sync.WaitGroup
	)
	for _, e := range endpoints {
		url, err := e.serve(ctx, filepath.Join(out, e.name))
		if err != nil {
			return nil, fmt.Errorf("the %s endpoint: %w", e.name, err)
		}
		running.Go(func() {
			for _, revision := range revisions {
				fmt.Printf("running the requirements of %s against the %s endpoint …\n", revision, e.name)
				found, err := runSuite(ctx, program, url, revision, filepath.Join(out, e.name, revision))
				mu.Lock()
				results = append(results, e.counted(found)...)
				failed = errors.Join(failed, err)
				mu.Unlock()
			}
		})
	}
	running.Wait()
	slices.SortStableFunc(results, func(a, b result) int {
		return strings.Compare(a.revision+a.endpoint+a.scenario, b.revision+b.endpoint+b.scenario)
	})
	return results, failed
}
