package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/test/jobs/planner"
	"github.com/mcp-admin/mcp-admin-operator/test/jobs/sqltree"
)

// outcome is how a question went.
type outcome int

const (
	outcomeOneCall outcome = iota
	outcomeFewCalls
	outcomeNot
	outcomeWrong
)

// mostCalls is the most calls that an answer may take.
const mostCalls = 5

// result is a question, and how it went.
type result struct {
	*job
	outcome
	calls, bytes int
	// reading is how many bytes it takes to read the query's tables whole.
	reading int
	log     []string
	// answered reports whether there were rows to compare.
	answered bool
	// needs says what is missing, if the question cannot be asked; wrong how the answer differs.
	needs, wrong string
}

// try asks a question. One that is open has no single right answer, so what it misses is nobody's fault.
func (d *served) try(j *job) *result {
	r := d.tryOnce(j)
	if j.Open && (r.outcome == outcomeNot || r.wrong != "" && r.answered) {
		r.outcome, r.needs, r.wrong = outcomeNot, "a right answer that the query leaves open", ""
	}
	return r
}

func (d *served) tryOnce(j *job) *result {
	r := &result{job: j, outcome: outcomeNot}
	tree, err := sqltree.Parse(j.SQL)
	if err != nil {
		r.needs = "a parser that knows " + err.Error()
		return r
	}
	plan, err := planner.Make(d.schema, tree)
	if err != nil {
		r.needs = err.Error()
		return r
	}
	if r.reading, err = d.reading(tree); err != nil {
		r.outcome, r.wrong = outcomeWrong, "the tables cannot be read: "+err.Error()
		return r
	}
	a := &asked{served: d, answers: map[string]*answer{}}
	rows, err := a.ask(plan)
	r.calls, r.bytes, r.log = a.calls, a.bytes, a.log
	var refused refusal
	switch {
	case errors.As(err, &refused):
		r.needs = "the server refuses: " + string(refused)
	case err != nil:
		r.outcome, r.wrong = outcomeWrong, err.Error()
	case a.calls > mostCalls:
		r.needs = fmt.Sprintf("%d calls", a.calls)
	default:
		if r.wrong = j.difference(rows); r.wrong != "" {
			r.outcome, r.answered = outcomeWrong, true
			break
		}
		if r.outcome = outcomeFewCalls; a.calls == 1 {
			r.outcome = outcomeOneCall
		}
	}
	return r
}

// show writes a question with its calls.
func (r *result) show(w io.Writer) {
	fmt.Fprintf(w, "%s %s\n  %s\n  %s\n", r.ID, r.Database, r.SQL, strings.Join(r.log, "\n  "))
	if r.needs != "" {
		fmt.Fprintf(w, "  needs: %s\n", r.needs)
	}
	if r.wrong != "" {
		fmt.Fprintf(w, "  WRONG: %s\n", r.wrong)
	}
}
