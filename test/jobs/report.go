package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// report has the results on one engine.
type report struct {
	engine  string
	results []*result
}

func count(results []*result, o outcome) int {
	n := 0
	for _, one := range results {
		if one.outcome == o {
			n++
		}
	}
	return n
}

// line is the summary of the questions that are not open.
func (r *report) line() string {
	bytes, scored := 0, notOpen(r.results)
	for _, one := range scored {
		bytes += one.bytes
	}
	return fmt.Sprintf("jobs: %s %d questions, without %d that are open: %s, %d bytes", r.engine, len(scored), len(r.results)-len(scored), counts(scored), bytes)
}

// notOpen are the questions that have one right answer. A question is open where the set says so: its query shows or compares a column
// that is neither grouped nor aggregated, so that the engine chooses the row, or the first of several rows that are equal in the order.
func notOpen(results []*result) []*result {
	return filtered(results, func(one *result) bool { return !one.Open })
}

// counts says how questions went.
func counts(results []*result) string {
	return fmt.Sprintf("%d in one call, %d in at most %d, %d not, %d wrong",
		count(results, outcomeOneCall), count(results, outcomeFewCalls), mostCalls, count(results, outcomeNot), count(results, outcomeWrong))
}

func (r *report) write(w io.Writer) {
	fmt.Fprintf(w, "\n%s\n", r.engine)
	r.writeFailures(w)
	fmt.Fprintf(w, "\n  %-32s %5s %8s %8s %5s %5s %s\n", "", "all", "one call", "at most "+fmt.Sprint(mostCalls), "not", "wrong", "median/p90 bytes; of the rows alone; of reading the tables")
	scored := notOpen(r.results)
	withRows := filtered(scored, func(one *result) bool { return one.hasRows() })
	writeLine(w, "questions that are not open", scored)
	writeLine(w, "  with rows", withRows)
	writeLine(w, "queries that are not open", queries(scored))
	writeLine(w, "  with rows", queries(withRows))
	byNeed := map[string][]*result{}
	for _, one := range scored {
		for _, need := range one.Needs {
			byNeed[need] = append(byNeed[need], one)
		}
		if len(one.Needs) == 0 {
			byNeed["nothing of these"] = append(byNeed["nothing of these"], one)
		}
	}
	for _, need := range bySize(byNeed) {
		writeLine(w, need, byNeed[need])
	}
}

// writeLine writes how some questions went.
func writeLine(w io.Writer, name string, results []*result) {
	answered := filtered(results, func(one *result) bool { return one.outcome == outcomeOneCall || one.outcome == outcomeFewCalls })
	one, few := count(results, outcomeOneCall), len(answered)
	fmt.Fprintf(w, "  %-32s %5d %7.1f%% %7.1f%% %5d %5d", name, len(results), percent(one, len(results)), percent(few, len(results)),
		count(results, outcomeNot), count(results, outcomeWrong))
	if len(answered) > 0 {
		fmt.Fprintf(w, " %s; %s; %s", spread(answered, func(one *result) int { return one.bytes }), spread(answered, func(one *result) int { return one.rowBytes() }),
			spread(answered, func(one *result) int { return one.reading }))
	}
	fmt.Fprintln(w)
}

func percent(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// spread is the median and the 90th percentile.
func spread(results []*result, value func(*result) int) string {
	values := make([]int, len(results))
	for i, one := range results {
		values[i] = value(one)
	}
	slices.Sort(values)
	return fmt.Sprintf("%d/%d", values[(len(values)-1)/2], values[(len(values)-1)*9/10])
}

func filtered(results []*result, keep func(*result) bool) []*result {
	return slices.DeleteFunc(slices.Clone(results), func(one *result) bool { return !keep(one) })
}

// queries leaves one question for each query.
func queries(results []*result) []*result {
	seen := map[string]bool{}
	return filtered(results, func(one *result) bool {
		key := one.Database + "\x00" + strings.ToLower(one.SQL)
		first := !seen[key]
		seen[key] = true
		return first
	})
}

// writeFailures lists wrong answers, and what cannot be asked by what it needs.
func (r *report) writeFailures(w io.Writer) {
	byNeed := map[string][]*result{}
	for _, one := range r.results {
		switch one.outcome {
		case outcomeNot:
			byNeed[one.needs] = append(byNeed[one.needs], one)
		case outcomeWrong:
			fmt.Fprintf(w, "  WRONG %s %s: %s\n    %s\n    %s\n", one.ID, one.Database, one.SQL, one.wrong, strings.Join(one.log, "\n    "))
		}
	}
	for _, need := range bySize(byNeed) {
		fmt.Fprintf(w, "  %3d need %s:", len(byNeed[need]), need)
		for _, one := range byNeed[need] {
			fmt.Fprintf(w, " %s", one.ID)
		}
		fmt.Fprintln(w)
	}
}

// bySize sorts names by how many questions they have, the most first.
func bySize(named map[string][]*result) []string {
	return slices.SortedFunc(maps.Keys(named), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(named[b]), len(named[a])), cmp.Compare(a, b))
	})
}
