package main

import (
	"encoding/json"
	"math"
	"slices"
	"time"
)

// times are durations of the same thing.
type times []time.Duration

// quantile is the least of them below or at which a share of them lies; 0 if there are none.
func (t times) quantile(share float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(t))
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}

// MarshalJSON implements json.Marshaler.
func (t times) MarshalJSON() ([]byte, error) {
	ms := func(share float64) float64 { return milliseconds(t.quantile(share)) }
	return json.Marshal(map[string]any{"n": len(t), "p50ms": ms(0.5), "p99ms": ms(0.99), "maxms": ms(1)})
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// growth is by how much y grows when x grows tenfold, as the straight line through the logarithms has it. It is NaN
// unless there are two points with values above zero.
func growth(x, y []float64) float64 {
	var n, sumX, sumY, sumXX, sumXY float64
	for i := range x {
		if x[i] <= 0 || y[i] <= 0 {
			continue
		}
		lx, ly := math.Log10(x[i]), math.Log10(y[i])
		n, sumX, sumY, sumXX, sumXY = n+1, sumX+lx, sumY+ly, sumXX+lx*lx, sumXY+lx*ly
	}
	below := n*sumXX - sumX*sumX
	if n < 2 || below == 0 {
		return math.NaN()
	}
	return math.Pow(10, (n*sumXY-sumX*sumY)/below)
}
