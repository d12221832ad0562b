// Command suites runs the project's tests, some suites side by side, and prints of each, once it has ended, how it went
// and how long it took. What failed is printed in full; the whole output of a suite lies in bin/test/NAME.log. Nothing
// imports it; run it from the project's root:
//
//	go run ./test/suites [-rest] [-side-by-side N] [-run REGEXP] [NAME…]
//	go run ./test/suites -list
//
// Suites that need a database find it by MCP_TEST_POSTGRES and MCP_TEST_MARIADB (go run ./test/databases run), and test
// SQLite alone without. The exit code is 1 unless every suite passed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// logs is where the output of each suite is kept.
const logs = "bin/test"

func main() {
	rest := flag.Bool("rest", false, "run the suites that \"make test\" leaves out, and those of which it does a part; tests are whole")
	only := flag.String("run", "", "run only the tests whose names match")
	list := flag.Bool("list", false, "list the suites")
	beside := flag.Int("side-by-side", 4, "how many suites run at the same time")
	flag.Parse()
	if *list {
		for _, s := range everything {
			fmt.Printf("%-12s %s%s\n", s.name, s.about, map[bool]string{true: " (-rest)"}[s.rest])
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, flag.Args(), *rest, *only, *beside); err != nil {
		fmt.Fprintln(os.Stderr, "test/suites:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, names []string, rest bool, only string, beside int) error {
	picked, err := chosen(names, rest)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(logs, 0o700); err != nil {
		return err
	}
	if err := prepare(ctx, picked, rest, only); err != nil {
		return err
	}
	began := time.Now()
	fmt.Printf("%d suites, %d at a time; their output is in %s\n", len(picked), beside, logs)
	var sum results
	for _, group := range [][]*suite{
		slices.DeleteFunc(slices.Clone(picked), func(s *suite) bool { return s.alone }),
		slices.DeleteFunc(slices.Clone(picked), func(s *suite) bool { return !s.alone }),
	} {
		width := beside
		if len(group) > 0 && group[0].alone {
			width = 1
		}
		sum.run(ctx, group, width)
	}
	return sum.tell(time.Since(began))
}

// prepare says what the suites do this time.
func prepare(ctx context.Context, picked []*suite, rest bool, only string) error {
	alike, err := closed(ctx)
	if err != nil {
		return err
	}
	for _, s := range picked {
		s.whole = rest
		if only != "" {
			s.args = append(s.args, "-run", only)
		}
		if s.program != nil {
			continue
		}
		if s.name == "units" {
			s.packages, err = others(ctx)
		} else {
			s.packages, err = packages(ctx, s.packages...)
		}
		if err != nil {
			return err
		}
		for _, p := range s.packages {
			if slices.Contains(alike, p) {
				s.closed = append(s.closed, p)
			}
		}
		s.packages = slices.DeleteFunc(s.packages, func(p string) bool { return slices.Contains(s.closed, p) })
	}
	return nil
}

// others are the packages that no suite names.
func others(ctx context.Context) ([]string, error) {
	every, err := packages(ctx, "./...")
	if err != nil {
		return nil, err
	}
	named, err := packages(ctx, claimed()...)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(every, func(p string) bool { return slices.Contains(named, p) }), nil
}

func packages(ctx context.Context, patterns ...string) ([]string, error) {
	c := exec.CommandContext(ctx, "go", append([]string{"list"}, patterns...)...)
	c.Stderr = os.Stderr
	text, err := c.Output()
	return strings.Fields(string(text)), err
}

// results are the results of the suites that have ended.
type results struct {
	mu              sync.Mutex
	suites          int
	tests, skipped  int
	failed          []string
	reasonsOfSkips  map[string]int
	took, processor time.Duration // the sum of all suites
}

// run runs suites, so many at a time, and prints a line about each once it has ended.
func (r *results) run(ctx context.Context, suites []*suite, beside int) {
	var running sync.WaitGroup
	places := make(chan struct{}, beside)
	for _, s := range suites {
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			r.add(s.run(ctx))
		})
	}
	running.Wait()
}

func (r *results) add(o *outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.suites++
	r.tests += o.tests
	r.took += o.took
	r.processor += o.processor
	if r.reasonsOfSkips == nil {
		r.reasonsOfSkips = map[string]int{}
	}
	for reason, n := range o.skips {
		r.skipped += n
		r.reasonsOfSkips[reason] += n
	}
	verdict := "ok    "
	if o.err != nil {
		verdict = "FAILED"
		r.failed = append(r.failed, o.suite.name)
	}
	fmt.Printf("%s %-12s %6d tests  %s (processor %s)\n", verdict, o.suite.name, o.tests, clock(o.took), clock(o.processor))
	for _, line := range o.summary {
		fmt.Println("         " + line)
	}
	if o.err != nil {
		fmt.Printf("%s\n--- %s: %v; all of its output is in %s\n", strings.Join(o.failures, ""), o.suite.name, o.err, o.suite.log())
	}
}

// tell prints the sum, and fails if a suite did.
func (r *results) tell(took time.Duration) error {
	reasons := make([]string, 0, len(r.reasonsOfSkips))
	for reason, n := range r.reasonsOfSkips {
		reasons = append(reasons, fmt.Sprintf("  %4d skipped: %s", n, reason))
	}
	slices.Sort(reasons)
	for _, reason := range reasons {
		fmt.Println(reason)
	}
	fmt.Printf("%d suites, %d tests, %d skipped, %s (%s one after the other, processor %s)\n",
		r.suites, r.tests, r.skipped, clock(took), clock(r.took), clock(r.processor))
	if len(r.failed) > 0 {
		return errors.New("failed: " + strings.Join(r.failed, ", "))
	}
	return nil
}

// clock is a duration as people read it, as in 3 min 07 s.
func clock(d time.Duration) string {
	seconds := int(d.Round(time.Second) / time.Second)
	return fmt.Sprintf("%2d min %02d s", seconds/60, seconds%60)
}

// log is the file with the suite's output.
func (s *suite) log() string { return filepath.Join(logs, s.name+".log") }
