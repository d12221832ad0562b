package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// median is the middle of the values; of an even number the mean of both in the middle.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// of is the median of a figure of the rounds.
func (s *side) of(figure func(cell) float64) float64 {
	var all []float64
	for _, c := range s.cells {
		all = append(all, figure(c))
	}
	return median(all)
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func cpu(c cell) float64 { return microseconds(c.cpu) }

// limit is the bare server's side; nil if there is none.
func (m *measured) limit() *side { return m.side("limit") }

func (m *measured) side(name string) *side {
	if i := slices.IndexFunc(m.sides, func(s side) bool { return s.name == name }); i >= 0 {
		return &m.sides[i]
	}
	return nil
}

// ratio is the median of the rounds' own ratios: what disturbs a round disturbs both.
func (m *measured) ratio(to *side) float64 {
	var all []float64
	for i, c := range m.sides[0].cells {
		all = append(all, cpu(c)/cpu(to.cells[i]))
	}
	return median(all)
}

// round says what a round found.
func (m *measured) round(n int) string {
	var words []string
	others := 0.0
	for _, s := range m.sides {
		c := s.cells[n]
		others = max(others, c.others)
		text := fmt.Sprintf("%s %.0f µs", s.name, cpu(c))
		if s.name != m.sides[0].name {
			text += fmt.Sprintf(" (%.2f)", cpu(m.sides[0].cells[n])/cpu(c))
		}
		words = append(words, text)
	}
	return strings.Join(words, ", ") + fmt.Sprintf("; others used %.0f%%", 100*others)
}

func writeTable(out io.Writer, all []measured) {
	w := tabwriter.NewWriter(out, 2, 0, 2, ' ', tabwriter.AlignRight)
	defer w.Flush()
	fmt.Fprintln(w, "\t\tserver\tCPU µs\tof it\tp50 ms\tp99 ms\ta second\tKB\ttrips\tpeak MB\tothers\t")
	for _, m := range all {
		for i, s := range m.sides {
			ratio := ""
			if i > 0 {
				ratio = fmt.Sprintf("%.2f", m.ratio(&s))
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%.0f\t%s\t%.2f\t%.2f\t%.0f\t%.1f\t%d\t%.0f\t%.0f%%\t\n", m.engine, m.op.name, s.name, s.of(cpu), ratio,
				s.of(func(c cell) float64 { return microseconds(c.p50) / 1000 }), s.of(func(c cell) float64 { return microseconds(c.p99) / 1000 }),
				s.of(func(c cell) float64 { return c.rate }), s.of(func(c cell) float64 { return c.garbage / 1000 }), s.trips,
				s.of(func(c cell) float64 { return float64(c.peak) / 1e6 }), 100*s.of(func(c cell) float64 { return c.others }))
		}
	}
}

// line is the one line in which a run ends: the main operations' server CPU, as so many times the bare server's.
func line(all []measured) string {
	var engines []string
	said := map[string][]string{}
	for _, m := range all {
		limit := m.limit()
		if limit == nil || !m.op.main {
			continue
		}
		if said[m.engine] == nil {
			engines = append(engines, m.engine)
		}
		said[m.engine] = append(said[m.engine], fmt.Sprintf("%s %.2f", m.op.name, m.ratio(limit)))
	}
	var words []string
	for _, e := range engines {
		words = append(words, e+" "+strings.Join(said[e], ", "))
	}
	return "bench: " + strings.Join(words, "; ") + " of the limit"
}
