// Command scale measures the manager with many objects. It starts a real API server and the real manager, each a process
// of its own, and simulates the pods: they follow their Configs and report as servers do. "make scale" and
// "make scale-full" run it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/mcp-admin/mcp-admin-operator/test/project"
)

const help = `scale measures the manager with many objects, and prints a table.

  go run ./test/scale -endpoints 10,100 -tokens 2000
  go run ./test/scale -endpoints 300 -tokens "" -steps "" -profile

`

// models is how many models the one endpoint with many tokens has.
const models = 500

func main() {
	endpoints := flag.String("endpoints", "10,100", "`numbers` of endpoints, with 10 exposures and 10 tokens each")
	tokens := flag.String("tokens", "2000", fmt.Sprintf("`numbers` of tokens of one endpoint with %d models", models))
	idle := flag.Duration("idle", 30*time.Second, "how long nothing is done, to see whether the manager does something")
	steps := flag.String("steps", strings.Join(allSteps, ","), "what is measured after all objects were created")
	profile := flag.Bool("profile", false, "write profiles of the manager, once all is Ready, into .local/scale")
	report := flag.String("json", "", "a `file` for everything that was measured")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), help)
		flag.PrintDefaults()
	}
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := options{idle: *idle, profile: *profile, report: *report}
	var err error
	if o.scenarios, err = scenariosOf(*endpoints, *tokens); err == nil {
		o.steps, err = stepsOf(*steps)
	}
	if err == nil {
		err = measureAll(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// options are the command line's.
type options struct {
	scenarios []scenario
	steps     []string
	idle      time.Duration
	profile   bool
	report    string
}

// measureAll measures the scenarios in turn, and prints what was found.
func measureAll(ctx context.Context, o options) error {
	root, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets = filepath.Join(root, "bin", "k8s")
	}
	dir := filepath.Join(root, ".local", "scale")
	program := filepath.Join(dir, "mcp-admin-manager")
	fmt.Println("building the manager …")
	if err := project.Build(ctx, "./cmd/manager", program); err != nil {
		return err
	}
	var results []*result
	for i, s := range o.scenarios {
		fmt.Printf("\n%s\n", s)
		began := time.Now()
		l, err := newLab(ctx, root, filepath.Join(dir, strconv.Itoa(i)), assets, program)
		if err != nil {
			return err
		}
		l.manager.profiled = o.profile
		r := &run{scenario: s, lab: l, out: os.Stdout, began: began, steps: o.steps, idleTime: o.idle, result: &result{Scenario: s}}
		if err := errors.Join(r.measure(ctx), l.stop()); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		fmt.Println(r.result.line())
		results = append(results, r.result)
		if err := writeJSON(o.report, results); err != nil {
			return err
		}
	}
	fmt.Println()
	writeTable(os.Stdout, results, o.steps)
	fmt.Println(largest(results).line())
	return ctx.Err()
}

// writeJSON writes what was measured so far to a file, if one is named.
func writeJSON(file string, results []*result) error {
	if file == "" {
		return nil
	}
	encoded, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(encoded, '\n'), 0o600)
}

// scenariosOf reads the lists of the command line.
func scenariosOf(endpoints, tokens string) ([]scenario, error) {
	var all []scenario
	for _, list := range []struct {
		text string
		of   func(n int) scenario
	}{
		{endpoints, func(n int) scenario { return scenario{n, 10, 10} }},
		{tokens, func(n int) scenario { return scenario{1, models, n} }},
	} {
		for text := range strings.SplitSeq(list.text, ",") {
			if text == "" {
				continue
			}
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 {
				return nil, fmt.Errorf("%q is not a list of numbers above 0", list.text)
			}
			all = append(all, list.of(n))
		}
	}
	if len(all) == 0 {
		return nil, errors.New("nothing to measure: give -endpoints or -tokens")
	}
	return all, nil
}

// stepsOf reads the list of steps.
func stepsOf(list string) ([]string, error) {
	var steps []string
	for step := range strings.SplitSeq(list, ",") {
		if step == "" {
			continue
		}
		if !slices.Contains(allSteps, step) {
			return nil, fmt.Errorf("%q is no step; the steps are %s", step, strings.Join(allSteps, ","))
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// largest is the scenario with the most endpoints, and of those the one with the most tokens.
func largest(results []*result) *result {
	found := results[0]
	for _, r := range results {
		if a, b := r.Scenario, found.Scenario; a.Endpoints > b.Endpoints || a.Endpoints == b.Endpoints && a.Tokens > b.Tokens {
			found = r
		}
	}
	return found
}
