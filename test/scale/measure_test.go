package main

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	some := times{4, 1, 3, 2}
	for share, want := range map[float64]time.Duration{0: 1, 0.25: 1, 0.5: 2, 0.51: 3, 0.99: 4, 1: 4} {
		if got := some.quantile(share); got != want {
			t.Errorf("the quantile %v is %d, want %d", share, got, want)
		}
	}
	if got := (times{}).quantile(0.5); got != 0 {
		t.Errorf("of nothing it is %d", got)
	}
}

func TestGrowth(t *testing.T) {
	for _, c := range []struct {
		name string
		x, y []float64
		want float64
	}{
		{"linear", []float64{10, 100, 1000}, []float64{3, 30, 300}, 10},
		{"constant", []float64{10, 100}, []float64{7, 7}, 1},
		{"square", []float64{1, 10}, []float64{1, 100}, 100},
		{"zeros are left out", []float64{1, 10, 100}, []float64{0, 2, 4}, 2},
		{"one point", []float64{10}, []float64{3}, math.NaN()},
		{"the same size twice", []float64{10, 10}, []float64{3, 4}, math.NaN()},
	} {
		got := growth(c.x, c.y)
		if math.IsNaN(got) != math.IsNaN(c.want) || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

const page = `# HELP controller_runtime_reconcile_total Total number
# TYPE controller_runtime_reconcile_total counter
controller_runtime_reconcile_total{controller="a",result="success"} 6
controller_runtime_reconcile_total{controller="b",result="success"} 4
controller_runtime_reconcile_time_seconds_bucket{controller="a",le="0.01"} 2
controller_runtime_reconcile_time_seconds_bucket{controller="a",le="0.1"} 4
controller_runtime_reconcile_time_seconds_bucket{controller="a",le="+Inf"} 4
go_memstats_heap_alloc_bytes 1.5e+07
`

func TestMetrics(t *testing.T) {
	m := parseMetrics(page)
	if got := m.sum("controller_runtime_reconcile_total"); got != 10 {
		t.Errorf("%v reconciles, want 10", got)
	}
	if got := m["go_memstats_heap_alloc_bytes"]; got != 1.5e7 {
		t.Errorf("the heap has %v bytes", got)
	}
	h := m.reconciles()["a"]
	if got := h.total(); got != 4 {
		t.Fatalf("%v samples, want 4", got)
	}
	for share, want := range map[float64]float64{0.25: 0.005, 0.5: 0.01, 0.75: 0.055, 1: 0.1} {
		if got := h.quantile(share); math.Abs(got-want) > 1e-9 {
			t.Errorf("the quantile %v is %v, want %v", share, got, want)
		}
	}
	if got := m.since(m).reconciles()["a"].quantile(0.99); got != 0 {
		t.Errorf("without samples the quantile is %v", got)
	}
}

func TestAuditLog(t *testing.T) {
	a := &auditLog{all: requests{}, withoutProbes: requests{}}
	for _, line := range []string{
		`{"verb":"patch","objectRef":{"resource":"mcptokens","subresource":"status","name":"agent"},"responseStatus":{"code":200},"stageTimestamp":"2026-01-01T00:00:01Z"}`,
		`{"verb":"create","objectRef":{"resource":"secrets","name":"probe-1"},"responseStatus":{"code":409},"stageTimestamp":"2026-01-01T00:00:02Z"}`,
		`{"verb":"update","objectRef":{"resource":"leases","name":"leader"},"responseStatus":{"code":200},"stageTimestamp":"2026-01-01T00:00:03Z"}`,
		`{"verb":"get","objectRef":{"resource":"secrets","name":"agent"},"responseStatus":{"code":200},"stageTimestamp":"2026-01-01T00:00:04Z"}`,
		`{"verb":"get","requestURI":"/api"}`,
		`half a line`,
	} {
		a.note([]byte(line))
	}
	written := func(r requests) int {
		n := 0
		for key, count := range r {
			if key.writes() {
				n += count
			}
		}
		return n
	}
	if got := written(a.counts(true)); got != 2 {
		t.Errorf("%d writes, want 2: neither what is read nor a Lease counts", got)
	}
	if got := a.counts(false).since(requests{}); written(got) != 1 || got[request{"patch", "mcptokens/status"}] != 1 {
		t.Errorf("without the probes: %v, want one patch of mcptokens/status", got)
	}
	if got := a.refusals(); got != 1 {
		t.Errorf("%d refused, want 1", got)
	}
	if got := a.lastWrite().Second(); got != 2 {
		t.Errorf("the last write was at second %d, want 2", got)
	}
}

func TestScenarios(t *testing.T) {
	all, err := scenariosOf("10,100", "2000")
	if err != nil || len(all) != 3 {
		t.Fatalf("%v, %v", all, err)
	}
	if got := all[0].objects(); got != 210 {
		t.Errorf("10 endpoints are %d objects, want 210", got)
	}
	if got := all[2]; got != (scenario{1, models, 2000}) {
		t.Errorf("the endpoint with many tokens is %v", got)
	}
	for i, want := range map[int]string{0: "shop-0", 1: "shop-0-table-1", 10: "shop-0-table-10", 11: "shop-0-token-1", 20: "shop-0-token-10", 21: "shop-1"} {
		if got := all[0].object(i).GetName(); got != want {
			t.Errorf("object %d is %s, want %s", i, got, want)
		}
	}
	for _, wrong := range [][2]string{{"", ""}, {"ten", ""}, {"", "0"}} {
		if _, err := scenariosOf(wrong[0], wrong[1]); err == nil {
			t.Errorf("%q was taken", wrong)
		}
	}
}

func TestSteps(t *testing.T) {
	for list, want := range map[string]int{"": 0, "idle": 1, "quiet,ceiling": 2, strings.Join(allSteps, ","): len(allSteps)} {
		if got, err := stepsOf(list); err != nil || len(got) != want {
			t.Errorf("%q: %v, %v", list, got, err)
		}
	}
	if _, err := stepsOf("quiet,sleep"); err == nil {
		t.Error("a step that is none was taken")
	}
	for _, m := range rows {
		if m.step != "" && !slices.Contains(allSteps, m.step) {
			t.Errorf("%s belongs to no step", m.name)
		}
	}
}

// An event that came counts even if another one was waited for until it was too late.
func TestUntil(t *testing.T) {
	began, came := time.Now().Add(-2*tooLate), make(chan time.Time, 1)
	came <- began.Add(time.Second)
	if got := until(t.Context(), began, came); got != time.Second {
		t.Errorf("it took %s, want 1s", got)
	}
	if got := until(t.Context(), began, came); got != tooLate {
		t.Errorf("it took %s, want %s", got, tooLate)
	}
}
