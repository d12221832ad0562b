package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/test/project"
)

// ms is a time in milliseconds.
func ms(d time.Duration) string {
	n := float64(d.Microseconds()) / 1000
	if n < 10 {
		return fmt.Sprintf("%.1f", n)
	}
	return fmt.Sprintf("%.0f", n)
}

// named is the number of pods in words.
func (r *result) named() string {
	if r.pods == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", r.pods)
}

// String implements fmt.Stringer.
func (r *result) String() string {
	return fmt.Sprintf("%s: %.0f requests/s, %.0f for each CPU second, p99 %s ms, %d connections (%d while pods came); %d keys, %d twice; rate %.0f%%, over one connection %.0f%%; revoked p50 %s, p99 %s ms; a quiet token p50 %s, p99 %s ms, beside a noisy one %s, %s ms",
		r.named(), r.perSecond, r.perCPU, ms(r.load.at(99)), r.connections, r.growing, r.keys, r.twice, 100*r.spread, 100*r.sticky,
		ms(r.revoked.at(50)), ms(r.revoked.at(99)), ms(r.alone.at(50)), ms(r.alone.at(99)), ms(r.beside.at(50)), ms(r.beside.at(99)))
}

// lastLine sums all up.
func lastLine(all []*result) string {
	var numbers, rates []string
	revoked, off := time.Duration(0), 0.0
	for _, r := range all {
		numbers, rates = append(numbers, fmt.Sprint(r.pods)), append(rates, fmt.Sprintf("%.0f", r.perSecond))
		revoked, off = r.revoked.at(99), max(off, r.off())
	}
	return fmt.Sprintf("pods: %s: %s requests/s, revoke p99 %s ms, rate off by %.0f%%", strings.Join(numbers, ", "), strings.Join(rates, ", "), ms(revoked), off)
}

// table is what was measured, as the documents have it.
func table(all []*result, decided latencies, o options) string {
	var t strings.Builder
	fmt.Fprintf(&t, "%d agents, of whose calls 7 in 10 read an item, 2 a page of 20, and 1 changes an item; %s for each load; %d connections for all pods; %d processors, which the pods,\nPostgreSQL, the API server, the manager and the agents share.\n\n",
		agentsAtOnce, o.duration, connections, runtime.NumCPU())
	row := func(name string, of func(*result) string) {
		fmt.Fprintf(&t, "| %s |", name)
		for _, r := range all {
			fmt.Fprintf(&t, " %s |", of(r))
		}
		t.WriteString("\n")
	}
	row("pods", func(r *result) string { return fmt.Sprint(r.pods) })
	t.WriteString("|---|" + strings.Repeat("---|", len(all)) + "\n")
	row("requests a second", func(r *result) string { return fmt.Sprintf("%.0f", r.perSecond) })
	row("requests for each CPU second of the pods", func(r *result) string { return fmt.Sprintf("%.0f", r.perCPU) })
	row("p50, p99 ms", func(r *result) string { return ms(r.load.at(50)) + ", " + ms(r.load.at(99)) })
	row("most connections at the database; while pods came", func(r *result) string {
		if r.growing == 0 {
			return fmt.Sprintf("%d; –", r.connections)
		}
		return fmt.Sprintf("%d; %d", r.connections, r.growing)
	})
	row("keys sent to all pods at once; executed twice", func(r *result) string { return fmt.Sprintf("%d; %d", r.keys, r.twice) })
	row("of its rate a token gets: spread over the pods; over one connection", func(r *result) string { return fmt.Sprintf("%.0f%%; %.0f%%", 100*r.spread, 100*r.sticky) })
	row("a revoked token is refused by every pod: p50, p99 ms", func(r *result) string { return ms(r.revoked.at(50)) + ", " + ms(r.revoked.at(99)) })
	row("a quiet token alone: p50, p99 ms", func(r *result) string { return ms(r.alone.at(50)) + ", " + ms(r.alone.at(99)) })
	row(fmt.Sprintf("beside a token with %d calls at once", noisyAtOnce), func(r *result) string { return ms(r.beside.at(50)) + ", " + ms(r.beside.at(99)) })
	if len(decided) > 0 {
		fmt.Fprintf(&t, "\n%d approvals, %d pods: from a person's decision until every pod acted on it p50 %s ms, p99 %s ms.\n", len(decided), podsOfApprovals, ms(decided.at(50)), ms(decided.at(99)))
	}
	return t.String()
}

// The picture's measures, in pixels.
const (
	pictureWidth, barHeight, groupHeight, named = 760, 14, 42, 90
)

const pictureStyle = `<style>
text { font: 12px -apple-system, "Segoe UI", Roboto, sans-serif; fill: #24292f; }
.name { text-anchor: end; } .second { fill: #2da44e; } .cpu { fill: #54aeff; }
</style>
`

const pictureTitle = "Requests a second, and for each CPU second of the pods, by the number of pods"

// picture draws requests a second and for each CPU second.
func picture(all []*result) string {
	largest := 1.0
	for _, r := range all {
		largest = max(largest, r.perSecond, r.perCPU)
	}
	var rows strings.Builder
	y := 12
	for _, r := range all {
		fmt.Fprintf(&rows, `<text class="name" x="%d" y="%d">%s</text>`+"\n", named-8, y+18, r.named())
		for i, bar := range []struct {
			class, unit string
			value       float64
		}{{"second", "a second", r.perSecond}, {"cpu", "for each CPU second", r.perCPU}} {
			width, top := bar.value/largest*(pictureWidth-named-210), y+i*(barHeight+2)
			fmt.Fprintf(&rows, `<rect class="%s" x="%d" y="%d" width="%.0f" height="%d"/><text x="%.0f" y="%d">%.0f %s</text>`+"\n",
				bar.class, named, top, width, barHeight, named+width+6, top+11, bar.value, bar.unit)
		}
		y += groupHeight
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-labelledby="title">
<title id="title">%s</title>
<!-- Written by make pods. -->
`, pictureWidth, y, pictureTitle) + pictureStyle + fmt.Sprintf(`<rect width="%d" height="%d" rx="8" fill="#ffffff" stroke="#d0d7de"/>
`, pictureWidth, y) + rows.String() + "</svg>\n"
}

const (
	beginMark = "<!-- begin: make pods -->"
	endMark   = "<!-- end: make pods -->"
)

// writeDocuments puts the table between its marks, and the picture beside the others.
func writeDocuments(all []*result, decided latencies, o options) error {
	text := "\n\n![" + pictureTitle + "](pictures/pods.svg)\n\n" + table(all, decided, o) + "\n"
	if err := project.Fill("docs/sizing.md", beginMark, endMark, text); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(project.Root(), "docs", "pictures", "pods.svg"), []byte(picture(all)), 0o644) //nolint:gosec // a document
}
