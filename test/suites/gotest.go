package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// patience ends a suite that hangs; no verdict depends on it otherwise.
const patience = time.Hour

// usualSeed makes the random tests try the same things each time, so that a red suite is the fault of the change. For others
// set MCP_TEST_SEED to another number.
const usualSeed = "20261123"

// outcome is the result of a suite.
type outcome struct {
	suite *suite
	// tests are the finished tests, skips how many gave each reason not to run.
	tests int
	skips map[string]int
	took  time.Duration
	// processor is the processor time of all that the suite started. Database servers run beside it and are not counted.
	processor time.Duration
	// summary are the lines that the suite says of itself; failures the output of what failed.
	summary, failures []string
	err               error
}

// run runs the suite to its end. Cancelling the context interrupts it.
func (s *suite) run(ctx context.Context) *outcome {
	o := &outcome{suite: s, skips: map[string]int{}}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	o.err = o.run(ctx)
	o.took = time.Since(began)
	return o
}

func (o *outcome) run(ctx context.Context) error {
	log, err := os.Create(o.suite.log())
	if err != nil {
		return err
	}
	defer log.Close()
	for _, args := range o.suite.commands() {
		err = errors.Join(err, o.command(ctx, args, log))
	}
	if ctx.Err() != nil {
		return errors.Join(errors.New("it was ended before it was done"), err)
	}
	return err
}

// commands are the suite's program, or the commands that test its packages: the go command may give an earlier result of
// those that are closed.
func (s *suite) commands() [][]string {
	if s.program != nil {
		return [][]string{s.program}
	}
	var commands [][]string
	for _, one := range []struct {
		packages []string
		flags    []string
	}{{s.packages, []string{"-count=1"}}, {s.closed, nil}} {
		if len(one.packages) > 0 {
			// vet is a linter's affair. A test's own limit of time would hide which test hangs.
			flags := append([]string{"-json", "-vet=off", fmt.Sprintf("-timeout=%s", patience)}, one.flags...)
			commands = append(commands, slices.Concat([]string{"go", "test"}, flags, one.packages, s.args))
		}
	}
	return commands
}

// command runs one command of the suite, and takes in what it prints.
func (o *outcome) command(ctx context.Context, args []string, log io.Writer) error {
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Env = append(append(os.Environ(), o.suite.environment...), "MCP_TEST_SEED="+cmp.Or(os.Getenv("MCP_TEST_SEED"), usualSeed))
	if !o.suite.alone {
		// A test's memory is small and short-lived: collecting it less often saves a tenth of the processor's time.
		c.Env = append(c.Env, "GOGC="+cmp.Or(os.Getenv("GOGC"), "400"))
	}
	if o.suite.whole {
		c.Env = append(c.Env, "MCP_TEST_WHOLE=1")
	}
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGINT) }
	c.WaitDelay = time.Minute // for what it started to be stopped
	reader, writer := io.Pipe()
	c.Stdout, c.Stderr = writer, writer
	done := make(chan struct{})
	go func() {
		defer close(done)
		if o.suite.program != nil {
			o.readProgram(reader, log)
		} else {
			o.readTests(reader, log)
		}
	}()
	err := c.Run()
	if c.ProcessState != nil {
		o.processor += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	_ = writer.Close() // it cannot fail
	<-done
	return err
}

// event is a line of "go test -json".
type event struct {
	Action, Package, Test, Output, FailedBuild, ImportPath string
}

// own are lines in which a suite sums up what it tried.
var own = regexp.MustCompile(`^\s*(agents|approvals|attacks|documents|engines|faults|fewer tools|five minutes|monitoring|not run|oracle|permissions|schemas|self-test|times|twins)[:,]`)

// maxFailures is how many lines of what failed are printed.
const maxFailures = 400

// readTests reads what "go test -json" writes.
func (o *outcome) readTests(r io.Reader, log io.Writer) {
	output := map[[2]string][]string{} // of each test that has not ended
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			e = event{Action: "output", Output: lines.Text() + "\n"} // of the go command itself
			o.fail(e.Output)
		}
		_, _ = io.WriteString(log, e.Output) // the log helps people; the verdict does not need it
		o.take(&e, output)
	}
	if err := lines.Err(); err != nil {
		o.fail(err.Error())
		_, _ = io.Copy(io.Discard, r)
	}
}

// take takes an event in; output is each test's output so far.
func (o *outcome) take(e *event, output map[[2]string][]string) {
	key := [2]string{e.Package, e.Test}
	switch e.Action {
	case "output":
		if own.MatchString(e.Output) {
			o.summary = append(o.summary, strings.TrimSpace(e.Output))
		}
		if !strings.HasPrefix(strings.TrimSpace(e.Output), "=== ") {
			output[key] = append(output[key], e.Output)
		}
		return
	case "build-output":
		o.fail(e.Output)
		return
	case "fail":
		o.fail(output[key]...)
	case "skip":
		if e.Test != "" {
			o.skips[reason(output[key])]++
		}
	case "pass":
	default:
		return
	}
	if e.Test != "" {
		o.tests++
	}
	delete(output, key)
}

// fail keeps lines about what failed, as many as somebody would read.
func (o *outcome) fail(lines ...string) {
	o.failures = append(o.failures, lines[:min(len(lines), max(0, maxFailures-len(o.failures)))]...)
}

// place is where a test says why it is skipped.
var place = regexp.MustCompile(`^\s*\S+\.go:\d+: `)

// reason is why a test was skipped.
func reason(output []string) string {
	for _, line := range output {
		if at := place.FindString(line); at != "" {
			return strings.TrimSpace(line[len(at):])
		}
	}
	return "it does not say why"
}

// readProgram keeps what a program writes; its last lines are printed if it fails.
func (o *outcome) readProgram(r io.Reader, log io.Writer) {
	const last = 60
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		_, _ = fmt.Fprintln(log, lines.Text())
		o.failures = append(o.failures, lines.Text()+"\n")
		o.failures = o.failures[max(0, len(o.failures)-last):]
	}
	if lines.Err() != nil {
		_, _ = io.Copy(io.Discard, r)
	}
}
