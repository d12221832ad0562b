package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
)

// report is what there is to say of an engine.
type report struct {
	engine  string
	results []*result
}

func (r *report) count(o outcome) int {
	n := 0
	for _, one := range r.results {
		if one.outcome == o {
			n++
		}
	}
	return n
}

// line is the summary.
func (r *report) line() string {
	bytes := 0
	for _, one := range r.results {
		bytes += one.bytes
	}
	return fmt.Sprintf("jobs: %s %d questions: %d in one call, %d in at most %d, %d not, %d wrong, %d bytes", r.engine, len(r.results),
		r.count(outcomeOneCall), r.count(outcomeFewCalls), mostCalls, r.count(outcomeNot), r.count(outcomeWrong), bytes)
}

func (r *report) write(w io.Writer) {
	fmt.Fprintf(w, "\n%s\n", r.engine)
	r.writeNeeds(w)
}

// writeNeeds lists what cannot be asked by what it needs.
func (r *report) writeNeeds(w io.Writer) {
	byNeed := map[string][]*result{}
	for _, one := range r.results {
		switch one.outcome {
		case outcomeNot:
			byNeed[one.needs] = append(byNeed[one.needs], one)
		case outcomeWrong:
			fmt.Fprintf(w, "  WRONG %s %s: %s\n    %s\n    %v\n", one.ID, one.Database, one.SQL, one.wrong, one.log)
		}
	}
	names := slices.Collect(maps.Keys(byNeed))
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(byNeed[b]), len(byNeed[a])), cmp.Compare(a, b))
	})
	for _, name := range names {
		fmt.Fprintf(w, "  %3d need %s:", len(byNeed[name]), name)
		for _, one := range byNeed[name] {
			fmt.Fprintf(w, " %s", one.ID)
		}
		fmt.Fprintln(w)
	}
}
