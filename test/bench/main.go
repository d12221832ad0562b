// Command bench measures the server beside limit, a bare Go server that sends the same SQL through the same driver and has
// no rights, policies or journal of its own: what the hardware can do. "make bench" runs all of it.
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
	"syscall"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/test/project"
)

const help = `bench measures the server beside limit, a bare Go server that sends the same SQL through the same driver.

  make bench                                                     all of it, with database servers of its own
  go run ./test/bench -engines PostgreSQL -ops get,list -keep    two operations, on the servers that
                                                                 MCP_TEST_POSTGRES and MCP_TEST_MARIADB name
  make profile BENCH='-ops list'                                 where the server's time goes, as a flame graph
  go run ./test/bench -ops create -before /tmp/old-server        the same beside another build of the server

A round measures each operation on each server, one after the other. The figures are medians of the rounds: server CPU in
microseconds a request, which other programs hardly disturb; latencies; bytes allocated a request. "others" is how much of the
machine other programs used meanwhile; a database server's own time is not in it. Before that, the answers of both are compared.

`

// The usual size of a run. The document has the results of no smaller one.
const usualRounds, usualBooks = 5, 1000000

type options struct {
	engines, ops  []string
	rounds, conns int
	seconds       float64
	books         int
	keep, show    bool
	write         bool
	// server and before are programs, profile is a folder.
	server, before, profile string
	// ahead is how long the engines will take that come next, but for their data.
	ahead time.Duration
}

func main() {
	o := options{}
	engines := flag.String("engines", strings.Join(names(engines, func(e engine) string { return e.name }), ","), "the `engines`")
	ops := flag.String("ops", strings.Join(names(operations, func(o operation) string { return o.name }), ","), "the `operations`")
	flag.IntVar(&o.rounds, "rounds", usualRounds, "how many rounds")
	flag.Float64Var(&o.seconds, "seconds", 2, "how long each operation is measured on each server in each round")
	flag.IntVar(&o.conns, "conns", 8, "connections of agents; the servers have 8 of the database")
	flag.IntVar(&o.books, "rows", usualBooks, "rows of the table of books; there is an author for each hundred")
	flag.BoolVar(&o.keep, "keep", false, "keep the databases, and use them again next time")
	flag.BoolVar(&o.show, "show", false, "print an answer of each operation by each server, and measure nothing")
	flag.BoolVar(&o.write, "write", false, "write the results to "+document+" if all is measured")
	flag.StringVar(&o.server, "server", "", "`program` to measure as the server; none: the project's is built")
	flag.StringVar(&o.before, "before", "", "another `program` of the server to measure beside it")
	flag.StringVar(&o.profile, "profile", "", "write profiles of the server at each operation to this `folder`, and measure nothing")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), help)
		flag.PrintDefaults()
	}
	flag.Parse()
	o.engines, o.ops = strings.Split(*engines, ","), strings.Split(*ops, ",")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func names[T any](all []T, name func(T) string) []string {
	var found []string
	for _, one := range all {
		found = append(found, name(one))
	}
	return found
}

// chosen are the elements with these names, in their own order.
func chosen[T any](what string, all []T, name func(T) string, wanted []string) ([]T, error) {
	known := names(all, name)
	for _, w := range wanted {
		if !slices.Contains(known, w) {
			return nil, fmt.Errorf("-%s: %q is none of %s", what, w, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(one T) bool { return !slices.Contains(wanted, name(one)) }), nil
}

func (o *options) run(ctx context.Context) error {
	on, err := chosen("engines", engines, func(e engine) string { return e.name }, o.engines)
	if err != nil {
		return err
	}
	ops, err := chosen("ops", operations, func(o operation) string { return o.name }, o.ops)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder(), 0o700); err != nil {
		return err
	}
	programs, err := o.build(ctx)
	if err != nil {
		return err
	}
	var all []measured
	for i, e := range on {
		o.ahead = 0
		for _, later := range on[i+1:] {
			o.ahead += o.planned(later.ops(ops))
		}
		found, err := o.measure(ctx, &e, e.ops(ops), programs)
		if err != nil {
			return errors.Join(err, context.Cause(ctx))
		}
		all = append(all, found...)
	}
	if o.show || o.profile != "" {
		return nil
	}
	fmt.Println()
	writeTable(os.Stdout, all)
	whole := len(on) == len(engines) && len(ops) == len(operations) && o.rounds >= usualRounds && o.books >= usualBooks
	if o.write && !whole {
		fmt.Println(document + " is left alone: it has the results of all engines and operations, with the usual rows and rounds")
	} else if o.write {
		if err := o.document(all); err != nil {
			return err
		}
	}
	fmt.Println(line(all))
	return nil
}

// built are the programs' files; before is "" if there is none.
type built struct{ server, before, limit string }

func (o *options) build(ctx context.Context) (built, error) {
	b := built{server: o.server, before: o.before}
	if b.server == "" {
		fmt.Println("building the server …")
		b.server = filepath.Join(folder(), "mcp-admin-server")
		if err := project.Build(ctx, "./cmd/server", b.server); err != nil {
			return b, err
		}
	}
	b.limit = filepath.Join(folder(), "limit")
	return b, project.Build(ctx, "./test/bench/limit", b.limit)
}

func (o *options) duration() time.Duration { return time.Duration(o.seconds * float64(time.Second)) }

// planned is how long it takes to measure the operations on an engine.
func (o *options) planned(ops []operation) time.Duration {
	cells := 0
	for _, op := range ops {
		cells++
		if op.limited() {
			cells++
		}
		if o.before != "" {
			cells++
		}
	}
	return time.Duration(o.rounds*cells) * (o.duration() + warm)
}
