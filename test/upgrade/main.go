// Command upgrade goes from this release to the next one and back, on the local cluster, while agents call: objects,
// Configs and pods of the one under the manager of the other. It says what was refused, and what should have been.
// "make upgrade" runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/hack/platform"
)

var began = time.Now()

func say(format string, args ...any) {
	fmt.Printf("%6.1fs  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
}

func main() {
	many := flag.Int("many", 500, "how many tokens the endpoint has whose Config is lost")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := measure(ctx, *many); err != nil {
		fmt.Fprintln(os.Stderr, "upgrade:", err)
		os.Exit(1)
	}
}

// measure goes through all situations and prints the table. It is an error if a number that must be 0 is not.
func measure(ctx context.Context, many int) (err error) {
	root, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	server := os.Getenv("MCP_TEST_POSTGRES")
	if server == "" {
		return errors.New("MCP_TEST_POSTGRES is not set: make upgrade sets it to a PostgreSQL server of its own")
	}
	t := &test{many: many, server: server}
	say("building this release and the next")
	programs := filepath.Join(root, ".local", "upgrade-programs")
	if t.this, err = thisRelease(ctx, root, programs); err != nil {
		return err
	}
	if t.next, err = nextRelease(ctx, root, programs); err != nil {
		return err
	}
	if t.connection, err = makeDatabase(ctx, server); err != nil {
		return err
	}
	images := t.this.images()
	maps.Copy(images, t.next.images())
	images[brokenImage] = "/bin/false"
	t.cluster, err = platform.StartCluster(ctx, root, filepath.Join(root, ".local", "upgrade"), images, os.Stdout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.cluster.Stop()) }()
	problem := t.run(ctx)
	fmt.Println()
	writeTable(os.Stdout, t.results)
	return errors.Join(problem, check(t.results))
}

func writeTable(out io.Writer, results []counts) {
	w := tabwriter.NewWriter(out, 2, 0, 2, ' ', 0)
	fmt.Fprintln(w, "situation\tcalls\tliving refused\tfailed otherwise\twrites\twrites refused\trevoked\tanswered after 10 s\tslowest revocation\tchanges undone")
	for _, r := range results {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.1f s\t%d\n", r.situation, r.sent, r.refused, r.failed, r.writes, r.writesRefused,
			r.revoked, r.answeredLate, r.slowest.Seconds(), r.undone)
	}
	_ = w.Flush()
	for _, r := range results {
		if r.problem != "" {
			fmt.Printf("%s, for example: %s\n", r.situation, r.problem)
		}
	}
}

// check reports what must not be: a living token that was refused, a revoked one that was answered late, a call or a write
// that failed where the endpoint had no reason to be closed, a change that was not done.
func check(results []counts) error {
	var problems []error
	for _, r := range results {
		wrong := r.refused + r.answeredLate + r.undone
		if !r.closes {
			wrong += r.failed + r.writesRefused
		}
		if r.sent == 0 || wrong > 0 {
			problems = append(problems, fmt.Errorf("%s: of %d calls %d living tokens refused, %d calls failed, %d writes refused, %d calls with revoked tokens answered after %s, %d changes undone",
				r.situation, r.sent, r.refused, r.failed, r.writesRefused, r.answeredLate, late, r.undone))
		}
	}
	return errors.Join(problems...)
}
