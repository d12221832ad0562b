package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// A report collects what became of each token.
type report struct {
	out            io.Writer
	rows           []row
	letIn, refused int
	wrong          []string
}

// A row is a line of the table. An empty row but for its part is a headline.
type row struct{ part, what, outcome string }

// part begins a part of the table.
func (r *report) part(what string) {
	fmt.Fprintln(r.out, what, "…")
	r.rows = append(r.rows, row{part: what})
}

// note adds a line that judges nothing.
func (r *report) note(what, outcome string) {
	r.rows = append(r.rows, row{what: what, outcome: outcome})
}

// in says that somebody was to be let in; problem is why not, or "". detail says what was proved beside that.
func (r *report) in(what, detail, problem string) { r.count(&r.letIn, what, "let in", detail, problem) }

// out401 says that somebody was to be refused.
func (r *report) out401(what, detail, problem string) {
	r.count(&r.refused, what, "refused", detail, problem)
}

// holds says that something else was to be so, which counts as nobody let in or refused.
func (r *report) holds(what, detail, problem string) { r.count(new(int), what, "yes", detail, problem) }

func (r *report) count(counter *int, what, outcome, detail, problem string) {
	if problem != "" {
		r.wrong = append(r.wrong, r.lastPart()+": "+what+": "+problem)
		r.note(what, "WRONG")
		return
	}
	*counter++
	if detail != "" {
		outcome += ": " + detail
	}
	r.note(what, outcome)
}

func (r *report) lastPart() string {
	for i := len(r.rows) - 1; i >= 0; i-- {
		if r.rows[i].part != "" {
			return r.rows[i].part
		}
	}
	return ""
}

// print prints the table and says whether nothing was wrong; its last line counts.
func (r *report) print() (good bool) {
	table := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', 0)
	for _, row := range r.rows {
		if row.part != "" {
			fmt.Fprintf(table, "\n%s\n", row.part)
			continue
		}
		fmt.Fprintf(table, "  %s\t%s\n", row.what, row.outcome)
	}
	_ = table.Flush() // to the terminal
	for _, wrong := range r.wrong {
		fmt.Fprintf(r.out, "\nWRONG: %s\n", wrong)
	}
	fmt.Fprintf(r.out, "\nidentity: %d let in, %d refused, %d wrong\n", r.letIn, r.refused, len(r.wrong))
	return len(r.wrong) == 0 && r.letIn > 0 && r.refused > 0
}
