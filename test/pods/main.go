// Command pods measures one endpoint with several server processes. A real API server and the real manager run it; the pods are real
// servers, each a process with an address of its own, over one PostgreSQL. "make pods" runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/mcp-admin/mcp-admin-operator/test/project"
)

const help = `pods measures one endpoint with 1, 2, 4 and 8 server processes over one PostgreSQL, and prints a table.

  make pods                              all of it; -write, which it sets, puts table and picture into docs
  go run ./test/pods -pods 1,3 -seconds 2

It needs PostgreSQL at MCP_TEST_POSTGRES, which make sets, and the API server in KUBEBUILDER_ASSETS (make kube).
For each number of pods it measures
  load        agents that ask as fast as they get answers, their calls spread over the pods in turn
  noise       the same beside a token with many calls at once, for a token with one
  keys        calls with one idempotency key, sent to all pods at once
  rate        a token that asks more often than it may: spread over the pods, and over one connection that it keeps
  revocation  from the deletion of an MCPToken until every pod refuses it
and with three pods
  approvals   from a person's decision until every pod acts on it, one of them by running the call
No figure is a verdict: they are the machine's. Calls that happen twice are an error.

`

func main() {
	o := options{}
	numbers := flag.String("pods", "1,2,4,8", "`numbers` of pods")
	seconds := flag.Float64("seconds", 5, "how long each load lasts")
	flag.IntVar(&o.approvals, "approvals", 200, "how many calls people allow")
	flag.IntVar(&o.revocations, "revocations", 50, "how many tokens are revoked at each number of pods")
	flag.BoolVar(&o.write, "write", false, "write the table and the picture into docs")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), help)
		flag.PrintDefaults()
	}
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	o.duration = time.Duration(*seconds * float64(time.Second))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := o.take(*numbers)
	if err == nil {
		err = measure(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pods:", err)
		os.Exit(1)
	}
}

// options are the command line's.
type options struct {
	numbers                []int
	duration               time.Duration
	approvals, revocations int
	write                  bool
}

func (o *options) take(numbers string) error {
	for text := range strings.SplitSeq(numbers, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxPods {
			return fmt.Errorf("-pods: %q is no number from 1 to %d", text, maxPods)
		}
		o.numbers = append(o.numbers, n)
	}
	return nil
}

// podsOfApprovals is how many pods there are while people decide.
const podsOfApprovals = 3

func measure(ctx context.Context, o options) (err error) {
	dir := filepath.Join(project.Root(), ".local", "pods")
	fmt.Println("building manager and server, and starting the API server …")
	l, err := newLab(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.stop()) }()
	s, err := newShop(ctx, l)
	if err != nil {
		return err
	}
	defer s.stop()
	var all []*result
	for _, n := range o.numbers {
		r, err := s.measure(ctx, n, o)
		if err != nil {
			return fmt.Errorf("%d pods: %w", n, err)
		}
		fmt.Println(r)
		all = append(all, r)
	}
	var decided latencies
	if o.approvals > 0 {
		if decided, err = s.measureApprovals(ctx, o.approvals); err != nil {
			return fmt.Errorf("approvals: %w", err)
		}
		fmt.Printf("approvals: %d pods, %d calls allowed, from the decision until every pod acts on it p50 %s ms, p99 %s ms\n", podsOfApprovals, len(decided),
			ms(decided.at(50)), ms(decided.at(99)))
	}
	if o.write {
		if err := writeDocuments(all, decided, o); err != nil {
			return err
		}
	}
	fmt.Println(lastLine(all))
	return ctx.Err()
}
