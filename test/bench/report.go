package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/test/project"
)

// The document that has the results, between two comments, and its picture.
const (
	document = "docs/performance.md"
	picture  = "docs/pictures/performance.svg"
	beginsAt = "<!-- begin: make bench -->\n"
	endsAt   = "<!-- end: make bench -->\n"
	shown    = "![Server CPU time of each operation, as so many times a bare Go server's](pictures/performance.svg)"
)

// document writes the results into the document and its picture.
func (o *options) document(all []measured) error {
	text := "\n" + shown + "\n\n" + o.conditions() + "\n\n" + markdown(all) + "\n" + peaks(all) + " " + disturbance(all) + "\n\n"
	if err := project.Fill(document, beginsAt, endsAt, text); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(project.Root(), picture), []byte(bars(all)), 0o644) //nolint:gosec // G306: a document is for everybody
}

// conditions say under which the results came about.
func (o *options) conditions() string {
	return fmt.Sprintf("%g million books, %d connections of agents, %d of each server to the database; medians of %d interleaved rounds of %g s for each cell; %s; %d processors%s.",
		float64(o.books)/1e6, o.conns, pool, o.rounds, o.seconds, runtime.Version(), runtime.NumCPU(), processor())
}

// processor is the processors' name, in parentheses.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return " (" + strings.TrimSpace(value) + ")"
		}
	}
	return ""
}

// markdown is the table. Two figures in a cell are the server's and the limit's.
func markdown(all []measured) string {
	var b strings.Builder
	b.WriteString("| | CPU µs a call | of the limit | p50 ms | p99 ms | KB allocated | round trips |\n|---|---|---|---|---|---|---|\n")
	for _, m := range all {
		ratio := "–"
		if limit := m.limit(); limit != nil {
			ratio = fmt.Sprintf("**%.2f**", m.ratio(limit))
		}
		trips := "–"
		if m.sides[0].trips > 0 {
			trips = m.pair("%.0f", func(s *side) float64 { return float64(s.trips) })
		}
		fmt.Fprintf(&b, "| %s %s | %s | %s | %s | %s | %s | %s |\n", m.engine, m.op.name, m.median("%.0f", cpu), ratio,
			m.median("%.2f", func(c cell) float64 { return microseconds(c.p50) / 1000 }), m.median("%.2f", func(c cell) float64 { return microseconds(c.p99) / 1000 }),
			m.median("%.1f", func(c cell) float64 { return c.garbage / 1000 }), trips)
	}
	return b.String()
}

// median is a figure of the server, and of the limit if there is one.
func (m *measured) median(format string, figure func(cell) float64) string {
	return m.pair(format, func(s *side) float64 { return s.of(figure) })
}

func (m *measured) pair(format string, figure func(*side) float64) string {
	text := fmt.Sprintf(format, figure(&m.sides[0]))
	if limit := m.limit(); limit != nil {
		text += "/" + fmt.Sprintf(format, figure(limit))
	}
	return text
}

// others is how much of the machine other programs used, on the worse side.
func (m *measured) others() float64 {
	most := 0.0
	for _, s := range m.sides {
		most = max(most, s.of(func(c cell) float64 { return c.others }))
	}
	return most
}

// disturbance is how much of the machine other programs used, during the operation for which that was most.
func disturbance(all []measured) string {
	most := 0.0
	for i := range all {
		most = max(most, all[i].others())
	}
	return fmt.Sprintf("Other programs used at most %.0f%% of the machine meanwhile.", 100*most)
}

// peaks is the most memory that the servers had, on each engine.
func peaks(all []measured) string {
	var engines []string
	most := map[string]map[string]int64{}
	for _, m := range all {
		if m.op.models != nil {
			continue
		}
		if most[m.engine] == nil {
			engines, most[m.engine] = append(engines, m.engine), map[string]int64{}
		}
		for _, s := range m.sides {
			for _, c := range s.cells {
				most[m.engine][s.name] = max(most[m.engine][s.name], c.peak)
			}
		}
	}
	var words []string
	for _, e := range engines {
		words = append(words, fmt.Sprintf("%s %d/%d MB", e, most[e]["server"]/1e6, most[e]["limit"]/1e6))
	}
	return "The most memory that the servers had, the server/the limit: " + strings.Join(words, ", ") + "."
}
