package main

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// metrics are the samples of a /metrics page, by their name and labels as they stand there.
type metrics map[string]float64

func parseMetrics(text string) metrics {
	m := metrics{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		cut := strings.LastIndexByte(line, ' ')
		if cut < 0 || line[0] == '#' {
			continue
		}
		if value, err := strconv.ParseFloat(line[cut+1:], 64); err == nil {
			m[line[:cut]] = value
		}
	}
	return m
}

// label is the value of a label of a sample.
func label(sample, name string) string {
	_, rest, _ := strings.Cut(sample, name+`="`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// sum adds all samples of a name.
func (m metrics) sum(name string) float64 {
	total := 0.0
	for sample, value := range m {
		if sample == name || strings.HasPrefix(sample, name+"{") {
			total += value
		}
	}
	return total
}

// since returns the counts since an earlier page.
func (m metrics) since(before metrics) metrics {
	delta := metrics{}
	for sample, value := range m {
		delta[sample] = value - before[sample]
	}
	return delta
}

// histogram is the distribution of the samples of a controller.
type histogram struct {
	bounds []float64 // seconds
	counts []float64 // cumulative
}

// reconciles are the distributions of controller-runtime's reconcile times, by controller.
func (m metrics) reconciles() map[string]*histogram {
	const name = "controller_runtime_reconcile_time_seconds_bucket{"
	type bucket struct{ bound, count float64 }
	buckets := map[string][]bucket{}
	for sample, count := range m {
		if strings.HasPrefix(sample, name) {
			bound, _ := strconv.ParseFloat(label(sample, "le"), 64)
			buckets[label(sample, "controller")] = append(buckets[label(sample, "controller")], bucket{bound, count})
		}
	}
	all := map[string]*histogram{}
	for controller, found := range buckets {
		slices.SortFunc(found, func(a, b bucket) int { return int(math.Copysign(1, a.bound-b.bound)) })
		h := &histogram{}
		for _, b := range found {
			h.bounds, h.counts = append(h.bounds, b.bound), append(h.counts, b.count)
		}
		all[controller] = h
	}
	return all
}

func (h *histogram) total() float64 {
	if len(h.counts) == 0 {
		return 0
	}
	return h.counts[len(h.counts)-1]
}

// quantile is the value below which a share of the samples lies, by linear interpolation within its bucket, as
// Prometheus has it. What lies beyond the last bound is that bound.
func (h *histogram) quantile(share float64) float64 {
	rank := share * h.total()
	lower, below := 0.0, 0.0
	for i, bound := range h.bounds {
		if h.counts[i] >= rank && h.counts[i] > below {
			if math.IsInf(bound, 1) {
				return lower
			}
			return lower + (bound-lower)*(rank-below)/(h.counts[i]-below)
		}
		lower, below = bound, h.counts[i]
	}
	return 0
}
