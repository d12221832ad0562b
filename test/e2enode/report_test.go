package e2enode

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/test/e2enode/load"
)

// report is printed by the suite in the end.
type report struct {
	began time.Time
	steps int
	// situations are the disturbances, each with what became of the calls meanwhile.
	situations []situation
	// revoked are the times from a revocation to the last pod's first refusal.
	revoked []time.Duration
	// installed is how long the chart took until its manager worked; quickStart is the line of test/fiveminutes about
	// the page that begins there.
	installed  time.Duration
	quickStart string
}

type situation struct {
	name   string
	counts load.Counts
	took   time.Duration
	note   string
}

// reportFile is the report beside the node's folder, for make to print last.
func reportFile() string { return filepath.Clean(os.Getenv("MCP_TEST_NODE")) + ".report" }

func (r *report) skipped(why error) {
	text := "e2e: SKIPPED: this machine cannot run a node:\n  " + strings.ReplaceAll(why.Error(), "\n", "\n  ") + "\n"
	_ = os.WriteFile(reportFile(), []byte(text), 0o600)
}

// write writes the table and the last line.
func (r *report) write(failed bool) {
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 2, 0, 2, ' ', 0)
	fmt.Fprintln(table, "situation\trequests\tlost\trefused\tdatabase away\ttook\t")
	sent, lost, refused := 0, 0, 0
	for _, s := range r.situations {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%.1f s\t%s\n",
			s.name, s.counts.Sent, s.counts.Lost, s.counts.Refused, s.counts.Unavailable, s.took.Seconds(), s.note)
		sent, lost, refused = sent+s.counts.Sent, lost+s.counts.Lost, refused+s.counts.Refused
	}
	_ = table.Flush()
	if r.quickStart != "" {
		fmt.Fprintf(&out, "\nthe quick start: %.1f s until the chart is installed; %s\n", r.installed.Seconds(), r.quickStart)
	}
	slices.Sort(r.revoked)
	revoked := "none"
	if n := len(r.revoked); n > 0 {
		percentile := func(p int) int64 { return r.revoked[(n*p+99)/100-1].Milliseconds() }
		revoked = fmt.Sprintf("%d tokens (p50 %d ms, p99 %d ms)", n, percentile(50), percentile(99))
	}
	outcome := ""
	if failed {
		outcome = "FAILED, "
	}
	fmt.Fprintf(&out, "\ne2e: %s%d steps, %d requests, %d lost, %d refused, revoked %s, took %s\n", outcome, r.steps, sent, lost, refused, revoked, time.Since(r.began).Round(time.Second))
	if err := os.WriteFile(reportFile(), []byte(out.String()), 0o600); err != nil {
		fmt.Print(out.String())
	}
}
