package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// report sums up all tasks on one engine.
type report struct {
	folder, engine string
	results        []*result
}

// exact is how many of some end states are exact.
func (r report) exact(results []*result) int {
	n := 0
	for _, one := range results {
		if len(one.problems) == 0 {
			n++
		}
	}
	return n
}

// write prints the numbers of tasks that change something and of tasks that do not, and each task that is not exact.
func (r report) write(to io.Writer) {
	for _, one := range r.results {
		if len(one.problems) > 0 {
			fmt.Fprintf(to, "%s: %s is not exact:\n  %s\n", r.engine, one.ID, strings.Join(one.problems, "\n  "))
		}
	}
	writes, others := r.results, []*result(nil)
	writes = slices.DeleteFunc(slices.Clone(writes), func(one *result) bool {
		if len(one.Writes) == 0 {
			others = append(others, one)
		}
		return len(one.Writes) == 0
	})
	fmt.Fprintf(to, "%s: of %d tasks that change rows %d are exact; of %d that change none %d\n", r.engine, len(writes), r.exact(writes), len(others), r.exact(others))
	sum := func(of func(*result) int) (n int) {
		for _, one := range r.results {
			n += of(one)
		}
		return n
	}
	fmt.Fprintf(to, "%s: %d transactions, each tried before with a last step that fails; %d actions refused; calls of a task: median %d, 90th percentile %d; bytes: %d, %d\n", r.engine,
		sum(func(one *result) int { return one.changes }), sum(func(one *result) int { return one.refused }),
		r.percentile(50, func(one *result) int { return one.calls }), r.percentile(90, func(one *result) int { return one.calls }),
		r.percentile(50, func(one *result) int { return one.bytes }), r.percentile(90, func(one *result) int { return one.bytes }))
}

// percentile is the value below or at which that part of the tasks is.
func (r report) percentile(percent int, of func(*result) int) int {
	if len(r.results) == 0 {
		return 0
	}
	values := make([]int, len(r.results))
	for i, one := range r.results {
		values[i] = of(one)
	}
	slices.Sort(values)
	return values[(len(values)-1)*percent/100]
}

// line is the last word on an engine.
func (r report) line() string {
	calls, bytes := 0, 0
	for _, one := range r.results {
		calls, bytes = calls+one.calls, bytes+one.bytes
	}
	exact := r.exact(r.results)
	return fmt.Sprintf("%s: %s %d tasks: %d exact, %d not exact, %d calls, %d bytes", r.folder, r.engine, len(r.results), exact, len(r.results)-exact, calls, bytes)
}
