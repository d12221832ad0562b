// Command metrics writes docs/metrics.md, which tells of each metric what it means, what to ask of it, and which alerts do, as package
// metric lists them. hack/generate.sh runs it.
//
//	go run ./hack/metrics [FOLDER]     the project's folder, or a copy of it
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract/metric"
)

func main() {
	folder := "."
	if len(os.Args) > 1 {
		folder = os.Args[1]
	}
	if err := os.WriteFile(filepath.Join(folder, "docs", "metrics.md"), []byte(page()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "metrics:", err)
		os.Exit(1)
	}
}

const preface = `# Metrics

Generated from the list in ` + "`contract/metric`" + `; do not edit. Each metric has its meaning, a question to ask of it in PromQL, and the alerts that
ask it. An alert leads to its [runbook](runbooks/README.md). [Running the manager](operations.md#alerts-and-dashboards) says how to have
alerts and dashboards, and [the network](network.md#metrics-podmonitor) how to have the servers' metrics read.

Counters end in ` + "`_total`" + `, times are in seconds, sizes in bytes. Histograms have classic buckets, and are native histograms, too, if
Prometheus asks for those (` + "`scrape_native_histograms: true`" + `). Our alerts and dashboards need the classic ones, so ask for both then
(` + "`always_scrape_classic_histograms: true`" + `).

## Servers

A server's pods have these, at ` + "`/metrics`" + ` of their admin port, beside those of Go and of the process. No label has a token, a caller,
or what a request says. The number of series depends neither on tokens nor on models:
`

const perModel = `
With ` + "`spec.observability.metrics: PerModel`" + ` the times of calls have the label ` + "`model`" + `. Each model then has up to 17 series for
each operation that is called on it, and for each kind of error of these. Ask for that if there are tens of models, not hundreds.

`

const ofManager = `
## The manager

The manager has these, beside controller-runtime's (` + "`workqueue_depth`, `rest_client_requests_total`" + ` and more).

`

const leader = `
Only the leader counts issues, revocations and steps. Every manager has ` + "`mcp_admin_manager_objects`" + `, so take ` + "`max`" + ` over the pods if there
are several.
`

func page() string {
	return preface + "\n" + table(metric.Server) + perModel + strings.TrimPrefix(ofManager, "\n") + table(metric.Manager) + leader
}

// table is a table of metrics.
func table(metrics []metric.Metric) string {
	var b strings.Builder
	b.WriteString("| metric | meaning | question | alert and runbook |\n|---|---|---|---|\n")
	for _, m := range metrics {
		var alerts []string
		for _, alert := range m.Alerts {
			alerts = append(alerts, "["+alert+"](runbooks/"+alert+".md)")
		}
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | %s |\n", m.Name, m.Meaning, m.Question, strings.Join(alerts, ", "))
	}
	return b.String()
}
