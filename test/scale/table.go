package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// row is one measure in the table: a column for each scenario, and how it grows. step is what measures it; "" is always done.
type row struct {
	step   string
	name   string
	value  func(*result) float64
	format string
	// aim is the wanted value; "" if nothing is aimed at.
	aim string
}

func p50(t func(*result) times) func(*result) float64 {
	return func(r *result) float64 { return milliseconds(t(r).quantile(0.5)) }
}

func p99(t func(*result) times) func(*result) float64 {
	return func(r *result) float64 { return milliseconds(t(r).quantile(0.99)) }
}

func mebibytes(of func(*result) int64) func(*result) float64 {
	return func(r *result) float64 { return float64(of(r)) / (1 << 20) }
}

var rows = []row{
	{"", "objects that became Ready", func(r *result) float64 { return float64(r.Objects) }, "%.0f", ""},
	{"", "objects that did not", func(r *result) float64 { return float64(r.NotReady) }, "%.0f", "0"},
	{"", "all Ready, s", func(r *result) float64 { return r.Ready.Seconds() }, "%.1f", ""},
	{stepCeiling, "the API server's floor for it, s", func(r *result) float64 { return r.Ceiling.Floor }, "%.1f", ""},
	{stepCeiling, "part of the ceiling", func(r *result) float64 { return r.Ceiling.share(r) }, "%.2f", ">= 0.7"},
	{stepCeiling, "  of its CPU and etcd's", func(r *result) float64 { return r.Ceiling.shareCPU(r) }, "%.2f", ""},
	{"", "objects a second", func(r *result) float64 { return float64(r.Objects) / r.Ready.Seconds() }, "%.0f", ""},
	{"", "manager's writes an object", func(r *result) float64 { return r.Bulk.each(float64(r.Bulk.Writes)) }, "%.2f", "<= 2.5"},
	{"", "laboratory's writes an object", func(r *result) float64 { return r.Bulk.each(float64(r.Bulk.Ours)) }, "%.2f", ""},
	{stepRestart, "refused writes", func(r *result) float64 { return float64(r.Refused) }, "%.0f", "0"},
	{"", "CPU an object: manager, ms", func(r *result) float64 { return 1000 * r.Bulk.each(r.Bulk.ManagerCPU) }, "%.1f", ""},
	{"", "  API server", func(r *result) float64 { return 1000 * r.Bulk.each(r.Bulk.APIServerCPU) }, "%.1f", ""},
	{"", "  etcd", func(r *result) float64 { return 1000 * r.Bulk.each(r.Bulk.EtcdCPU) }, "%.1f", ""},
	{"", "  this laboratory", func(r *result) float64 { return 1000 * r.Bulk.each(r.Bulk.LaboratoryCPU) }, "%.1f", ""},
	{"", "memory, peak, MiB", mebibytes(func(r *result) int64 { return r.Memory.Peak }), "%.0f", "<= 200"},
	{"", "  once all is Ready", mebibytes(func(r *result) int64 { return r.Memory.Ready }), "%.0f", ""},
	{"", "  its heap", mebibytes(func(r *result) int64 { return r.Memory.Heap }), "%.0f", ""},
	{stepRestart, "  peak after a restart", mebibytes(func(r *result) int64 { return r.Memory.RestartPeak }), "%.0f", ""},
	{stepQuiet, "quiet: issued until programmed, p50 ms", p50(func(r *result) times { return r.Quiet.Programmed }), "%.0f", ""},
	{stepQuiet, "  p99", p99(func(r *result) times { return r.Quiet.Programmed }), "%.0f", ""},
	{stepQuiet, "quiet: issued until the pod has it, p50 ms", p50(func(r *result) times { return r.Quiet.Issued }), "%.0f", ""},
	{stepQuiet, "  p99", p99(func(r *result) times { return r.Quiet.Issued }), "%.0f", ""},
	{stepQuiet, "quiet: revoked until refused, p50 ms", p50(func(r *result) times { return r.Quiet.Revoked }), "%.0f", ""},
	{stepQuiet, "  p99", p99(func(r *result) times { return r.Quiet.Revoked }), "%.0f", "< 500"},
	{"", "while all is created: issued until programmed, p50 ms", p50(func(r *result) times { return r.UnderLoad.Programmed }), "%.0f", ""},
	{"", "  p99", p99(func(r *result) times { return r.UnderLoad.Programmed }), "%.0f", ""},
	{"", "while all is created: issued until the pod has it, p50 ms", p50(func(r *result) times { return r.UnderLoad.Issued }), "%.0f", ""},
	{"", "  p99", p99(func(r *result) times { return r.UnderLoad.Issued }), "%.0f", "< 2000"},
	{"", "while all is created: revoked until refused, p50 ms", p50(func(r *result) times { return r.UnderLoad.Revoked }), "%.0f", ""},
	{"", "  p99", p99(func(r *result) times { return r.UnderLoad.Revoked }), "%.0f", "< 500"},
	{"", "  revocations", func(r *result) float64 { return float64(len(r.UnderLoad.Revoked)) }, "%.0f", ""},
	{stepSteady, "20 changes a second: reconcile, p99 ms, slowest controller", func(r *result) float64 { return r.Steady.slowest() }, "%.0f", "< 50"},
	{stepSteady, "  manager's writes a change", func(r *result) float64 { return r.Steady.each(float64(r.Steady.Writes)) }, "%.2f", ""},
	{stepSteady, "  Config written a change, KiB", func(r *result) float64 { return r.Steady.each(float64(r.Steady.ConfigBytes)) / 1024 }, "%.1f", "<= 32"},
	{stepSteady, "  manager's CPU a change, ms", func(r *result) float64 { return 1000 * r.Steady.each(r.Steady.ManagerCPU) }, "%.1f", "<= 20"},
	{stepSteady, "  revoked until refused, p99 ms", p99(func(r *result) times { return r.SteadyTokens.Revoked }), "%.0f", "< 500"},
	{stepEdit, "a group edited: Config writes", func(r *result) float64 { return float64(r.GroupEdit.Configs) }, "%.0f", "1"},
	{stepEdit, "  all writes", func(r *result) float64 { return float64(r.GroupEdit.Writes) }, "%.0f", ""},
	{stepEdit, "  reconciles", func(r *result) float64 { return r.GroupEdit.reconciled() }, "%.0f", ""},
	{stepEdit, "  until quiet, s", func(r *result) float64 { return r.GroupEdit.Seconds }, "%.1f", ""},
	{stepIdle, "idle: writes", func(r *result) float64 { return float64(r.Idle.Writes) }, "%.0f", "0"},
	{stepIdle, "  reconciles", func(r *result) float64 { return r.Idle.reconciled() }, "%.0f", "0"},
	{stepRestart, "restart: until quiet, s", func(r *result) float64 { return r.Restart.Seconds }, "%.1f", ""},
	{stepRestart, "  writes", func(r *result) float64 { return float64(r.Restart.Writes) }, "%.0f", "0"},
	{stepRestart, "  reconciles", func(r *result) float64 { return r.Restart.reconciled() }, "%.0f", ""},
}

// writeTable writes a table of all measures, the reconciles of each controller, the kinds of writes and the rates of the
// API server. It leaves out what belongs to other steps than these.
func writeTable(out io.Writer, results []*result, steps []string) {
	w := tabwriter.NewWriter(out, 2, 0, 2, ' ', 0)
	defer w.Flush()
	many, one := families(results)
	line := func(name string, cell func(*result) string, last ...string) {
		cells := []string{name}
		for _, r := range results {
			cells = append(cells, cell(r))
		}
		fmt.Fprintln(w, strings.Join(append(cells, last...), "\t"))
	}
	line("", func(r *result) string { return title(r.Scenario) }, "tenfold endpoints", "tenfold tokens", "aim")
	done := func(step string) bool { return step == "" || slices.Contains(steps, step) }
	for _, m := range rows {
		if !done(m.step) {
			continue
		}
		line(m.name, func(r *result) string { return fmt.Sprintf(m.format, m.value(r)) },
			times10(many, m, func(r *result) int { return r.Scenario.Endpoints }), times10(one, m, func(r *result) int { return r.Scenario.Tokens }), m.aim)
	}
	line("", func(*result) string { return "" })
	for _, p := range []struct {
		step, name string
		of         func(*result) phase
	}{
		{"", "while all is created", func(r *result) phase { return r.Bulk }},
		{stepSteady, "at 20 changes a second", func(r *result) phase { return r.Steady }},
		{stepEdit, "when a group is edited", func(r *result) phase { return r.GroupEdit }},
		{stepIdle, "idle", func(r *result) phase { return r.Idle }},
		{stepRestart, "after a restart", func(r *result) phase { return r.Restart }},
	} {
		if !done(p.step) {
			continue
		}
		line(p.name+": reconciles (n, p50, p99 ms) and the manager's writes", func(*result) string { return "" })
		for _, controller := range keys(results, func(r *result) map[string]distribution { return p.of(r).Reconciles }) {
			line("  "+controller, func(r *result) string {
				d := p.of(r).Reconciles[controller]
				return fmt.Sprintf("%.0f, %.1f, %.0f", d.Count, d.P50, d.P99)
			})
		}
		for _, kind := range keys(results, func(r *result) map[string]int { return p.of(r).ByKind }) {
			line("  "+kind, func(r *result) string { return fmt.Sprint(p.of(r).ByKind[kind]) })
		}
	}
	if !done(stepCeiling) {
		return
	}
	line("the API server alone: writes a second (needed), its CPU and etcd's", func(*result) string { return "" })
	rates := func(r *result) map[string]rate {
		all := map[string]rate{}
		for _, found := range r.Ceiling.Rates {
			all[found.What] = found
		}
		return all
	}
	for _, what := range keys(results, rates) {
		line("  "+what, func(r *result) string {
			found, ok := rates(r)[what]
			if !ok {
				return ""
			}
			return fmt.Sprintf("%.0f (%d), %.1f ms", found.PerSecond, found.Needed, 1000*found.CPU)
		})
	}
}

func title(s scenario) string {
	if s.Endpoints == 1 {
		return fmt.Sprintf("one: %d tokens", s.Tokens)
	}
	return fmt.Sprintf("%d endpoints", s.Endpoints)
}

// families are the scenarios of many endpoints, and the scenarios of one.
func families(results []*result) (many, one []*result) {
	for _, r := range results {
		if r.Scenario.Endpoints > 1 {
			many = append(many, r)
		} else {
			one = append(one, r)
		}
	}
	return many, one
}

// times10 says by how much a measure grows when the size grows tenfold.
func times10(family []*result, m row, size func(*result) int) string {
	var x, y []float64
	for _, r := range family {
		x, y = append(x, float64(size(r))), append(y, m.value(r))
	}
	if by := growth(x, y); !math.IsNaN(by) {
		return fmt.Sprintf("x%.1f", by)
	}
	return ""
}

// keys are all keys that a map of some result has, sorted.
func keys[V any](results []*result, of func(*result) map[string]V) []string {
	all := map[string]bool{}
	for _, r := range results {
		for key := range of(r) {
			all[key] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
