package metric

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// CounterOpts are the options of a counter of the list.
func CounterOpts(name string) prometheus.CounterOpts {
	return prometheus.CounterOpts{Name: name, Help: Help(name)}
}

// GaugeOpts are the options of a gauge of the list.
func GaugeOpts(name string) prometheus.GaugeOpts {
	return prometheus.GaugeOpts{Name: name, Help: Help(name)}
}

// What bounds the buckets of a native histogram: each is at most a tenth wider than the one before, and a histogram with more than
// these makes them wider, or begins anew if it has not within the time.
const (
	nativeFactor  = 1.1
	nativeBuckets = 100
	nativeReset   = time.Hour
)

// HistogramOpts are the options of a histogram of the list: with classic buckets that have these boundaries, and as a native histogram
// for a Prometheus that asks for those.
func HistogramOpts(name string, buckets ...float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{
		Name: name, Help: Help(name), Buckets: buckets,
		NativeHistogramBucketFactor: nativeFactor, NativeHistogramMaxBucketNumber: nativeBuckets, NativeHistogramMinResetDuration: nativeReset,
	}
}

// Build returns the metric that says which program it is.
func Build(version, revision, goVersion string) prometheus.Collector {
	build := prometheus.NewGaugeVec(GaugeOpts(BuildInfo), []string{"version", "revision", "goversion"})
	build.WithLabelValues(version, revision, goVersion).Set(1)
	return build
}
