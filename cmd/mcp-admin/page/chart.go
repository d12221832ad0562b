package page

import (
	"fmt"
	"slices"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
	lines "github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/tail"
)

// chart is bars over time. Lengths are those of its own coordinates.
type chart struct {
	Title, Said string
	// First and Last are the times at its ends, Most what the highest bar means.
	First, Last, Most string
	Bars              []bar
}

// bar is a part of a bar: Class is "ok", "failed" or "peak".
type bar struct {
	Class            string
	X, Y, Wide, High int
}

const (
	chartWide, chartHigh = 600, 80
	mostBars             = 60
)

// Wide and High are the size of a chart's coordinates.
func (c chart) Wide() int { return chartWide }
func (c chart) High() int { return chartHigh }

// spans are how long the time of a bar may be.
var spans = []time.Duration{time.Second, 5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour}

// bucket is the calls of the time of one bar.
type bucket struct {
	all, failed int
	seconds     []float64
}

// charts are the rate and the times of calls, which come with the newest first.
func charts(calls []lines.Call, from, now time.Time) []chart {
	if len(calls) == 0 {
		return nil
	}
	first, last := calls[len(calls)-1].At, calls[0].At
	if !from.IsZero() {
		first, last = from, now
	}
	span := spans[len(spans)-1]
	for _, s := range spans {
		if last.Sub(first) < s*(mostBars-1) {
			span = s
			break
		}
	}
	if last.Sub(first) >= span*(mostBars-1) {
		first = last.Add(-span * (mostBars - 2)) // nobody looks back that far
	}
	begin := first.Truncate(span)
	buckets := make([]bucket, max(12, int(last.Sub(begin)/span)+1))
	failed := 0
	var times []float64
	for i := range calls {
		c := &calls[i]
		at := int(c.At.Sub(begin) / span)
		if c.At.Before(begin) || at >= len(buckets) {
			continue
		}
		b := &buckets[at]
		if b.all++; !isGood(c) {
			b.failed++
			failed++
		}
		if c.Seconds != nil {
			b.seconds = append(b.seconds, *c.Seconds)
			times = append(times, *c.Seconds)
		}
	}
	rate := chart{Title: "Calls", Said: fmt.Sprintf("%s, %d refused or failed", output.Numbered(len(calls), "call"), failed)}
	rate.bars(buckets, begin, span)
	if len(times) == 0 {
		return []chart{rate}
	}
	slices.Sort(times)
	latency := chart{Title: "Times", Said: fmt.Sprintf("median %s, longest %s, of %s", milliseconds(times[len(times)/2]), milliseconds(times[len(times)-1]), output.Numbered(len(times), "call"))}
	latency.times(buckets, begin, span)
	return []chart{rate, latency}
}

// bars draws how many calls there were, the failed ones below.
func (c *chart) bars(buckets []bucket, begin time.Time, span time.Duration) {
	most := 1
	for i := range buckets {
		most = max(most, buckets[i].all)
	}
	c.ends(buckets, begin, span)
	c.Most = fmt.Sprintf("at most %d in %s", most, spanName(span))
	for i := range buckets {
		failed := scaled(float64(buckets[i].failed), float64(most))
		all := scaled(float64(buckets[i].all), float64(most))
		c.bar(i, len(buckets), "failed", chartHigh-failed, failed)
		c.bar(i, len(buckets), "ok", chartHigh-all, all-failed)
	}
}

// times draws how long calls took: the median, and above it up to the longest.
func (c *chart) times(buckets []bucket, begin time.Time, span time.Duration) {
	longest := 0.0
	for i := range buckets {
		slices.Sort(buckets[i].seconds)
		if n := len(buckets[i].seconds); n > 0 {
			longest = max(longest, buckets[i].seconds[n-1])
		}
	}
	c.ends(buckets, begin, span)
	c.Most = "bars: median; pale: longest, up to " + milliseconds(longest)
	for i := range buckets {
		if n := len(buckets[i].seconds); n > 0 {
			middle, peak := scaled(buckets[i].seconds[n/2], longest), scaled(buckets[i].seconds[n-1], longest)
			c.bar(i, len(buckets), "ok", chartHigh-middle, middle)
			c.bar(i, len(buckets), "peak", chartHigh-peak, peak-middle)
		}
	}
}

// scaled is a bar's height: what is not nothing is seen.
func scaled(value, most float64) int {
	if value <= 0 || most <= 0 {
		return 0
	}
	return max(2, int(value/most*chartHigh))
}

func (c *chart) bar(i, of int, class string, y, high int) {
	if high > 0 {
		x, next := i*chartWide/of, (i+1)*chartWide/of
		c.Bars = append(c.Bars, bar{class, x, y, max(1, next-x-2), high})
	}
}

func (c *chart) ends(buckets []bucket, begin time.Time, span time.Duration) {
	end := begin.Add(span * time.Duration(len(buckets)))
	format := "15:04:05"
	if end.Sub(begin) > 12*time.Hour {
		format = "2006-01-02 15:04"
	}
	c.First, c.Last = begin.UTC().Format(format), end.UTC().Format(format)
}

func spanName(span time.Duration) string {
	switch {
	case span >= 24*time.Hour:
		return output.Numbered(int(span/(24*time.Hour)), "day")
	case span >= time.Hour:
		return output.Numbered(int(span/time.Hour), "hour")
	case span >= time.Minute:
		return output.Numbered(int(span/time.Minute), "minute")
	}
	return output.Numbered(int(span/time.Second), "second")
}
